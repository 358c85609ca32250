"""Files that are whole, or not there."""

from __future__ import annotations

import os
from pathlib import Path


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
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(content)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        # The error of a full disk names no file.
        raise OSError(error.errno, error.strerror, str(path)) from error
