"""``figlang train``: a command for each benchmark that declares a trainer."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import pytest
from commands import done, figlang, refused

from figlang_tasks.cli import own_commands
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
    assert done("train", "flute", "file", "--seeds", 2) == "file\n3\n"
    shown = done("train", "flute", "--help")
    assert "Train something." in shown and "How many.  [default: 5]" in shown
    assert refused("train", "flute", "file", "--seeds", 0) == "figlang train: seeds must be at least 1"
    assert figlang("train", "flute").exit_code == 2


def test_a_benchmark_without_a_trainer() -> None:
    done = figlang("train", "metaclue")
    assert done.exit_code == 2 and "No such command 'metaclue'" in done.stderr
