"""``figlang train``: a command for each benchmark that declares a trainer."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import pytest
from typer.testing import CliRunner

from figlang_tasks.cli import own_commands
from figlang_tasks.cli.figlang import app
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.core.errors import FigLangError


def test_parameters_are_arguments_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    def trainer(table: Annotated[str, "What to read."], seeds: Annotated[int, "How many."] = 5) -> str:
        """Train something."""
        if seeds < 1:
            raise FigLangError("seeds must be at least 1")
        return f"{table}\n{seeds + 1}"

    changed = {**benchmarks(), "flute": dataclasses.replace(benchmarks()["flute"], trainer=trainer)}
    monkeypatch.setattr(own_commands, "benchmarks", lambda: changed)
    run = CliRunner().invoke
    assert run(app, ["train", "flute", "file", "--seeds", "2"]).stdout == "file\n3\n"
    shown = run(app, ["train", "flute", "--help"]).stdout
    assert "Train something." in shown and "How many.  [default: 5]" in shown
    failed = run(app, ["train", "flute", "file", "--seeds", "0"])
    assert (failed.exit_code, failed.stderr) == (1, "figlang train: seeds must be at least 1\n")
    assert run(app, ["train", "flute"]).exit_code == 2


@pytest.mark.parametrize("name", ["metaclue", "nothing\x1b"])
def test_a_benchmark_without_a_trainer(name: str) -> None:
    done = CliRunner().invoke(app, ["train", name])
    assert done.exit_code == 2 and "No such command" in done.stderr and "\x1b" not in done.stderr
