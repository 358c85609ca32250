"""If these fail, a card shows another row, answer or picture than the benchmark has."""

from __future__ import annotations

import base64
import io
import json
import random
import re
import shutil
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from PIL import Image
from report_runs import TASKS, lines_of, run_of, write_run

from figlang_tasks.benchmarks.vflute import rows as vflute_rows
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.card import Card
from figlang_tasks.core.errors import RunError
from figlang_tasks.report import gallery, thumbnails
from figlang_tasks.report.originals import Picture
from figlang_tasks.results.runs import read


@lru_cache(maxsize=len(TASKS))
def lines_and_cards(task: str) -> tuple[list[dict[str, Any]], list[Card], gallery.Gallery]:
    """The lines of a run of a task, and the cards and the gallery of it; not to be changed."""
    lines = lines_of(task, 80)
    with TemporaryDirectory() as folder:
        made = gallery.build([read(str(write_run(Path(folder), {task: lines})))])
    return lines, made.cards, made


def image_of(picture: dict[str, Any]) -> Image.Image:
    head, _, content = picture["src"].partition(",")
    assert head == "data:image/webp;base64"
    return Image.open(io.BytesIO(base64.b64decode(content))).convert("RGB")


# --- cards ---


def test_a_card_of_v_flute_shows_the_row_of_the_benchmark() -> None:
    _, cards, made = lines_and_cards("figlang_mini")
    documents = vflute_rows.load("figlang_mini", "test")
    assert [card["id"] for card in cards] == documents["id"] and made.notices == []
    for card, doc in zip(cards, documents, strict=True):
        assert dict(card["facts"])["claim"] == doc["claim"]
        assert card["gold"] == [("label", doc["label"])] and card["reference"] == doc["explanation"]
        assert card["prompt"] == f"What of {doc['id']}?" and card["source"] == doc["report_group"]
    first = cards[0]["answers"][0]
    assert (first["run"], first["predicted"], first["outcome"]) == (
        0,
        documents[0]["label"],
        "right",
    )
    assert first["explanation"] == documents[0]["explanation"] and first["rule"].startswith(
        "marker"
    )
    assert first["output"] == f"{documents[0]['explanation']}\nLABEL: {documents[0]['label']}"
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
    lines, cards, _ = lines_and_cards(task)
    outcomes = [card["answers"][0]["outcome"] for card in cards]
    for outcome, line in zip(outcomes, lines, strict=True):
        assert outcome in ("right", "wrong", "no answer")
        if outcome == "no answer":
            assert line["parse_rate"] == 0
        else:
            assert (outcome == "right") == (line[metric] == 1) and line["parse_rate"] == 1
    assert len(set(outcomes)) > 1


@pytest.mark.parametrize("task", TASKS)
def test_every_row_has_its_card_and_picture(task: str) -> None:
    lines, cards, made = lines_and_cards(task)
    ids = {line["sample"].get("row", line["sample"]["id"]) for line in lines}
    assert {card["id"] for card in cards} == ids and len(cards) == len(ids)
    shown = [picture["picture"] for card in cards for picture in card["pictures"]]
    assert (not shown) if "flute" in task else all(made.pictures[number] for number in shown)
    assert all(
        max(image_of(picture).size) <= thumbnails.SIZE for picture in made.pictures if picture
    )
    assert made.notices == [] and json.dumps(cards, allow_nan=False)


def test_the_images_of_a_row_of_retrieval_make_one_card() -> None:
    lines, cards, _ = lines_and_cards("figlang_mini_irfl_retrieve_metaphor")
    rows: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        rows.setdefault(line["sample"]["row"], []).append(line["sample"])
    for card, records in zip(cards, rows.values(), strict=True):
        (answer,) = card["answers"]
        assert len(card["pictures"]) == len(records) and answer["values"] == [
            each["value"] for each in records
        ]
        count = sum(record["positive"] for record in records)
        # Ties against the model
        ranked = sorted(records, key=lambda record: (-record["value"], record["positive"]))
        on_top = sum(record["positive"] for record in ranked[:count])
        assert answer["score"] == on_top / count and answer["score_name"] == "precision@k"
        assert answer["predicted"] == f"{on_top} of {count} right images on top"
        assert (answer["outcome"] == "right") == (answer["score"] == 1)


