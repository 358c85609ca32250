"""Names of models, files, tasks and runs, and errors of servers, steer no terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loguru import logger
from saved_runs import sample_lines, write_run
from typer.testing import CliRunner

from figlang_tasks.cli.figlang import app
from figlang_tasks.core import logs
from figlang_tasks.core.text import printable, printable_lines

NASTY = "a\x1b[31m\x1b]0;b\x07\u202ec\x9b2J\r"
STEERS = set("\x1b\x07\x9b\r\u202e\u2028\u2066")


@pytest.mark.parametrize(
    ("text", "one_line", "lines"),
    [
        ("a\x1b[31m\n\tb\r\n", "a [31m b ", "a [31m\n\tb \n"),
        ("\u202eabc\u2066\u2028\u200fd\x9b\x7f", " abc d ", " abc  " + " d  "),
        (
            "\ud800 \U0001f469\u200d\U0001f4bb 中文 naïve",
            "  \U0001f469\u200d\U0001f4bb 中文 naïve",
            None,
        ),
    ],
)
def test_what_is_printed(text: str, one_line: str, lines: str | None) -> None:
    assert printable(text) == one_line
    assert lines is None or printable_lines(text) == lines
    assert printable("words " * 9, limit=10) == "words w..."


@given(st.text())
def test_no_text_steers(text: str) -> None:
    assert not STEERS & set(printable(text))
    assert "\n" not in printable(text)
    assert not STEERS & set(printable_lines(text))
    assert printable_lines(text).count("\n") == text.count("\n")
    if text.isprintable():
        assert printable(text) == printable_lines(text) == text


# --- the commands ---


def list_a_run(folder: Path) -> list[str]:
    """The arguments that list a run whose model has a nasty name."""
    samples = {"figlang_mini": sample_lines("figlang_mini", 4)}
    return ["runs", str(write_run(folder / "run", samples, model_name=f"m{NASTY}"))]


def compare_missing_runs(folder: Path) -> list[str]:
    """Arguments that end with an error, which names files of the folder."""
    return ["compare", str(folder / "no"), str(folder / "nor")]


def misuse(folder: Path) -> list[str]:
    """Arguments that the command does not have."""
    return ["doctor", NASTY]


# What is called in a folder whose name is nasty, and its exit status: a command of each kind.
COMMANDS: dict[str, tuple[Callable[[Path], list[str]], int]] = {
    "a run": (list_a_run, 0),
    "an error": (compare_missing_runs, 1),
    "wrong usage": (misuse, 2),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_no_name_steers_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    arguments, status = COMMANDS[name]
    folder = tmp_path / NASTY
    folder.mkdir()
    done = CliRunner().invoke(app, arguments(folder))
    assert done.exit_code == status, done.output
    assert done.output
    assert not STEERS & set(done.output)


# --- logs and errors ---


def test_logs_and_their_tracebacks(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "of-a-service-9-that-nobody-knows"
    monkeypatch.setenv("OTHER_API_KEY", secret)
    before = logger._core.patcher  # type: ignore[attr-defined]
    messages: list[str] = []
    handler = logger.add(messages.append, format="{message}", diagnose=True, backtrace=True)
    logs.clean_logs()
    try:
        logger.warning(f"one\n\ttwo {NASTY}")
        try:
            raise ValueError(f"the server says {secret} {NASTY}")
        except ValueError:
            logger.exception("it failed")
    finally:
        logger.remove(handler)
        logger.configure(patcher=before)
    warning, error = messages
    assert warning.startswith("one\n\ttwo a [31m")
    assert not STEERS & set(warning + error)
    assert secret not in error
    assert "ValueError: the server says [REDACTED] a [31m" in error
    assert "test_terminal.py" in error


def test_errors_and_what_they_come_from() -> None:
    secret = "ghp" + "_" + "0a1b2c3d" * 6
    try:
        try:
            raise KeyError(f"x {secret}")
        except KeyError as cause:
            raise SystemExit(f"refused {NASTY}: {secret}") from cause
    except SystemExit as error:
        logs.clean_error(error)
        assert str(error.code).startswith("refused a [31m")
        assert str(error.code).endswith(": [REDACTED]")
        assert error.args == (error.code,)
        assert error.__cause__ is not None
        assert error.__cause__.args == ("x [REDACTED]",)
