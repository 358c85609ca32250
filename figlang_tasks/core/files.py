"""Checks files before they are read, and folders before they are written.

Only regular files are read, and none above a plausible size (docs/security.md). A folder that holds
something is not overwritten.
"""

from __future__ import annotations

import errno
import os
import stat
import zipfile
from pathlib import Path
from typing import Final

from figlang_tasks.core.errors import FigLangError

MEBIBYTE: Final = 1 << 20
MOST_BYTES: Final = 256 * MEBIBYTE
"""The limit for a picture, a table in text, a sheet, a key or a submission."""
MOST_BYTES_OF_SAMPLES: Final = 2048 * MEBIBYTE
"""The limit for a samples or results file."""
MOST_BYTES_OF_TABLES: Final = 16_384 * MEBIBYTE
"""The limit for a Parquet file or a zip of pictures, which are not read at once."""
MOST_BYTES_OF_A_MEMBER: Final = 64 * MEBIBYTE
"""The limit for a file in a zip, unpacked."""

PARTIAL: Final = ".partial"
"""The ending of a file that could not be written whole, and of a folder while it is written."""

_FILE_TYPES = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}
# With other methods, Python unpacks a block as a whole, however large it gets.
_COMPRESSION_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def check_file(path: Path, most_bytes: int = MOST_BYTES) -> None:
    """Check that a path leads to a regular file of at most `most_bytes`.

    The file is not opened: opening a pipe would wait for ever.

    Raises:
        OSError: the file is missing, is something else, is too large, or may not be looked at.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        file_type = _FILE_TYPES.get(stat.S_IFMT(status.st_mode), "no regular file")
        raise OSError(
            errno.EINVAL,
            f"this is {file_type}, where a file is needed: put the file itself there",
            str(path),
        )
    if status.st_size > most_bytes:
        reason = (
            f"the file has {_size_text(status.st_size)}, and at most {_size_text(most_bytes)} are"
            " read: is it the right file, and whole?"
        )
        raise OSError(errno.EFBIG, reason, str(path))


def read_file(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """The content of a file; an `OSError` if it is no regular file or too large (`check_file`)."""
    check_file(path, most_bytes)
    return path.read_bytes()


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """The content of a file in a zip, of at most `MOST_BYTES_OF_A_MEMBER`.

    Args:
        archive: the zip, open for reading.
        name: the name of the file in it.

    Raises:
        zipfile.BadZipFile: the file is larger (by its header, or when it is unpacked), damaged, or
            packed by a rare method.
    """
    member = archive.getinfo(name)
    if member.compress_type not in _COMPRESSION_METHODS:
        raise zipfile.BadZipFile(
            f"{name} is packed by method {member.compress_type}: pack it with the method deflate"
        )
    limit = MOST_BYTES_OF_A_MEMBER
    if member.file_size > limit:
        raise zipfile.BadZipFile(
            f"{name} has {_size_text(member.file_size)} unpacked, at most {_size_text(limit)}"
        )
    content = bytearray()
    with archive.open(member) as file:
        # Read in small pieces, because the header may lie about the size, and because a piece is
        # unpacked before its size is known.
        while piece := file.read(MEBIBYTE):
            content += piece
            if len(content) > limit:
                raise zipfile.BadZipFile(f"{name} has more than {_size_text(limit)} unpacked")
    return bytes(content)


def check_is_free(folder: Path) -> None:
    """Raise a `FigLangError` unless a folder to write does not exist, or is empty."""
    if not folder.exists():
        return
    if folder.is_dir() and not any(folder.iterdir()):
        return
    raise FigLangError(
        f"{folder} exists already and is not overwritten: remove it, or choose another name"
    )


def _size_text(size: int) -> str:
    """A number of bytes in words: ``256 MB``, ``30.0 GB``."""
    mebibytes = size / MEBIBYTE
    if mebibytes >= 1024:
        return f"{mebibytes / 1024:.1f} GB"
    return f"{mebibytes:.0f} MB"
