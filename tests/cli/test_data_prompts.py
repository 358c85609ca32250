"""``figlang data prompts``: what a model is asked elsewhere equals what the harness asks it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import done, figlang, refused
from demo_runs import MINI_TASKS, estimates, evaluate, mini_tasks, task_manager
from lmms_eval.api.model import lmms
from lmms_eval.tasks import get_task_dict
from PIL import Image
from rows_with_images import write_valid_columbus

from figlang_tasks.core import images, task_files
from figlang_tasks.results import runs
from figlang_tasks.scoring import flat, full_name

SHIPPED_TASKS = [
    name
    for name, path in task_files.files("lmms_eval").items()
    if path.is_relative_to(task_files.folder("lmms_eval") / "mini")
    and "group" not in task_files.read(path)
]
"""The tasks of the package's own data."""
USER_TASKS = [name for name in MINI_TASKS if name != "mini_sg"]
"""Task files that are named by their path; those of two rounds are refused."""


def written_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def harness_task(name: str) -> Any:
    """The task as lmms-eval builds it for models that take chat turns."""
    return get_task_dict([name], task_manager(mini_tasks()), "chat")[name]


def is_same_picture(picture: Image.Image, file: Path) -> bool:
    """Whether a plain reader shows the pixels of a picture that the harness sends."""
    with Image.open(file) as opened:
        return opened.size == picture.size and opened.convert("RGB").tobytes() == picture.tobytes()


def assert_equal_turns(
    turns: Sequence[Any], expected: Sequence[Any], folder: Path, pictures: Sequence[Any]
) -> None:
    """Assert that turns have the texts and pictures of the harness, and name all pictures again."""
    parts = [(turn["role"], part) for turn in turns for part in turn["content"]]
    expected_parts = [(turn["role"], part) for turn in expected for part in turn["content"]]
    assert len(parts) == len(expected_parts)
    paths = []
    for (role, part), (expected_role, expected_part) in zip(parts, expected_parts, strict=True):
        assert (role, part["type"]) == (expected_role, expected_part["type"])
        if part["type"] == "text":
            assert part == expected_part
        else:
            paths.append(part["image"])
            assert is_same_picture(expected_part["url"], folder / part["image"])
    assert paths == [picture["file"] for picture in pictures]


