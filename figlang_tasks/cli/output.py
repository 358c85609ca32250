"""Standard output and standard error of a command that goes on when nobody can read them any
more.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


class GuardedStream:
    """A stream that drops what cannot be written, and keeps the first error: a full disk, or a
    reader that is gone.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.error: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text, unless an earlier one could not be written; return its length."""
        if self.error is None:
            try:
                self._stream.write(text)
            except OSError as error:
                self._give_up(error)
        return len(text)

    def flush(self) -> None:
        """Write what is kept back."""
        if self.error is None:
            try:
                self._stream.flush()
            except OSError as error:
                self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Keep an error; what the stream still holds goes to nobody, or the interpreter would fail
        on it at its end.
        """
        self.error = error
        with suppress(OSError, ValueError):  # it may have no file
            nobody = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nobody, self._stream.fileno())
            os.close(nobody)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def guarded_output(command: str) -> Iterator[None]:
    """Stand around the work of a command, which ends with status 1 if its standard output could not
    be written.

    One message says so, except where the reader has closed the pipe, as ``head`` does.
    """
    before = sys.stdout, sys.stderr
    output, errors = GuardedStream(sys.stdout), GuardedStream(sys.stderr)
    streams: Any = sys
    streams.stdout, streams.stderr = output, errors
    try:
        try:
            yield
        except SystemExit as ended:
            output.flush()
            if ended.code or output.error is None:
                raise
        output.flush()
        if output.error is None:
            return
        if output.error.errno != errno.EPIPE:
            print(
                f"{command}: the output could not be written: {output.error.strerror}", file=errors
            )
        sys.exit(1)
    finally:
        output.flush()
        errors.flush()
        sys.stdout, sys.stderr = before
