"""Reads the pictures of dataset rows; errors name the row."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from PIL import Image, ImageFile, UnidentifiedImageError

from figlang_tasks.core import files, hub, picture_bytes
from figlang_tasks.core.benchmark import folder_of
from figlang_tasks.core.deferred_pictures import DeferredPicture, is_deferring
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.picture_pixels import QUARTER_TURNS, on_white, turn_of, turned
from figlang_tasks.core.strict_pillow import strict_pillow

if TYPE_CHECKING:
    import datasets

FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
"""The only formats that are opened, whatever the file's name is.

For some other formats (EPS), Pillow would start another program.
"""

ImageCell: TypeAlias = Mapping[str, Any] | None
"""An undecoded ``datasets.Image``: ``bytes`` of the picture, or its ``path``; None for no picture.
"""

_WHITE_SQUARE_SIZE = (336, 336)
"""Width and height of the white square. The V-FLUTE paper, whose baseline has one, gives none: this
is LLaVA-1.5's input size.
"""

_BAND_HEIGHT = 256
"""The rows of pixels that are compared at once."""

_STORED = "figlang_stored_picture"
"""The attribute of a decoded picture with its `StoredPicture`."""

_SUFFIXES: Mapping[str | None, str] = {"PNG": ".png", "JPEG": ".jpg"}
"""The suffix of a file, by its format, for the formats that every reader of pictures takes."""

_intact_pictures: set[bytes] = set()
"""SHA-256 of pictures that were decoded without a fault.

