"""If these fail, a model is trained on rows of the test, or on prompts that are not ours."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flute_rows
import pytest
from datasets import load_dataset
from typer.testing import CliRunner

from figlang_tasks.benchmarks.nykms import tasks as nykms
from figlang_tasks.benchmarks.nykms.parse import QUESTIONS
from figlang_tasks.benchmarks.vflute import rows as vflute_rows
from figlang_tasks.benchmarks.vflute import tasks as vflute
from figlang_tasks.cli.figlang import app
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import parse_request
from figlang_tasks.finetuning import TrainingTask, members, reading
from figlang_tasks.mini import NYKMS_DIR
from figlang_tasks.scoring import process_results


@dataclass(frozen=True)
class WrittenRow:
    """A row of an exported file: its prompt without the signs of pictures, answer and pictures."""

    prompt: str
    answer: str
    pictures: Sequence[Path]


def export(*arguments: object) -> tuple[int, str]:
    """Run ``figlang data export``; return its exit status and all that it printed."""
    process = CliRunner().invoke(app, ["data", "export", *map(str, arguments)])
    return process.exit_code, process.stderr + process.stdout


def read_written(form: str, folder: Path) -> dict[str, WrittenRow]:
    """The rows of exported files by id; the form is checked on the way."""
    return read_messages(folder) if form == "messages" else read_sharegpt(folder)


def read_messages(folder: Path) -> dict[str, WrittenRow]:
    path = folder / "metadata.jsonl"
    if not path.is_file():  # there are no pictures
        path = folder / "data.jsonl"
    written_rows: dict[str, WrittenRow] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        prompt, answer = (turn["content"] for turn in row["messages"])
        file_names = row.get("file_names", [])
        if file_names:
            assert [part["type"] for part in prompt] == ["image"] * len(file_names) + ["text"]
            prompt = prompt[-1]["text"]
            answer = answer[0]["text"]
        pictures = [folder / file_name for file_name in file_names]
        written_rows[row["id"]] = WrittenRow(prompt, answer, pictures)
    return written_rows


def read_sharegpt(folder: Path) -> dict[str, WrittenRow]:
    rows = json.loads((folder / "data.json").read_text(encoding="utf-8"))
    columns = {"messages": "conversations"}
    if rows[0].get("images"):
        columns["images"] = "images"
    info = {"figlang": {"file_name": "data.json", "formatting": "sharegpt", "columns": columns}}
    assert json.loads((folder / "dataset_info.json").read_text(encoding="utf-8")) == info
    written_rows: dict[str, WrittenRow] = {}
    for row in rows:
        file_names = row.get("images", [])
        question, reply = row["conversations"]
        assert (question["from"], reply["from"]) == ("human", "gpt")
        signs = "<image>\n" * len(file_names)
        assert question["value"].startswith(signs)
        pictures = [folder / file_name for file_name in file_names]
        prompt = question["value"].removeprefix(signs)
        written_rows[row["id"]] = WrittenRow(prompt, reply["value"], pictures)
    return written_rows


def documents(dataset_name: str) -> Any:
    """The documents of a task with this ``dataset_name``."""
    benchmark, request = parse_request(dataset_name)
    return benchmark.documents(request, check_images=True)


def assert_prompts_are_those_of_the_evaluation(
    task: Any, docs: Any, rows: Mapping[str, WrittenRow], name: str
) -> list[dict[str, Any]]:
    """Compare written rows with what the harness asks; return the records of their answers.

    Args:
        task: the module with the functions of the task file.
        docs: the documents of the rows.
        rows: the written rows by id.
        name: the name of the task.
    """
    from PIL import Image

    records = []
    for doc in docs:
        row = rows[f"{name}/{doc['id']}"]
        assert row.prompt == task.doc_to_text(doc, {})
        assert row.answer == task.doc_to_target(doc)
        written_pixels = [Image.open(path).tobytes() for path in row.pictures]
        assert written_pixels == [image.tobytes() for image in task.doc_to_visual(doc, {})]
        records.append(process_results(doc, [row.answer])["sample"])
    return records


def test_a_task_file_without_doc_to_messages_shows_the_pictures_and_then_the_text(
    tmp_path: Path,
) -> None:
    (config,) = members("figlang_mini")
    config_without_turns = {key: value for key, value in config.items() if key != "doc_to_messages"}
    doc = documents(config["dataset_name"])[0]
    (tmp_path / "images").mkdir()
    example = TrainingTask(config).example(doc, tmp_path)
    assert TrainingTask(config_without_turns).example(doc, tmp_path) == example


@pytest.fixture
def nykms_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder ``other`` with all shipped rows; the evaluation reads one row of each file.

    Returns:
        The folder ``other``.
    """
    shutil.copytree(NYKMS_DIR, tmp_path / "other" / "NYK-MS")
    shutil.copytree(NYKMS_DIR, tmp_path / "NYK-MS")
    for name in ("nyk_m.jsonl", "nyk_s.jsonl"):
        lines = (NYKMS_DIR / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (tmp_path / "NYK-MS" / name).write_text(lines[0], encoding="utf-8")
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    return tmp_path / "other"


def test_rows_of_vflute_have_the_prompts_and_answers_of_the_evaluation(tmp_path: Path) -> None:
    status, output = export("figlang_mini", "--format", "messages", "--output", tmp_path)
    assert status == 0
    assert output.endswith(
        f"{tmp_path / 'train'}: 26 rows of train, with the prompt of figlang_mini\n"
    )
    docs = documents("figlang_mini,split=train")
    rows = read_written("messages", tmp_path / "train")
    records = assert_prompts_are_those_of_the_evaluation(vflute, docs, rows, "figlang_mini")
    for doc, record in zip(docs, records, strict=True):
        assert record["status"] == "read"
        assert record["predicted"] == vflute_rows.LABELS[doc["label"]]
        assert record["explanation"] == doc["explanation"]


def test_trl_loads_the_rows_with_their_pictures(tmp_path: Path) -> None:
    status, _ = export("figlang_mini", "--format", "messages", "--output", tmp_path)
    assert status == 0
    rows = load_dataset(str(tmp_path), split="train", cache_dir=str(tmp_path / "cache"))
    assert rows.column_names == ["id", "messages", "images"] and len(rows) == 26
    doc = documents("figlang_mini,split=train")[3]
    assert rows[3]["images"][0].tobytes() == vflute.doc_to_visual(doc)[0].tobytes()


@pytest.mark.parametrize(
    ("form", "modality"), [("sharegpt", "image"), ("sharegpt", "text"), ("messages", "text")]
)
def test_rows_of_nykms_have_the_prompts_and_answers_of_the_evaluation(
    form: str, modality: str, nykms_folders: Path, tmp_path: Path
) -> None:
    ending = "" if modality == "image" else "_text"
    # Users name the folder of the dataset, or the one above it.
    rows_from = nykms_folders / "NYK-MS" if modality == "image" else nykms_folders
    output_folder = tmp_path / "out"
    options = ("--format", form, "--rows", rows_from, "--split", "validation")
    status, output = export(f"nykms{ending}", "--output", output_folder, *options)
    assert status == 0, output
    rows = read_written(form, output_folder / "validation")
    for name in ("mc", "sarcasm"):
        count = sum(row.startswith(f"nykms_{name}{ending}/") for row in rows)
        # The others share a cartoon or a caption with the evaluated row.
        assert 7 < count < 12
    assert f"rows that nykms{ending} evaluates" in output
    with reading("NYK-MS", nykms_folders):
        for question in QUESTIONS:
            name = f"nykms_{question}{ending}"
            docs = []
            for doc in documents(f"NYK-MS,question={question},modality={modality}"):
                if f"{name}/{doc['id']}" in rows:
                    docs.append(doc)
            for record in assert_prompts_are_those_of_the_evaluation(nykms, docs, rows, name):
                assert record["status"] == "read"
                for score in record["words"].values():
                    assert score.get("em", 1) == 1
                    assert score["bleu4"] == pytest.approx(1)


REASON = "It shows that."
TRAINING_ROWS = [
    # id, picture, claim, explanation; the id says what the row shares with the one evaluated row
    ("nothing", "new", "It is late.", REASON),
    ("claim", "new", "the  SUN is a lamp.", REASON),
    ("picture", "copy", "The moon is a lamp.", REASON),
    ("both", "copy", "The sun is a lamp.", REASON),
    ("misread", "new", "It is early.", "LABEL: contradiction is not what it is."),
]
EVALUATED_ROWS = [("test", "tested", "The sun is a lamp.", REASON)]


def write_vflute_rows(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write `TRAINING_ROWS` and `EVALUATED_ROWS` as V-FLUTE of the user's data folder."""
    from PIL import Image

    folder = data_dir / "V-FLUTE"
    (folder / "images").mkdir(parents=True)
    for name, size in (("tested", (8, 8)), ("copy", (8, 8)), ("new", (4, 16))):
        # `copy` shows what `tested` shows, but is another file.
        dots_per_inch = 73 if name == "copy" else 72
        picture = Image.new("RGB", size)
        picture.save(folder / "images" / f"{name}.png", dpi=(dots_per_inch, 72))
    for split, rows in (("train", TRAINING_ROWS), ("test", EVALUATED_ROWS)):
        lines: list[str] = []
        for row_id, picture_name, claim, explanation in rows:
            row = {
                "id": row_id,
                "image": f"images/{picture_name}.png",
                "claim": claim,
                "label": "entailment",
                "explanation": explanation,
            }
            lines.append(json.dumps(row) + "\n")
        (folder / f"{split}.jsonl").write_text("".join(lines), encoding="utf-8")
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(data_dir))


MISREAD = "1 (vflute/misread)"


@pytest.mark.parametrize(
    ("options", "expected_ids", "expected_left_out", "picture_count"),
    [
        ([], {"nothing"}, ["3 (vflute/claim, vflute/picture, vflute/both)", MISREAD], 1),
        # The rows `nothing` and `claim` have one picture.
        (["--keep-shared"], {"nothing", "claim", "picture"}, ["1 (vflute/both)", MISREAD], 2),
    ],
)
def test_rows_that_share_something_with_the_evaluation_are_left_out(
    options: list[str],
    expected_ids: set[str],
    expected_left_out: list[str],
    picture_count: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_vflute_rows(tmp_path, monkeypatch)
    folder = tmp_path / "out" / "train"
    status, output = export("vflute", "--format", "sharegpt", "--output", folder.parent, *options)
    assert status == 0
    assert set(read_written("sharegpt", folder)) == {f"vflute/{row}" for row in expected_ids}
    assert len(list((folder / "images").iterdir())) == picture_count
    lines = [line for line in output.splitlines() if line.startswith("left out")]
    assert [line.rpartition(": ")[2] for line in lines] == expected_left_out


@pytest.mark.parametrize(
    ("name", "label", "can_be_taught"),
    [
        ("flute", "Entailment", False),
        ("flute_v1", "Entailment", True),  # the answer is "No." with or without one
        ("flute_v1", "Contradiction", False),
    ],
)
def test_a_row_lacks_an_explanation_only_if_its_answer_must_hold_one(
    name: str, label: str, can_be_taught: bool
) -> None:
    (config,) = members(name)
    prompt_version = "v1" if name == "flute_v1" else "v2"
    rows = documents(f"figlang_mini_flute,part=train,prompt={prompt_version}")
    doc = next(doc for doc in rows if doc["label"] == label)
    fault = "" if can_be_taught else "have no explanation, which the answer must hold"
    assert TrainingTask(config).fault({**doc, "explanation": " "}) == fault


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("irfl", "irfl has no rows for training"),
        (
            "irfl_detect_idiom",
            "irfl has no rows for training; there are those of flute, nykms, vflute",
        ),
        (
            "vflute --rows {there}/..",
            "vflute: V-FLUTE has training rows of its own: leave --rows out",
        ),
        ("vflutes", "there is no task vflutes: `figlang tasks '*'` lists all"),
        (
            "flute --split validation",
            "FLUTE has no rows for validation, apart from those that the task evaluates",
        ),
        ("nykms", "name a data folder with others, for example --rows my_train"),
        ("nykms_sc --rows {other}/.. --keep-shared", "no row of train is left: 1 share a picture"),
        ("vflute_5shot", "vflute_5shot shows examples before its question"),
        ("vflute_sg", "vflute_sg asks in several steps"),
    ],
)
def test_an_export_that_is_impossible_is_told_in_one_message(
    arguments: str,
    message: str,
    nykms_folders: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_vflute_rows(tmp_path, monkeypatch)
    if arguments.startswith("flute --"):
        flute_rows.write_lines(tmp_path / "FLUTE" / "train.jsonl", flute_rows.invented_flute_rows())
    (tmp_path / "there" / "train").mkdir(parents=True)
    command = arguments.format(other=nykms_folders, there=tmp_path / "there").split()
    status, output = export(*command, "--format", "messages", "--output", tmp_path / "o")
    assert status == 1 and message in " ".join(output.split()), output
    assert not list(tmp_path.glob("o/*"))
