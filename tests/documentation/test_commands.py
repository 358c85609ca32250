"""Every command in the documents is parsed by its program, and some documents are run.

The commands of README and of the quick start run in the long tests; CI runs `make demo`.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Iterator
from functools import cache
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

# tasks and a model class of examples/, and the name of its copy in CONTRIBUTING.md
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
    f"lmms_eval --tasks figlang_mini --model llava_hf --model_args pretrained={DEMO_MODEL_DIR}"
    " --device cpu --batch_size 1 --gen_kwargs max_new_tokens=8,num_beams=1 --log_samples"
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
        """Of the command itself, without variables before it and redirections behind it."""
        words = shlex.split(self.text, comments=True)
        while words and re.match(r"[A-Z_]+=", words[0]):
            words.pop(0)
        return words[: words.index(">")] if ">" in words else words


def scripts(path: Path) -> Iterator[list[Line]]:
    """The lines of each block of commands, comments among them."""
    for block in blocks(path.read_text(encoding="utf-8")):
        if block.language == "sh":
            texts = re.sub(r"\\\n\s*", "", block.text).splitlines()
            yield [Line(path.name, text) for text in texts if text.strip()]


def commands(path: Path) -> list[Line]:
    """Those of blocks, and those that prose names in passing: ``figlang data check metaclue``."""
    text = prose(path.read_text(encoding="utf-8"))
    inline = re.findall(rf"`((?:[A-Z_]+=\S+ )*(?:{'|'.join(PROGRAMS)}) [^`]+)`", text)
    lines = [line for script in scripts(path) for line in script if line.words]
    return lines + [Line(path.name, " ".join(each.split())) for each in inline]


@cache
def model_classes() -> set[str]:
    ours = {manifest.model_id for manifest in models.manifests()}
    return (
        ours | set(lmms_eval.models.list_available_models(include_aliases=True)) | EXAMPLES | NAMES
    )


def parse_figlang(words: list[str]) -> None:
    command: Any = typer.main.get_command(app)
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
            _, asked = lmms_eval.__main__.parse_eval_args()
        assert asked.model in model_classes(), f"no model class {asked.model}"
        check_names(asked.tasks, program)
    elif program == "lm_eval":
        with patch("sys.argv", ["lm_eval", "run", *words]):
            asked = lm_eval._cli.HarnessCLI().parse_args()
        check_names(
            ",".join(asked.tasks) if isinstance(asked.tasks, list) else asked.tasks, program
        )
    elif program == "make":
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        assert {word for word in words if "=" not in word} - {"-c"} <= targets
    elif program == "python" and words[0] == "-m" and words[1].startswith("figlang_tasks"):
        assert importlib.util.find_spec(words[1]) is not None


def check_names(tasks: str | None, harness: str) -> None:
    known = (
        {name for name, each in definitions().items() if harness in each.harnesses}
        | EXAMPLES
        | {"TASK", "list"}
    )
    unknown = {name for name in (tasks or "").split(",") if name and "..." not in name} - known
    assert not unknown, f"{harness} has no task {unknown}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_is_parsed(path: Path) -> None:
    for line in commands(path):
        try:
            parse(line)
        except (Exception, SystemExit) as error:
            raise AssertionError(f"{line.document}: {line.text}\n{error!r}") from error
    assert set(re.findall(r"`--model (\w+)", path.read_text(encoding="utf-8"))) <= model_classes()


def prepared(text: str) -> str:
    """What is run for a line."""
    if text == "make demo":
        return MAKE_DEMO
    if text.startswith("make "):
        return ": it sets up an environment, for minutes: .ci/run runs these targets"
    for pattern, instead, _ in CHANGES:
        text = re.sub(pattern, instead, re.sub(r"\s+#\s.*$", "", text))
    return text


@pytest.mark.long
@pytest.mark.parametrize("name", ["README.md", "docs/quickstart.md"])
def test_every_command_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In their order, in one shell; a line that the document repeats runs once."""
    write_vflute_repo(tmp_path / "data" / "V-FLUTE", {"test": published.rows()}, image_size=8)
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("FIGLANG_SCORER", "embedded")
    lines = dict.fromkeys(
        prepared(line.text)
        for script in scripts(ROOT / name)
        for line in script
        # Of the installation, which .ci/run makes, the demo alone is run.
        if line.text == "make demo" or not any("activate" in line.text for line in script)
    )
    shell(tmp_path, "set -x\n" + "\n".join(lines), ROOT)
