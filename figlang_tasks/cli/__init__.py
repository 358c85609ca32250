"""Command-line entry points."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from figlang_tasks.core.errors import FigLangError, remedy_of_writing
from figlang_tasks.core.files import PARTIAL
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
    """An error in words: of the file system, the file, what is wrong with it and what to do."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    where = f"{error.filename}: " if error.filename else ""
    remedy = remedy_of_writing(error)
    return f"{where}{error.strerror}" + (f": {remedy}, or name another place" if remedy else "")


def beside(run: Path, suffix: str) -> Path:
    """The folder beside a run whose name is that of the run with a suffix:
    ``results/model_scored``.
    """
    path = run if run.name.strip(".") else run.resolve()
    name = path.name if path.is_dir() else path.stem
    return path.with_name(f"{name}_{suffix}")


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to write into, which becomes `folder` at the end: all of it is there,
    or nothing.

    Raises:
        FigLangError: something is there, or another process is writing it.
    """
    _check_nothing_is_there(folder)
    made = folder.with_name(f".{folder.name}{PARTIAL}")
    try:
        made.mkdir(parents=True, exist_ok=True)
        with _locked(made, folder):
            try:
                _check_nothing_is_there(folder)  # another process may just have finished
                for left in made.iterdir():  # by a kill
                    _remove(left)
                yield made
                _check_nothing_is_there(folder)
                made.replace(folder)
            except BaseException:  # after the end, `made` is that of another process
                shutil.rmtree(made, ignore_errors=True)
                raise
    except OSError as error:  # a full disk names no file
        error.filename = error.filename or str(folder)
        raise


@contextmanager
def _locked(made: Path, folder: Path) -> Iterator[None]:
    """Keep others from writing into `made`, which becomes `folder`, until the end of this process
    at the latest.
    """
    descriptor = os.open(made, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FigLangError(
                f"{folder}: another process is writing it: wait for that, or choose another"
                " --output"
            ) from error
        if not (
            made.exists() and os.path.samestat(os.fstat(descriptor), made.stat())
        ):  # the other has just finished
            raise FigLangError(
                f"{folder}: another process has just written it: choose another --output"
            )
        yield
    finally:
        os.close(descriptor)


def _check_nothing_is_there(folder: Path) -> None:
    """Check that a folder does not exist, or is empty."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise FigLangError(
            f"{folder} exists already and is not overwritten: remove it, or choose another --output"
        )


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
