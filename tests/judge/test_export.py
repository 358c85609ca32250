"""Annotators can tell systems apart, or judge the wrong rows, if these tests fail."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from filled_sheets import save_run
from PIL import Image
from saved_runs import sample_lines, saved_run, write_run

from figlang_tasks.benchmarks.flute import rows as flute_rows
from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.judge import key, sheet
from figlang_tasks.judge.export import export

OPTIONS: dict[str, Any] = {"count": 20, "seed": 7, "annotators": 2}
NAMES = ("Shark", "Kettle")


def answer(doc: Mapping[str, Any], system: str) -> str:
    """What a system says of a document: nothing if its claim is a multiple of 9 characters long."""
    if len(doc["claim"]) % 9 == 0:
        return ""
    return f"=HYPERLINK({system[0]}) {doc['claim'][:9]}\n\nLABEL: {doc['label']}"


def hundredth(number: int) -> float:
    """The explanation score of a document by its number."""
    return number / 100


@pytest.fixture
def two_runs(tmp_path: Path) -> list[str]:
    """Runs of two systems over figlang_mini, as arguments of the command."""
    return save_two_runs(tmp_path)


def save_two_runs(folder: Path) -> list[str]:
    """Write a run of each system below a folder, and return them as arguments of the command."""
    arguments: list[str] = []
    for name in NAMES:
        path = folder / name / "samples_vflute.jsonl"
        save_run(path, partial(answer, system=name), hundredth)
        arguments.append(f"{name}={path}")
    return arguments


def path_of(argument: str) -> Path:
    """The samples file behind an argument ``NAME=FILE``."""
    _, _, path = argument.partition("=")
    return Path(path)


def records_by_id(argument: str) -> dict[str, dict[str, Any]]:
    """The records of a run."""
    records: dict[str, dict[str, Any]] = {}
    for line in path_of(argument).read_text("utf-8").splitlines():
        record = json.loads(line)["sample"]
        records[record["id"]] = record
    return records


class Exported(NamedTuple):
    """The export of all rows of two runs.

    Attributes:
        runs: the runs, as arguments of the command.
        folder: where the sheets, the key and the pictures are.
        names: of files and folders, as the export returned them.
        key: the content of the key.
        documents: the rows of figlang_mini by their ids.
    """

    runs: list[str]
    folder: Path
    names: list[str]
    key: dict[str, Any]
    documents: dict[str, Mapping[str, Any]]

    def read_sheet(self, number: int) -> sheet.Sheet:
        """The sheet of an annotator."""
        return sheet.read(self.folder / f"annotator{number}.csv")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """All rows for two annotators, of two runs of which one names its scorer."""
    folder = tmp_path_factory.mktemp("exported")
    runs = save_two_runs(folder)
    # Kettle names no scorer, but may have the same one.
    results = {"configs": {"vflute": {"metadata": {"explanation_scorer": "embedded|fp32"}}}}
    (folder / "Shark" / "results.json").write_text(json.dumps(results))
    names = export(runs, folder / "out", **{**OPTIONS, "count": 76})
    documents = {doc["id"]: doc for doc in rows.load("figlang_mini", "test")}
    return Exported(runs, folder / "out", names, key.read(folder / "out" / "key.json"), documents)


def test_an_export_has_equal_sheets_for_all_annotators(exported: Exported) -> None:
    assert exported.names == ["images", "annotator1.csv", "annotator2.csv", "key.json"]
    assert sorted(path.name for path in exported.folder.iterdir()) == sorted(exported.names)
    first = exported.read_sheet(1)
    second = exported.read_sheet(2)
    assert first.annotator == "annotator 1"
    assert second.annotator == "annotator 2"
    assert first.rows.drop(columns="annotator").equals(second.rows.drop(columns="annotator"))


def test_the_key_has_the_scorer_and_every_item_with_its_label_and_systems(
    exported: Exported,
) -> None:
    assert exported.key["scorer"] == "embedded|fp32"
    assert [item["number"] for item in exported.key["items"]] == [*range(1, 77)]
    assert {*exported.read_sheet(1).rows["item"]} == {*map(str, range(1, 77))}
    for item in exported.key["items"]:
        document = exported.documents[item["id"]]
        assert item["gold"] == rows.LABELS[document["label"]]
        assert set(item["systems"].values()) == set(NAMES)


def test_a_row_of_a_sheet_has_the_texts_and_the_score_of_its_system(exported: Exported) -> None:
    records: dict[str, dict[str, dict[str, Any]]] = {}
    for name, run in zip(NAMES, exported.runs, strict=True):
        records[name] = records_by_id(run)
    cells = exported.read_sheet(1).rows
    for item in exported.key["items"]:
        document = exported.documents[item["id"]]
        for _, row in cells[cells["item"].eq(str(item["number"]))].iterrows():
            record = records[item["systems"][row["letter"]]][item["id"]]
            assert row["explanation"] == (record["explanation"] or "(no explanation)")
            assert item["scores"][row["letter"]] == record["explanation_scores"]["mean"]
            assert row["claim"] == document["claim"]
            assert row["reference"] == document["explanation"]
            assert not any(row[[*sheet.JUDGED_COLUMNS, "comment"]])


def test_a_row_of_a_sheet_has_the_picture_of_its_document(exported: Exported) -> None:
    cells = exported.read_sheet(1).rows
    for item in exported.key["items"]:
        released_bytes = exported.documents[item["id"]]["image"]["bytes"]
        released = Image.open(io.BytesIO(released_bytes)).convert("RGB")
        for image in cells["image"][cells["item"].eq(str(item["number"]))]:
            picture = Image.open(exported.folder / image).convert("RGB")
            assert picture.tobytes() == released.tobytes()


def test_a_sheet_tells_no_system_and_starts_no_formula(exported: Exported) -> None:
    text = (exported.folder / "annotator1.csv").read_text("utf-8-sig")
    words_that_tell_the_system = (*NAMES, "samples_vflute", "0.3", *exported.documents)
    for word in words_that_tell_the_system:
        assert word not in text
    assert '"=' not in text
    assert "\"'=HYPERLINK(K) " in text


def test_the_letters_of_the_systems_change_from_item_to_item(exported: Exported) -> None:
    systems_behind_a = Counter(item["systems"]["A"] for item in exported.key["items"])
    assert systems_behind_a["Shark"] > 20
    assert systems_behind_a["Kettle"] > 20


def test_the_seed_decides_the_draw(tmp_path: Path, two_runs: list[str]) -> None:
    def items(name: str, **options: Any) -> Any:
        """The items of an export into a folder of this name."""
        export(two_runs, tmp_path / name, **{**OPTIONS, "annotators": 1, **options})
        return key.read(tmp_path / name / "key.json")["items"]

    drawn = items("a")
    assert items("b") == drawn
    assert items("c", seed=8) != drawn
    more_than_there_are = items("all", count=95)
    assert {item["id"] for item in more_than_there_are} == {*records_by_id(two_runs[0])}


def test_flute_has_premises_in_place_of_pictures(tmp_path: Path) -> None:
    documents = {doc["id"]: doc for doc in flute_rows.load("figlang_mini_flute", "train")}
    path = write_run(tmp_path / "run", {"figlang_mini_flute": sample_lines("figlang_mini_flute")})
    folder = tmp_path / "out"
    names = export([str(path)], folder, **{**OPTIONS, "annotators": 1})
    assert names == ["annotator1.csv", "key.json"]
    filled = sheet.read(folder / "annotator1.csv")
    assert "image" not in filled.rows
    assert "preferred" not in filled.rows, "one system is not compared"
    items = key.read(folder / "key.json")["items"]
    for item, (_, row) in zip(items, filled.rows.iterrows(), strict=True):
        document = documents[item["id"]]
        assert row["premise"] == document["premise"]
        assert row["claim"] == document["hypothesis"]
        assert item["scores"] == {"A": None}


def test_runs_that_cannot_be_judged_together(tmp_path: Path, two_runs: list[str]) -> None:
    path = path_of(two_runs[1])
    lines = path.read_text("utf-8").splitlines(keepends=True)
    samples = "".join(lines)

    def check_refusal(message: str, arguments: list[str] = two_runs) -> None:
        """Check that runs are refused with this message, and nothing is written."""
        with pytest.raises(FigLangError, match=message):
            export(arguments, tmp_path / "out", **OPTIONS)
        assert not (tmp_path / "out").exists()

    path.write_text("".join(lines[2:]), encoding="utf-8")
    other_rows = r"only in Shark: 2 \(vismet-test-0, vismet-test-1\)\. Evaluate both on the same"
    check_refusal(other_rows)
    path.write_text(samples.replace("figlang_mini/test:", "figlang_mini/test:0"), "utf-8")
    other_data = r"samples are of figlang_mini/test:0\w+, but the data here is figlang_mini/test:\w"
    check_refusal(other_data, two_runs[1:])
    path.write_text(samples.replace('"embedded"', '"vflute25"'), "utf-8")
    other_scorer = r"different scorers \(Shark: embedded; Kettle: vflute25\)\. Score all with one"
    check_refusal(other_scorer)
    damaged_line = lines[-1].replace('"explanation":', '"no":')
    path.write_text("".join([*lines[:-1], damaged_line]), "utf-8")
    damage = r"Kettle\S+ has a record that is not as the task vflute writes it .*explanation"
    check_refusal(damage)
    path.write_text(samples, "utf-8")
    (path.parent / "samples_other.jsonl").write_text(samples, "utf-8")
    two_tasks = "holds explanations of other, vflute: name one by --task"
    check_refusal(two_tasks, [str(path.parent)])


def test_a_run_without_explanations_is_refused(tmp_path: Path) -> None:
    task = "figlang_mini_irfl_detect_idiom"
    folder = saved_run(tmp_path / "run", task).path
    with pytest.raises(FigLangError, match=f"no explanations to judge: {task} asks for none"):
        export([str(folder)], tmp_path / "out", **OPTIONS)
