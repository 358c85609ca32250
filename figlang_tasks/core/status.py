"""What a run is doing, in short lines on stderr; printed only where a command has asked for them."""

from __future__ import annotations

import os
import sys
import time

from figlang_tasks.core.text import printable

_SOON = 10.0  # seconds after which a first estimate means something

_shown = False
_last = ""


def in_first_process() -> bool:
    """Whether this is the first process of a run, or the only one."""
    return os.environ.get("RANK", "0") == "0"


def show() -> None:
    """Print the lines from now on, in the first process of a run."""
    global _shown
    _shown = in_first_process()


def is_shown() -> bool:
    """Whether lines are printed."""
    return _shown


def tell(what: str) -> None:
    """Print a line, unless it is the one that was printed last."""
    global _last
    if _shown and what != _last:
        _last = what
        print(printable(f"lmms_eval: {what}"), file=sys.stderr, flush=True)


class TimeLeft:
    """Tells how long the rest of some requests will take: after some seconds, then each time that has doubled.

    Args:
        total: requests.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._started = time.monotonic()
        self._next = _SOON

    def after(self, done: int, waited_for: int) -> None:
        """So many requests are done, of which a model was `waited_for` so many: others were in a cache."""
        elapsed = time.monotonic() - self._started
        if elapsed < self._next or not waited_for or done >= self._total:
            return
        self._next = 2 * elapsed
        left = (self._total - done) * elapsed / waited_for
        tell(f"{done:,} of {self._total:,} requests answered, about {duration(left)} left")


def duration(seconds: float) -> str:
    """A time as people say it: ``40 s``, ``12 min``, ``3.5 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
