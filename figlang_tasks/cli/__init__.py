"""Command-line entry points."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from figlang_tasks.core.errors import FigLangError
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


@contextmanager
def failing(verb: str, *more: type[Exception]) -> Iterator[None]:
    """End a command with `fail` at an error of ours, of the file system, or of the kinds that are given."""
    kinds: tuple[type[Exception], ...] = (FigLangError, *more)
    try:
        yield
    except kinds as error:
        fail(verb, error)
    except OSError as error:
        fail(verb, f"{error.filename}: {error.strerror}" if error.filename else error)
