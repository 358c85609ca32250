"""Ctrl-C: the first ends a command within seconds, a second one at once.

A library may catch the ``KeyboardInterrupt`` and go on, and threads that wait for a server are joined on the way out.
So the first starts a timer that ends the process. What has to outlast an interrupt is on the disk by then: answers of
``--use_cache`` are stored piece by piece, downloads go on where they stopped.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

GRACE = 5.0
"""Seconds that a command has to end by itself after the first Ctrl-C."""

_happened = False
_extra = 0.0  # seconds beyond GRACE


def happened() -> bool:
    """Whether this command was interrupted; never where :func:`ending_within_seconds` is not in place."""
    return _happened


@contextmanager
def ending_within_seconds(command: str, kept: str) -> Iterator[None]:
    """Stand around the work of a command; an interrupt ends the process, whatever becomes of the work.

    The process ends by the signal: a shell shows status 130, and a loop around the command ends too. Nothing is done
    outside of the main thread, where SIGINT is ignored (``nohup``, ``command &`` in a script) or has another handler.

    Args:
        command: its name, for the message.
        kept: what the message says of what is not lost; a sentence.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if os.name != "posix" or not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    process = os.getpid()
    message = f"\n{command}: interrupted; the command ends within seconds. Another Ctrl-C ends it at once. {kept}\n"

    def interrupted(*_: Any) -> NoReturn:
        global _happened
        if os.getpid() == process:  # else in a forked child, whose parent counts for itself
            _happened = True
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.signal(signal.SIGALRM, lambda *_: _end())
            signal.setitimer(signal.ITIMER_REAL, GRACE + _extra)
            with suppress(OSError):  # a terminal that is gone
                os.write(2, message.encode())
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        if _happened:  # what became of it on its way here, an error or nothing, is not what ended this command
            _end()
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def time_to_keep(seconds: float) -> Iterator[None]:
    """Give an interrupt inside the block so many seconds more: results that are there can still be written."""
    global _extra
    before, _extra = _extra, seconds
    try:
        yield
    finally:
        _extra = before


def _end() -> NoReturn:
    """End without waiting for any thread."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, RuntimeError):  # nobody reads it any more, or the signal came within a print
            stream.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
    os._exit(128 + signal.SIGINT)  # the first process of a container cannot be ended by that signal
