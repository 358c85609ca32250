"""HumorDB: if this fails, its rows, pairs or measures are not the paper's, or its labels do not
come out of people's answers.
"""

from __future__ import annotations

import csv
import json
import math
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from humordb import release
from scipy.stats import spearmanr

from figlang_tasks.benchmarks.humordb import measures, names, reproduced, tasks
from figlang_tasks.benchmarks.humordb.benchmark import BENCHMARK
from figlang_tasks.core import hub
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.hub import DATA_DIR_VARIABLE
from figlang_tasks.core.request import Request
from figlang_tasks.scoring import Measures, process_results

INDEX = "data/humordb/index.csv"
Documents = list[dict[str, Any]]


def values(documents: Documents, task_measures: Measures, answer: Callable[[Any], Any]) -> Any:
    """The values of a run, ``metric -> scope -> value``, with these answers."""
    records = [process_results(doc, [answer(doc)])["sample"] for doc in documents]
    by_metric: dict[str, dict[str, float]] = {}
    for measure in task_measures.all:
        statistics = measure.statistics_by_scope(records)
        by_metric[measure.name] = {scope: value.total() for scope, value in statistics.items()}
    return by_metric


def document(question: str, number: int, gold: object, pair: str = "", kind: str = "") -> Any:
    """A document of the binary or the range task."""
    task = "range" if question == "range" else "binary"
    request = f"HumorDB,question={task},split=test"
    row = f"test-{number}"
    return {
        "id": f"{row}-{question}", "row": row, "data": "HumorDB/x:0123456789ab", "gold": gold,
        "request": request, "question": question, "pair": pair, "kind": kind, "unit": pair or row,
    }  # fmt: skip


# --- measures ---


def test_both_prompts_count_and_a_pair_needs_two_right_answers_to_one_prompt() -> None:
    asked: list[Any] = [  # prompt, number, right answer, pair, kind, answer
        ("funny", 1, "Yes", "p", "original", "Yes"),
        ("funny", 2, "No", "p", "edited", "No"),
        ("not_funny", 1, "No", "p", "original", "No"),
        ("not_funny", 2, "Yes", "p", "edited", "No, it is not funny."),  # ambiguous
        ("funny", 3, "No", "", "", "Yes"),
    ]
    documents = [document(*about) for *about, _ in asked]
    outputs = {doc["id"]: output for doc, (*_, output) in zip(documents, asked, strict=True)}
    found = values(documents, measures.BINARY, lambda doc: outputs[doc["id"]])
    assert found["acc"] == pytest.approx(
        {"all": 3 / 5, "funny_prompt": 2 / 3, "not_funny_prompt": 1 / 2, "only_pairs": 3 / 4}
        | {"original": 1.0, "edited": 1 / 2}
    )
    assert found["pair_accuracy"] == {"all": 1 / 2}
    assert found["parse_rate"]["all"] == 4 / 5


def test_ratings_that_were_not_read_are_left_out_and_ties_share_a_rank() -> None:
    golds = [1.5, 3.0, 3.0, 4.2, 8.8, 9.0]
    outputs = ["2", "2", "5/10", "It is funny.", "9", "I'd rate it 4"]
    ratings = [2, 2, 5, 9, 4]
    read_golds = [1.5, 3.0, 3.0, 8.8, 9.0]
    documents = [document("range", number, gold) for number, gold in enumerate(golds)]
    found = values(documents, measures.RANGE, lambda doc: outputs[int(doc["row"][5:])])
    squares = [(a - b) ** 2 for a, b in zip(ratings, read_golds, strict=True)]
    assert found["rmse"]["all"] == pytest.approx(math.sqrt(sum(squares) / 5))
    assert found["spearman"]["all"] == pytest.approx(spearmanr(ratings, read_golds).statistic)
    assert found["parse_rate"]["all"] == pytest.approx(5 / 6)
    assert values(documents, measures.RANGE, lambda doc: "4")["spearman"] == {}