The tasks of a benchmark show the same pictures, and check each only once.
"""


@dataclass(frozen=True)
class StoredPicture:
    """Where the data has a picture: in a file, or as bytes inside of a table or a zip.

    Attributes:
        file: the file; None if the picture has none of its own.
        content: the bytes; None if they have not been kept, because the file has them.
    """

    file: Path | None
    content: bytes | None

    def read(self) -> bytes:
        """The bytes; a `DataError` if the file was removed after the picture was decoded."""
        if self.content is not None:
            return self.content
        assert self.file is not None, "a stored picture has a file or its bytes"
        return read_bytes(self.file, "a prompt")


def content_of(cell: ImageCell, location: str, dataset: str | None = None) -> bytes:
    """The bytes of a picture, not decoded; arguments and errors are those of `check`."""
    return _content(cell, location, dataset)[0]


def check(cell: ImageCell, location: str, dataset: str | None = None) -> None:
    """Check that `decode` will give a picture, by decoding it once; raise the error if not.

    A JPEG is decoded at an eighth of its size, and without pixels that cannot fail.

    Args:
        cell: the undecoded picture.
        location: the dataset and the row, for messages.
        dataset: the dataset whose folder a path in the cell must lie below (`below`); None if a
            path is not to be opened.

    Raises:
        DataError: the picture is missing or damaged, or its path points outside of the folder.
    """
    content, file = _content(cell, location, dataset)
    digest = hashlib.sha256(content).digest()
    if digest not in _intact_pictures:
        _decoded(picture_bytes.without_whole_scan(content), file, location, is_reduced=True)
        _intact_pictures.add(digest)


def undecoded(rows: datasets.Dataset, location: str) -> datasets.Dataset:
    """The rows, with the pictures in the column `image` as `check` and `decode` take them.

    Args:
        rows: rows with a column `image`.
        location: the dataset and its part, for messages.

    Raises:
        DataError: the column does not hold pictures.
    """
    import datasets
    from pyarrow import ArrowException

    try:
        return rows.cast_column("image", datasets.Image(decode=False))
    except (ArrowException, TypeError) as error:
        column_type = rows.features["image"]
        raise DataError(
            f"{location}: image holds {column_type}, not pictures. {hub.USE_THE_RELEASE}"
        ) from error


def decode(cell: ImageCell, location: str, dataset: str | None = None) -> Image.Image:
    """The picture as RGB, upright (EXIF orientation applied) and on white where it is transparent.

    An animation gives its first frame. Grey values of 16 bits are scaled to 8. Arguments and errors
    are those of `check`. `stored_picture` tells where the picture is from. Inside of
    `figlang_tasks.core.deferred_pictures.deferred`, pixels are decoded when they are used.
    """
    content, file = _content(cell, location, dataset)
    if is_deferring():
        size = _upright_size(content, file, location)
        picture: Image.Image = DeferredPicture(size, partial(_decoded, content, file, location))
    else:
        picture = _decoded(content, file, location)
    # An attribute, since Pillow compares and pickles `Image.info`. Copies do not have it.
    setattr(picture, _STORED, StoredPicture(file, content if file is None else None))
    return picture


def white_square() -> Image.Image:
    """The picture that a model sees in place of a row's own, for a task with the option `blind`.

    What it then gets right, the text alone gives away.
    """
    return Image.new("RGB", _WHITE_SQUARE_SIZE, "white")


def stored_picture(picture: Image.Image) -> StoredPicture | None:
    """Where the data has a picture of `decode`; None for one that a task has drawn or changed."""
    stored: StoredPicture | None = getattr(picture, _STORED, None)
    return stored


def encode(picture: Image.Image) -> tuple[bytes, str]:
    """The content and the suffix (``.png``) of a file with a picture that a model is shown.

    A PNG or JPEG of the data stays as it is, byte for byte. If a plain reader would show it
    otherwise (turned by its EXIF, transparent), or if it has another format, or if a task has drawn
    it, the file is a PNG of its pixels.

    Args:
        picture: as RGB, of `decode` or drawn.

    Raises:
        DataError: the file of the picture was changed or removed after it was decoded.
    """
    stored = stored_picture(picture)
    if stored is not None:
        content = stored.read()
        with _opened(content, stored.file, "a prompt") as image:
            suffix = _SUFFIXES.get(image.format)
            if suffix is not None and _is_shown_as(image, picture):
                return content, suffix
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue(), ".png"


def _is_shown_as(image: Image.Image, picture: Image.Image) -> bool:
    """Whether a plain reader shows an opened picture as `picture`, which is RGB.

    Pixels are compared in bands: 67 megapixels as bytes, twice, take half a gigabyte.
    """
    if image.size != picture.size:
        return False
    plain = image if image.mode == "RGB" else image.convert("RGB")
    for top in range(0, picture.height, _BAND_HEIGHT):
        band = (0, top, picture.width, min(top + _BAND_HEIGHT, picture.height))
        if plain.crop(band).tobytes() != picture.crop(band).tobytes():
            return False
    return True


def decode_file(file: Path, location: str) -> Image.Image:
    """The picture in a file, as RGB and upright like that of `decode`.

    The path is not checked: use it for trusted paths only.
    """
    return _decoded(read_bytes(file, location), file, location)


def size_of(picture: Path | ImageCell, location: str) -> tuple[int, int]:
    """Width and height of a picture in a file or in a cell with its bytes, without decoding it."""
    if isinstance(picture, Path):
        content, file = read_bytes(picture, location), picture
    else:
        content, _ = _content(picture, location, None)
        file = None
    return _upright_size(content, file, location)


def _upright_size(content: bytes, file: Path | None, location: str) -> tuple[int, int]:
    """Width and height of a picture when it is turned upright; arguments as for `_decoded`."""
    with _opened(content, file, location) as image:
        width, height = image.size
        # Pillow gives the size of a TIFF picture as it is upright.
        is_on_its_side = image.format != "TIFF" and turn_of(image) in QUARTER_TURNS
    return (height, width) if is_on_its_side else (width, height)


def content_key(image: Image.Image) -> str:
    """A SHA-256 of what an image shows: mode, size and pixels, with palette and transparency.

    Two files of one picture, saved in two ways without loss, have the same key.
    """
    pixels = image
    if image.mode in ("P", "PA") or image.info.get("transparency") is not None:
        pixels = image.convert("RGBA")
    digest = hashlib.sha256(f"{image.mode} {image.width} {image.height} ".encode())
    digest.update(pixels.tobytes())
    return digest.hexdigest()


def below(folder: Path, path: str, location: str) -> Path:
    """The file of a path that a row or saved samples name; the file may be missing.

    Args:
        folder: the folder that the path is relative to.
        path: the path in the row.
        location: the dataset and the row, for messages.

    Raises:
        DataError: the path points outside of the folder, directly or through a link.
    """
    try:
        is_inside = (folder / path).resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):
        # Links form a circle, or the text cannot be the name of a file.
        is_inside = False
    if not is_inside:
        short_path = path if len(path) <= 200 else f"{path[:200]}..."
        raise DataError(
            f"{location}: image {short_path!r} points outside of {folder}: write a path inside that"
            " folder, such as images/722.png, and put the file itself there, not a link"
        )
    return folder / path


@contextmanager
def _opened(content: bytes, file: Path | None, location: str) -> Iterator[ImageFile.ImageFile]:
    """Open a picture for the block; each error of the block becomes a `DataError`."""
    try:
        with strict_pillow():
            stream = io.BytesIO(picture_bytes.without_metadata(content))
            with Image.open(stream, formats=FORMATS) as image:
                yield image
    except Exception as error:  # Pillow raises many kinds on damaged files
        raise _damage_error(file, location, error) from error


def _decoded(
    content: bytes, file: Path | None, location: str, is_reduced: bool = False
) -> Image.Image:
    """The picture as RGB, upright and on white where it is transparent.

    Args:
        content: the bytes of the picture.
        file: the file that they are from, for messages; None if they are from a table.
        location: the dataset and the row, for messages.
        is_reduced: whether a JPEG is decoded at an eighth of its size.
    """
    with _opened(content, file, location) as image:
        # Decode in one block: between two blocks, a thread has to wait for its turn.
        image.decodermaxblock = len(content)
        if is_reduced:
            image.draft("RGB", (image.width // 8 or 1, image.height // 8 or 1))
        # The first frame of a GIF file may fill only a part of the picture. The rest is then
        # transparent, but Pillow gives it the colour 0. Entry 1 of a tile is the box that it fills.
        frame = image.tile[0][1] if image.format == "GIF" and image.tile else None
        image.load()
        turn = turn_of(image)
        opaque = on_white(image)
        if frame is not None:
            canvas = Image.new("RGB", opaque.size, "white")
            canvas.paste(opaque.crop(frame), frame)
            opaque = canvas
        return opaque if turn is None else turned(opaque, turn)


def _content(cell: ImageCell, location: str, dataset: str | None) -> tuple[bytes, Path | None]:
    """The bytes of a picture, and its file; None in place of the file if the table has the bytes.

    Arguments and errors are those of `check`.
    """
    cell = cell or {}  # None is a row without a picture
    if cell.get("bytes") is not None:
        return cell["bytes"], None
    path = cell.get("path")
    if not path:
        raise DataError(
            f"{location}: the image is missing. Load the dataset again, or restore the row's image."
        )
    if dataset is None:
        raise DataError(
            f"{location}: the row holds a path in place of the image, and paths are not opened"
            " here. Load the dataset with its images."
        )
    file = below(folder_of(dataset), str(path), location)
    return read_bytes(file, location), file


def read_bytes(file: Path, location: str) -> bytes:
    """Read the file of a picture without decoding it.

    Args:
        file: the file.
        location: the dataset and the row, for messages.

    Raises:
        DataError: the file does not exist, or cannot be read.
    """
    if not os.path.exists(file):  # False for impossible names too
        raise DataError(
            f"{location}: image file {file} does not exist. Put the file there, correct the path,"
            " or load the dataset again."
        )
    try:
        return files.read_file(file)
    except OSError as error:
        raise DataError(
            f"{location}: image file {file} cannot be read: {error.strerror or error}"
        ) from error


def _damage_error(file: Path | None, location: str, error: Exception) -> DataError:
    """The error for a picture that cannot be decoded, with its cause and a remedy."""
    if file is None:
        remedy = "Load the dataset again (delete the damaged file first)"
    else:
        remedy = f"Replace {file}"
    cause = f"{type(error).__name__}: {error}"
    if isinstance(error, UnidentifiedImageError):
        cause = "no picture"
        remedy += "; PNG, JPEG, GIF, WebP, BMP and TIFF are read"
    return DataError(f"{location}: the image cannot be decoded ({cause}). {remedy}.")
