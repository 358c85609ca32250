"""Data for fine-tuning: the prompts of the evaluation, answers that its parsers read back, and no
row of the test.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import flute_rows as synthetic
import pytest
from datasets import load_dataset
from typer.testing import CliRunner

from figlang_tasks import finetuning
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


def export(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["data", "export", *map(str, arguments)])
    return done.exit_code, done.stderr + done.stdout


def written(form: str, folder: Path) -> dict[str, tuple[str, str, list[Path]]]:
    """Prompt, answer and pictures of each row, by its id."""
    found = {}
    if form == "messages":
        file = next(
            path for name in ("metadata.jsonl", "data.jsonl") if (path := folder / name).is_file()
        )
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            (asked, said), names = (
                (turn["content"] for turn in row["messages"]),
                row.get("file_names", []),
            )
            if names:
                assert [part["type"] for part in asked] == ["image"] * len(names) + ["text"]
                asked, said = asked[-1]["text"], said[0]["text"]
            found[row["id"]] = asked, said, names
    else:
        rows = json.loads((folder / "data.json").read_text(encoding="utf-8"))
        columns = {"messages": "conversations"} | (
            {"images": "images"} if rows[0].get("images") else {}
        )
        info = {"figlang": {"file_name": "data.json", "formatting": "sharegpt", "columns": columns}}
        assert json.loads((folder / "dataset_info.json").read_text(encoding="utf-8")) == info
        for row in rows:
            names = row.get("images", [])
            asked, said = row["conversations"]
            assert (asked["from"], said["from"]) == ("human", "gpt")
            sign = "<image>\n" * len(names)
            assert asked["value"].startswith(sign)
            found[row["id"]] = asked["value"][len(sign) :], said["value"], names
    return {
        name: (asked, said, [folder / each for each in names])
        for name, (asked, said, names) in found.items()
    }


def documents(dataset_name: str) -> Any:
    """The documents of a task with this ``dataset_name``."""
    benchmark, request = parse_request(dataset_name)
    return benchmark.documents(request, check_images=True)


def check(
    task: Any,
    options: Mapping[str, Any],
    docs: Any,
    rows: Mapping[str, tuple[str, str, list[Path]]],
    name: str,
) -> list[dict[str, Any]]:
    """Compare rows with what the harness asks of these documents; return what is read from the
    answers.
    """
    from PIL import Image

    records = []
    for doc in docs:
        asked, said, pictures = rows[f"{name}/{doc['id']}"]
        assert (asked, said) == (task.doc_to_text(doc, options), task.doc_to_target(doc))
        shown = task.doc_to_visual(doc, options)
        assert [Image.open(path).tobytes() for path in pictures] == [
            picture.tobytes() for picture in shown
        ]
        records.append(process_results(doc, [said])["sample"])
    return records


def test_a_task_file_without_doc_to_messages_shows_the_pictures_and_then_the_text(
    tmp_path: Path,
) -> None:
    (config,) = members("figlang_mini")
    with_turns = TrainingTask(config)
    without_turns = TrainingTask(
        {key: value for key, value in config.items() if key != "doc_to_messages"}
    )
    doc = documents(config["dataset_name"])[0]
    (tmp_path / "images").mkdir()
    assert without_turns.example(doc, tmp_path) == with_turns.example(doc, tmp_path)


@pytest.fixture
def nykms_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One row that is evaluated of each file, and a folder ``other`` with all rows of the shipped
    ones.
    """
    shutil.copytree(NYKMS_DIR, tmp_path / "other" / "NYK-MS")
    shutil.copytree(NYKMS_DIR, tmp_path / "NYK-MS")
    for name in ("nyk_m.jsonl", "nyk_s.jsonl"):
        lines = (NYKMS_DIR / name).read_text(encoding="utf-8").splitlines(keepends=True)
        (tmp_path / "NYK-MS" / name).write_text(lines[0], encoding="utf-8")
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    return tmp_path / "other"


def test_rows_of_vflute(tmp_path: Path) -> None:
    """The files as TRL loads them."""
    status, said = export("figlang_mini", "--format", "messages", "--output", tmp_path)
    assert status == 0 and said.endswith(
        f"{tmp_path / 'train'}: 26 rows of train, with the prompt of figlang_mini\n"
    )
    docs = documents("figlang_mini,split=train")
    records = check(vflute, {}, docs, written("messages", tmp_path / "train"), "figlang_mini")
    assert [(r["status"], r["predicted"], r["explanation"]) for r in records] == [
        ("read", vflute_rows.LABELS[doc["label"]], doc["explanation"]) for doc in docs
    ]
    rows = load_dataset(str(tmp_path), split="train", cache_dir=str(tmp_path / "cache"))
    assert rows.column_names == ["id", "messages", "images"] and len(rows) == 26
    assert rows[3]["images"][0].tobytes() == vflute.doc_to_visual(docs[3])[0].tobytes()


