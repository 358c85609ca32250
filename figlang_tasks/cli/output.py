"""Keeps a command running when its standard output or standard error cannot be written."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO, cast


class GuardedStream:
    """A stream that, after an error of writing, keeps the error and drops all later text.

    The disk may be full, or the reader of a pipe gone.

    Attributes:
        error: the first error; None if all was written.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.error: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text, unless an error came before; return the length of the text."""
        if self.error is None:
            try:
                self._stream.write(text)
            except OSError as error:
                self._give_up(error)
        return len(text)

    def flush(self) -> None:
        """Write what is in the buffer, unless an error came before."""
        if self.error is None:
            try:
                self._stream.flush()
            except OSError as error:
                self._give_up(error)

    def _give_up(self, error: OSError) -> None:
        """Keep an error, and send the rest of the buffer to the null device.

        The interpreter flushes the stream when it ends, and would report the error again.
        """
        self.error = error
        with suppress(OSError, ValueError):  # The stream may have no file.
            null_device = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null_device, self._stream.fileno())
            os.close(null_device)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


@contextmanager
def guarded_output(command: str) -> Iterator[None]:
    """Let a block finish although its output cannot be written, then exit with status 1.

    A message says that output was lost, unless the reader has closed the pipe, as ``head`` does. If
    the block itself fails, its own status stays, and there is no message.

    Args:
        command: the name of the command, for the message.

    Raises:
        SystemExit: standard output could not be written, or the block raised it.
    """
    original_stdout = sys.stdout
    original_stderr = sys.stderr
    exit_request: SystemExit | None = None  # of the block; raised again when output is flushed
    # A `GuardedStream` keeps the first error instead of raising it.
    output = GuardedStream(original_stdout)
    errors = GuardedStream(original_stderr)
    sys.stdout = cast("TextIO", output)
    sys.stderr = cast("TextIO", errors)
    try:
        try:
            yield
        except SystemExit as raised:
            exit_request = raised
        output.flush()  # Only now is it certain whether all of the output could be written.
        # The codes None and 0 are those of success.
        block_has_failed = exit_request is not None and bool(exit_request.code)
        if output.error is not None and not block_has_failed:
            has_reader_left = output.error.errno == errno.EPIPE
            if not has_reader_left:
                reason = output.error.strerror
                print(f"{command}: the output could not be written: {reason}", file=errors)
            sys.exit(1)
        if exit_request is not None:
            raise exit_request
    finally:
        output.flush()  # for an exception of the block that has skipped the flush above
        errors.flush()
        sys.stdout = original_stdout
        sys.stderr = original_stderr
