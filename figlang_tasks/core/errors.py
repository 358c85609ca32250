"""The exceptions that users of the package catch."""

from __future__ import annotations

import errno
from collections.abc import Sequence

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_RIGHTS = {errno.EACCES, errno.EPERM, errno.EROFS}


def remedy_of_writing(error: BaseException) -> str:
    """What to do about an error of writing a file: to make room, or to ask for rights; "" for any
    other error.
    """
    number = getattr(error, "errno", None)
    if number in _NO_ROOM or "Not enough disk space" in str(
        error
    ):  # the second: datasets counts before it writes
        return "make room there"
    if number in _NO_RIGHTS:
        return "ask for the right to write there"
    return ""


class FigLangError(Exception):
    """A task cannot be run, or runs cannot be compared, as asked. The message says what is wrong
    and what to do.

    ``simple_evaluate`` raises it before a model is loaded, where that can be known. A command
    prints the message and ends with status 1.
    """


class DataError(FigLangError):
    """Data is missing, not accessible or not what it should be; the message says what to do about
    it.

    Attributes:
        faults: all faults of the data, where the message tells the first of them.
    """

    faults: Sequence[str] = ()


class PartMissing(DataError):
    """A part of the data that only some tasks need is not there; the message says where it comes
    from.
    """


class RunError(FigLangError):
    """A finished run cannot be used; the message names the file and what to do."""