def test_answers_of_several_runs_stand_on_one_card(tmp_path: Path) -> None:
    first = run_of(tmp_path / "first", "figlang_mini", count=5)
    lines = lines_of("figlang_mini", 7, lambda doc, n: "Another.\nLABEL: entailment")
    lines[3]["input"] = "Asked in another way?"
    second = read(str(write_run(tmp_path / "second", {"figlang_mini": lines})))
    cards = gallery.build([first, second]).cards
    assert [len(card["answers"]) for card in cards] == [2] * 5 + [1] * 2
    assert [card["answers"][-1]["run"] for card in cards] == [1] * 7
    assert [card["answers"][-1].get("prompt") for card in cards[2:5]] == [
        None,
        "Asked in another way?",
        None,
    ]


def test_samples_of_lm_eval(tmp_path: Path) -> None:
    lines = lines_of("figlang_mini_flute", 3)
    theirs = [
        {key: value for key, value in line.items() if key != "input"}
        | {
            "filtered_resps": [line["filtered_resps"]],
            "arguments": {"gen_args_0": {"arg_0": "Asked.", "arg_1": {}}},
        }
        for line in lines
    ]
    run = read(str(write_run(tmp_path / "run", {"figlang_mini_flute": theirs})))
    cards = gallery.build([run]).cards
    assert {card["prompt"] for card in cards} == {"Asked."}
    assert [card["answers"][0]["output"] for card in cards] == [
        line["filtered_resps"] for line in lines
    ]


def test_a_damaged_row_is_named(tmp_path: Path) -> None:
    task = "figlang_mini_irfl_detect_idiom"
    lines = lines_of(task, 4)
    lines[2]["sample"]["roles"] = []
    run = read(str(write_run(tmp_path / "run", {task: lines})))
    with pytest.raises(
        RunError, match=f"samples_{task}.jsonl has a row, idiom-detection-task-2, that is not as"
    ):
        gallery.build([run])


# --- pictures ---


def test_a_thumbnail_shows_the_picture(tmp_path: Path) -> None:
    made = gallery.build([run_of(tmp_path / "run", "figlang_mini", count=31)])
    documents = vflute_rows.load("figlang_mini", "test")
    for card, doc in list(zip(made.cards, documents, strict=False))[::15]:
        picture = made.pictures[card["pictures"][0]["picture"]]
        assert picture is not None
        original = Image.open(io.BytesIO(doc["image"]["bytes"])).convert("RGB")
        shown = image_of(picture)
        assert (picture["width"], picture["height"]) == original.size and max(
            shown.size
        ) <= thumbnails.SIZE
        difference = np.asarray(shown, float) - np.asarray(
            original.resize(shown.size, Image.Resampling.BICUBIC), float
        )
        assert np.abs(difference).mean() < 6


def test_the_same_picture_is_stored_once(tmp_path: Path) -> None:
    tasks = (
        "figlang_mini_irfl_detect_idiom",
        "figlang_mini_irfl_match_idiom",
        "figlang_mini_nykms_metaphor",
    )
    made = gallery.build([run_of(tmp_path / name, *tasks, name=name) for name in ("a", "b")])
    uuids = {uuid for line in lines_of(tasks[0]) for uuid in line["sample"]["candidates"]}
    cartoons = {card["pictures"][0]["picture"] for card in made.cards if "nykms" in card["task"]}
    assert len(made.pictures) == len(uuids) + len(cartoons)
    assert len({picture["src"] for picture in made.pictures if picture}) == len(made.pictures)


def noise(seed: int) -> Image.Image:
    return Image.frombytes("RGB", (256, 200), random.Random(seed).randbytes(256 * 200 * 3))


def test_many_pictures_are_smaller() -> None:
    pictures = [Picture(f"picture {number}", partial(noise, number)) for number in range(12)]
    for budget, side in ((12 * 2000, 100), (10**7, 256)):
        found = [each for each in thumbnails.thumbnails(pictures, budget) if isinstance(each, dict)]
        assert [max(image_of(each).size) for each in found] == [side] * 12
        assert {(each["width"], each["height"]) for each in found} == {(256, 200)}


