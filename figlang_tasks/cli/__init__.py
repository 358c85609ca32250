"""Command-line entry points."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import printable, printable_lines


def say(text: object, err: bool = False) -> None:
    """Print what a command says, the one way it does: nothing in it steers the terminal."""
    typer.echo(printable_lines(text), err=err)


def say_json(value: Any) -> None:
    """Print a value as JSON, in ASCII."""
    typer.echo(json.dumps(value, indent=2))


def warn(text: object) -> None:
    """Print a line on standard error."""
    say(f"figlang: {printable(text)}", err=True)


def cause(error: Exception) -> str:
    """An error in words: of the file system, the file and what is wrong with it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def beside(run: Path, suffix: str) -> Path:
    """The folder beside a run whose name is that of the run with a suffix: ``results/model_scored``."""
    path = run if run.name.strip(".") else run.resolve()
    name = path.name if path.is_dir() else path.stem
    return path.with_name(f"{name}_{suffix}")


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to write into, which becomes `folder` at the end: all of it is there, or nothing.

    Raises:
        FigLangError: something is there.
    """
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise FigLangError(f"{folder} exists already and is not overwritten: remove it, or choose another --output")
    made = folder.with_name(f".{folder.name}.partial")
    try:
        shutil.rmtree(made, ignore_errors=True)  # left by a kill
        made.mkdir(parents=True)
        yield made
        made.replace(folder)
    except OSError as error:  # a full disk names no file
        error.filename = error.filename or str(folder)
        raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
