"""Reads the pictures of dataset rows; errors name the row."""

from __future__ import annotations

import hashlib
import io
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import ExifTags, Image, ImageFile, UnidentifiedImageError

from figlang_tasks.core import files, hub, picture_bytes
from figlang_tasks.core.benchmark import folder_of
from figlang_tasks.core.errors import DataError

if TYPE_CHECKING:
    import datasets

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
"""The only formats that are opened, by any name: Pillow would start another program for some others
(EPS).
"""

_TURNS: Mapping[Any, Image.Transpose] = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""How a picture of each EXIF orientation is turned upright (EXIF 2.3, tag 0x0112)."""

_QUARTER_TURNS = [_TURNS[orientation] for orientation in (5, 6, 7, 8)]

_whole: set[bytes] = set()
"""SHA-256 of pictures that were decoded without a fault: the tasks of a benchmark show the same
ones.
"""

_LOCK = threading.Lock()
_before: list[bool] = []  # what Pillow was set to when each thread that reads a picture now began


def check(cell: Mapping[str, Any] | None, where: str, dataset: str | None = None) -> None:
    """Check that :func:`decode` gives a picture, by decoding it; a JPEG at an eighth of its size,
    which is faster.

    `cell` is an undecoded ``datasets.Image`` value, `where` names dataset and row in errors, and a
    path must lie below the folder of `dataset` (:func:`below`); None: no path is opened.
    """
    data, file = _content(cell, where, dataset)
    digest = hashlib.sha256(data).digest()
    if digest not in _whole:
        _decoded(data, file, where, is_reduced=True)
        _whole.add(digest)


def undecoded(rows: datasets.Dataset, where: str) -> datasets.Dataset:
    """The rows, with the column `image` as :func:`check` and :func:`decode` take it."""
    import datasets
    from pyarrow import ArrowException

    try:
        return rows.cast_column("image", datasets.Image(decode=False))
    except (ArrowException, TypeError) as error:
        kind = rows.features["image"]
        raise DataError(
            f"{where}: image holds {kind}, not pictures. {hub.USE_THE_RELEASE}"
        ) from error


def decode(cell: Mapping[str, Any] | None, where: str, dataset: str | None = None) -> Image.Image:
    """The picture as RGB, upright (EXIF orientation applied) and on white where it is transparent.

    Args and errors as in :func:`check`. Of an animation the first frame; grey values of 16 bits are
    scaled to 8.
    """
    return _decoded(*_content(cell, where, dataset), where)


def decode_file(file: Path, where: str) -> Image.Image:
    """The picture in a file, as :func:`decode` does. The path is not checked: use it for trusted
    paths only.
    """
    return _decoded(read_bytes(file, where), file, where)


def size_of(file: Path, where: str) -> tuple[int, int]:
    """Width and height of what :func:`decode_file` gives, without decoding it."""
    with _opened(read_bytes(file, where), file, where) as image:
        width, height = image.size
        # Pillow tells the size of a TIFF picture as it is upright.
        is_on_its_side = image.format != "TIFF" and _turn(image) in _QUARTER_TURNS
    return (height, width) if is_on_its_side else (width, height)


def content_key(image: Image.Image) -> str:
    """A digest of what the image shows: mode, size and pixels, with palette and transparency.

    Two files of one picture, saved in two ways without loss, have the same.
    """
    shown = image
    if image.mode in ("P", "PA") or image.info.get("transparency") is not None:
        shown = image.convert("RGBA")
    digest = hashlib.sha256(f"{image.mode} {image.width} {image.height} ".encode())
    digest.update(shown.tobytes())
    return digest.hexdigest()


def below(folder: Path, path: str, where: str) -> Path:
    """The file that a path in a row or in saved samples names, relative to the folder; it may be
    missing.

    Raises:
        DataError: the path points outside of the folder, directly or through a link.
    """
    try:
        inside = (folder / path).resolve().is_relative_to(folder.resolve())
    except (
        OSError,
        RuntimeError,
        ValueError,
    ):  # links in a circle; a text that is the name of no file
        inside = False
    if not inside:
        shown = repr(path if len(path) <= 200 else f"{path[:200]}...")
        raise DataError(
            f"{where}: image {shown} points outside of {folder}: write a path inside that folder,"
            " such as images/722.png, and put the file itself there, not a link"
        )
    return folder / path


@contextmanager
def _opened(data: bytes, file: Path | None, where: str) -> Iterator[ImageFile.ImageFile]:
    """Open a picture, for checks and runs alike, and turn each error on it into a `DataError`."""
    try:
        with (
            _strictly(),
            Image.open(io.BytesIO(picture_bytes.without_metadata(data)), formats=FORMATS) as image,
        ):
            yield image
    except Exception as error:  # Pillow raises many kinds on damaged files
        raise _damaged(file, where, error) from error


def _decoded(data: bytes, file: Path | None, where: str, is_reduced: bool = False) -> Image.Image:
    with _opened(data, file, where) as image:
        image.decodermaxblock = len(data)  # in one piece: after each, a thread waits for its turn
        if is_reduced:
            image.draft("RGB", (image.width // 8 or 1, image.height // 8 or 1))
        # Of a GIF file the first frame may fill a part of the picture: the rest is transparent, and
        # not the colour 0.
        frame = image.tile[0][1] if image.format == "GIF" and image.tile else None
        image.load()
        turn = _turn(image)
        opaque = _on_white(image)
        if frame is not None:
            ground = Image.new("RGB", opaque.size, "white")
            ground.paste(opaque.crop(frame), frame)
            opaque = ground
        return opaque if turn is None else opaque.transpose(turn)


def _turn(image: Image.Image) -> Image.Transpose | None:
    """What turns a picture upright by its EXIF or XMP; None if these cannot be read: its pixels are
    whole.
    """
    try:
        return _TURNS.get(image.getexif().get(ExifTags.Base.Orientation))
    except Exception:  # Pillow raises many kinds on damaged EXIF
        return None


def _on_white(image: Image.Image) -> Image.Image:
    """The picture as RGB, on white where it is transparent."""
    if image.mode.startswith("I"):
        return _eight_bits(image).convert("RGB")
    if image.has_transparency_data:
        if image.mode == "La":  # alpha that is multiplied already, of which Pillow makes LA alone
            image = image.convert("LA")
        image = image.convert("RGBA")
        opaque_pixels = image.getchannel("A").histogram()[255]
        if opaque_pixels < image.width * image.height:
            image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Grey values of 16 bits as 8, and white for the one that is transparent.

    Pillow's conversion alone would make white of all above 255.
    """
    values = image.convert("I")
    grey = values.point(lambda value: value * (1 / 257)).convert("L")
    transparent = image.info.get("transparency")
    if transparent is not None:
        grey.paste(255, mask=Image.fromarray(np.asarray(values) == transparent))
    return grey


