"""Pictures of every kind: read as they should look, or refused by the name of their row.

What was cut off, is empty or is no picture: tests/benchmarks/vflute/test_rows.py.
"""

from __future__ import annotations

import io
import struct
import time
import zlib
from collections.abc import Iterator
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
    found = images.decode(cell, WHERE)
    assert found.mode == "RGB"
    return found


@pytest.fixture(autouse=True)
def lenient_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    """As lmms-eval sets it for the whole process."""
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9, 0.999])
@pytest.mark.parametrize("options", [{}, {"progressive": True}], ids=["baseline", "progressive"])
def test_a_truncated_jpeg(keep: float, options: dict[str, Any]) -> None:
    noise = Image.effect_noise((400, 300), 80).convert("RGB")
    cell = file_of(noise, "JPEG", **options)
    cell["bytes"] = cell["bytes"][: int(len(cell["bytes"]) * keep)]
    for look in (images.check, images.decode):
        with pytest.raises(
            DataError, match=r"row 7 \(irfl-test-7\): the image cannot be decoded .*Load the dataset again"
        ):
            look(cell, WHERE)


def one_bit_png(width: int, height: int) -> dict[str, Any]:
    """A whole black PNG of that size, in a few kilobytes."""

    def chunks() -> Iterator[tuple[bytes, bytes]]:
        yield b"IHDR", struct.pack(">2L5B", width, height, 1, 0, 0, 0, 0)
        packer = zlib.compressobj(1)
        row = bytes(1 + (width + 7) // 8)
        packed = [packer.compress(row * 100) for _ in range(height // 100)]
        yield b"IDAT", b"".join([*packed, packer.compress(row * (height % 100)), packer.flush()])
        yield b"IEND", b""

    parts = [
        struct.pack(">L", len(data)) + kind + data + struct.pack(">L", zlib.crc32(kind + data))
        for kind, data in chunks()
    ]
    return {"bytes": b"\x89PNG\r\n\x1a\n" + b"".join(parts), "path": None}


def test_a_decompression_bomb_is_refused_before_it_is_unpacked() -> None:
    bomb = one_bit_png(30_000, 30_000)  # 2.7 GB as RGB
    assert len(bomb["bytes"]) < 1_000_000
    started = time.process_time()
    for look in (images.check, images.decode):
        with pytest.raises(DataError, match=r"irfl-test-7\): .*DecompressionBombError.*900000000 pixels"):
            look(bomb, WHERE)
    assert time.process_time() - started < 5


def test_grey_values_of_16_bits_keep_their_place() -> None:
    """Pillow's own conversion makes white of all but the darkest 256 of 65,536 values."""
    values = np.linspace(0, 65_535, 64 * 64).reshape(64, 64).astype(np.uint16)
    for kind in ("PNG", "TIFF"):
        found = np.asarray(read(file_of(Image.fromarray(values), kind)))
        assert np.abs(found[..., 0] - values / 257).max() <= 1
        assert (found[..., 0] == found[..., 1]).all() and (found[..., 0] == found[..., 2]).all()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation(orientation: int) -> None:
    """The corner that the orientation names as the upper left one gets there (EXIF 2.3, tag 0x0112)."""
    picture = Image.new("RGB", (40, 20), "white")
    # Row and column, in the file, of what is shown at the upper left.
    corners = {1: (0, 0), 2: (0, 1), 3: (1, 1), 4: (1, 0), 5: (0, 0), 6: (1, 0), 7: (1, 1), 8: (0, 1)}
    row, column = corners[orientation]
    picture.paste((255, 0, 0), (column * 32, row * 12, column * 32 + 8, row * 12 + 8))
    exif = Image.Exif()
    exif[0x0112] = orientation
    found = read(file_of(picture, "JPEG", exif=exif, quality=95))
    assert found.size == ((20, 40) if orientation >= 5 else (40, 20))
    red = found.getpixel((3, 3))
    assert isinstance(red, tuple) and red[0] > 200 and red[1] < 60, red