@pytest.mark.parametrize(
    ("form", "modality"), [("sharegpt", "image"), ("sharegpt", "text"), ("messages", "text")]
)
def test_rows_of_nykms(form: str, modality: str, nykms_folders: Path, tmp_path: Path) -> None:
    """The files of ShareGPT as LLaMA-Factory loads them."""
    ending, rows = ("", "NYK-MS") if modality == "image" else ("_text", "")
    out = tmp_path / "out"
    given = ("--rows", nykms_folders / rows, "--split", "validation")
    status, said = export(f"nykms{ending}", "--format", form, "--output", out, *given)
    assert status == 0, said
    found = written(form, out / "validation")
    evaluated = {
        name: [row for row in found if row.startswith(f"nykms_{name}{ending}/")]
        for name in ("mc", "sarcasm")
    }
    # The others share a cartoon or a caption
    assert all(7 < len(rows) < 12 for rows in evaluated.values())
    assert f"rows that nykms{ending} evaluates" in said
    with reading("NYK-MS", nykms_folders):
        for question in QUESTIONS:
            name = f"nykms_{question}{ending}"
            loaded = documents(f"NYK-MS,question={question},modality={modality}")
            docs = [doc for doc in loaded if f"{name}/{doc['id']}" in found]
            for record in check(nykms, {}, docs, found, name):
                assert record["status"] == "read"
                assert all(score["em"] == 1 for score in record["words"].values() if "em" in score)
                assert all(score["bleu4"] == pytest.approx(1) for score in record["words"].values())


def own_rows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of our own; the ids of those of the training say what they have of the one row that is
    evaluated.
    """
    from PIL import Image

    (folder / "V-FLUTE" / "images").mkdir(parents=True)
    for number, name in enumerate(("tested", "copy", "new")):
        image = Image.new("RGB", (8, 8) if number < 2 else (4, 16))
        # Another file of one picture
        image.save(folder / "V-FLUTE" / "images" / f"{name}.png", dpi=(72 + number, 72))
    reason = "It shows that."
    train = [
        ("nothing", "new", "It is late.", reason),
        ("claim", "new", "the  SUN is a lamp.", reason),
        ("picture", "copy", "The moon is a lamp.", reason),
        ("both", "copy", "The sun is a lamp.", reason),
        ("misread", "new", "It is early.", "LABEL: contradiction is not what it is."),
    ]
    for split, found in (
        ("train", train),
        ("test", [("test", "tested", "The sun is a lamp.", reason)]),
    ):
        rows = [
            {
                "id": name,
                "image": f"images/{image}.png",
                "claim": claim,
                "label": "entailment",
                "explanation": text,
            }
            for name, image, claim, text in found
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "V-FLUTE" / f"{split}.jsonl").write_text(text, encoding="utf-8")
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(folder))


UNFIT = ["1 (vflute/misread)"]


@pytest.mark.parametrize(
    ("option", "kept", "left_out"),
    [
        ([], {"nothing"}, ["3 (vflute/claim, vflute/picture, vflute/both)", *UNFIT]),
        (["--keep-shared"], {"nothing", "claim", "picture"}, ["1 (vflute/both)", *UNFIT]),
    ],
)
def test_what_is_left_out(
    option: list[str],
    kept: set[str],
    left_out: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own_rows(tmp_path, monkeypatch)
    status, said = export("vflute", "--format", "sharegpt", "--output", tmp_path / "out", *option)
    assert status == 0
    assert set(written("sharegpt", tmp_path / "out" / "train")) == {
        f"vflute/{name}" for name in kept
    }
    pictures = list((tmp_path / "out" / "train" / "images").iterdir())
    # One file for each picture
    assert len(pictures) == len(kept & {"nothing"}) + len(kept & {"picture"})
    lines = [line for line in said.splitlines() if line.startswith("left out")]
    assert [line.rpartition(": ")[2] for line in lines] == left_out


@pytest.mark.parametrize(
    ("name", "label", "taught"),
    [
        ("flute", "Entailment", False),
        ("flute_v1", "Entailment", True),  # the answer is "No." with or without one
        ("flute_v1", "Contradiction", False),
    ],
)
def test_a_row_without_the_explanation_that_the_answer_holds(
    name: str, label: str, taught: bool
) -> None:
    (config,) = finetuning.members(name)
    task = finetuning.TrainingTask(config)
    rows = documents(f"figlang_mini_flute,part=train,prompt={'v1' if name == 'flute_v1' else 'v2'}")
    doc = next(doc for doc in rows if doc["label"] == label)
    fault = "" if taught else "have no explanation, which the answer must hold"
    assert task.fault({**doc, "explanation": " "}) == fault


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
def test_what_cannot_be_exported(
    arguments: str,
    message: str,
    nykms_folders: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own_rows(tmp_path, monkeypatch)
    if arguments.startswith("flute --"):
        synthetic.write_lines(tmp_path / "FLUTE" / "train.jsonl", synthetic.released_shape())
    (tmp_path / "there" / "train").mkdir(parents=True)
    given = arguments.format(other=nykms_folders, there=tmp_path / "there").split()
    status, said = export(*given, "--format", "messages", "--output", tmp_path / "o")
    assert status == 1 and message in " ".join(said.split()), said
    assert not list(tmp_path.glob("o/*"))
