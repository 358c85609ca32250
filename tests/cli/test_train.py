"""``figlang train``: a command for each benchmark that declares a trainer."""

from __future__ import annotations

from typing import Annotated

import typer
from commands import figlang
from typer.testing import CliRunner

from figlang_tasks.cli.train import command
from figlang_tasks.core.errors import FigLangError


def test_parameters_are_arguments_and_options() -> None:
    def trainer(table: Annotated[str, "What to read."], seeds: Annotated[int, "How many."] = 5) -> str:
        """Train something."""
        if seeds < 1:
            raise FigLangError("seeds must be at least 1")
        return f"{table}\n{seeds + 1}"

    app = typer.Typer(rich_markup_mode=None)
    app.command()(command(trainer))
    told = [CliRunner().invoke(app, words.split()) for words in ("file --seeds 2", "--help", "file --seeds 0", "")]
    assert [each.exit_code for each in told] == [0, 0, 1, 2]
    assert told[0].stdout == "file\n3\n"
    assert "Train something." in told[1].stdout and "How many.  [default: 5]" in told[1].stdout
    assert told[2].stderr == "figlang train: seeds must be at least 1\n"


def test_the_benchmarks_with_a_trainer_have_a_command() -> None:
    assert [figlang("train", name, "--help").exit_code for name in ("irfl", "nykms", "metaclue")] == [0, 0, 2]
