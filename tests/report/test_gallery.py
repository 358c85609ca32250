"""If these fail, a card shows another row, answer or picture than the benchmark has."""

from __future__ import annotations

import base64
import io
import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Mapping
from functools import cache, partial
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image
from saved_runs import ANSWER_BY_TASK, sample_lines, saved_run, write_run

from figlang_tasks.benchmarks.vflute import rows as vflute_rows
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.card import Card
from figlang_tasks.core.errors import RunError
from figlang_tasks.report import thumbnails
from figlang_tasks.report.gallery import Gallery, build
from figlang_tasks.report.originals import Picture
from figlang_tasks.results.runs import read


class OneRun(NamedTuple):
    """The samples of a run of one task, and the gallery of its report; not to be changed."""

    samples: list[dict[str, Any]]
    gallery: Gallery

    @property
    def cards(self) -> list[Card]:
        """The cards of the gallery."""
        return self.gallery.cards


@cache
def run_of_task(task: str) -> OneRun:
    """A run over 80 rows of a task at most, and its gallery."""
    samples = sample_lines(task, 80)
    with TemporaryDirectory() as folder:
        run = read(str(write_run(Path(folder), {task: samples})))
        return OneRun(samples, build([run]))


def image_of(picture: thumbnails.Thumbnail) -> Image.Image:
    """The picture in a thumbnail."""
    head, _, content = picture["src"].partition(",")
    assert head == "data:image/webp;base64"
    return Image.open(io.BytesIO(base64.b64decode(content))).convert("RGB")


# --- cards ---


def test_a_card_of_v_flute_shows_the_row_of_the_benchmark() -> None:
    run = run_of_task("figlang_mini")
    documents = vflute_rows.load("figlang_mini", "test")
    assert [card["id"] for card in run.cards] == documents["id"]
    assert run.gallery.warnings == []
    for card, doc in zip(run.cards, documents, strict=True):
        assert dict(card["facts"])["claim"] == doc["claim"]
        assert card["gold"] == [("label", doc["label"])]
        assert card["reference"] == doc["explanation"]
        assert card["prompt"] == f"What of {doc['id']}?"
        assert card["source"] == doc["report_group"]


def test_an_answer_shows_what_was_read() -> None:
    cards = run_of_task("figlang_mini").cards
    doc = vflute_rows.load("figlang_mini", "test")[0]
    answer = cards[0]["answers"][0]
    assert answer["run"] == 0
    assert answer["predicted"] == doc["label"]
    assert answer["outcome"] == "right"
    assert answer["explanation"] == doc["explanation"]
    assert answer["rule"].startswith("marker")
    assert answer["output"] == f"{doc['explanation']}\nLABEL: {doc['label']}"
    assert cards[2]["answers"][0]["outcome"] == "no answer"


@pytest.mark.parametrize(
    ("task", "metric"),
    [
        ("figlang_mini", "acc"),
        ("figlang_mini_flute", "acc"),
        ("figlang_mini_irfl_detect_idiom", "acc"),
        ("figlang_mini_irfl_match_idiom", "acc"),
        ("figlang_mini_nykms_metaphor", "mc_acc"),
        ("figlang_mini_metaclue_classify_literal", "acc"),
        ("figlang_mini_metaclue_retrieve_swap", "p@1"),
    ],
)
def test_outcomes_are_what_the_task_counted(task: str, metric: str) -> None:
    run = run_of_task(task)
    outcomes = [card["answers"][0]["outcome"] for card in run.cards]
    for outcome, sample in zip(outcomes, run.samples, strict=True):
        assert outcome in ("right", "wrong", "no answer")
        if outcome == "no answer":
            assert sample["parse_rate"] == 0
        else:
            assert (outcome == "right") == (sample[metric] == 1)
            assert sample["parse_rate"] == 1
    assert len(set(outcomes)) > 1


@pytest.mark.parametrize("task", ANSWER_BY_TASK)
def test_every_row_has_its_card_and_picture(task: str) -> None:
    samples, gallery = run_of_task(task)
    records = [sample["sample"] for sample in samples]
    ids = {record.get("row", record["id"]) for record in records}
    assert {card["id"] for card in gallery.cards} == ids
    assert len(gallery.cards) == len(ids)
    numbers: list[int] = []
    for card in gallery.cards:
        numbers += [picture["picture"] for picture in card["pictures"]]
    if "flute" in task:
        assert not numbers
    else:
        assert all(gallery.pictures[number] for number in numbers)
    for picture in gallery.pictures:
        assert picture is not None
        assert max(image_of(picture).size) <= thumbnails.MAX_SIDE
    assert gallery.warnings == []
    assert json.dumps(gallery.cards, allow_nan=False)