@pytest.mark.parametrize("task", [*SHIPPED_TASKS, *USER_TASKS])
def test_the_prompt_is_the_one_of_the_harness(task: str, tmp_path: Path) -> None:
    is_named_by_path = task in USER_TASKS
    named = f"{mini_tasks()}/{task}.yaml" if is_named_by_path else task
    done("data", "prompts", "--task", named, "-o", tmp_path / "prompts.jsonl", "--copy-images")
    lines = written_lines(tmp_path / "prompts.jsonl")
    expected = harness_task(task)
    documents = expected.eval_docs
    assert [line["id"] for line in lines] == list(documents["id"])
    for index in range(0, len(lines), len(lines) // 12 or 1):
        document = documents[index]
        line = lines[index]
        assert line["task"] == task
        assert line["prompt"] == expected.doc_to_text(document)
        turns = expected.doc_to_messages(document)
        assert_equal_turns(line["messages"], turns, tmp_path, line["images"])


class _AnswersByLength(lmms):
    """Answers a prompt by the number of its characters."""

    loglikelihood: Any = None
    generate_until_multi_round: Any = None

    def generate_until(self, requests: list[Any]) -> list[str]:
        return [answer_by_length(request.args[0]) for request in requests]


def answer_by_length(prompt: str) -> str:
    """An answer that depends on the text of the prompt alone; one in three cannot be read."""
    labels = ("entailment", "contradiction", "neither of them")
    return f"It has {len(prompt)} characters. LABEL: {labels[len(prompt) % 3]}"


def test_prompts_out_and_answers_in_have_the_values_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The settings of the lines are those that the run has used."""
    monkeypatch.setenv("FIGLANG_SCORER", "off")
    results = evaluate("figlang_mini", _AnswersByLength(), log_samples=True)
    prompts = tmp_path / "prompts.jsonl"
    done("data", "prompts", "--task", "figlang_mini", "-o", prompts)

    answers = tmp_path / "answers.jsonl"
    with answers.open("w") as file:
        for line in written_lines(prompts):
            file.write(json.dumps({**line, "output": answer_by_length(line["prompt"])}) + "\n")
    run = tmp_path / "run"
    done("score", answers, "--task", "figlang_mini", "--scorer", "off", "-o", run)

    reported = runs.read(str(run)).tasks["figlang_mini"].reported
    values = {full_name(metric, scope): value for metric, scope, value in flat(reported)}
    expected_values = estimates(results, "figlang_mini")
    assert values == expected_values
    assert 0 < values["acc"].value < 1
    settings = results["configs"]["figlang_mini"]["generation_kwargs"]
    assert [line["generation_kwargs"] for line in written_lines(prompts)] == [settings] * 76


@pytest.fixture
def user_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """V-FLUTE's example rows of the user, whose pictures are files; their folder."""
    done("data", "template", "vflute", "--output", tmp_path / "data")
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data" / "V-FLUTE"


def test_pictures_that_are_files_are_named_where_they_are(user_rows: Path, tmp_path: Path) -> None:
    output = tmp_path / "out" / "prompts.jsonl"
    result = figlang("data", "prompts", "--task", "vflute", "-o", output)
    pictures = [picture for line in written_lines(output) for picture in line["images"]]
    assert [picture["origin"] for picture in pictures] == ["file"] * len(pictures)
    assert {Path(picture["file"]) for picture in pictures} == set((user_rows / "images").iterdir())
    assert [path.name for path in output.parent.iterdir()] == ["prompts.jsonl"]
    assert "V-FLUTE is gated on the hub: the prompts hold its texts" in result.stderr
    assert "have no path" not in result.stdout


@pytest.mark.parametrize(
    ("task", "origin", "message"),
    [
        ("figlang_mini", "data", "76 are read as bytes out of the data"),
        ("figlang_mini_irfl_detect_idiom_grid", "drawn", "12 are drawn by the task"),
    ],
)
def test_pictures_without_a_file_are_null(
    task: str, origin: str, message: str, tmp_path: Path
) -> None:
    output = done("data", "prompts", "--task", task, "-o", tmp_path / "prompts.jsonl")
    assert message in output
    assert f"--copy-images writes all pictures into {tmp_path / 'prompts_images'}" in output
    for line in written_lines(tmp_path / "prompts.jsonl"):
        assert line["images"] == [{"row": line["id"], "file": None, "origin": origin}]
        assert line["messages"][0]["content"][0] == {"type": "image", "image": None}
    assert [path.name for path in tmp_path.iterdir()] == ["prompts.jsonl"]


def test_pictures_of_an_unpacked_release_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """COLUMBUS's documents have bytes, which the loader has read from files."""
    release = write_valid_columbus(tmp_path / "data")
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path / "data"))
    done("data", "prompts", "--task", "columbus", "-o", tmp_path / "prompts.jsonl")
    lines = written_lines(tmp_path / "prompts.jsonl")
    folder = release / "results" / "benchmark" / "images"
    assert len(lines) == 1005
    for line in lines:
        file = str(folder / f"{line['id']}.png")
        assert line["images"] == [{"row": line["id"], "file": file, "origin": "file"}]
        assert Path(file).is_file()


def test_a_white_square_is_drawn(user_rows: Path, tmp_path: Path) -> None:
    """The pictures of the rows are not copied: the model must not see them."""
    prompts = tmp_path / "prompts.jsonl"
    done("data", "prompts", "--task", "vflute_blind", "-o", prompts, "--copy-images")
    (copy,) = (tmp_path / "prompts_images").iterdir()
    with Image.open(copy) as picture:
        assert picture.getcolors() == [(336 * 336, (255, 255, 255))]
    files = [picture["file"] for line in written_lines(prompts) for picture in line["images"]]
    assert set(files) == {f"prompts_images/{copy.name}"}


