"""The exceptions that users of the package catch."""

from __future__ import annotations

import errno
from collections.abc import Sequence

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_RIGHTS = {errno.EACCES, errno.EPERM, errno.EROFS}


def remedy_of_writing(error: BaseException) -> str:
    """What to do about an error of writing a file: make room, or ask for rights; "" for others."""
    error_number = getattr(error, "errno", None)
    # `datasets` compares sizes before it writes, and raises this error without a number.
    if error_number in _NO_ROOM or "Not enough disk space" in str(error):
        return "make room there"
    if error_number in _NO_RIGHTS:
        return "ask for the right to write there"
    return ""


class FigLangError(Exception):
    """A task cannot be run, or runs cannot be compared; the message says why and what to do.

    ``simple_evaluate`` raises it before a model is loaded, where that can be known. A command
    prints the message and ends with status 1.
    """


class ForeignCodeError(FigLangError):
    """A module of a benchmark of another package does not work; the message names the package."""


class DataError(FigLangError):
    """Data is missing, not accessible or not what it should be; the message says what to do.

    Attributes:
        faults: all faults of the data, where the message has only the first of them; else empty.
    """

    faults: Sequence[str] = ()


class PartMissing(DataError):
    """A part of the data that only some tasks need is missing; the message says where to get it."""


class RunError(FigLangError):
    """A finished run cannot be used; the message names the file and what to do."""
