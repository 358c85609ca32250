"""Takes metadata out of PNG, JPEG and WebP files.

Pillow refuses a picture whose metadata are large or damaged. What decides how pixels look stays,
and so does the orientation.
"""

from __future__ import annotations

import io
import re
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

_PIXEL_CHUNKS: Final = (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND")
_TEXT_CHUNKS: Final = (b"tEXt", b"zTXt", b"iTXt")
_ORIENTATION_KEYWORDS: Final = (b"exif", b"Raw profile type exif", b"XML:com.adobe.xmp")
"""Keywords of the texts in which Pillow looks for the orientation."""
# The colour types of IHDR.
_GREY = 0
_RGB = 2
_PALETTE = 3


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
    """A chunk of a PNG file.

    Attributes:
        type: its type, ``IHDR`` say.
        encoded: all its bytes: 4 of the length of the content, 4 of the type, the content, and 4 of
            the checksum (PNG specification, 5.3).
    """

    type: bytes
    encoded: bytes

    @property
    def content(self) -> bytes:
        return self.encoded[8:-4]

    @property
    def is_truncated(self) -> bool:
        """Whether the file ends before the chunk does."""
        content_length = int.from_bytes(self.encoded[:4], "big")
        return len(self.encoded) < 12 + content_length

    @property
    def is_intact(self) -> bool:
        """Whether the chunk is complete and its checksum is that of type and content."""
        if self.is_truncated:
            return False
        checksum = int.from_bytes(self.encoded[-4:], "big")
        return zlib.crc32(self.encoded[4:-4]) == checksum


def _png(data: bytes) -> bytes:
    """The bytes of a PNG file with the chunks of its pixels and its orientation alone.

    The errors are those of `without_metadata`.
    """
    header = _Chunk(b"", b"")  # IHDR, the first chunk of a file that is whole
    pixel_chunks: list[bytes] = []
    pixel_types: set[bytes] = set()  # types of the chunks in `pixel_chunks`
    orientation_chunks: dict[bytes, bytes] = {}  # by keyword; the last one of each counts
    for chunk in _chunks(data):
        if chunk.type not in _PIXEL_CHUNKS:
            keyword = _orientation_keyword(chunk)
            if keyword and _is_readable(chunk, header):
                orientation_chunks[keyword] = chunk.encoded
            continue
        # Pixels that are truncated are left to Pillow, which refuses them.
        if chunk.type != b"IEND" and not (chunk.is_intact or chunk.is_truncated):
            raise SyntaxError(f"broken PNG file (wrong checksum of {chunk.type.decode()})")
        if chunk.type == b"IHDR":
            header = chunk
        elif chunk.type == b"tRNS":
            # As in libpng, the first one counts, and none behind the pixels (IDAT).
            if b"tRNS" in pixel_types or b"IDAT" in pixel_types:
                continue
            chunk = _with_sample_of_8_bits(chunk, header)
        pixel_chunks.append(chunk.encoded)
        pixel_types.add(chunk.type)

    has_palette_colours = header.content[9:10] == bytes([_PALETTE])  # byte 9 is the colour type
    if has_palette_colours and b"PLTE" not in pixel_types:
        # Pillow would make a black picture of it.
        raise SyntaxError("broken PNG file (it has no palette)")
    # The orientation stands right behind the header. Pillow reads what follows the pixels only
    # after it has decoded them.
    return b"".join([_PNG, *pixel_chunks[:1], *orientation_chunks.values(), *pixel_chunks[1:]])


def _chunks(data: bytes) -> Iterator[_Chunk]:
    """The chunks of a PNG file up to its end (``IEND``); the last one may be truncated."""
    start = len(_PNG)
    chunk_type = b""
    while start + 8 <= len(data) and chunk_type != b"IEND":
        # 4 bytes of length, 4 of type, the content, and 4 of checksum.
        length, chunk_type = struct.unpack_from(">I4s", data, start)
        end = start + 12 + length
        yield _Chunk(chunk_type, data[start:end])
        start = end


def _orientation_keyword(chunk: _Chunk) -> bytes:
    """The keyword of a chunk that may hold the orientation: ``eXIf``, or the key of its text.

    ``b""`` for other chunks.
    """
    if chunk.type == b"eXIf":
        return chunk.type
    if chunk.type in _TEXT_CHUNKS:
        keyword = chunk.content[:80].partition(b"\0")[0]  # a keyword ends at a zero byte
        return keyword if keyword in _ORIENTATION_KEYWORDS else b""
    return b""


def _is_readable(chunk: _Chunk, header: _Chunk) -> bool:
    """Whether Pillow opens a PNG file that has this chunk, its header, and no pixels."""
    if not chunk.is_intact:
        return False
    end = struct.pack(">I4sI", 0, b"IEND", zlib.crc32(b"IEND"))
    png = _PNG + header.encoded + chunk.encoded + end
    try:
        Image.open(io.BytesIO(png), formats=["PNG"]).close()
    except (OSError, SyntaxError, ValueError):  # UnidentifiedImageError is an OSError
        return False
    return True


def _with_sample_of_8_bits(chunk: _Chunk, header: _Chunk) -> _Chunk:
    """The chunk of the transparent colour (tRNS), with samples that fit Pillow's pixels of 8 bits.

    Pillow gives all pixels in 8 bits, but for grey of 16 bits. It would compare them with samples
    as they stand in the file, of 2, 4 or 16 bits.
    """
    # Bytes 8 and 9 of IHDR are the bits of a sample and the colour type. Without IHDR, both are 0
    # here, and the chunk stays as it is.
    depth, colour_type = header.content[8:10] or b"\0\0"
    sample_count = len(chunk.content) // 2  # each has 2 bytes, whatever the depth
    samples = struct.unpack(f">{sample_count}H", chunk.content[: sample_count * 2])
    if colour_type == _GREY and depth in (2, 4):
        largest = (1 << depth) - 1  # 3 or 15
        scale = 255 // largest
        samples = tuple((sample & largest) * scale for sample in samples)
    elif colour_type == _RGB and depth == 16:
        samples = tuple(sample >> 8 for sample in samples)
    else:
        return chunk
    content = struct.pack(f">{sample_count}H", *samples)
    length = struct.pack(">I", len(content))
    checksum = struct.pack(">I", zlib.crc32(chunk.type + content))
    return _Chunk(chunk.type, length + chunk.type + content + checksum)


# --- JPEG ---

_COMMENT = 0xFE
_SCAN = 0xDA
_APPLICATION_MARKERS = range(0xE0, 0xF0)
_KEPT_APPLICATIONS: Final = {
    0xE0: ((b"JFIF\0", 14),),
    0xE1: ((b"Exif\0\0", 6), (b"http://ns.adobe.com/xap/1.0/\0", 29)),
    0xEE: ((b"Adobe", 12),),
}
"""The application segments that are kept: by marker, how they begin and their least length.

JFIF and Adobe decide on the colours, Exif and XMP (``xap``) have the orientation.
"""


def _jpeg(data: bytes) -> bytes:
    """The bytes of a JPEG file without comments, and with the application segments that count.

    Each segment before the pixels is 0xFF, a marker, and the length of the rest in two bytes, which
    counts these two. From the first one that is not of this form, or begins the pixels (`_SCAN`),
    everything is kept.
    """
    kept_segments = [_JPEG]
    start = len(_JPEG)
    while start + 4 <= len(data) and data[start] == 0xFF:
        marker = data[start + 1]
        end = start + 2 + int.from_bytes(data[start + 2 : start + 4], "big")
        is_segment = 0xC0 <= marker < 0xFF and end >= start + 4
        if not is_segment or marker == _SCAN:
            break
        if not _is_metadata(marker, data[start + 4 : end]):
            kept_segments.append(data[start:end])
        start = end
    return b"".join([*kept_segments, data[start:]])


def _is_metadata(marker: int, content: bytes) -> bool:
    """Whether a segment of a JPEG file has to do with neither the pixels nor the orientation."""
    if marker == _COMMENT:
        return True
    if marker not in _APPLICATION_MARKERS:
        return False
    # Other programs write segments with the same markers, which begin otherwise.
    for beginning, least_length in _KEPT_APPLICATIONS.get(marker, ()):
        if content.startswith(beginning) and len(content) >= least_length:
            return False
    return True


# SOF0 and SOF1: sequential pictures with Huffman codes, which nearly all JPEG files are.
_SEQUENTIAL_FRAMES: Final = (0xC0, 0xC1)
_MARKERS_ALONE: Final = range(0xD0, 0xDA)  # restart markers, begin and end: no segment follows
_MARKER_AFTER_SCAN: Final = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")
"""A marker that is no part of a scan: 0xFF stands in it before 0 or a restart marker alone."""
_END_OF_IMAGE: Final = b"\xff\xd9"


def without_whole_scan(data: bytes) -> bytes:
    """The bytes of a JPEG file without the codes of its pixels, if these cannot fail; else all.

    libjpeg reads wrong codes of pixels as wrong colours. Decoding fails only at the segments before
    and after them, or where the file ends too early. So if all components are in one scan, right
    behind which the picture ends, it fails with the codes exactly if it fails without them.
    """
    start = len(_JPEG)
    component_count = None  # of the frame, unless its kind is another one
    while data.startswith(_JPEG) and start + 5 <= len(data) and data[start] == 0xFF:
        marker = data[start + 1]
        end = start + 2 + int.from_bytes(data[start + 2 : start + 4], "big")
        if not 0xC0 <= marker < 0xFF or marker in _MARKERS_ALONE or end < start + 5:
            break
        if marker in _SEQUENTIAL_FRAMES:
            component_count = data[start + 9 : start + 10]  # behind precision, height and width
        if marker == _SCAN:
            marker_after = _MARKER_AFTER_SCAN.search(data, end)
            has_all_components = data[start + 4 : start + 5] == component_count
            if has_all_components and marker_after and marker_after[0] == _END_OF_IMAGE:
                return data[:end] + _END_OF_IMAGE
            break
        start = end
    return data


# --- WebP ---

_WEBP_PIXEL_CHUNKS: Final = (b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF")
_WEBP_ORIENTATION_CHUNKS: Final = (b"EXIF", b"XMP ")


def _webp(data: bytes) -> bytes:
    """The bytes of a WebP file with the chunks of its pixels and its orientation alone.

    The header has their total length, because libwebp refuses a file that is shorter.
    """
    kept_chunks = [_WEBP]
    start = 12  # behind _RIFF, the length of the file, and _WEBP
    while start + 8 <= len(data):
        chunk_type, length = struct.unpack_from("<4sI", data, start)
        end = start + 8 + length + length % 2  # padded to an even length
        is_truncated = start + 8 + length > len(data)
        is_orientation = chunk_type in _WEBP_ORIENTATION_CHUNKS and not is_truncated
        # Pixels that are truncated are left to Pillow, which refuses them.
        if chunk_type in _WEBP_PIXEL_CHUNKS or is_orientation:
            kept_chunks.append(data[start:end])
        start = end
    content = b"".join(kept_chunks)
    return _RIFF + struct.pack("<I", len(content)) + content
