"""Command-line entry points, and how all commands print and write folders."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import typer

from figlang_tasks.core.errors import FigLangError, remedy_of_writing
from figlang_tasks.core.files import PARTIAL, check_is_free
from figlang_tasks.core.text import printable, printable_lines

# --- printing ---


def say(text: object, err: bool = False) -> None:
    """Print a text without characters that steer a terminal, to standard error if `err` is set."""
    typer.echo(printable_lines(text), err=err)


def say_json(content: object) -> None:
    """Print an object as JSON, in ASCII."""
    typer.echo(json.dumps(content, indent=2))


def warn(text: object) -> None:
    """Print a line on standard error."""
    say(f"figlang: {printable(text)}", err=True)


def error_message(error: Exception) -> str:
    """The message of an error; for one of the file system, the file, the reason and a remedy.

    For example ``report.html: No space left on device: make room there, or name another place``.
    """
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    message = error.strerror
    if error.filename:
        message = f"{error.filename}: {message}"
    remedy = remedy_of_writing(error)
    if remedy:
        message += f": {remedy}, or name another place"
    return message


def next_report_line(run: Path) -> str:
    """The line with the command to type after a run: ``next: figlang report RUN -o report.html``.

    Args:
        run: the folder of its samples.
    """
    return f"next: figlang report {shlex.quote(str(run))} -o report.html"


# --- files and folders that a command writes ---


@contextmanager
def new_file(path: Path) -> Iterator[TextIO]:
    """Yield a text file to write into, in UTF-8; it is renamed to `path` when the block ends.

    So `path` holds either everything or nothing, and no file is overwritten.

    Raises:
        FigLangError: `path` exists.
    """
    check_is_free(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("w", encoding="utf-8", newline="\n") as file:
                yield file
            check_is_free(path)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        # The error of a full disk names no file, and the message to the user needs one.
        error.filename = error.filename or str(path)
        raise


def folder_beside(run: Path, suffix: str) -> Path:
    """The path of a folder beside a run: the run's name with a suffix.

    ``results/model`` or ``results/model.json`` and ``scored`` give ``results/model_scored``.

    Args:
        run: the path of its folder or of one of its files.
        suffix: without the underscore.
    """
    has_no_name = not run.name.strip(".")  # as in `figlang score .`
    path = run.resolve() if has_no_name else run
    name = path.name if path.is_dir() else path.stem
    return path.with_name(f"{name}_{suffix}")


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to write into; it is renamed to `folder` when the block ends.

    So `folder` holds either everything or nothing.

    Raises:
        FigLangError: `folder` is not empty, or another process is writing it.
    """
    check_is_free(folder)
    partial_folder = folder.with_name(f".{folder.name}{PARTIAL}")
    try:
        partial_folder.mkdir(parents=True, exist_ok=True)
        with _locked(partial_folder, folder):
            try:
                # Another process may have finished before this one got the lock.
                check_is_free(folder)
                for leftover in partial_folder.iterdir():  # from a process that was killed
                    _remove(leftover)
                yield partial_folder
                check_is_free(folder)
                partial_folder.replace(folder)
            except BaseException:
                # This runs while the lock is held; later the folder might be another process's.
                shutil.rmtree(partial_folder, ignore_errors=True)
                raise
    except OSError as error:
        # The error of a full disk names no file, and the message to the user needs one.
        error.filename = error.filename or str(folder)
        raise


@contextmanager
def _locked(partial_folder: Path, folder: Path) -> Iterator[None]:
    """Hold a lock on the partial folder during a block; the end of the process frees it too.

    Args:
        partial_folder: exists.
        folder: its name when it is whole, for messages.

    Raises:
        FigLangError: another process holds the lock, or has just renamed the partial folder.
    """
    descriptor = os.open(partial_folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FigLangError(
                f"{folder}: another process is writing it: wait for that, or choose another"
                " --output"
            ) from error
        if not _is_same_folder(descriptor, partial_folder):
            raise FigLangError(
                f"{folder}: another process has just written it: choose another --output"
            )
        yield
    finally:
        os.close(descriptor)  # This frees the lock.


def _is_same_folder(descriptor: int, path: Path) -> bool:
    """Whether an open folder still stands at its path; another process may have renamed it."""
    return path.exists() and os.path.samestat(os.fstat(descriptor), path.stat())


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
