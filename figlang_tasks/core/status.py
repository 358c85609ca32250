"""What a run is doing, in short lines on stderr; printed only where a command has asked for
them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from figlang_tasks.core.text import printable


@dataclass
class _Lines:
    """The lines of a command that asked for them."""

    last: str = ""


_lines: _Lines | None = None


def in_first_process() -> bool:
    """Whether this is the first process of a run, or the only one."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def printing(is_wanted: bool = True) -> Iterator[None]:
    """Print the lines that are told within the block, in the first process of a run; print none if
    not wanted.
    """
    global _lines
    if is_wanted and in_first_process():
        _lines = _Lines()
    try:
        yield
    finally:
        _lines = None


def tell(what: str) -> None:
    """Print a line, unless it is the one that was printed last."""
    if _lines is not None and what != _lines.last:
        _lines.last = what
        print(printable(f"lmms_eval: {what}"), file=sys.stderr, flush=True)
