"""What a run refuses, ``figlang data check nykms`` finds, in the same words."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from run_and_check import report

from figlang_tasks import mini
from figlang_tasks.benchmarks.nykms import task
from figlang_tasks.benchmarks.nykms.benchmark import BENCHMARK
from figlang_tasks.benchmarks.nykms.parse import QUESTIONS
from figlang_tasks.benchmarks.nykms.rows import MODALITIES
from figlang_tasks.core.hub import DATA_DIR_VARIABLE, DataError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the shipped benchmark as NYK-MS; beside it the contest dataset, with contest 1 alone."""
    monkeypatch.setenv(DATA_DIR_VARIABLE, str(tmp_path))
    picture = io.BytesIO()
    Image.new("RGB", (8, 8)).save(picture, "PNG")
    contests(tmp_path, picture.getvalue())
    return Path(shutil.copytree(mini.NYKMS_DIR, tmp_path / "NYK-MS"))


def contests(above: Path, picture: bytes) -> None:
    (above / "NewYorkerCaptionContest" / "ranking").mkdir(parents=True, exist_ok=True)
    row = {
        "contest_number": 1,
        "image_description": "A cat.",
        "caption_choices": ["Meow."],
        "image": {"bytes": picture},
    }
    pq.write_table(pa.Table.from_pylist([row]), above / "NewYorkerCaptionContest" / "ranking" / "train-0.parquet")


def run(question: str, modality: str) -> None:
    """Load the documents as a task does, and show the first ones."""
    documents = BENCHMARK.load({"dataset": "NYK-MS", "question": question, "modality": modality}, True)
    for number in range(3):
        assert task.doc_to_messages(documents[number])


REMOVE = object()
Damage = Callable[[Path], object]


def lines(change: Callable[[list[str]], object]) -> Damage:
    def damage(folder: Path) -> None:
        found = (folder / "nyk_m.jsonl").read_text(encoding="utf-8").splitlines()
        change(found)
        (folder / "nyk_m.jsonl").write_text("\n".join(found), encoding="utf-8")

    return damage


def fields(**changed: Any) -> Damage:
    """Another content of line 3, a positive."""

    def change(found: list[str]) -> None:
        row = json.loads(found[2]) | changed
        found[2] = json.dumps({key: value for key, value in row.items() if value is not REMOVE})

    return lines(change)


def line(text: str) -> Damage:
    return lines(lambda found: found.__setitem__(2, text))


def content(data: bytes) -> Damage:
    return lambda folder: (folder / "nyk_m.jsonl").write_bytes(data)


def picture(data: bytes) -> Damage:
    return lambda folder: (folder / "images" / "9003.png").write_bytes(data)


def from_elsewhere(folder: Path) -> None:
    (folder / "images" / "9003.png").unlink()
    (folder / "images" / "9003.png").symlink_to(mini.NYKMS_DIR / "images" / "9003.png")


def taken_from_contest(then: Damage) -> Damage:
    def damage(folder: Path) -> None:
        fields(id="NYK_1_1", contest_number=1, image="", description="")(folder)
        then(folder)

    return damage


def negatives_alone(found: list[str]) -> None:
    found[:] = [each for each in found if json.loads(each)["MC"] == 0]


FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"id": REMOVE}, "id is missing; it must be a text"),
    ({"caption": ["a"]}, "caption is ['a'], must be a text"),
    ({"MC": REMOVE}, "MC is None, must be 0 or 1 (a number)"),
    ({"MC": True}, "MC is True, must be 0 or 1 (a number)"),
    ({"MC": 1.0}, "MC is 1.0, must be 0 or 1 (a number)"),
    ({"MW": ""}, "MC is 1, but MW is ''"),
    ({"MC": 0, "ME": ""}, "MC is 0, but MW is '[I] snail': a positive has one, and a negative none"),
    (
        {"MW": "[X] snail"},
        "MW has the unknown mark [X]; known: [I] object, [I] (the whole image), [S] text. Correct it",
    ),
    ({"MW": "half \udfff"}, "MW contains half a surrogate pair"),
    ({"contest_number": "9003"}, "contest_number is '9003', must be a whole number, e.g. 722"),
    ({"image": "../secret.png"}, "image '../secret.png' points outside of"),
    ({"contest_number": 9004}, "contest_number is 9004, but the id says 9003: correct one"),
    ({"id": "NYK_9001_1", "contest_number": 9001}, "id 'NYK_9001_1' is also that of line 1: ids must be unique"),
]
SHOWN = [
    # of the file
    (content(b""), "nyk_m.jsonl is empty"),
    (content(b"\xff\xfe{}"), "line 1 is not UTF-8"),
    # of a line
    (line("{"), "line 3 is not valid JSON"),
    (line('["id"]'), "line 3 is .*, not a JSON object"),
    *((fields(**change), f"nyk_m.jsonl, line 3.*{re.escape(message)}") for change, message in FIELDS),
    (from_elsewhere, "line 3 .*: image 'images/9003.png' points outside of"),
]
PICTURES = [
    (fields(image="images/gone.png"), "line 3 .*: image 'images/gone.png' does not exist"),
    (fields(image="images/" + "x" * 5000), "line 3 .*: image .* does not exist"),
    (
        picture((mini.NYKMS_DIR / "images" / "9003.png").read_bytes()[:500]),
        "line 3 .*: the image cannot be decoded",
    ),
    (fields(id="x", contest_number=None, image=""), "line 3 .*: image is missing, and without contest_number"),
    (fields(image=""), "line 3 .*has no image of contest 9003"),
    (
        taken_from_contest(lambda folder: contests(folder.parent, b"no picture")),
        "line 3 .*: the image cannot be decoded",
    ),
    (
        taken_from_contest(
            lambda folder: (folder.parent / "NewYorkerCaptionContest/ranking/train-0.parquet").write_bytes(b"")
        ),
        "train-0.parquet cannot be read",
    ),
]
DESCRIPTIONS = [
    (fields(id="x", contest_number=None, description=""), "line 3 .*: description is missing, and without contest_n"),
    (fields(description=""), "line 3 .*has no description of contest 9003"),
]
DAMAGES = [
    *((damage, told, "metaphor", modality) for damage, told in SHOWN for modality in MODALITIES),
    *((damage, told, "metaphor", "image") for damage, told in PICTURES),
    *((damage, told, "metaphor", "text") for damage, told in DESCRIPTIONS),
    (lines(negatives_alone), "no row has the label 1, which the question", "mw", "image"),
]


@pytest.mark.parametrize(
    ("damage", "told", "question", "modality"), DAMAGES, ids=[f"{d[3]}: {d[1]:.60}" for d in DAMAGES]
)
def test_what_a_run_refuses_the_check_finds(
    folder: Path, damage: Damage, told: str, question: str, modality: str
) -> None:
    damage(folder)
    with pytest.raises(DataError, match=told):
        run(question, modality)
    found = report(BENCHMARK)
    assert any(re.search(told, line) for line in found.lines)
    assert found.faults or (damage, told) in DESCRIPTIONS


def test_files_without_faults_run_and_pass(folder: Path) -> None:
    taken_from_contest(lambda folder: None)(folder)
    found = report(BENCHMARK)
    assert (found.faults, found.lines[-1]) == ((), "no faults")
    for question in QUESTIONS:
        for modality in MODALITIES:
            run(question, modality)


def test_a_run_says_how_many_faults_there_are_and_the_check_lists_them(folder: Path) -> None:
    lines(lambda found: found.__setitem__(slice(4, 7), ["{"] * 3))(folder)
    with pytest.raises(DataError, match="line 5 .*a line. 2 more fault.s.: `figlang data check nykms` lists them"):
        run("metaphor", "image")
    found = report(BENCHMARK)
    assert len(found.faults) == 3
    assert [re.findall(r"line (\d+) is not valid", each) for each in found.lines[-4:-1]] == [["5"], ["6"], ["7"]]