def changed_pictures() -> dict[str, bytes]:
    """Pictures by suffix: two that plain readers show as they are, and three that they do not."""
    colours = Image.radial_gradient("L").resize((40, 24)).convert("RGB")
    turned = Image.Exif()
    turned[0x0112] = 6
    transparent = colours.copy()
    transparent.putalpha(100)
    contents: dict[str, bytes] = {}
    for name, picture, form, options in (
        ("plain.png", colours, "PNG", {}),
        ("plain.jpg", colours, "JPEG", {}),
        ("turned.jpg", colours, "JPEG", {"exif": turned}),
        ("transparent.png", transparent, "PNG", {}),
        ("animation.gif", colours, "GIF", {}),
    ):
        stream = io.BytesIO()
        picture.save(stream, form, **options)
        contents[name] = stream.getvalue()
    return contents


def test_copies_show_every_reader_what_a_run_shows(tmp_path: Path) -> None:
    """PNG and JPEG stay as they are, byte for byte, unless a plain reader shows them otherwise."""
    for name, content in changed_pictures().items():
        picture = images.decode({"bytes": content}, name)
        copy, suffix = images.encode(picture)
        (tmp_path / f"copy{suffix}").write_bytes(copy)
        assert is_same_picture(picture, tmp_path / f"copy{suffix}")
        assert (copy == content) == name.startswith("plain")
        assert suffix == (".jpg" if name == "plain.jpg" else ".png")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--task", "figlang_mini_flute", "-o", "old.jsonl"), "old.jsonl exists already"),
        (("--task", "figlang_mini", "-o", "new.jsonl", "--copy-images"), "new_images exists"),
        (("--task", "vflut", "-o", "new.jsonl"), "no task 'vflut' (did you mean `vflute`"),
        (("--task", "figlang_mini_irfl", "-o", "new.jsonl"), "is a group of tasks: name one"),
        (("--task", "vflute_sg", "-o", "new.jsonl"), "vflute_sg asks a model twice"),
        (("--task", "wrong.yaml", "-o", "new.jsonl"), "wrong: "),
        (("--task", "metaclue_caption", "-o", "new.jsonl"), "FIGLANG_DATA_DIR"),
    ],
)
def test_a_refusal_writes_nothing(
    options: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FIGLANG_DATA_DIR", raising=False)
    Path("old.jsonl").write_text("old\n")
    Path("new_images").mkdir()
    Path("new_images/mine.png").write_bytes(b"mine")
    vflute = task_files.files("lmms_eval")["figlang_mini"]
    unknown_option = {
        "include": str(vflute),
        "task": "wrong",
        "lmms_eval_specific_kwargs": {"a": 1},
    }
    Path("wrong.yaml").write_text(json.dumps(unknown_option))
    before = sorted(tmp_path.rglob("*"))
    assert message in refused("data", "prompts", *options)
    assert sorted(tmp_path.rglob("*")) == before
    assert Path("old.jsonl").read_text() == "old\n"


def test_a_damaged_picture_leaves_nothing(user_rows: Path, tmp_path: Path) -> None:
    """No line of the rows before it, and no folder."""
    last_picture = max((user_rows / "images").iterdir())
    last_picture.write_bytes(last_picture.read_bytes()[:100])
    output = tmp_path / "out" / "prompts.jsonl"
    message = refused("data", "prompts", "--task", "vflute", "-o", output, "--copy-images")
    assert f"Replace {last_picture}" in message
    assert not output.parent.exists()


def test_no_harness_and_no_torch_are_imported(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from figlang_tasks.cli.figlang import app\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
        "print({'torch', 'lmms_eval', 'lm_eval'} & set(sys.modules))\n"
    )
    arguments = ["data", "prompts", "--task", "figlang_mini", "-o", str(tmp_path / "prompts.jsonl")]
    command = [sys.executable, "-c", code, *arguments]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[-1] == "set()"
