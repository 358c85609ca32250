"""What a run is doing, in short lines on stderr; printed only where a command has asked for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from figlang_tasks.core.text import printable

shown = False
_last = ""


def in_first_process() -> bool:
    """Whether this is the first process of a run, or the only one."""
    return os.environ.get("RANK", "0") == "0"


def show() -> None:
    """Print the lines from now on, in the first process of a run."""
    global shown
    shown = in_first_process()


def tell(what: str) -> None:
    """Print a line, unless it is the one that was printed last."""
    global _last
    if shown and what != _last:
        _last = what
        print(printable(f"lmms_eval: {what}"), file=sys.stderr, flush=True)


@contextmanager
def without_bars() -> Iterator[None]:
    """Hide the progress bars that begin in the block."""
    from tqdm import tqdm

    begin = tqdm.__init__

    def begin_hidden(self: Any, *args: Any, **options: Any) -> None:
        begin(self, *args, **{**options, "disable": True})

    setattr(tqdm, "__init__", begin_hidden)  # noqa: B010  (a method)
    try:
        yield
    finally:
        setattr(tqdm, "__init__", begin)  # noqa: B010
