"""Every command in the documents can be parsed; those of README and the quick start run."""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import published_runs as published
import pytest
import typer.main
from documents import DOCUMENTS, PROGRAMS, ROOT, blocks, prose, write_programs
from vflute_hub import write_vflute_repo

from figlang_tasks import models
from figlang_tasks.cli.figlang import app
from figlang_tasks.cli.tasks import definitions
from figlang_tasks.mini import DEMO_MODEL_DIR

PLACEHOLDERS = {"TASK", "my_vlm", "NAME"}

# --- the table -------------------------------------------------------------------------------------------------------

NOT_RUN = {
    r"make ": "sets up an environment, for minutes: .ci/run runs these targets",
    r"(git clone|python3 -m venv) ": "a checkout and its environment: .ci/run makes both",
    r"pip install ": "downloads: .ci/run installs the wheel",
}
"""Lines of README and the quick start that are not run, by how they begin, and why."""

DEMO = str(DEMO_MODEL_DIR)
CHANGES = [
    # what is written, what is run instead, why
    (r"(?<=pretrained=)(Qwen|llava-hf)/[\w.-]+", DEMO, "a model of 15 GB"),
    (r"^(figlang doctor)\b(.*)", r"\1 --offline\2 || test $? = 1", "tells what the machine lacks"),
    (r"^(lmms_eval (?!.*--limit).*)", r"\1 --limit 2 --gen_kwargs max_new_tokens=8", "time"),
]
"""What is changed in such a line before it is run."""

# --- reading the documents -------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """A command with all its continuation lines, as it is typed."""

    document: str
    number: int
    text: str

    @property
    def words(self) -> list[str]:
        """Of the command itself, without variables before it and redirections behind it."""
        words = shlex.split(self.text, comments=True)
        while words and re.match(r"[A-Z_]+=", words[0]):
            words.pop(0)
        return [word for word in words[: words.index(">")]] if ">" in words else words


def scripts(path: Path) -> Iterator[list[Line]]:
    """The lines of each block of commands, comments among them."""
    for block in blocks(path.read_text(encoding="utf-8")):
        if block.language == "sh":
            texts = re.sub(r"\\\n\s*", "", block.text).splitlines()
            yield [Line(path.name, block.line, text) for text in texts if text.strip()]


def commands(path: Path) -> list[Line]:
    return [line for script in scripts(path) for line in script if line.words]


def inline_commands(path: Path) -> list[Line]:
    """What prose names in passing: ``figlang data check metaclue``."""
    text = prose(path.read_text(encoding="utf-8"))
    found = re.findall(rf"`((?:[A-Z_]+=\S+ )*(?:{'|'.join(PROGRAMS)}) [^`]+)`", text)
    return [Line(path.name, 0, " ".join(each.split())) for each in found]


# --- quick: each line can be parsed ----------------------------------------------------------------------------------


@cache
def options_of_lmms_eval() -> dict[str, argparse.Action]:
    return _options("lmms_eval.__main__", "parse_eval_args")


@cache
def options_of_lm_eval() -> dict[str, argparse.Action]:
    return _options("lm_eval.__main__", "cli_evaluate")


class _Stop(Exception):
    pass


def _options(module: str, function: str) -> dict[str, argparse.Action]:
    """The options that a harness's own parser takes: it is caught when it begins to parse."""
    found: dict[str, argparse.Action] = {}

    def stop(parser: argparse.ArgumentParser, *_: Any, **__: Any) -> None:
        pending = [parser]
        while pending:
            for action in pending.pop()._actions:
                found.update(dict.fromkeys(action.option_strings, action))
                if isinstance(action, argparse._SubParsersAction):
                    pending += action.choices.values()
        raise _Stop

    with patch.object(argparse.ArgumentParser, "parse_args", stop), pytest.raises(_Stop):
        with patch.object(argparse.ArgumentParser, "parse_known_args", stop):
            getattr(importlib.import_module(module), function)()
    return found


@cache
def figlang() -> Any:
    """``figlang`` with all its commands."""
    return typer.main.get_command(app)


def check_figlang(words: list[str]) -> None:
    command = figlang()
    while words and hasattr(command, "list_commands"):
        if words[0].startswith("-"):
            break
        name = words.pop(0)
        if set(name) <= set("|"):
            continue
        alternatives = name.split("|")
        context = typer.Context(command)
        assert set(alternatives) <= set(command.list_commands(context)), f"figlang has no {name}"
        command = command.get_command(context, alternatives[0])
    known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)} | {"--help"}
    for word in words:
        if re.match(r"--?[a-zA-Z]", word):
            assert word.partition("=")[0] in known, f"{command.name} has no option {word}"


