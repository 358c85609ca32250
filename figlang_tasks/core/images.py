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

from PIL import Image, ImageFile, ImageOps, UnidentifiedImageError

from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import folder_of
from figlang_tasks.core.errors import DataError

if TYPE_CHECKING:
    import datasets

_LOCK = threading.Lock()
_before: list[bool] = []  # what Pillow was set to when each thread that reads a picture now began


def check(cell: Mapping[str, Any] | None, where: str, dataset: str | None = None) -> None:
    """Check that a picture exists and is complete. For most formats this is cheaper than decoding it.

    `cell` is an undecoded ``datasets.Image`` value, `where` names dataset and row in errors, and a path must lie below
    the folder of `dataset` (:func:`below`); None: no path is opened.
    """
    data, file = _content(cell, where, dataset)
    try:
        with _strictly(), Image.open(io.BytesIO(data)) as image:
            if image.format == "PNG":
                image.verify()  # checks every chunk's checksum
            else:
                image.draft("RGB", (image.width // 8 or 1, image.height // 8 or 1))  # decodes a JPEG at an eighth
                image.load()
    except Exception as error:  # Pillow raises many kinds on damaged files
        raise _damaged(file, where, error) from error


def undecoded(rows: datasets.Dataset, where: str) -> datasets.Dataset:
    """The rows, with the column `image` as :func:`check` and :func:`decode` take it."""
    import datasets
    from pyarrow import ArrowException

    try:
        return rows.cast_column("image", datasets.Image(decode=False))
    except (ArrowException, TypeError) as error:
        kind = rows.features["image"]
        raise DataError(f"{where}: image holds {kind}, not pictures. {hub.USE_THE_RELEASE}") from error


def decode(cell: Mapping[str, Any] | None, where: str, dataset: str | None = None) -> Image.Image:
    """The picture as RGB, upright (EXIF orientation applied); args and errors as in :func:`check`.

    Of an animation the first frame; grey values of 16 bits are scaled to 8; transparency is dropped.
    """
    return _decoded(*_content(cell, where, dataset), where)


def decode_file(file: Path, where: str) -> Image.Image:
    """The picture in a file, as :func:`decode` does. The path is not checked: use it for trusted paths only."""
    return _decoded(_bytes(file, where), file, where)


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
    """The file that a path in a row or in saved samples names, relative to the folder; it may be missing.

    Raises:
        DataError: the path points outside of the folder, directly or through a link.
    """
    try:
        inside = (folder / path).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # links in a circle; a text that is the name of no file
        inside = False
    if not inside:
        shown = repr(path if len(path) <= 200 else f"{path[:200]}...")
        raise DataError(
            f"{where}: image {shown} points outside of {folder}: write a path inside that folder, such as "
            "images/722.png, and put the file itself there, not a link"
        )
    return folder / path


def _decoded(data: bytes, file: Path | None, where: str) -> Image.Image:
    try:
        with _strictly(), Image.open(io.BytesIO(data)) as image:
            image.decodermaxblock = len(data)  # in one piece: after each, a thread waits for its turn
            return _rgb(ImageOps.exif_transpose(image))
    except Exception as error:  # Pillow raises many kinds on damaged files
        raise _damaged(file, where, error) from error


def _rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I"):  # 16 bits: convert alone would make white of all above 255
        image = image.convert("I").point(lambda value: value * (1 / 257)).convert("L")
    return image.convert("RGB")


@contextmanager
def _strictly() -> Iterator[None]:
    """Let Pillow reject truncated files. lmms-eval makes Pillow fill them with grey, without a warning."""
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


def _content(cell: Mapping[str, Any] | None, where: str, dataset: str | None) -> tuple[bytes, Path | None]:
    """The bytes of a picture, and its file if the bytes are not in the table."""
    data, path = (cell or {}).get("bytes"), (cell or {}).get("path")
    if data is not None:
        return data, None
    if not path:
        raise DataError(f"{where}: the image is missing. Load the dataset again, or restore the row's image.")
    if dataset is None:
        raise DataError(
            f"{where}: the row holds a path in place of the image, and paths are not opened here. Load the dataset "
            "with its images."
        )
    file = below(folder_of(dataset), str(path), where)
    return _bytes(file, where), file


def _bytes(file: Path, where: str) -> bytes:
    if not os.path.isfile(file):  # False for impossible names too
        raise DataError(
            f"{where}: image file {file} does not exist. Put the file there, correct the path, or load the dataset "
            "again."
        )
    return file.read_bytes()


def _damaged(file: Path | None, where: str, error: Exception) -> DataError:
    cause = "no picture" if isinstance(error, UnidentifiedImageError) else f"{type(error).__name__}: {error}"
    remedy = f"Replace {file}" if file else "Load the dataset again (delete the damaged file first)"
    return DataError(f"{where}: the image cannot be decoded ({cause}). {remedy}.")
