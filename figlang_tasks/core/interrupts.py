"""Ctrl-C: the first lets a command end, within seconds; a second one ends it at once.

A library may catch the ``KeyboardInterrupt`` and go on, and Python waits for threads, which may
wait for a server, before it ends. So the first Ctrl-C starts a timer that ends the process.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

GRACE = 30
"""Seconds after the first Ctrl-C, in which results that are there are written."""


@contextmanager
def ending_within_seconds(command: str, what_is_kept: str) -> Iterator[None]:
    """Let Ctrl-C end a command within `GRACE` seconds, whatever the code of the block does.

    The process ends by the signal itself, so that a shell loop around the command ends too. Nothing
    changes where SIGINT is ignored (``nohup``, ``command &`` in a script) or has another handler.

    Args:
        command: the name of the command, for the message.
        what_is_kept: a sentence of the message that says what is not lost.
    """
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    is_interrupted = False

    def interrupt(*_: object) -> NoReturn:
        """Start the timer, say so, and raise ``KeyboardInterrupt``; the next Ctrl-C kills."""
        nonlocal is_interrupted
        is_interrupted = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGALRM, _end)
        signal.setitimer(signal.ITIMER_REAL, GRACE)
        message = (
            f"\n{command}: interrupted; the command ends within {GRACE} seconds, and at once after"
            f" another Ctrl-C. {what_is_kept}\n"
        )
        # The terminal may be gone. `os.write` is safe in a signal handler, where `print` is not.
        with suppress(OSError):
            os.write(2, message.encode())
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        # The block may have turned the interrupt into another error, or into none. The command
        # ends by the signal all the same.
        if is_interrupted:
            _end()
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> NoReturn:
    """End the process by SIGINT without waiting for any thread; also a handler of SIGALRM."""
    for stream in (sys.stdout, sys.stderr):
        # Nobody may read the stream any more, or the signal may have come within a print.
        with suppress(OSError, ValueError, RuntimeError):
            stream.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
    # The first process of a container cannot be ended by that signal.
    os._exit(128 + signal.SIGINT)