# --- the release ---


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[dict[str, str]]]:
    """The real labels in the layout of the hub with one drawn picture, and the authors' files."""
    shared = Path(__file__).parents[4] / "shared" / INDEX
    if not shared.is_file():
        pytest.skip(f"{shared} is not there")
    with shared.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    data_dir = tmp_path_factory.mktemp("humordb")
    picture = release.row_of_hub(0)["image"]
    rows_by_split: dict[str, Documents] = {"train": [], "test": []}
    for row in rows:
        labels = {anchor: float(row[f"cmp_{anchor}"]) for anchor in names.ANCHORS}
        hub_row = {
            "image": picture,
            "range_ratings_mean": float(row["range_ratings_mean"]),
            "comparison_ratings": labels,
            "binary_rating": int(row["binary_rating"]),
            "words": row["words"].split(),
        }
        rows_by_split.setdefault(row["split"], []).append(hub_row)
    for split in ("train", "test"):
        release.write_split(data_dir / "HumorDB", split, rows_by_split[split])
    shutil.copytree(shared.parent, data_dir / "HumorDB_labels")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(DATA_DIR_VARIABLE, str(data_dir))
        hub.clear_caches()
        yield rows
    hub.clear_caches()


def load(question: str, split: str = "test") -> Documents:
    documents = BENCHMARK.documents(Request.of("HumorDB", question=question, split=split))
    return list(documents)


def test_rows_are_joined_with_the_names_of_their_pictures_and_never_guessed(
    index: list[dict[str, str]],
) -> None:
    test_rows = [row for row in index if row["split"] == "test"]
    documents = load("range")
    named = [(doc, row) for doc, row in zip(documents, test_rows, strict=True) if doc["kind"]]
    assert (len(documents), len(named)) == (706, 697)
    assert all(doc["kind"] == row["kind"] for doc, row in named)
    in_pairs = [(doc, row) for doc, row in named if doc["pair"]]
    assert len(in_pairs) == 2 * 293
    assert len({doc["unit"] for doc, _ in in_pairs}) == 293
    for doc, row in in_pairs:
        assert doc["pair"] == "+".join(sorted((row["image"], row["pair"])))


def test_constant_answers_have_the_values_of_the_card(index: list[dict[str, str]]) -> None:
    binary = load("binary")
    assert len(binary) == 1412
    letters = {}  # what the letter of the name says, by the number of the row
    for number, row in enumerate([row for row in index if row["split"] == "test"]):
        letters[number] = "funny" if row["kind"] == "original" else "not funny"

    def say(label: str) -> Callable[[Any], str]:
        return lambda doc: tasks.chance_answers(doc)[0][label]

    def by_letter(doc: Any) -> str:
        return say(letters[int(doc["row"].split("-")[1])])(doc)

    accuracies = [
        values(binary, measures.BINARY, answer)["acc"]["all"]
        for answer in (say("funny"), by_letter)
    ]
    assert [f"{100 * accuracy:.1f}" for accuracy in accuracies] == ["49.9", "90.4"]
    train_ratings = [row["range_ratings_mean"] for row in index if row["split"] == "train"]
    train_mean = sum(map(float, train_ratings)) / len(train_ratings)
    documents = load("range")
    errors: list[str] = []
    for rating in ("4", "5", f"{train_mean:.3f}"):
        records = [process_results(doc, [rating])["sample"] for doc in documents]
        statistic = measures.RANGE.by_name["rmse"].overall_statistic(records)
        assert statistic is not None
        errors.append(f"{statistic.total():.3f}")
    assert errors == ["1.952", "1.956", "1.898"]


@pytest.mark.long
def test_the_side_that_wins_in_train_decides_70_percent_of_comparisons(index: Any) -> None:
    train_rows = [row for row in index if row["split"] == "train"]
    lead_of_first: dict[str, int] = {}
    for anchor in names.ANCHORS:
        lead_of_first[anchor] = sum(int(row[f"cmp_{anchor}"]) for row in train_rows)

    def as_in_train(doc: Any) -> str:
        return "first" if lead_of_first[doc["anchor"]] > 0 else "second"

    documents = load("comparison")
    assert len(documents) == 5086
    assert len(tasks.doc_to_visual(documents[0])) == 2
    accuracies = []
    for answer in (as_in_train, lambda doc: "The second image is funnier."):
        accuracies.append(values(documents, measures.COMPARISON, answer)["acc"]["all"])
    assert [f"{100 * accuracy:.1f}" for accuracy in accuracies] == ["70.3", "52.9"]


