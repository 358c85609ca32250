"""Ctrl-C: the first ends a command within seconds, a second one at once.

Python turns SIGINT into a ``KeyboardInterrupt`` in the main thread. That alone is not enough: a library may catch it
and go on, a call into C has to come back first, and threads that wait for a server are joined on the way out. So a
thread of its own watches for the signal and ends the process when its time is over. What has to outlast an interrupt is
on the disk by then: answers of ``--use_cache`` are stored piece by piece, downloads go on where they stopped.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

GRACE = 5.0
"""Seconds that a command has to end by itself after the first Ctrl-C."""

_happened = threading.Event()
_told = threading.Event()
_extra = 0.0  # seconds beyond GRACE
_in_place = False


def happened() -> bool:
    """Whether this command was interrupted; never where :func:`ending_within_seconds` is not in place."""
    return _happened.is_set()


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
    global _in_place
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    # Written to as soon as the signal is there, whatever the main thread does.
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    message = f"\n{command}: interrupted; the command ends within seconds. Another Ctrl-C ends it at once. {kept}\n"
    watcher = threading.Thread(target=_watch, args=(reader, message), name="figlang-interrupts", daemon=True)
    watcher.start()
    _in_place = True
    try:
        yield
    except KeyboardInterrupt:
        _happened.set()
        raise
    finally:
        if happened():  # what became of it on its way here, an error or nothing, is not what ended this command
            _end()
        _in_place = False
        signal.set_wakeup_fd(before)
        os.close(writer)
        watcher.join()
        # At the interpreter's own end nothing is left to keep.
        atexit.unregister(_end_at_once_from_now_on)
        atexit.register(_end_at_once_from_now_on)


@contextmanager
def time_to_keep(seconds: float) -> Iterator[None]:
    """Give an interrupt inside the block so many seconds more: results that are there can still be written."""
    global _extra
    before, _extra = _extra, seconds
    try:
        yield
    finally:
        if not happened() and not isinstance(sys.exc_info()[1], KeyboardInterrupt):
            _extra = before


def _watch(reader: int, message: str) -> None:
    """Count interrupts until the other end of the pipe is closed."""
    since: float | None = None
    while True:
        if select.select([reader], [], [], None if since is None else 0.2)[0]:
            signals = os.read(reader, 64)
            if not signals:
                os.close(reader)
                return
            count = signals.count(signal.SIGINT)
            if count > 1 or (count and since is not None):
                _die()
            if count:
                since = time.monotonic()
                _happened.set()
                with suppress(OSError):  # a terminal that is gone
                    os.write(2, message.encode())
                _told.set()
        if since is not None and time.monotonic() > since + GRACE + _extra:
            _die()


def _end() -> NoReturn:
    """End without waiting for any thread."""
    _told.wait(1)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads it any more
            stream.flush()
    _die()


def _die() -> NoReturn:
    # signal.signal would do, but in the main thread alone.
    ctypes.pythonapi.PyOS_setsig(signal.SIGINT, ctypes.c_void_p(int(signal.SIG_DFL)))
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1)
    os._exit(128 + signal.SIGINT)  # the first process of a container cannot be ended by that signal


def _end_at_once_from_now_on() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _forget() -> None:
    """In a forked child, whose parent counts for itself."""
    if _in_place:
        signal.set_wakeup_fd(-1)


if hasattr(os, "register_at_fork"):  # POSIX
    os.register_at_fork(after_in_child=_forget)
