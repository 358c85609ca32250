"""The ``figlang`` command: commands for before a run, and for its saved samples after it. They need no model."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from loguru import logger
from typer.core import TyperGroup

import figlang_tasks
from figlang_tasks.cli import cause, data, judge, say, submit, train, warn
from figlang_tasks.cli.cite import cite
from figlang_tasks.cli.compare import compare
from figlang_tasks.cli.doctor import doctor
from figlang_tasks.cli.report import report
from figlang_tasks.cli.reproduce import reproduce
from figlang_tasks.cli.runs import runs
from figlang_tasks.cli.score import score
from figlang_tasks.cli.tasks import tasks
from figlang_tasks.core import interrupts, logs
from figlang_tasks.core.errors import FigLangError


class _Commands(TyperGroup):
    """All commands: one that fails ends with one line and status 1."""

    def main(self, *args: Any, **options: Any) -> Any:
        try:
            return super().main(*args, **options)
        except (FigLangError, OSError) as error:  # a closed pipe typer has ended without a word
            warn(cause(error))
            sys.exit(1)


app = typer.Typer(
    name="figlang",
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"figlang_tasks {figlang_tasks.__version__}")
        raise typer.Exit


@app.callback()
def _figlang(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Commands for before and after a run of lmms_eval on figurative-language benchmarks.

    Before a run: tasks, doctor, data and train. After a run: runs, score, compare, report, cite, submit and judge.
    These read the samples that the run saved (--log_samples), and do not load the model again.

    \b
    figlang doctor
    lmms_eval --tasks vflute --log_samples --output_path results ...
    figlang report results/MODEL -o report.html

    Exit status of all commands: 0 done, 1 failed (the message says why), 2 wrong usage, 130 interrupted.
    """


app.command()(tasks)
app.command()(doctor)
app.add_typer(data.app, name="data")
app.add_typer(train.app, name="train")
app.command()(runs)
app.command()(score)
app.command()(compare)
app.command()(cite)
app.command()(reproduce)
app.command()(report)
app.add_typer(submit.app, name="submit")
app.add_typer(judge.app, name="judge")


@interrupts.ending_within_seconds("figlang", "Downloads and cached scores are kept.")
def main() -> None:
    """Run the command on ``sys.argv``; exit status 0: done, 1: it failed, 2: wrong usage."""
    logger.remove()
    logger.add(sys.stderr, level="WARNING", format="{message}")
    logs.clean_logs()
    app()


if __name__ == "__main__":
    main()