@contextmanager
def _strictly() -> Iterator[None]:
    """Let Pillow reject truncated files. lmms-eval makes Pillow fill them with grey, without a
    warning.
    """
    with _LOCK:
        _before.append(ImageFile.LOAD_TRUNCATED_IMAGES)
        ImageFile.LOAD_TRUNCATED_IMAGES = False
    try:
        yield
    finally:
        with _LOCK:
            before = _before.pop()
            if not _before:  # no other thread reads a picture
                ImageFile.LOAD_TRUNCATED_IMAGES = before


def _content(
    cell: Mapping[str, Any] | None, where: str, dataset: str | None
) -> tuple[bytes, Path | None]:
    """The bytes of a picture, and its file if the bytes are not in the table."""
    data, path = (cell or {}).get("bytes"), (cell or {}).get("path")
    if data is not None:
        return data, None
    if not path:
        raise DataError(
            f"{where}: the image is missing. Load the dataset again, or restore the row's image."
        )
    if dataset is None:
        raise DataError(
            f"{where}: the row holds a path in place of the image, and paths are not opened here."
            " Load the dataset with its images."
        )
    file = below(folder_of(dataset), str(path), where)
    return read_bytes(file, where), file


def read_bytes(file: Path, where: str) -> bytes:
    """The bytes of a picture's file, undecoded."""
    if not os.path.exists(file):  # False for impossible names too
        raise DataError(
            f"{where}: image file {file} does not exist. Put the file there, correct the path, or"
            " load the dataset again."
        )
    try:
        return files.read_file(file)
    except OSError as error:
        raise DataError(
            f"{where}: image file {file} cannot be read: {error.strerror or error}"
        ) from error


def _damaged(file: Path | None, where: str, error: Exception) -> DataError:
    cause = f"{type(error).__name__}: {error}"
    remedy = f"Replace {file}" if file else "Load the dataset again (delete the damaged file first)"
    if isinstance(error, UnidentifiedImageError):
        cause = "no picture"
        remedy += "; PNG, JPEG, GIF, WebP, BMP and TIFF are read"
    return DataError(f"{where}: the image cannot be decoded ({cause}). {remedy}.")
