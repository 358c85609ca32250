"""Pictures in the layout of the Pitt Ads: ``0/name.jpg`` to ``10/name.png`` below one folder."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from figlang_tasks.core import images
from figlang_tasks.core.hub import DataError

_TURNED = (5, 6, 7, 8)  # EXIF orientations that swap width and height
_ORIENTATION = 0x0112


def read(dataset: str, image: str, where: str) -> Image.Image:
    """Return a picture, RGB, upright.

    Raises:
        DataError: it is missing or damaged, or its path leads out of the dataset's folder; names `where`.
    """
    return images.decode({"path": image}, where, dataset)


def generated(path: Path | str) -> Image.Image:
    """Return a picture that a model made, RGB.

    Raises:
        DataError: it is missing or damaged; names it.
    """
    return images.decode_file(Path(path), f"generated picture {path}")


def size(path: Path, where: str) -> tuple[int, int]:
    """Return width and height of a picture as it is shown, upright, without decoding it.

    Raises:
        DataError: it is missing or no picture; names `where`.
    """
    try:
        with Image.open(path) as image:
            turned = image.getexif().get(_ORIENTATION) in _TURNED
            width, height = image.size
    except FileNotFoundError as error:
        raise DataError(f"{where}: image file {path} does not exist. Put it there.") from error
    except Exception as error:  # Pillow raises many kinds on damaged files
        raise DataError(
            f"{where}: the image cannot be read ({type(error).__name__}: {error}). Load it again."
        ) from error
    return (height, width) if turned else (width, height)
