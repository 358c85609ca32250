"""Only damaged pixels make a picture unreadable; and what the check lets pass, a run can show."""

from __future__ import annotations

import io
import os
import random
import shutil
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageFile

from figlang_tasks.core import images
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.picture_bytes import without_metadata

PICTURE = Image.effect_noise((40, 30), 80).convert("RGB")
LARGE = zlib.compress(b"x" * 3_000_000)
UNPACKABLE = random.Random(3).randbytes(1_500_000)


@pytest.fixture(autouse=True)
def lenient_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    """As lmms-eval sets it for the whole process."""
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)


def file_of(image: Image.Image, kind: str, **options: Any) -> bytes:
    """The bytes of a file of a picture in this format."""
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def checked_picture(data: bytes) -> Image.Image:
    """The picture of a file, checked and decoded as a run does it."""
    cell = {"bytes": data, "path": None}
    images.check(cell, "row 1")
    return images.decode(cell, "row 1")


def fault(data: bytes) -> str:
    """What is wrong with a picture, which check and run refuse with the same words."""
    messages = []
    for check_or_decode in (images.check, images.decode):
        with pytest.raises(DataError) as raised:
            check_or_decode({"bytes": data, "path": None}, "row 1")
        messages.append(str(raised.value))
    assert messages[0] == messages[1]
    return messages[0]


# --- PNG ---


def chunk(kind: bytes, content: bytes, is_right: bool = True) -> bytes:
    """A chunk of a PNG; with a wrong checksum unless `is_right`."""
    checksum = zlib.crc32(kind + content) ^ (not is_right)
    return struct.pack(">L", len(content)) + kind + content + struct.pack(">L", checksum)


