"""Names of models, files, tasks and runs, and errors of servers, steer no terminal."""

from __future__ import annotations

import ast
import csv
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import varied_runs
import warm
from benchmarks.metaclue.generated import row as metaclue_row
from benchmarks.metaclue.generated import write as write_metaclue
from hypothesis import given
from hypothesis import strategies as st
from loguru import logger
from report_runs import lines_of, write_run
from saved_samples import NAME, evaluated
from transformers.utils import logging as transformers_logging
from typer.testing import CliRunner

from figlang_tasks.cli.figlang import app
from figlang_tasks.core import redaction
from figlang_tasks.core.text import printable, printable_lines

NASTY = "a\x1b[31m\x1b]0;b\x07\u202ec\x9b2J\r"
STEERS = set("\x1b\x07\x9b\r\u202e\u2028\u2066")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("text", "one_line", "lines"),
    [
        ("plain | words", "plain | words", "plain | words"),
        ("a\x1b[31m\n\tb\r\n", "a [31m b ", "a [31m\n\tb \n"),
        ("\u202eabc\u2066\u2028\u200fd\x9b\x7f", " abc d ", " abc  " + " d  "),
        ("\ud800\udc80 \U0001f469\u200d\U0001f4bb 中文 naïve", "  \U0001f469\u200d\U0001f4bb 中文 naïve", None),
        (Path("a\x07b"), "a b", "a b"),
    ],
)
def test_what_is_printed(text: object, one_line: str, lines: str | None) -> None:
    assert printable(text) == one_line
    assert lines is None or printable_lines(text) == lines
    assert printable(f"{text}" * 50, limit=40) == printable(f"{text}" * 50)[:37] + "..."


@given(st.text())
def test_no_text_steers(text: str) -> None:
    assert not STEERS & set(printable(text)) and "\n" not in printable(text)
    assert not STEERS & set(printable_lines(text)) and printable_lines(text).count("\n") == text.count("\n")
    if text.isprintable():
        assert printable(text) == printable_lines(text) == text


# --- the commands ----------------------------------------------------------------------------------------------------


def a_run(folder: Path) -> str:
    return str(write_run(folder, {"figlang_mini": lines_of("figlang_mini", 40)}, model_name=f"m{NASTY}"))


def samples(folder: Path) -> str:
    path = folder / f"{NASTY}_{NAME}"
    path.write_bytes(evaluated("embedded")[0])
    return str(path)


def table(folder: Path) -> list[str]:
    write_metaclue(folder, [metaclue_row(3)])
    with (folder / "table.csv").open("w", newline="") as file:
        cells = {"image": "3/3.jpg", "split": "test", "set": "metaphor", "primary": "a", "relationship": "b"}
        writer = csv.DictWriter(file, [*cells, "secondary"])
        writer.writeheader()
        writer.writerow({**cells, "secondary": "c"})
    return [str(folder / "MetaCLUE"), str(folder / "table.csv")]


def irfl_run(folder: Path) -> str:
    task = "figlang_mini_irfl_match_idiom"
    return str(write_run(folder, {task: lines_of(task)}, model_name=f"m{NASTY}"))


# What is called in a folder whose name is nasty, and its exit status.
COMMANDS: dict[str, tuple[Callable[[Path], list[str]], int]] = {
    "score": (lambda here: ["score", samples(here), "--scorer", "embedded"], 0),
    "score, a folder that is there": (lambda here: ["score", samples(here), "-o", str(here)], 1),
    "score, no file": (lambda here: ["score", str(here / "no.jsonl")], 1),
    "compare": (
        lambda here: [
            "compare", f"x{NASTY}={shutil.copytree(varied_runs.weak(), here / 'x')}", f"y={varied_runs.strong()}",
            "--task", "figlang_mini", "--resamples", "100", "--metric", "acc",
        ], 0
    ),
    "compare, no file": (lambda here: ["compare", str(here / "no"), str(here / "nor")], 1),
    "report": (lambda here: ["report", a_run(here / "run"), "-o", str(here / "r.html"), "--no-images"], 0),
    "report, no run": (lambda here: ["report", str(here), "-o", str(here / "r.html")], 1),
    "data export, no rows": (
        lambda here: [
            "data", "export", "nykms", "--format", "llava", "--rows", str(here / NASTY), "--output", str(here / "o"),
        ], 1
    ),
    "judge export": (lambda here: ["judge", "export", a_run(here / "run"), "-o", str(here / "s.csv"), "--n", "3"], 0),
    "judge export, no run": (lambda here: ["judge", "export", str(here), "-o", str(here / "s.csv")], 1),
    "judge agree, no key": (lambda here: ["judge", "agree", str(here / "k"), str(here / "a"), str(here / "b")], 1),
    "judge llm, no sheet": (
        lambda here: ["judge", "llm", str(here / "s.csv"), "--model", NASTY, "-o", str(here / "o.csv")], 1
    ),
    "submit irfl": (lambda here: ["submit", "irfl", irfl_run(here / "run")], 1),
    "submit figlang2024": (lambda here: ["submit", "figlang2024", a_run(here / "run"), "-o", str(here / "f.zip")], 1),
    "submit figlang2022": (lambda here: ["submit", "figlang2022", a_run(here / "run"), "-o", str(here / "f.jsonl")], 1),
    "submit score2024": (lambda here: ["submit", "score2024", str(here / "f.zip")], 1),
    "submit hub": (lambda here: ["submit", "hub", a_run(here / "run"), "--repo", f"a/{NASTY}"], 1),
    "submit every-eval-ever": (
        lambda here: [
            "submit", "every-eval-ever", a_run(here / "run"), "-o", str(here / "eee"), "--organization", NASTY,
            "--relationship", "other", "--model", f"a/{NASTY}",
        ], 1
    ),
    "data template": (lambda here: ["data", "template", "nykms", "--output", str(here / "new")], 0),
    "data import": (lambda here: ["data", "import", "metaclue", *table(here), "--output", str(here / "made")], 0),
    "data import, no folder": (lambda here: ["data", "import", "metaclue", str(here / "a"), str(here / "b")], 1),
    "data check": (lambda here: ["data", "check", "metaclue", table(here)[0]], 0),
    "data check, no folder": (lambda here: ["data", "check", "metaclue", str(here / "a")], 1),
    "data prefetch": (lambda here: ["data", "prefetch", NASTY], 2),
    "runs": (lambda here: ["runs", a_run(here / "run")], 0),
    "runs, none": (lambda here: ["runs", str(here)], 1),
    "cite": (lambda here: ["cite", a_run(here / "run")], 0),
    "cite, no run": (lambda here: ["cite", str(here / "run")], 1),
    "doctor": (lambda here: ["doctor", NASTY], 2),
    "tasks": (lambda here: ["tasks", NASTY], 1),
}  # fmt: skip


