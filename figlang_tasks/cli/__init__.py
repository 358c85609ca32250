"""Command-line entry points."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from figlang_tasks.core.text import printable, printable_lines


def say(text: object, err: bool = False, nl: bool = True) -> None:
    """Print what a command says, the one way it does: nothing in it steers the terminal."""
    import typer  # not at once: lmms_eval needs none

    typer.echo(printable_lines(text), err=err, nl=nl)


def say_json(value: Any, indent: int | None = 2, allow_nan: bool = True) -> None:
    """Print a value as JSON, in ASCII."""
    import typer

    typer.echo(json.dumps(value, indent=indent, allow_nan=allow_nan).replace("\x7f", "\\u007f"))


def fail(verb: str, error: object) -> NoReturn:
    """End a command of ``figlang`` with one line and exit status 1."""
    import typer

    say(f"figlang {verb}: {printable(error)}", err=True)
    raise typer.Exit(1)