def test_a_damaged_picture_costs_itself_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, folder = (
        source_of("figlang_mini_metaclue").folder,
        tmp_path / "data" / "figlang_mini_metaclue",
    )
    assert original is not None
    shutil.copytree(original, folder)
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(folder.parent))
    run = run_of(tmp_path / "run", "figlang_mini_metaclue_caption")
    (folder / "0/100000.jpg").write_bytes(b"no picture")
    made = gallery.build([run])
    without = [card["id"] for card in made.cards if card["pictures"][0]["picture"] is None]
    assert without == ["0/100000.jpg"]
    assert (
        len(made.notices) == 1
        and "0/100000.jpg" in made.notices[0]
        and "cannot be decoded" in made.notices[0]
    )


# --- what is not at hand ---


def with_data(tmp_path: Path, data: str) -> gallery.Gallery:
    lines = lines_of("figlang_mini", 3)
    for line in lines:
        line["sample"] |= {"data": data, "request": f"{data.partition('/')[0]},split=test"}
    return gallery.build([read(str(write_run(tmp_path / "run", {"vflute": lines})))])


def test_without_the_data_the_prompt_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(hub.DATA_DIR_VARIABLE, raising=False)
    other = with_data(tmp_path, "figlang_mini/test:0123456789ab")
    assert other.pictures == [] and "other texts" in other.notices[0]
    made = with_data(tmp_path, "V-FLUTE/test:0123456789ab")
    assert [card["facts"] for card in made.cards] == [[]] * 3
    assert [card["prompt"] for card in made.cards] == [
        f"What of vismet-test-{n}?" for n in range(3)
    ]
    assert all(card["reference"] for card in made.cards) and made.pictures == []
    (notice,) = made.notices
    assert notice.startswith("vflute: pictures and texts of V-FLUTE are not shown: ")
    assert notice.endswith(". `figlang data prefetch` gets the data.")


def test_the_same_texts_of_another_revision_are_shown(tmp_path: Path) -> None:
    lines = lines_of("figlang_mini_irfl_detect_idiom", 2)
    for line in lines:
        line["sample"]["data"] = line["sample"]["data"].replace("@package:", f"@{'f' * 40}:")
    made = gallery.build(
        [read(str(write_run(tmp_path / "run", {"figlang_mini_irfl_detect_idiom": lines})))]
    )
    assert made.notices == [] and len(made.pictures) == 8


def test_the_rows_of_large_tasks_that_are_shown(tmp_path: Path) -> None:
    run = run_of(
        tmp_path / "run", "figlang_mini_metaclue_vqa", "figlang_mini_irfl_retrieve_metaphor"
    )
    made = gallery.build([run], most=10, pictures=False)
    assert [sum(card["task"] == task for card in made.cards) for task in run.tasks] == [5, 5]
    (notice,) = made.notices
    assert re.fullmatch(r"figlang_mini_\w+: the first 5 of \d+ rows are in the gallery\.", notice)
    assert gallery.build([run], most=0) == gallery.Gallery([], [], [])


def test_rows_with_unread_answers_are_among_those_that_are_shown(tmp_path: Path) -> None:
    lines = lines_of(
        "figlang_mini", 12, lambda doc, n: "Hm." if n in (3, 8, 10) else "So.\nLABEL: entailment"
    )
    run = read(str(write_run(tmp_path / "run", {"figlang_mini": lines})))
    numbers = {line["sample"]["id"]: number for number, line in enumerate(lines)}
    for most, expected in ((2, [3, 8]), (5, [0, 1, 3, 8, 10]), (12, list(range(12)))):
        made = gallery.build([run], most=most, pictures=False)
        assert [numbers[card["id"]] for card in made.cards] == expected
        told = (
            f"figlang_mini: {most} of 12 rows are in the gallery: those with unread answers, and"
            " the first others."
        )
        assert made.notices == ([told] if most < 12 else [])


def test_a_row_of_several_pictures_has_the_status_of_an_unread_one(tmp_path: Path) -> None:
    task = "figlang_mini_irfl_retrieve_metaphor"
    run = read(
        str(
            write_run(
                tmp_path / "run",
                {task: lines_of(task, None, lambda doc, n: "Hm." if n == 1 else "Yes")},
            )
        )
    )
    first, second, *_ = gallery.build([run], pictures=False).cards
    assert [card["answers"][0]["status"] for card in (first, second)] == ["unreadable", "read"]
