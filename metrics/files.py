"""Files that are whole, or not there."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def made_folder(folder: Path) -> Iterator[None]:
    """Make a folder for a block that writes into it, with the missing folders above it.

    If the block fails, those that were made are removed again, unless something is in them.

    Raises:
        OSError: the folder cannot be made.
    """
    made: list[Path] = []
    for candidate in (folder, *folder.parents):
        if candidate.is_dir():
            break
        if candidate.exists():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(candidate))
        made.append(candidate)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for candidate in made:
            with suppress(OSError):
                candidate.rmdir()
        raise


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that no reader ever sees a part of it.

    The content is written to a file beside it, which is then renamed. An earlier file is replaced,
    and missing folders are made.

    Args:
        path: the file.
        content: all of it.

    Raises:
        OSError: the file cannot be written; the error's `filename` is `path`.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with made_folder(path.parent):
            try:
                temporary.write_bytes(content)
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        # The error of a full disk names no file.
        raise OSError(error.errno, error.strerror, str(path)) from error
