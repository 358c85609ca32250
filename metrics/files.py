"""Files that are whole, or not there."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file beside its place first, then move it there; an earlier one is replaced, its
    folder is made.

    Args:
        path: the file.
        content: all of it.

    Raises:
        OSError: it cannot be written; `filename` is the file.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:  # that of a full disk names no file
        raise OSError(error.errno, error.strerror, str(path)) from error
