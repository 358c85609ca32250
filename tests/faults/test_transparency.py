"""What is transparent is laid on white: black strokes on a clear ground are no black picture.

Expected values are computed here from the samples that the files are made of: alpha * colour + (1 -
alpha) * 255.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, UnidentifiedImageError

from figlang_tasks.core import images

WIDTH = 23
HEIGHT = 9


def png(
    depth: int, colour_type: int, samples: npt.NDArray[Any], *chunks: tuple[bytes, bytes]
) -> bytes:
    """A PNG file of these samples ([height, width, samples of a pixel]), as its standard says."""
    rows = b"".join(b"\0" + packed(row.ravel(), depth) for row in samples)
    header = struct.pack(">2L5B", samples.shape[1], samples.shape[0], depth, colour_type, 0, 0, 0)
    parts = [(b"IHDR", header), *chunks, (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    data = b"\x89PNG\r\n\x1a\n"
    for kind, content in parts:
        checksum = zlib.crc32(kind + content)
        data += struct.pack(">L", len(content)) + kind + content + struct.pack(">L", checksum)
    return data


def packed(samples: Sequence[Any], depth: int) -> bytes:
    """The samples of a row of pixels, each of `depth` bits, filled up to whole bytes."""
    if depth == 16:
        return np.asarray(samples).astype(">u2").tobytes()
    bits = "".join(f"{int(sample):0{depth}b}" for sample in samples)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[start : start + 8], 2) for start in range(0, len(bits), 8))


def error(data: bytes, expected: npt.NDArray[Any]) -> float:
    """The largest difference between what a run sees of a picture and the expected colours."""
    cell = {"bytes": data, "path": None}
    images.check(cell, "row 1")
    pixels = np.asarray(images.decode(cell, "row 1")).astype(float)
    return float(np.abs(pixels - expected).max())


def random_samples(most: int, samples: int = 1) -> npt.NDArray[Any]:
    """Numbers from 0 to `most`, [height, width, samples]."""
    return np.random.default_rng(5).integers(0, most + 1, (HEIGHT, WIDTH, samples))


@pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
def test_a_grey_that_is_transparent(depth: int) -> None:
    most = 2**depth - 1
    grey = random_samples(min(most, 7))
    if depth == 16:
        grey = grey * 9000
    clear = int(grey[0, 0, 0])
    expected = np.where(grey == clear, 255, grey * 255 / most)
    assert error(png(depth, 0, grey, (b"tRNS", struct.pack(">H", clear))), expected) <= 1


@pytest.mark.parametrize("depth", [8, 16])
def test_a_colour_that_is_transparent(depth: int) -> None:
    most = 2**depth - 1
    colours = random_samples(2, 3) * (most // 3)
    clear = colours[0, 0]
    is_clear = (colours == clear).all(axis=2, keepdims=True)
    expected = np.where(is_clear, 255, colours * 255 / most)
    transparency = (b"tRNS", struct.pack(">3H", *map(int, clear)))
    assert error(png(depth, 2, colours, transparency), expected) <= 1


@pytest.mark.parametrize("depth", [8, 16])
@pytest.mark.parametrize(("colour_type", "colours"), [(4, 1), (6, 3)], ids=["grey", "RGB"])
def test_an_alpha_channel(depth: int, colour_type: int, colours: int) -> None:
    most = 2**depth - 1
    samples = random_samples(most, colours + 1)
    alpha = samples[..., colours:] / most
    expected = alpha * samples[..., :colours] * 255 / most + (1 - alpha) * 255
    assert error(png(depth, colour_type, samples), expected) <= 2  # Pillow cuts 16 bits off to 8


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
@pytest.mark.parametrize("alphas", ["of each colour", "of the first", "none"])
def test_colours_of_a_palette_that_are_transparent(depth: int, alphas: str) -> None:
    count = 2**depth
    palette = np.random.default_rng(7).integers(0, 256, (count, 3))
    alpha = np.random.default_rng(9).integers(0, 256, count)
    if alphas == "of the first":
        alpha = np.array([0])
    if alphas == "none":
        alpha = np.array([], int)
    numbers = random_samples(count - 1)
    alpha_of_colours = np.concatenate([alpha, np.full(count - len(alpha), 255)])
    opacity = alpha_of_colours[numbers] / 255
    chunks = [
        (b"PLTE", palette.astype(np.uint8).tobytes()),
        (b"tRNS", alpha.astype(np.uint8).tobytes()),
    ]
    expected = opacity * palette[numbers[..., 0]] + (1 - opacity) * 255
    assert error(png(depth, 3, numbers, *chunks), expected) <= 1


STROKES = Image.new("RGBA", (20, 16), (0, 0, 0, 0))
STROKES.paste((0, 0, 0, 255), (5, 5, 10, 10))
ON_WHITE = np.full((16, 20, 3), 255.0)
ON_WHITE[5:10, 5:10] = 0
OTHER_FRAME = Image.new("RGBA", STROKES.size, "blue")
ANIMATED = {"save_all": True, "append_images": [OTHER_FRAME]}


@pytest.mark.parametrize(
    ("kind", "mode", "options"),
    [
        ("PNG", "RGBA", {}),
        ("PNG", "LA", {}),
        ("PNG", "RGBA", ANIMATED),
        ("PNG", "RGBA", {**ANIMATED, "default_image": True}),
        ("GIF", "RGBA", {}),
        ("GIF", "RGBA", ANIMATED),
        ("GIF", "RGBA", {**ANIMATED, "disposal": 2}),
        ("WEBP", "RGBA", {"lossless": True}),
        ("WEBP", "RGBA", {"lossless": True, **ANIMATED}),
        ("TIFF", "RGBA", {"compression": "tiff_lzw"}),
        ("TIFF", "LA", {}),
        ("TIFF", "PA", {}),
    ],
)
def test_black_strokes_on_a_clear_ground(kind: str, mode: str, options: dict[str, Any]) -> None:
    stream = io.BytesIO()
    STROKES.convert(mode).save(stream, kind, **options)
    assert error(stream.getvalue(), ON_WHITE) == 0


@pytest.mark.parametrize(
    ("kind", "options"), [("PNG", {}), ("WEBP", {"lossless": True}), ("TIFF", {})]
)
def test_a_transparent_picture_on_its_side_is_turned(kind: str, options: dict[str, Any]) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees to the right to see it upright
    stream = io.BytesIO()
    STROKES.save(stream, kind, exif=exif, **options)
    assert error(stream.getvalue(), np.rot90(ON_WHITE, -1)) == 0


def test_an_alpha_channel_that_is_opaque_changes_no_pixel() -> None:
    """So are all pictures of COLUMBUS."""
    colours = random_samples(255, 3)
    opaque = np.concatenate([colours, np.full((HEIGHT, WIDTH, 1), 255)], axis=2)
    assert error(png(8, 6, opaque), colours) == 0


@pytest.mark.parametrize("chunk", ["before the pixels", "behind the pixels", "a second one"])
def test_where_the_transparency_of_a_png_counts(chunk: str) -> None:
    """As for libpng: before the pixels, and the first one."""
    numbers = np.array([[[0], [1], [2]]])
    palette = (b"PLTE", bytes([10, 20, 30, 40, 50, 60, 70, 80, 90]))
    last_is_clear = (b"tRNS", bytes([255, 255, 0]))
    all_are_clear = (b"tRNS", bytes([0, 0, 0]))
    expected = np.array([[[10, 20, 30], [40, 50, 60], [255, 255, 255]]])
    if chunk == "before the pixels":
        data = png(8, 3, numbers, palette, last_is_clear)
    elif chunk == "a second one":
        data = png(8, 3, numbers, palette, last_is_clear, (b"tRNS", bytes([0])))
    else:
        data = png(8, 3, numbers, palette, all_are_clear)
        name_at = data.index(b"tRNS")
        transparency = data[name_at - 4 : name_at + 11]  # length, name, 3 bytes, checksum
        rest = data.replace(transparency, b"")
        data = rest[:-12] + transparency + rest[-12:]  # before the end of the file
        expected = np.array([[[10, 20, 30], [40, 50, 60], [70, 80, 90]]])
    assert error(data, expected) == 0


@pytest.mark.parametrize("disposal", [0, 2])
def test_what_the_first_frame_of_a_gif_leaves_free_is_white(disposal: int) -> None:
    screen = b"GIF89a" + struct.pack("<2H3B", 4, 3, 0x80, 0, 0) + bytes([0, 0, 0, 200, 0, 0])
    control = b"\x21\xf9\x04" + struct.pack("<BHB", disposal << 2, 0, 0) + b"\0"
    # Clear, 1, 1, end: of 3 bits each, from the right
    codes = (0b101_001_001_100).to_bytes(2, "little")
    frame = b"\x2c" + struct.pack("<4HB", 1, 1, 2, 1, 0) + b"\2\2" + codes + b"\0\x3b"
    expected = np.full((3, 4, 3), 255)
    expected[1, 1:3] = [200, 0, 0]
    assert error(screen + control + frame, expected) == 0


def test_alpha_that_is_multiplied_already() -> None:
    """Grey of TIFF with associated alpha (ExtraSamples 1)."""
    stream = io.BytesIO()
    Image.fromarray(np.array([[[0, 0], [0, 255], [60, 120], [120, 120]]], np.uint8), "LA").save(
        stream, "TIFF"
    )
    unassociated = struct.pack("<HHIH", 338, 3, 1, 2)
    assert unassociated in stream.getvalue()
    associated = stream.getvalue().replace(unassociated, struct.pack("<HHIH", 338, 3, 1, 1))
    try:
        Image.open(io.BytesIO(associated)).close()
    except UnidentifiedImageError:  # of Pillow 12, which is the newest for Python 3.10
        pytest.skip("this version of Pillow reads no such file")
    grey = np.array([255, 0, 60 + 135, 120 + 135])
    assert error(associated, np.repeat(grey, 3).reshape(1, 4, 3)) <= 1
