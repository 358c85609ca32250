"""Reads pictures of dataset rows, with errors that name the row."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image, ImageFile, ImageOps, UnidentifiedImageError

from figlang_tasks.hub import DataError

_LOCK = threading.Lock()


def check(cell: Mapping[str, Any] | None, where: str) -> None:
    """Check that a picture is there and whole, at a fraction of the cost of decoding it where the format allows that.

    Args:
        cell: an undecoded ``datasets.Image`` value: ``{"bytes": ..., "path": ...}``.
        where: names dataset and row in errors, e.g. ``"V-FLUTE/test row 7 (irfl-test-7)"``.

    Raises:
        DataError: no picture, zero bytes, not a picture, or cut off.
    """
    data = _read(cell, where)
    try:
        with _strictly(), Image.open(io.BytesIO(data)) as image:
            if image.format == "PNG":
                image.verify()  # checks every chunk's checksum
            else:
                image.draft(
                    "RGB", (image.width // 8 or 1, image.height // 8 or 1)
                )  # JPEG: decodes at an eighth of the size
                image.load()
    except Exception as error:  # Pillow raises many kinds on damaged files
        raise _damaged(cell, where, error) from error


def decode(cell: Mapping[str, Any] | None, where: str) -> Image.Image:
    """Return the picture as RGB, upright (EXIF orientation applied, as ``datasets.Image`` does).

    Of an animation the first frame; grey values of 16 bits are scaled to 8; transparency is dropped.

    Raises:
        DataError: as in :func:`check`.
    """
    data = _read(cell, where)
    try:
        with _strictly(), Image.open(io.BytesIO(data)) as image:
            return _rgb(ImageOps.exif_transpose(image))
    except Exception as error:  # Pillow raises many kinds on damaged files
        raise _damaged(cell, where, error) from error


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I"):  # 16 bits: convert alone would make white of all above 255
        image = image.convert("I").point(lambda value: value * (1 / 257)).convert("L")
    return image.convert("RGB")


@contextmanager
def _strictly() -> Iterator[None]:
    """Let Pillow refuse truncated files: lmms-eval makes it fill them up with grey, in silence, everywhere."""
    with _LOCK:
        before = ImageFile.LOAD_TRUNCATED_IMAGES
        ImageFile.LOAD_TRUNCATED_IMAGES = False
        try:
            yield
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = before


def _read(cell: Mapping[str, Any] | None, where: str) -> bytes:
    if cell is None or (cell.get("bytes") is None and not cell.get("path")):
        raise DataError(f"{where}: the image is missing. Load the dataset again, or restore the row's image.")
    data = cell.get("bytes")
    if data is None:
        path = Path(cell["path"])
        if not path.is_file():
            raise DataError(f"{where}: image file {path} does not exist. Put it there, or load the dataset again.")
        data = path.read_bytes()
    if not data:
        raise DataError(f"{where}: the image has zero bytes. Load the dataset again (delete the damaged file first).")
    return data


def _damaged(cell: Mapping[str, Any] | None, where: str, error: Exception) -> DataError:
    path = (cell or {}).get("path")
    on_disk = path and (cell or {}).get("bytes") is None
    cause = "no picture" if isinstance(error, UnidentifiedImageError) else f"{type(error).__name__}: {error}"
    remedy = f"Replace {path}" if on_disk else "Load the dataset again (delete the damaged file first)"
    return DataError(f"{where}: the image cannot be decoded ({cause}). {remedy}.")
