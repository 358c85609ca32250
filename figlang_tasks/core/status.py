"""Short lines on stderr that say what a run is doing; printed only if a command asks for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from figlang_tasks.core.text import printable


@dataclass
class _Printer:
    """The printer of a command that asked for the lines.

    Attributes:
        last_line: the line that it printed last; "" before the first.
    """

    last_line: str = ""


_printer: _Printer | None = None  # None while nothing is to be printed


def in_first_process() -> bool:
    """Whether this is the first process of a run, or the only one."""
    return os.environ.get("RANK", "0") == "0"


@contextmanager
def printing(is_wanted: bool = True) -> Iterator[None]:
    """Print the lines of `tell` inside the block, in the first process of a run, if wanted."""
    global _printer
    if is_wanted and in_first_process():
        _printer = _Printer()
    try:
        yield
    finally:
        _printer = None


def tell(line: str) -> None:
    """Print what the run is doing; a line that repeats the one before is left out."""
    if _printer is not None and line != _printer.last_line:
        _printer.last_line = line
        print(printable(f"lmms_eval: {line}"), file=sys.stderr, flush=True)