def check_harness(words: list[str], options: dict[str, argparse.Action], harness: str) -> None:
    given: dict[str, str] = {}
    for place, word in enumerate(words):
        if word.startswith("--"):
            assert word in options, f"{harness} has no option {word}"
            given[word] = words[place + 1] if place + 1 < len(words) else ""
    known = known_tasks(harness)
    for name in filter(None, given.get("--tasks", "").split(",")):
        assert name in known | PLACEHOLDERS | {"emblems", "list"} or "..." in name, f"{harness} has no task {name}"
    if harness == "lmms_eval" and (model := given.get("--model")):
        assert model in known_models() | PLACEHOLDERS, f"there is no model class {model}"


@cache
def known_tasks(harness: str) -> set[str]:
    return {name for name, each in definitions().items() if harness in each.harnesses}


@cache
def known_models() -> set[str]:
    import lmms_eval.models

    ours = {manifest.model_id for manifest in models.manifests()}
    return ours | set(lmms_eval.models.list_available_models(include_aliases=True))


def check(line: Line) -> None:
    """Check that a command could be parsed, as far as that can be told without running it.

    Raises:
        AssertionError: it could not.
    """
    program, *words = line.words
    words = [word for word in words if word not in ("...", "ID")]
    if program == "figlang":
        check_figlang(words)
    elif program == "lmms_eval":
        if words and not words[0].startswith("-"):
            assert words[0] in ("tasks", "models", "eval"), line.text
        else:
            check_harness(words, options_of_lmms_eval(), "lmms_eval")
    elif program == "lm_eval":
        check_harness(words, options_of_lm_eval(), "lm_eval")
    elif program == "make":
        targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
        assert {word for word in words if "=" not in word} - {"-c"} <= targets, line.text
    elif program == "python" and words[:1] == ["-m"] and words[1].startswith("figlang_tasks"):
        spec = importlib.util.find_spec(words[1])
        assert spec is not None and spec.origin is not None
        source = Path(spec.origin).read_text(encoding="utf-8")
        assert all(f'"{word}"' in source for word in words if word.startswith("--")), line.text


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_can_be_parsed(path: Path) -> None:
    for line in commands(path) + inline_commands(path):
        try:
            check(line)
        except AssertionError as error:
            raise AssertionError(f"{line.document}, block of line {line.number}: {line.text}\n{error}") from error


@pytest.mark.parametrize(
    "text",
    [
        "figlang comparison a b",
        "figlang compare a b --papers",
        "figlang submit figlang25 run",
        "lmms_eval --tasks vflut --model llava_hf",
        "lmms_eval --tasks vflute --model lava_hf",
        "lmms_eval --task vflute",
        "lm_eval --tasks irfl_match --model hf",
        "make tests",
        "python -m figlang_tasks.benchmarks.metaclue.generate score x --prompt y",
    ],
)
def test_a_command_that_could_not_be_parsed_is_found(text: str) -> None:
    with pytest.raises(AssertionError):
        check(Line("", 0, text))


def test_the_first_lines_of_the_readme_make_a_checkout(tmp_path: Path) -> None:
    """A reader puts an address into one line, and pastes all."""
    origin = tmp_path / "origin"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(origin)]
    for command in (["git", "init", "-q", str(origin)], [*git, "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(command, check=True)
    pasted = next(scripts(ROOT / "README.md"))[:2]
    script, changed = re.subn(r"(?m)^REPOSITORY=\S+$", f"REPOSITORY={origin}", "\n".join(each.text for each in pasted))
    assert changed == 1
    subprocess.run(["sh", "-ec", f"{script}\ntest -d ../figlang_tasks/.git"], cwd=tmp_path, check=True)


# --- slow: README and the quick start run ----------------------------------------------------------------------------


def prepared(text: str) -> str:
    """What is run for a line."""
    for pattern, why in NOT_RUN.items():
        if re.match(pattern, text):
            return f": not run, {why}"
    for pattern, instead, _ in CHANGES:
        text = re.sub(pattern, instead, re.sub(r"\s+#\s.*$", "", text))
    return text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README.md", "docs/quickstart.md"])
def test_every_command_runs(name: str, tmp_path: Path) -> None:
    write_vflute_repo(tmp_path / "data" / "V-FLUTE", {"test": published.rows()}, image_size=8)
    environment = {"PATH": str(write_programs(tmp_path / "bin")), "FIGLANG_DATA_DIR": str(tmp_path / "data")}
    environment |= {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "FIGLANG_SCORER": "embedded"}
    for script in scripts(ROOT / name):
        commands = "\n".join(prepared(line.text) for line in script)
        if "activate" in commands:
            continue  # the installation: .ci/run makes it
        done = subprocess.run(
            ["sh", "-exc", commands],
            cwd=tmp_path,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
