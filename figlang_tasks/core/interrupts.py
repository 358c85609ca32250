"""Ctrl-C: the first lets a command end, within seconds; a second one ends it at once.

A library may catch the ``KeyboardInterrupt`` and go on, and threads that wait for a server are
joined on the way out. So the first starts a timer that ends the process.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

GRACE = 30
"""Seconds after the first Ctrl-C, in which results that are there are written."""


@contextmanager
def ending_within_seconds(command: str, kept: str) -> Iterator[None]:
    """Stand around the work of a command; an interrupt ends the process by the signal, so a loop
    around it ends too.

    Nothing is done where SIGINT is ignored (``nohup``, ``command &`` in a script) or has another
    handler. `kept`: a sentence of the message, of what is not lost.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    happened = False

    def interrupted(*_: Any) -> NoReturn:
        nonlocal happened
        happened = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGALRM, lambda *_: _end())
        signal.setitimer(signal.ITIMER_REAL, GRACE)
        with suppress(OSError):  # a terminal that is gone
            ends = f"the command ends within {GRACE} seconds, and at once after another Ctrl-C"
            os.write(2, f"\n{command}: interrupted; {ends}. {kept}\n".encode())
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        if (
            happened
        ):  # what became of it on its way here, an error or nothing, is not what ended this command
            _end()
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end() -> NoReturn:
    """End without waiting for any thread."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(
            OSError, ValueError, RuntimeError
        ):  # nobody reads it any more, or the signal came within a print
            stream.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
    os._exit(128 + signal.SIGINT)  # the first process of a container cannot be ended by that signal