@pytest.fixture
def no_progress_bars() -> Iterator[None]:
    """Carriage returns of transformers, where this process has not loaded the scorer before."""
    active = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()
    yield
    if active:
        transformers_logging.enable_progress_bar()


@pytest.mark.usefixtures("no_progress_bars")
@pytest.mark.parametrize("name", COMMANDS)
def test_no_name_steers_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("FIGLANG_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "2000")
    arguments, status = COMMANDS[name]
    folder = tmp_path / NASTY
    folder.mkdir()
    done = CliRunner().invoke(app, arguments(folder))
    assert done.exit_code == status, done.output
    assert done.output and not STEERS & set(done.output)


def test_every_command_is_called_here() -> None:
    import typer

    def verbs(group: object, before: str = "") -> Iterator[str]:
        for name, command in group.commands.items():  # type: ignore[attr-defined]
            if hasattr(command, "commands"):
                yield from verbs(command, f"{before}{name} ")
            else:
                yield f"{before}{name}"

    called = {name.partition(",")[0] for name in COMMANDS}
    assert set(verbs(typer.main.get_command(app))) - called <= {"data status"}


@pytest.mark.slow
def test_the_end_of_a_run_steers_no_terminal(tmp_path: Path) -> None:
    """The message of a check before a run, and what logs say: the harness's colours are its own."""
    env = {**os.environ, "FIGLANG_DATA_DIR": str(tmp_path / NASTY), "HOME": str(tmp_path)}
    done = warm.run(["lmms_eval", "--model", "figlang_random", "--tasks", "vflute"], env=env, cwd=tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode == 1 and "is not a folder: correct" in said
    assert not any(part in said for part in ("\x1b]0", "\x1b[31m\x1b", "\x07", "\u202e", "\x9b"))


# --- logs and errors -------------------------------------------------------------------------------------------------


def test_logs_and_their_tracebacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_API_KEY", secret := "of-a-service-9-that-nobody-knows")
    before = logger._core.patcher  # type: ignore[attr-defined]
    seen: list[str] = []
    handler = logger.add(seen.append, format="{message}", diagnose=True, backtrace=True)
    redaction.clean_logs()
    try:
        logger.warning(f"one\n\ttwo {NASTY}")
        try:
            raise ValueError(f"the server says {secret} {NASTY}")
        except ValueError:
            logger.exception("it failed")
    finally:
        logger.remove(handler)
        logger.configure(patcher=before)
    assert seen[0].startswith("one\n\ttwo a [31m") and not STEERS & set("".join(seen))
    assert secret not in seen[1] and "ValueError: the server says [REDACTED] a [31m" in seen[1]
    assert "test_terminal.py" in seen[1]


def test_errors_and_what_they_come_from() -> None:
    secret = "gsk" + "_" + "0a1b2c3d" * 6
    try:
        try:
            raise KeyError(f"x {secret}")
        except KeyError as cause:
            raise SystemExit(f"refused {NASTY}: {secret}") from cause
    except SystemExit as error:
        redaction.clean_error(error)
        assert str(error.code).startswith("refused a [31m") and str(error.code).endswith(": [REDACTED]")
        assert error.args == (error.code,) and error.__cause__ is not None
        assert error.__cause__.args == ("x [REDACTED]",)


# --- the source ------------------------------------------------------------------------------------------------------

PRINTS = {"print", "typer.echo", "typer.secho", "click.echo", "sys.stdout.write", "sys.stderr.write"}
CLEAN = ("printable", "printable_lines")


def raw(source: str) -> Iterator[int]:
    """The lines that print what nothing has looked at."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in PRINTS:
            clean = [
                isinstance(each, ast.Constant) or (isinstance(each, ast.Call) and ast.unparse(each.func) in CLEAN)
                for each in node.args
            ]
            if not all(clean):
                yield node.lineno


@pytest.mark.parametrize("source", ["print(f'{x}')", "typer.echo(str(x), err=True)", "print('a', x)"])
def test_each_of_them_would_be_seen(source: str) -> None:
    assert list(raw(source))


def test_all_that_is_printed_goes_through_one_function() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / "figlang_tasks").rglob("*.py"))
        for line in raw(path.read_text(encoding="utf-8"))
        if "mini" not in path.parts  # what draws the data that the package ships
    ]
    in_ascii = ["figlang_tasks/cli/__init__.py", "figlang_tasks/cli/doctor.py"]  # JSON
    assert [each.partition(":")[0] for each in found] == in_ascii, found
