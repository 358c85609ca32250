"""Takes metadata out of PNG, JPEG and WebP files, so that a fault in it does not make a whole
picture unreadable.

Pillow refuses a picture whose metadata are large or damaged. What decides how pixels look stays, as
does what says which side is up.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from PIL import Image

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_JPEG: Final = b"\xff\xd8"
_RIFF: Final = b"RIFF"  # the length of the file follows, then _WEBP
_WEBP: Final = b"WEBP"

# --- PNG ---

_PIXELS: Final = (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND")
_TEXTS: Final = (b"tEXt", b"zTXt", b"iTXt")
_ORIENTED: Final = (b"exif", b"Raw profile type exif", b"XML:com.adobe.xmp")
"""Keywords of the texts in which Pillow looks for the orientation."""
_GREY, _RGB, _PALETTE = 0, 2, 3  # colour types of IHDR


def without_metadata(data: bytes) -> bytes:
    """The bytes of a picture without metadata; those of GIF, BMP and TIFF as they are.

    Call it while Pillow is strict (``ImageFile.LOAD_TRUNCATED_IMAGES``).

    Raises:
        SyntaxError: a chunk of a PNG file that decides on pixels has a wrong checksum, or the
            palette is missing.
    """
    if data.startswith(_PNG):
        return _png(data)
    if data.startswith(_JPEG):
        return _jpeg(data)
    if data[:4] == _RIFF and data[8:12] == _WEBP:
        return _webp(data)
    return data


class _Chunk(NamedTuple):
    """A chunk of a PNG file: the name of its kind, and all its bytes with length and checksum."""

    kind: bytes
    whole: bytes

    @property
    def content(self) -> bytes:
        return self.whole[8:-4]

    @property
    def is_cut(self) -> bool:
        """Whether the file ends before the chunk does."""
        return len(self.whole) < 12 + int.from_bytes(self.whole[:4], "big")

    @property
    def is_intact(self) -> bool:
        """Whether the checksum is that of kind and content."""
        return not self.is_cut and zlib.crc32(self.whole[4:-4]) == int.from_bytes(
            self.whole[-4:], "big"
        )


def _png(data: bytes) -> bytes:
    header = _Chunk(b"", b"")
    pixels: list[bytes] = []
    kinds: set[bytes] = set()
    orientation: dict[bytes, bytes] = {}  # the last one of each kind counts
    for chunk in _chunks(data):
        if chunk.kind in _PIXELS:
            if chunk.kind != b"IEND" and not (chunk.is_intact or chunk.is_cut):
                raise SyntaxError(f"broken PNG file (wrong checksum of {chunk.kind.decode()})")
            if chunk.kind == b"IHDR":
                header = chunk
            elif chunk.kind == b"tRNS":
                if not kinds.isdisjoint((b"tRNS", b"IDAT")):
                    continue  # as libpng does: the first one counts, and none behind the pixels
                chunk = _with_sample_of_8_bits(chunk, header)
            pixels.append(chunk.whole)
            kinds.add(chunk.kind)
        elif (keyword := _orientation_keyword(chunk)) and _is_readable(chunk, header):
            orientation[keyword] = chunk.whole
    if header.content[9:10] == bytes([_PALETTE]) and b"PLTE" not in kinds:
        # Of which Pillow makes a black picture
        raise SyntaxError("broken PNG file (it has no palette)")
    # Before the pixels, because Pillow reads what follows them only when it has decoded them.
    return b"".join([_PNG, *pixels[:1], *orientation.values(), *pixels[1:]])


def _chunks(data: bytes) -> Iterator[_Chunk]:
    """The chunks of a PNG file up to its end, of which the last may be cut off."""
    start, kind = len(_PNG), b""
    while start + 8 <= len(data) and kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", data, start)
        end = start + 12 + length
        yield _Chunk(kind, data[start:end])
        start = end


def _orientation_keyword(chunk: _Chunk) -> bytes:
    """What a chunk that may hold the orientation is called in a PNG file; empty for other
    chunks.
    """
    if chunk.kind == b"eXIf":
        return chunk.kind
    if chunk.kind in _TEXTS:
        keyword = chunk.content[:80].partition(b"\0")[0]
        return keyword if keyword in _ORIENTED else b""
    return b""


def _is_readable(chunk: _Chunk, header: _Chunk) -> bool:
    """Whether Pillow opens a file with the header and this chunk."""
    if not chunk.is_intact:
        return False
    end = struct.pack(">I4sI", 0, b"IEND", zlib.crc32(b"IEND"))
    try:
        Image.open(io.BytesIO(_PNG + header.whole + chunk.whole + end), formats=["PNG"]).close()
    except (OSError, SyntaxError, ValueError):  # UnidentifiedImageError is an OSError
        return False
    return True


def _with_sample_of_8_bits(chunk: _Chunk, header: _Chunk) -> _Chunk:
    """The transparent colour (tRNS) in 8 bits, in which Pillow gives all colours but grey of 16
    bits.

    Pillow itself compares the sample of the file, of 2, 4 or 16 bits, with a pixel of 8 bits.
    """
    depth, colour_type = header.content[8:10] or b"\0\0"
    samples = struct.unpack(
        f">{len(chunk.content) // 2}H", chunk.content[: len(chunk.content) // 2 * 2]
    )
    if colour_type == _GREY and depth in (2, 4):
        scale = 255 // ((1 << depth) - 1)
        samples = tuple((sample & ((1 << depth) - 1)) * scale for sample in samples)
    elif colour_type == _RGB and depth == 16:
        samples = tuple(sample >> 8 for sample in samples)
    else:
        return chunk
    content = chunk.kind + struct.pack(f">{len(samples)}H", *samples)
    length, checksum = struct.pack(">I", len(content) - 4), struct.pack(">I", zlib.crc32(content))
    return _Chunk(chunk.kind, length + content + checksum)


# --- JPEG ---

_COMMENT, _SCAN = 0xFE, 0xDA
_APPLICATIONS = range(0xE0, 0xF0)
# Marker -> how the contents that are kept begin, and how long they must be. JFIF and Adobe decide
# on the colours.
_KEPT: Final = {
    0xE0: ((b"JFIF\0", 14),),
    0xE1: ((b"Exif\0\0", 6), (b"http://ns.adobe.com/xap/1.0/\0", 29)),
    0xEE: ((b"Adobe", 12),),
}


def _jpeg(data: bytes) -> bytes:
    kept, start = [_JPEG], 2
    # Each segment before the pixels is 0xFF, a marker, and the length of the rest; where one is
    # not, all is kept.
    while start + 4 <= len(data) and data[start] == 0xFF:
        marker = data[start + 1]
        end = start + 2 + int.from_bytes(data[start + 2 : start + 4], "big")
        if not 0xC0 <= marker < 0xFF or marker == _SCAN or end < start + 4:
            break
        if not _is_metadata(marker, data[start + 4 : end]):
            kept.append(data[start:end])
        start = end
    return b"".join([*kept, data[start:]])


def _is_metadata(marker: int, content: bytes) -> bool:
    """Whether a segment of a JPEG file is neither of the pixels, nor says which side is up."""
    if marker == _COMMENT:
        return True
    beginnings = _KEPT.get(marker, ())
    is_kept = any(
        content.startswith(beginning) and len(content) >= length for beginning, length in beginnings
    )
    return marker in _APPLICATIONS and not is_kept


# --- WebP ---

_WEBP_PIXELS: Final = (b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF")
_WEBP_ORIENTED: Final = (b"EXIF", b"XMP ")


def _webp(data: bytes) -> bytes:
    """The chunks of pixels and orientation, with the length of them all: libwebp refuses a file
    that is shorter.
    """
    kept, start = [_WEBP], 12
    while start + 8 <= len(data):
        kind, length = struct.unpack_from("<4sI", data, start)
        end = start + 8 + length + length % 2
        is_cut = start + 8 + length > len(data)
        # Pixels that are cut are left to Pillow, which refuses them.
        if kind in _WEBP_PIXELS or (kind in _WEBP_ORIENTED and not is_cut):
            kept.append(data[start:end])
        start = end
    content = b"".join(kept)
    return _RIFF + struct.pack("<I", len(content)) + content
