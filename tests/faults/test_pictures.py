"""Pictures of every kind: read as they should look, or refused by the name of their row.

What was cut off, is empty or is no picture: tests/benchmarks/vflute/test_rows.py.
"""

from __future__ import annotations

import io
import struct
import tracemalloc
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageFile

from figlang_tasks.core import images
from figlang_tasks.core.errors import DataError

WHERE = "V-FLUTE/test row 7 (irfl-test-7)"


def file_of(image: Image.Image, kind: str, **options: Any) -> dict[str, Any]:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return {"bytes": stream.getvalue(), "path": None}


def read(cell: dict[str, Any]) -> Image.Image:
    """Check and decode, as a run does."""
    images.check(cell, WHERE)
    image = images.decode(cell, WHERE)
    assert image.mode == "RGB"
    return image


@pytest.fixture(autouse=True)
def lenient_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    """As lmms-eval sets it for the whole process."""
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)


@pytest.mark.parametrize("keep", [0.3, 0.999])
@pytest.mark.parametrize("options", [{}, {"progressive": True}], ids=["baseline", "progressive"])
def test_a_truncated_jpeg(keep: float, options: dict[str, Any]) -> None:
    noise = Image.effect_noise((400, 300), 80).convert("RGB")
    cell = file_of(noise, "JPEG", **options)
    cell["bytes"] = cell["bytes"][: int(len(cell["bytes"]) * keep)]
    message = r"row 7 \(irfl-test-7\): the image cannot be decoded .*Load the dataset again"
    for check_or_decode in (images.check, images.decode):
        with pytest.raises(DataError, match=message):
            check_or_decode(cell, WHERE)


