"""Files that are whole, or not there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path


def write_whole(path: Path, content: bytes, check: Callable[[Path], object] | None = None) -> None:
    """Write a file beside its place first, then move it there; an earlier one is replaced.

    Args:
        path: the file; its folder must be there.
        content: all of it.
        check: looks at the file before it is moved, and raises to keep it from its place.

    Raises:
        OSError: it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        if check is not None:
            check(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