def test_without_the_files_of_the_authors_pictures_have_no_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release.write_valid_release(tmp_path)
    monkeypatch.setenv(DATA_DIR_VARIABLE, str(tmp_path))
    hub.clear_caches()
    documents = load("binary")
    assert {(doc["kind"], doc["pair"]) for doc in documents} == {("", "")}
    assert documents[0]["unit"] == documents[1]["unit"] == documents[0]["row"]
    (picture,) = tasks.doc_to_visual(documents[11])  # the second of row 5
    assert picture.getpixel((0, 0)) == (5, 0, 0)
    (tmp_path / "HumorDB_labels").mkdir()
    hub.clear_caches()
    with pytest.raises(DataError, match=r"binary_ratings_mean\.txt cannot be read"):
        load("binary")


def test_the_splits_are_also_in_the_rows_for_fine_tuning(
    index: list[dict[str, str]], tmp_path: Path
) -> None:
    shared = Path(__file__).parents[4] / "shared" / INDEX
    for path in (*shared.parent.glob("*.txt"), *shared.parent.glob("*.json")):
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "LlaVA_files").mkdir()
    for split in ("train", "test"):
        rows = [{"id": row["image"].removesuffix(".jpg")} for row in index if row["split"] == split]
        content = json.dumps([*rows, {"id": ".ipynb_checkpo"}])
        (tmp_path / "LlaVA_files" / f"{split}_data.json").write_text(content)
    release = names.read_release(tmp_path)
    assert release.splits == {row["image"]: row["split"] for row in index}
    (tmp_path / "LlaVA_files" / "test_data.json").write_text("[]")
    with pytest.raises(DataError, match=r"'train': 2136.*must be.*'test': 706"):
        names.read_release(tmp_path)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("mod2org.json", "[1]", "TypeError"),
        ("mod2org.json", "[" * 100_000, "RecursionError"),
        ("labels_dict.json", '{"O1.jpg_O8.jpg": "won"}', "ValueError"),
        ("range_ratings_mean.txt", "O1.jpg;4", "ValueError"),
        ("index.csv", "picture,split\nO1.jpg,test", "KeyError: \"'image'\""),
        ("image_common_words.txt", "caf\udce9", "UnicodeDecodeError"),
    ],
)
def test_a_damaged_file_of_the_authors_is_named(
    file: str, content: str, message: str, tmp_path: Path
) -> None:
    files = {
        "range_ratings_mean.txt": "O1.jpg,4",
        "binary_ratings_mean.txt": "O1.jpg,0.5",
        "image_common_words.txt": "O1.jpg, hat",
        "labels_dict.json": "{}",
        "mod2org.json": "{}",
        "index.csv": "image,split",
    }
    for name, text in {**files, file: content}.items():
        (tmp_path / name).write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=rf"{file} is not as it was released \({message}"):
        names.read_release(tmp_path)


# --- labels from people's answers ---


def test_only_answers_far_above_the_mean_are_dropped() -> None:
    assert reproduced.mean_without_high([1, 1, 1, 1, 1, 9]) == 1
    assert reproduced.mean_without_high([9, 9, 9, 9, 9, 1]) == pytest.approx(46 / 6)


def test_the_chance_error_is_that_of_all_ten_ratings() -> None:
    squares = [(drawn - mean) ** 2 for mean in (2.5, 7.0) for drawn in range(1, 11)]
    assert reproduced.uniform_error([2.5, 7.0]) == pytest.approx((sum(squares) / 20) ** 0.5)


def test_votes_are_read_from_a_file_for_each_person(tmp_path: Path) -> None:
    (tmp_path / "user_comp").mkdir()
    about = "age\nsex\ncountry\nid\n"
    votes = "O1.jpg,O8.jpg,1,hat\nO8.jpg,M37.jpg,2,dog\nM37.jpg,O8.jpg,2,dog\n"
    (tmp_path / "user_comp" / "user_0").write_text(about + votes)
    people = reproduced.read_people(tmp_path, "comp")
    labels = {"O1.jpg_O8.jpg": 1, "O8.jpg_M37.jpg": -1, "M37.jpg_O8.jpg": 1, "O1.jpg_M37.jpg": 0}
    assert reproduced._equal_labels(labels, people) == 4
