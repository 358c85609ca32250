"""Writes a folder or a file whole or not at all; a folder by one process at a time."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.files import PARTIAL, check_is_free
from figlang_tasks.metrics.files import made_folder


@contextmanager
def new_folder(folder: Path, check: Callable[[Path], None] = check_is_free) -> Iterator[Path]:
    """Yield an empty folder to write into; it is renamed to `folder` when the block ends.

    So `folder` holds either everything or what it held before.

    Args:
        check: raises a `FigLangError` for a folder that must not be replaced; by default for one
            that is not empty.

    Raises:
        FigLangError: of `check`, or another process is writing the folder.
    """
    check(folder)
    partial_folder = folder.with_name(f".{folder.name}{PARTIAL}")
    try:
        with made_folder(folder.parent):
            partial_folder.mkdir(exist_ok=True)
            with _locked(partial_folder, folder):
                try:
                    # Another process may have finished before this one got the lock.
                    check(folder)
                    for leftover in partial_folder.iterdir():  # from a process that was killed
                        _remove(leftover)
                    yield partial_folder
                    check(folder)
                    _put_in_place(partial_folder, folder)
                except BaseException:
                    # This runs while the lock is held; later the folder might be another's.
                    shutil.rmtree(partial_folder, ignore_errors=True)
                    raise
    except OSError as error:
        _name_target(error, partial_folder, folder)
        raise


def _name_target(error: OSError, temporary: Path, target: Path) -> None:
    """Let an error of writing name what was to be written, as the message to the user needs it.

    The error of a full disk names no file, and others name the temporary path.
    """
    if error.filename is None or Path(str(error.filename)).is_relative_to(temporary):
        error.filename = str(target)
        error.filename2 = None  # of a renaming


def _put_in_place(partial_folder: Path, folder: Path) -> None:
    """Rename a whole folder to its name; a folder that stands there is removed afterwards."""
    if not folder.is_dir() or not any(folder.iterdir()):
        partial_folder.replace(folder)
        return
    # A folder that holds something cannot be replaced by renaming.
    replaced_folder = folder.with_name(f".{folder.name}.replaced{PARTIAL}")
    if replaced_folder.exists():  # from a process that was killed
        _remove(replaced_folder)
    folder.replace(replaced_folder)
    try:
        partial_folder.replace(folder)
    except BaseException:
        replaced_folder.replace(folder)
        raise
    _remove(replaced_folder)


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
                f"{folder}: another process is writing it: wait for that, or choose another name"
            ) from error
        if not _is_same_folder(descriptor, partial_folder):
            raise FigLangError(
                f"{folder}: another process has just written it: choose another name"
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
        with made_folder(path.parent):
            try:
                with temporary.open("w", encoding="utf-8", newline="\n") as file:
                    yield file
                check_is_free(path)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        _name_target(error, temporary, path)
        raise