def chunks_of(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and content of each chunk of a PNG."""
    start = 8
    while start < len(data):
        (length,) = struct.unpack_from(">L", data, start)
        yield data[start + 4 : start + 8], data[start + 8 : start + 8 + length]
        start += 12 + length


ODD = {
    "iCCP of 3 MB": chunk(b"iCCP", b"profile\0\0" + LARGE),
    "zTXt of 3 MB": chunk(b"zTXt", b"comment\0\0" + LARGE),
    "iTXt of 3 MB": chunk(b"iTXt", b"comment\0\1\0\0\0" + LARGE),
    "XMP of 3 MB": chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + LARGE),
    "EXIF in a text of 3 MB": chunk(b"zTXt", b"Raw profile type exif\0\0" + LARGE),
    "70 texts of 1 MB": chunk(b"tEXt", b"comment\0" + b"x" * 1_000_000) * 70,
    "tEXt of 1.5 MB": chunk(b"tEXt", b"comment\0" + UNPACKABLE),
    "text by an unknown method": chunk(b"zTXt", b"comment\0\7text"),
    "profile by an unknown method": chunk(b"iCCP", b"profile\0\7text"),
    "text called transparency": chunk(b"tEXt", b"transparency\0no"),
    "short gAMA": chunk(b"gAMA", b"\0\1"),
    "short cHRM": chunk(b"cHRM", b"\0\1"),
    "empty sRGB": chunk(b"sRGB", b""),
    "short pHYs": chunk(b"pHYs", b"\0\1"),
    "short acTL": chunk(b"acTL", b"\0\1"),
    "fcTL out of order": chunk(b"fcTL", struct.pack(">5L2H2B", 7, 40, 30, 0, 0, 1, 1, 0, 0)),
    "short fdAT": chunk(b"fdAT", b"\0\1"),
    "EXIF that is none": chunk(b"eXIf", b"II*\0\xff\xff\xff\xff"),
    "EXIF of text": chunk(b"eXIf", b"no EXIF"),
    "EXIF in hexadecimal that is none": chunk(b"tEXt", b"Raw profile type exif\0\nexif\n 4\nzz"),
}
SOUND_CONTENT = {
    b"tEXt": b"comment\0text",
    b"zTXt": b"comment\0\0" + zlib.compress(b"text"),
    b"iTXt": b"comment\0\0\0\0\0text",
    b"gAMA": struct.pack(">L", 45455),
    b"cHRM": bytes(32),
    b"pHYs": struct.pack(">2LB", 2835, 2835, 1),
    b"iCCP": b"profile\0\0" + zlib.compress(b"profile"),
    b"sRGB": b"\0",
    b"tIME": bytes(7),
    b"bKGD": bytes(6),
    b"eXIf": b"MM\0*\0\0\0\x08\0\0",
    b"prVt": b"private",
}
for _kind, _content in SOUND_CONTENT.items():
    ODD[f"wrong checksum of {_kind.decode()}"] = chunk(_kind, _content, is_right=False)


def insert_metadata(png: bytes, metadata: bytes, position: str) -> bytes:
    """A PNG with chunks more, "before the pixels" or "after the pixels"."""
    start = 33  # behind the signature and IHDR
    if position == "after the pixels":
        start = len(png) - 12  # before IEND
    return png[:start] + metadata + png[start:]


@pytest.mark.parametrize("position", ["before the pixels", "after the pixels"])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_a_whole_png_with_odd_metadata_is_read(odd: bytes, position: str) -> None:
    data = insert_metadata(file_of(PICTURE, "PNG"), odd, position)
    assert checked_picture(data).tobytes() == PICTURE.tobytes()


@pytest.mark.parametrize("mode", ["RGB", "L", "P", "RGBA", "I;16"])
@pytest.mark.parametrize("cut", [0.2, 0.9])
def test_pixels_that_are_cut_with_a_right_checksum_are_refused(mode: str, cut: float) -> None:
    picture = PICTURE
    if mode == "I;16":
        picture = PICTURE.convert("L")  # colours are not converted to 16 bits at once
    data = file_of(picture.convert(mode), "PNG")
    parts: list[bytes] = []
    for kind, content in chunks_of(data):
        if kind == b"IDAT":
            content = content[: int(len(content) * cut)]
        parts.append(chunk(kind, content))
    assert "truncated" in fault(data[:8] + b"".join(parts))


@pytest.mark.parametrize("kind", [b"IHDR", b"IDAT"])
def test_a_wrong_checksum_of_pixels_is_refused(kind: bytes) -> None:
    data = file_of(PICTURE, "PNG")
    parts: list[bytes] = []
    for kind_of_chunk, content in chunks_of(data):
        parts.append(chunk(kind_of_chunk, content, is_right=kind_of_chunk != kind))
    assert f"wrong checksum of {kind.decode()}" in fault(data[:8] + b"".join(parts))


def test_a_palette_that_is_missing_is_refused() -> None:
    data = file_of(PICTURE.convert("P"), "PNG")
    parts = [chunk(kind, content) for kind, content in chunks_of(data) if kind != b"PLTE"]
    assert "it has no palette" in fault(data[:8] + b"".join(parts))


@pytest.mark.parametrize("source", ["EXIF", "EXIF in a text", "XMP"])
@pytest.mark.parametrize("position", ["before the pixels", "after the pixels"])
def test_the_orientation_is_found_beside_odd_metadata(source: str, position: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    orientation = {
        "EXIF": chunk(b"eXIf", exif.tobytes()[6:]),
        "EXIF in a text": chunk(
            b"tEXt", b"Raw profile type exif\0\nexif\n 1\n" + exif.tobytes().hex().encode()
        ),
        "XMP": chunk(b"iTXt", b'XML:com.adobe.xmp\0\0\0\0\0<x tiff:Orientation="6"/>'),
    }[source]
    metadata = ODD["wrong checksum of gAMA"] + orientation + ODD["zTXt of 3 MB"]
    data = insert_metadata(file_of(PICTURE, "PNG"), metadata, position)
    upright = PICTURE.transpose(Image.Transpose.ROTATE_270)
    assert checked_picture(data).tobytes() == upright.tobytes()


# --- JPEG and WebP ---


def segment(marker: int, content: bytes) -> bytes:
    """A segment of a JPEG."""
    return bytes([0xFF, marker]) + struct.pack(">H", len(content) + 2) + content


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
@pytest.mark.parametrize(
    "odd",
    [
        segment(0xE0, b"JFIF\0"),
        segment(0xE1, b"Exif\0\0MM\0*\xff\xff\xff\xff"),
        segment(0xE1, b"Exif\0\0no EXIF"),
        segment(0xE2, b"MPF\0MM\0*\0\0\0\x08\0\0"),
        segment(0xE2, b"ICC_PROFILE\0"),
        segment(0xED, b"Photoshop 3.0\x008BIM\x04\x04"),
        segment(0xEE, b"Adobe"),
        segment(0xFE, b"\0"),
    ],
    ids=["JFIF", "EXIF", "text as EXIF", "MPF", "profile", "Photoshop", "Adobe", "comment"],
)
def test_a_whole_jpeg_with_odd_metadata_is_read(odd: bytes, mode: str) -> None:
    data = file_of(PICTURE.convert(mode), "JPEG")
    with_odd_metadata = data[:2] + odd + data[2:]
    assert checked_picture(with_odd_metadata).tobytes() == checked_picture(data).tobytes()


def test_what_decides_on_the_colours_of_a_jpeg_stays() -> None:
    plain = Image.open(io.BytesIO(file_of(PICTURE.convert("CMYK"), "JPEG")))
    assert plain.info["adobe_transform"] is not None
    stripped = Image.open(io.BytesIO(without_metadata(file_of(PICTURE.convert("CMYK"), "JPEG"))))
    assert stripped.tobytes() == plain.tobytes()


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "JPEG"])
@pytest.mark.parametrize(
    "exif",
    [b"E", b"Exif\0\0", b"Exif\0\0II*\0", b"no EXIF at all", b"Exif\0\0MM\0*\0\0\0\x08\xff\xff"],
)
def test_exif_that_cannot_be_read_is_ignored(kind: str, exif: bytes) -> None:
    options: dict[str, Any] = {}
    if kind == "WEBP":
        options["lossless"] = True
    plain = file_of(PICTURE, kind, **options)
    broken = file_of(PICTURE, kind, exif=exif, **options)
    assert checked_picture(broken).tobytes() == checked_picture(plain).tobytes()


@pytest.mark.parametrize(
    "damage", ["cut in its metadata", "chunk too long", "length of the file", "a large chunk"]
)
def test_a_whole_webp_with_odd_metadata_is_read(damage: str) -> None:
    exif = Image.Exif()
    exif[0x010F] = "a camera"
    plain = file_of(PICTURE, "WEBP", lossless=True)
    odd = file_of(PICTURE, "WEBP", lossless=True, exif=exif)
    length_at = odd.index(b"EXIF") + 4
    if damage == "cut in its metadata":
        odd = odd[:-9]
    elif damage == "chunk too long":
        odd = odd[:length_at] + b"\xff\xff\0\0" + odd[length_at + 4 :]
    elif damage == "length of the file":
        odd = odd[:4] + b"\xff\xff\0\0" + odd[8:]
    else:
        odd += b"ICCP" + (3_000_000).to_bytes(4, "little") + bytes(3_000_000)
    assert checked_picture(odd).tobytes() == checked_picture(plain).tobytes()


@pytest.mark.parametrize("lossless", [True, False])
def test_pixels_of_a_webp_that_are_cut_are_refused(lossless: bool) -> None:
    data = file_of(PICTURE, "WEBP", lossless=lossless)
    assert "cannot be decoded" in fault(data[: len(data) * 2 // 3])


# --- formats ---

EPS = (
    b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 40 30\n%%EndComments\n0 0 40 30"
    b" rectfill\nshowpage\n%%EOF\n"
)


def test_an_eps_file_called_png_starts_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("gs", "gswin64c", "gswin32c"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert shutil.which("gs") == str(tmp_path / "gs")
    (tmp_path / "picture.png").write_bytes(EPS)
    assert "(no picture)" in fault(EPS)
    message = r"picture.png; PNG, JPEG, GIF, WebP, BMP and TIFF are read"
    for decode_or_measure in (images.decode_file, images.size_of):
        with pytest.raises(DataError, match=message):
            decode_or_measure(tmp_path / "picture.png", "row 1")
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("kind", ["PPM", "TGA", "ICO", "JPEG2000", "PCX"])
def test_other_formats_are_refused(kind: str) -> None:
    assert "(no picture)" in fault(file_of(PICTURE, kind))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "MPO"])
def test_the_formats_that_are_read(kind: str) -> None:
    options: dict[str, Any] = {}
    if kind == "MPO":
        options = {"append_images": [PICTURE], "save_all": True}
    assert checked_picture(file_of(PICTURE, kind, **options)).size == PICTURE.size


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", [1, 3, 6, 8])
def test_size_is_that_of_the_upright_picture(tmp_path: Path, kind: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "picture"
    path.write_bytes(file_of(PICTURE, kind, exif=exif))
    is_on_its_side = orientation in (6, 8)
    expected = (30, 40) if is_on_its_side else (40, 30)
    assert images.size_of(path, "row 1") == images.decode_file(path, "row 1").size == expected