def test_the_images_of_a_row_of_retrieval_make_one_card() -> None:
    run = run_of_task("figlang_mini_irfl_retrieve_metaphor")
    records_by_row: dict[str, list[dict[str, Any]]] = {}
    for sample in run.samples:
        records_by_row.setdefault(sample["sample"]["row"], []).append(sample["sample"])
    for card, records in zip(run.cards, records_by_row.values(), strict=True):
        (answer,) = card["answers"]
        assert len(card["pictures"]) == len(records)
        assert answer["values"] == [record["value"] for record in records]
        count = sum(record["positive"] for record in records)
        # A wrong image goes before a right one of the same value: ties count against the model.
        wrong_first = sorted(records, key=itemgetter("positive"))
        ranked = sorted(wrong_first, key=itemgetter("value"), reverse=True)
        on_top = sum(record["positive"] for record in ranked[:count])
        assert answer["score"] == on_top / count
        assert answer["score_name"] == "precision@k"
        assert answer["predicted"] == f"{on_top} of {count} right images on top"
        assert (answer["outcome"] == "right") == (answer["score"] == 1)


def test_answers_of_several_runs_stand_on_one_card(tmp_path: Path) -> None:
    first_run = saved_run(tmp_path / "first", "figlang_mini", count=5)
    samples = sample_lines("figlang_mini", 7, lambda doc, n: "Another.\nLABEL: entailment")
    samples[3]["input"] = "Asked in another way?"
    second_run = read(str(write_run(tmp_path / "second", {"figlang_mini": samples})))
    cards = build([first_run, second_run]).cards
    assert [len(card["answers"]) for card in cards] == [2] * 5 + [1] * 2
    last_answers = [card["answers"][-1] for card in cards]
    assert [answer["run"] for answer in last_answers] == [1] * 7
    prompts = [answer.get("prompt") for answer in last_answers]
    assert prompts[2:5] == [None, "Asked in another way?", None]


def test_samples_of_lm_eval(tmp_path: Path) -> None:
    samples = sample_lines("figlang_mini_flute", 3)
    lm_eval_samples = []
    for sample in samples:
        lm_eval_sample = {
            **sample,
            "filtered_resps": [sample["filtered_resps"]],
            "arguments": {"gen_args_0": {"arg_0": "Asked.", "arg_1": {}}},
        }
        del lm_eval_sample["input"]
        lm_eval_samples.append(lm_eval_sample)
    run = read(str(write_run(tmp_path / "run", {"figlang_mini_flute": lm_eval_samples})))
    cards = build([run]).cards
    assert {card["prompt"] for card in cards} == {"Asked."}
    outputs = [card["answers"][0]["output"] for card in cards]
    assert outputs == [sample["filtered_resps"] for sample in samples]


def test_a_damaged_row_is_named(tmp_path: Path) -> None:
    task = "figlang_mini_irfl_detect_idiom"
    samples = sample_lines(task, 4)
    samples[2]["sample"]["roles"] = []
    run = read(str(write_run(tmp_path / "run", {task: samples})))
    message = f"samples_{task}.jsonl has a row, idiom-detection-task-2, that is not as"
    with pytest.raises(RunError, match=message):
        build([run])


def test_a_row_of_several_pictures_has_the_status_of_an_unread_one(tmp_path: Path) -> None:
    task = "figlang_mini_irfl_retrieve_metaphor"

    def answer(doc: Mapping[str, Any], number: int) -> str:
        return "Hm." if number == 1 else "Yes"

    samples = sample_lines(task, None, answer)
    run = read(str(write_run(tmp_path / "run", {task: samples})))
    cards = build([run], with_pictures=False).cards
    assert [card["answers"][0]["status"] for card in cards[:2]] == ["unreadable", "read"]


# --- pictures ---


def test_a_thumbnail_shows_the_picture(tmp_path: Path) -> None:
    gallery = build([saved_run(tmp_path / "run", "figlang_mini", count=31)])
    documents = vflute_rows.load("figlang_mini", "test")
    for card, doc in list(zip(gallery.cards, documents, strict=False))[::15]:
        thumbnail = gallery.pictures[card["pictures"][0]["picture"]]
        assert thumbnail is not None
        original = Image.open(io.BytesIO(doc["image"]["bytes"])).convert("RGB")
        assert (thumbnail["width"], thumbnail["height"]) == original.size
        picture = image_of(thumbnail)
        assert max(picture.size) <= thumbnails.MAX_SIDE
        resized = original.resize(picture.size, Image.Resampling.BICUBIC)
        difference = np.asarray(picture, float) - np.asarray(resized, float)
        assert np.abs(difference).mean() < 6


def test_the_same_picture_is_stored_once(tmp_path: Path) -> None:
    tasks = (
        "figlang_mini_irfl_detect_idiom",
        "figlang_mini_irfl_match_idiom",
        "figlang_mini_nykms_metaphor",
    )
    gallery = build([saved_run(tmp_path / name, *tasks, name=name) for name in ("a", "b")])
    uuids: set[str] = set()
    for line in sample_lines(tasks[0]):
        uuids.update(line["sample"]["candidates"])
    cartoons = {card["pictures"][0]["picture"] for card in gallery.cards if "nykms" in card["task"]}
    assert len(gallery.pictures) == len(uuids) + len(cartoons)
    assert len({picture["src"] for picture in gallery.pictures if picture}) == len(gallery.pictures)


