"""Every command in the documents is parsed by its program, and some documents are run.

The commands of README and of the quick start run in the long tests; CI runs `make demo`.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import lm_eval._cli
import lmms_eval.__main__
import lmms_eval.models
import published_runs as published
import pytest
import typer
import typer.main
from documents import DOCUMENTS, PROGRAMS, ROOT, blocks, prose, shell
from flute_rows import write_vflute_repo

from figlang_tasks import models
from figlang_tasks.cli.figlang import app
from figlang_tasks.cli.tasks import definitions
from figlang_tasks.mini import DEMO_MODEL_DIR

# tasks and a model class of examples/, and the benchmark of docs/own_benchmark.md
EXAMPLES = {"emblems", "proverbs", "columbus_released", "my_vlm"}
# a placeholder, and classes whose packages are not installed here
NAMES = {"NAME", "vllm", "sglang"}

CHANGES = [
    # what is written, what is run instead, why
    (r"(?<=pretrained=)(Qwen|llava-hf)/[\w.-]+", str(DEMO_MODEL_DIR), "a model of 15 GB"),
    (r"^(figlang doctor)\b(.*)", r"\1 --offline\2 || test $? = 1", "tells what the machine lacks"),
    (r"^(lmms_eval (?!.*--limit).*)", r"\1 --limit 2 --gen_kwargs max_new_tokens=8", "time"),
]
"""What is changed in such a line before it is run."""


MAKE_DEMO = (
    f"lmms_eval --tasks figlang_mini --model figlang_vlm --model_args pretrained={DEMO_MODEL_DIR}"
    " --device cpu --batch_size 8 --gen_kwargs max_new_tokens=8,num_beams=1 --log_samples"
    " --output_path results/demo"
)
"""What leaves the files that `make demo` does; it stands in a block of the installation, and later
lines need the answers to all rows.
"""


class Line(NamedTuple):
    """A command with all its continuation lines, as it is typed."""

    document: str
    text: str

    @property
    def words(self) -> list[str]:
        """The words of the command, without variables before it and redirections behind it."""
        words = shlex.split(self.text, comments=True)
        while words and re.match(r"[A-Z_]+=", words[0]):
            words.pop(0)
        if ">" in words:
            return words[: words.index(">")]
        return words


def scripts(path: Path) -> Iterator[list[Line]]:
    """The lines of each block of commands, comments among them."""
    for block in blocks(path.read_text(encoding="utf-8")):
        if block.language == "sh":
            texts = re.sub(r"\\\n\s*", "", block.text).splitlines()
            yield [Line(path.name, text) for text in texts if text.strip()]


def commands(path: Path) -> list[Line]:
    """The commands of a document: in blocks, and within its prose, e.g. ``figlang data check``."""
    lines: list[Line] = []
    for script in scripts(path):
        lines += [line for line in script if line.words]
    text = prose(path.read_text(encoding="utf-8"))
    for command in re.findall(rf"`((?:[A-Z_]+=\S+ )*(?:{'|'.join(PROGRAMS)}) [^`]+)`", text):
        lines.append(Line(path.name, " ".join(command.split())))
    return lines


@cache
def model_classes() -> set[str]:
    """Names that may stand behind ``--model``."""
    our_names = {manifest.model_id for manifest in models.manifests()}
    names_in_harness = lmms_eval.models.list_available_models(include_aliases=True)
    return {*our_names, *names_in_harness, *EXAMPLES, *NAMES}


@cache
def figlang_command() -> Any:
    """The command ``figlang``, of which making all verbs takes a tenth of a second."""
    return typer.main.get_command(app)


def parse_figlang(words: list[str]) -> None:
    """Parse the words behind ``figlang`` as the commands and options that they are."""
    command = figlang_command()
    context = None
    while hasattr(command, "list_commands"):
        context = typer.Context(command, parent=context)
        if not words or words[0].startswith("-"):
            break
        assert words[0] in command.list_commands(context), f"figlang has no {words[0]}"
        _, command, words = command.resolve_command(context, words)
    command.make_parser(typer.Context(command, parent=context)).parse_args(list(words))


def parse(line: Line) -> None:
    """Parse a command as its program would."""
    program, *words = line.words
    words = [word for word in words if word != "..."]
    if program == "figlang":
        parse_figlang(words)
    elif program == "lmms_eval" and words[:1] not in (["tasks"], ["models"], ["eval"]):
        with patch("sys.argv", ["lmms_eval", *words]):
            _, options = lmms_eval.__main__.parse_eval_args()
        assert options.model in model_classes(), f"no model class {options.model}"
        check_names(options.tasks, program)
    elif program == "lm_eval":
        with patch("sys.argv", ["lm_eval", "run", *words]):
            tasks = lm_eval._cli.HarnessCLI().parse_args().tasks
        if isinstance(tasks, list):
            tasks = ",".join(tasks)
        check_names(tasks, program)
    elif program == "make":
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        assert {word for word in words if "=" not in word} - {"-c"} <= targets
    elif program == "python" and words[0] == "-m" and words[1].startswith("figlang_tasks"):
        assert importlib.util.find_spec(words[1]) is not None


def check_names(tasks: str | None, harness: str) -> None:
    """Check that a harness has the tasks of ``--tasks``; None stands for none.

    Names with an ellipsis stand for several tasks, and are not checked.
    """
    known = {*EXAMPLES, "TASK", "list"}
    for name, definition in definitions().items():
        if harness in definition.harnesses:
            known.add(name)
    unknown: set[str] = set()
    for name in (tasks or "").split(","):
        if name and "..." not in name and name not in known:
            unknown.add(name)
    assert not unknown, f"{harness} has no task {unknown}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=attrgetter("name"))
def test_every_command_is_parsed(path: Path) -> None:
    for line in commands(path):
        try:
            parse(line)
        except (Exception, SystemExit) as error:
            raise AssertionError(f"{line.document}: {line.text}\n{error!r}") from error
    assert set(re.findall(r"`--model (\w+)", path.read_text(encoding="utf-8"))) <= model_classes()


def prepared(text: str) -> str:
    """The command that is run in place of a line of a document."""
    if text == "make demo":
        return MAKE_DEMO
    if text.startswith("make "):
        return ": it sets up an environment, for minutes: .ci/run runs these targets"
    for pattern, instead, _ in CHANGES:
        text = re.sub(pattern, instead, re.sub(r"\s+#\s.*$", "", text))
    return text


def test_the_clone_line_works_as_it_is_pasted(tmp_path: Path) -> None:
    """Also if the user has not set the variable that it needs: then it says so."""
    clone = next(line.text for line in commands(ROOT / "README.md") if "git clone" in line.text)
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", "--bare", repository], check=True)
    environment = {**os.environ, "REPOSITORY": str(repository)}
    command = ["bash", "-c", f"{clone} && pwd"]
    cloned = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert cloned.stdout == f"{tmp_path}/figlang_tasks\n", cloned.stderr
    del environment["REPOSITORY"]
    refused = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "REPOSITORY: set it to the address of figlang_tasks" in refused.stderr


@pytest.mark.long
@pytest.mark.parametrize("name", ["README.md", "docs/quickstart.md"])
def test_every_command_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In their order, in one shell; a line that the document repeats runs once."""
    write_vflute_repo(tmp_path / "data" / "V-FLUTE", {"test": published.rows()}, image_size=8)
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("FIGLANG_SCORER", "embedded")
    lines: dict[str, None] = {}  # a set that keeps its order
    for script in scripts(ROOT / name):
        is_installation = any("activate" in line.text for line in script)
        for line in script:
            # .ci/run makes the installation; of its lines the demo alone is run here.
            if line.text == "make demo" or not is_installation:
                lines[prepared(line.text)] = None
    shell(tmp_path, "set -x\n" + "\n".join(lines), ROOT)