def test_truncated_and_whole_pictures_in_several_threads() -> None:
    whole_cell = file_of(Image.effect_noise((800, 800), 80).convert("RGB"), "JPEG")
    content = whole_cell["bytes"]
    truncated_cell = {**whole_cell, "bytes": content[: len(content) // 2]}
    cells = [whole_cell, truncated_cell] * 20

    def is_decoded(cell: dict[str, Any]) -> bool:
        """Whether a picture is decoded as a whole."""
        try:
            return images.decode(cell, WHERE).size == (800, 800)
        except DataError:
            return False

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(is_decoded, cells)) == [True, False] * 20
    assert ImageFile.LOAD_TRUNCATED_IMAGES, "as before"


def test_a_decompression_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = file_of(Image.new("1", (8, 8)), "PNG")
    header = b"IHDR" + struct.pack(">2L5B", 30_000, 30_000, 1, 0, 0, 0, 0)  # 2.7 GB as RGB
    bomb["bytes"] = (
        bomb["bytes"][:12] + header + struct.pack(">L", zlib.crc32(header)) + bomb["bytes"][33:]
    )
    message = r"irfl-test-7\): .*DecompressionBombError.*900000000 pixels"
    for check_or_decode in (images.check, images.decode):
        with pytest.raises(DataError, match=message):
            check_or_decode(bomb, WHERE)


def test_grey_values_of_16_bits_keep_their_place() -> None:
    """Pillow's own conversion makes white of all but the darkest 256 of 65,536 values."""
    values = np.linspace(0, 65_535, 64 * 64).reshape(64, 64).astype(np.uint16)
    for kind in ("PNG", "TIFF"):
        pixels = np.asarray(read(file_of(Image.fromarray(values), kind)))
        red, green, blue = np.moveaxis(pixels, -1, 0)
        assert np.abs(red - values / 257).max() <= 1
        assert (red == green).all() and (red == blue).all()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation(orientation: int) -> None:
    """The corner that tag 0x0112 of EXIF 2.3 names as the upper left one gets there."""
    picture = Image.new("RGB", (40, 20), "white")
    # Row and column, in the file, of what is shown at the upper left.
    corners = {
        1: (0, 0),
        2: (0, 1),
        3: (1, 1),
        4: (1, 0),
        5: (0, 0),
        6: (1, 0),
        7: (1, 1),
        8: (0, 1),
    }
    row, column = corners[orientation]
    picture.paste((255, 0, 0), (column * 32, row * 12, column * 32 + 8, row * 12 + 8))
    exif = Image.Exif()
    exif[0x0112] = orientation
    upright = read(file_of(picture, "JPEG", exif=exif, quality=95))
    assert upright.size == ((20, 40) if orientation >= 5 else (40, 20))
    red = upright.getpixel((3, 3))
    assert isinstance(red, tuple) and red[0] > 200 and red[1] < 60, red


def test_what_makes_two_pictures_the_same() -> None:
    red = Image.new("RGB", (40, 48), "red")
    blue = Image.new("RGB", (40, 48), "blue")
    assert images.content_key(red) == images.content_key(red.copy()) != images.content_key(blue)
    turned = red.transpose(Image.Transpose.ROTATE_90)
    assert images.content_key(red) != images.content_key(turned), "of the same bytes"
    painted = Image.linear_gradient("L").convert("RGB").quantize(16)
    repainted = painted.copy()
    repainted.putpalette((painted.getpalette() or [])[::-1])
    assert repainted.tobytes() == painted.tobytes()
    assert images.content_key(repainted) != images.content_key(painted)


# --- a suffix that is not the format's ---


def written_as_jpg(folder: Path, mode: str, kind: str, **options: Any) -> Path:
    """A file called .jpg, of two halves: cyan above grey, or in grey 200 above 90."""
    colours: dict[str, tuple[Any, Any]] = {
        "RGB": ((0, 255, 255), (90, 90, 90)),
        "CMYK": ((255, 0, 0, 0), (0, 0, 0, 165)),
        "RGBA": ((0, 255, 255, 255), (0, 0, 0, 165)),
        "L": (200, 90),
    }
    upper, lower = colours[mode]
    picture = Image.new(mode, (64, 64), upper)
    picture.paste(lower, (0, 32, 64, 64))
    path = folder / "picture.jpg"
    picture.save(path, kind, **options)
    return path


CYAN, GREY = (0, 255, 255), (90, 90, 90)


@pytest.mark.parametrize(
    ("mode", "kind", "options", "colours", "suffix"),
    [
        ("RGB", "JPEG", {}, (CYAN, GREY), ".jpg"),
        # Without ink, white: 255 * (1 - 165 / 255) = 90. Adobe's programs, and Pillow's, store the
        # complements of the inks.
        ("CMYK", "JPEG", {}, (CYAN, GREY), ".jpg"),
        ("L", "JPEG", {}, ((200, 200, 200), GREY), ".jpg"),
        ("RGB", "PNG", {}, (CYAN, GREY), ".png"),
        # Black of alpha 165 on white: 255 * (1 - 165 / 255) = 90.
        ("RGBA", "PNG", {}, (CYAN, GREY), ".png"),
        ("RGBA", "WEBP", {"lossless": True}, (CYAN, GREY), ".png"),
        ("RGB", "WEBP", {"lossless": True}, (CYAN, GREY), ".png"),
        ("RGB", "GIF", {}, (CYAN, GREY), ".png"),
    ],
)
def test_the_suffix_of_a_file_does_not_count(
    mode: str, kind: str, options: dict[str, Any], colours: Any, suffix: str, tmp_path: Path
) -> None:
    path = written_as_jpg(tmp_path, mode, kind, **options)
    with Image.open(path) as stored:
        assert (stored.mode == "P") == (kind == "GIF")
    picture = read({"bytes": path.read_bytes()})
    assert picture.tobytes() == images.decode_file(path, WHERE).tobytes()
    pixels = np.asarray(picture).astype(int)
    assert np.abs(pixels[8, 32] - colours[0]).max() <= 2
    assert np.abs(pixels[56, 32] - colours[1]).max() <= 2
    copy, copy_suffix = images.encode(picture)
    assert copy_suffix == suffix
    with Image.open(io.BytesIO(copy)) as plain:
        assert plain.convert("RGB").tobytes() == picture.tobytes()


@pytest.mark.parametrize(
    ("shared_file", "position", "colour"),
    [  # as OpenCV and FFmpeg show them
        ("data/ciibench/images/dev/dev-4.jpg", (5, 5), (231, 188, 34)),  # CMYK, of Photoshop
        ("data/ciibench/images/dev/dev-4.jpg", (620, 877), (236, 236, 208)),
        ("data/ciibench/images/test/test-732.jpg", (500, 60), (29, 41, 115)),  # WebP
        ("data/ciibench/images/test/test-23.jpg", (240, 194), (254, 254, 254)),  # GIF
        ("data/ciibench/images/test/test-8.jpg", (326, 461), (204, 204, 204)),  # grey
    ],
    indirect=["shared_file"],
)
def test_real_pictures_look_as_other_decoders_show_them(
    shared_file: Path, position: tuple[int, int], colour: tuple[int, int, int]
) -> None:
    pixels = np.asarray(read({"bytes": shared_file.read_bytes()})).astype(int)
    column, row = position
    assert np.abs(pixels[row, column] - colour).max() <= 2


# --- large pictures ---


def test_a_picture_of_67_megapixels_is_read() -> None:
    cell = file_of(Image.new("1", (9449, 7090), 1), "PNG")
    picture = read(cell)
    assert picture.size == (9449, 7090)
    assert picture.getpixel((9448, 7089)) == (255, 255, 255)


@pytest.mark.parametrize("changed_row", [None, 1999])
def test_a_copy_of_a_large_picture_is_compared_in_bands(changed_row: int | None) -> None:
    cell = file_of(Image.new("RGB", (2000, 2000), "white"), "PNG", compress_level=1)
    picture = images.decode(cell, WHERE)
    if changed_row is not None:
        picture.putpixel((1999, changed_row), (0, 0, 0))
    tracemalloc.start()
    copy, suffix = images.encode(picture)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Both pictures as bytes would be 24 million.
    assert peak < 8_000_000
    assert suffix == ".png"
    assert (copy == cell["bytes"]) == (changed_row is None)