def noise(seed: int) -> Image.Image:
    """A picture of 256 x 200 random pixels."""
    return Image.frombytes("RGB", (256, 200), random.Random(seed).randbytes(256 * 200 * 3))


@pytest.mark.parametrize(("budget", "side"), [(12 * 2000, 100), (10**7, 256)])
def test_many_pictures_are_smaller(budget: int, side: int) -> None:
    pictures = [Picture(f"picture {number}", partial(noise, number)) for number in range(12)]
    small = list(thumbnails.make_thumbnails(pictures, budget))
    assert len(small) == 12
    for thumbnail in small:
        assert isinstance(thumbnail, dict)
        assert max(image_of(thumbnail).size) == side
        assert (thumbnail["width"], thumbnail["height"]) == (256, 200)


def test_a_damaged_picture_costs_itself_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = source_of("figlang_mini_metaclue").folder
    assert original is not None
    folder = tmp_path / "data" / "figlang_mini_metaclue"
    shutil.copytree(original, folder)
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(folder.parent))
    run = saved_run(tmp_path / "run", "figlang_mini_metaclue_caption")
    (folder / "0/100000.jpg").write_bytes(b"no picture")
    gallery = build([run])
    without = [card["id"] for card in gallery.cards if card["pictures"][0]["picture"] is None]
    assert without == ["0/100000.jpg"]
    (warning,) = gallery.warnings
    assert "0/100000.jpg" in warning and "cannot be decoded" in warning


# --- what is missing ---


def gallery_with_data(tmp_path: Path, data: str) -> Gallery:
    """The gallery of a run of V-FLUTE whose records say that they are of this data."""
    samples = sample_lines("figlang_mini", 3)
    for sample in samples:
        sample["sample"] |= {"data": data, "request": f"{data.partition('/')[0]},split=test"}
    return build([read(str(write_run(tmp_path / "run", {"vflute": samples})))])


def test_other_texts_than_those_of_the_run_are_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(hub.DATA_DIR_VARIABLE, raising=False)
    gallery = gallery_with_data(tmp_path, "figlang_mini/test:0123456789ab")
    assert gallery.pictures == []
    assert "other texts" in gallery.warnings[0]


def test_without_the_data_the_prompt_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(hub.DATA_DIR_VARIABLE, raising=False)
    gallery = gallery_with_data(tmp_path, "V-FLUTE/test:0123456789ab")
    assert [card["facts"] for card in gallery.cards] == [[]] * 3
    prompts = [card["prompt"] for card in gallery.cards]
    assert prompts == [f"What of vismet-test-{number}?" for number in range(3)]
    assert all(card["reference"] for card in gallery.cards)
    assert gallery.pictures == []
    (warning,) = gallery.warnings
    assert warning.startswith("vflute: pictures and texts of V-FLUTE are not shown: ")
    assert warning.endswith(". `figlang data prefetch` gets the data.")


def test_the_same_texts_of_another_revision_are_shown(tmp_path: Path) -> None:
    task = "figlang_mini_irfl_detect_idiom"
    samples = sample_lines(task, 2)
    for sample in samples:
        record = sample["sample"]
        record["data"] = record["data"].replace("@package:", f"@{'f' * 40}:")
    gallery = build([read(str(write_run(tmp_path / "run", {task: samples})))])
    assert gallery.warnings == []
    assert len(gallery.pictures) == 8


def test_each_task_has_its_share_of_the_cards(tmp_path: Path) -> None:
    run = saved_run(
        tmp_path / "run", "figlang_mini_metaclue_vqa", "figlang_mini_irfl_retrieve_metaphor"
    )
    gallery = build([run], max_cards=10, with_pictures=False)
    cards_by_task = Counter(card["task"] for card in gallery.cards)
    assert cards_by_task == dict.fromkeys(run.tasks, 5)
    (warning,) = gallery.warnings
    assert re.fullmatch(r"figlang_mini_\w+: the first 5 of \d+ rows are in the gallery\.", warning)
    assert build([run], max_cards=0) == Gallery([], [], [])


@pytest.mark.parametrize(
    ("max_cards", "rows"), [(2, [3, 8]), (5, [0, 1, 3, 8, 10]), (12, list(range(12)))]
)
def test_rows_with_unread_answers_are_among_those_that_are_shown(
    max_cards: int, rows: list[int], tmp_path: Path
) -> None:
    def answer(doc: Mapping[str, Any], number: int) -> str:
        return "Hm." if number in (3, 8, 10) else "So.\nLABEL: entailment"

    samples = sample_lines("figlang_mini", 12, answer)
    run = read(str(write_run(tmp_path / "run", {"figlang_mini": samples})))
    numbers = {sample["sample"]["id"]: number for number, sample in enumerate(samples)}
    gallery = build([run], max_cards=max_cards, with_pictures=False)
    assert [numbers[card["id"]] for card in gallery.cards] == rows
    warning = (
        f"figlang_mini: {max_cards} of 12 rows are in the gallery: those with unread answers, and"
        " the first others."
    )
    assert gallery.warnings == ([warning] if max_cards < 12 else [])
