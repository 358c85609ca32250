"""The ``figlang`` command: what is done before a run, and with its saved samples after it.

No command loads the model of a run.
"""

from __future__ import annotations

import gc
import sys
from typing import Annotated, Any

import typer

import figlang_tasks
from figlang_tasks.cli import error_message, say, warn
from figlang_tasks.cli.lazy import SETTINGS, LazyCommand, LazyGroup, lazy_command
from figlang_tasks.core import interrupts
from figlang_tasks.core.errors import FigLangError

VERBS = (
    "tasks",
    "doctor",
    "runs",
    "show",
    "score",
    "compare",
    "table",
    "cite",
    "reproduce",
    "report",
    "leaderboard",
    "data",
    "new-benchmark",
    "train",
    "submit",
    "judge",
)
"""The commands, in the order of the list.

``figlang VERB`` is the function of that name in ``cli/VERB.py``, or ``app`` there, a group of
commands; - in a verb is _ there.
"""


class _FiglangCommands(LazyGroup):
    """All commands of ``figlang``. One that fails ends with one line and status 1."""

    def lazy_commands(self) -> list[LazyCommand]:
        commands = []
        for verb in VERBS:
            name = verb.replace("-", "_")
            commands.append(lazy_command(verb, f"figlang_tasks.cli.{name}", name))
        return commands

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command; typer calls this with the arguments of the command line."""
        try:
            return super().main(*args, **options)
        except (FigLangError, OSError) as error:  # Typer itself ends after a closed pipe.
            warn(error_message(error))
            sys.exit(1)


app = typer.Typer(name="figlang", cls=_FiglangCommands, no_args_is_help=True, **SETTINGS)


def _print_version(is_set: bool) -> None:
    """Print the version and exit, if the user has set the option ``--version``."""
    if is_set:
        say(f"figlang_tasks {figlang_tasks.__version__}")
        raise typer.Exit


@app.callback()
def _figlang(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Commands for before and after a run of lmms_eval on figurative-language benchmarks.

    Before a run: tasks, doctor, data, new-benchmark and train. After a run: runs, show, score,
    compare, table, report, leaderboard, cite, submit and judge. These read the samples that the run
    saved (--log_samples), and do not load the model again.

    \b
    figlang doctor
    lmms_eval --tasks vflute --log_samples --output_path results ...
    figlang report results/MODEL -o report.html

    Exit status of all commands: 0 done, 1 failed (the message says why), 2 wrong usage, 130
    interrupted.
    """


@interrupts.ending_within_seconds("figlang", "Downloads and cached scores are kept.")
def main() -> None:
    """Run the command on ``sys.argv``; exit status 0: done, 1: it failed, 2: wrong usage."""
    # What a command makes of many rows lives to its end. By default Python looks for garbage after
    # some hundreds of objects.
    gc.set_threshold(100_000, 20, 50)
    names_a_command = any(word in VERBS for word in sys.argv)
    if names_a_command:  # A list of the commands logs nothing, and need not import the library.
        _set_up_log()
    app()


def _set_up_log() -> None:
    """Show only the warnings of the log, as plain text on standard error."""
    from loguru import logger

    from figlang_tasks.core.logs import clean_logs

    logger.remove()
    logger.add(sys.stderr, level="WARNING", format="{message}")
    clean_logs()


if __name__ == "__main__":
    main()
