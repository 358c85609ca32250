"""Reads the files in a ``.eval`` log, a zip whose files may be packed with Zstandard."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from figlang_tasks.core import files

if TYPE_CHECKING:
    import zstandard

_ZSTANDARD = 93
"""The number of the method in zips; `zipfile` reads it since Python 3.14."""

_MOST_BYTES_OF_ALL = 4096 * files.MEBIBYTE
"""The limit for all files of a log together, unpacked."""

_MOST_BYTES_OF_A_WINDOW = 128 * files.MEBIBYTE
"""The limit for what an unpacker of Zstandard keeps in memory; a file may ask for 2 GB."""

_LOCAL_HEADER = struct.Struct("<4s22xHH")
"""The header before a packed file: its mark, and the lengths of its name and of the extra field."""


class MissingZstandardError(Exception):
    """Files are packed with Zstandard, and the package that unpacks them is not installed."""


class MemberReader:
    """Reads files in a zip, and counts what they unpack to: headers may lie about sizes."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        """Take a zip that is open for reading.

        Raises:
            zipfile.BadZipFile: its files unpack to too much, by their headers, or a file is there
                twice, of which `zipfile` would read the last one each time.
        """
        self._archive = archive
        self._bytes_left = _MOST_BYTES_OF_ALL
        total = sum(member.file_size for member in archive.infolist())
        if total > _MOST_BYTES_OF_ALL:
            raise _too_much(f"{total:,} bytes")
        for name, count in Counter(archive.namelist()).items():
            if count > 1:
                raise zipfile.BadZipFile(f"it has {name} twice")

    def read(self, name: str) -> bytes:
        """The content of a file that is packed with Zstandard, or as `files.read_member` says.

        Raises:
            MissingZstandardError: the package zstandard is needed, and not installed.
            zipfile.BadZipFile: the file is larger than `files.MOST_BYTES_OF_A_MEMBER`, or damaged,
                or all files together are too large.
        """
        member = self._archive.getinfo(name)
        if member.compress_type == _ZSTANDARD:
            content = _read_zstandard(self._archive, member)
        else:
            content = files.read_member(self._archive, name)
        self._bytes_left -= len(content)
        if self._bytes_left < 0:
            raise _too_much("more")
        return content


def _too_much(size: str) -> zipfile.BadZipFile:
    """The error for a zip that unpacks to too much."""
    return zipfile.BadZipFile(f"it unpacks to {size}, at most {_MOST_BYTES_OF_ALL:,}")


def _read_zstandard(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The content of a file that is packed with Zstandard; errors as of `MemberReader.read`."""
    try:
        import zstandard
    except ImportError as error:
        raise MissingZstandardError from error

    name = member.filename
    limit = files.MOST_BYTES_OF_A_MEMBER
    if max(member.compress_size, member.file_size) > limit:
        size = max(member.compress_size, member.file_size)
        raise zipfile.BadZipFile(f"{name} has {size:,} bytes, at most {limit:,}")
    content = bytearray()
    try:
        for piece in _unpacked_pieces(_packed_bytes(archive, member), zstandard):
            content += piece
            if len(content) > member.file_size:
                raise zipfile.BadZipFile(
                    f"{name} unpacks to more than the {member.file_size:,} bytes that its header"
                    " tells"
                )
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(f"{name} is damaged ({error})") from error
    if zlib.crc32(content) != member.CRC:
        raise zipfile.BadZipFile(f"{name} is damaged (its checksum is another)")
    return bytes(content)


def _packed_bytes(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The bytes of a file as the zip has them; `zipfile` gives them for its own methods alone."""
    file: IO[bytes] | None = archive.fp
    assert file is not None, "the zip is open"
    file.seek(member.header_offset)
    header = file.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size:
        raise zipfile.BadZipFile(f"{member.filename} is cut off")
    mark, name_length, extra_length = _LOCAL_HEADER.unpack(header)
    is_encrypted = bool(member.flag_bits & 1)
    if mark != b"PK\x03\x04" or is_encrypted:
        raise zipfile.BadZipFile(f"{member.filename} is damaged, or encrypted")
    file.seek(name_length + extra_length, io.SEEK_CUR)
    return file.read(member.compress_size)


def _unpacked_pieces(packed: bytes, zstandard_module: object) -> Iterator[bytes]:
    """The content of packed bytes in pieces of at most a mebibyte."""
    unpacker: zstandard.ZstdDecompressor = zstandard_module.ZstdDecompressor(  # type: ignore[attr-defined]
        max_window_size=_MOST_BYTES_OF_A_WINDOW
    )
    # inspect_ai writes several frames for a large file.
    with unpacker.stream_reader(io.BytesIO(packed), read_across_frames=True) as reader:
        while piece := reader.read(files.MEBIBYTE):
            yield piece
