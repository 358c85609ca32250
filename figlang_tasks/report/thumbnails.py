"""Makes the pictures of a report: small, and all together within a budget."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Collection, Iterator
from typing import TypedDict

from PIL import Image

from figlang_tasks.core.errors import DataError
from figlang_tasks.report.originals import Picture

MAX_SIDE = 320
"""The longer side of a thumbnail in pixels; less if there are many pictures."""

BUDGET = 15_000_000
"""Bytes of all thumbnails, about; a third more as base64.

With the texts of 723 samples a report is some 25 MB.
"""

_MIN_SIDE = 16  # whatever the budget: less shows nothing
_QUALITY = 75
_BYTES_PER_PIXEL = 0.2  # about, at this quality
_METHOD = 2  # half the time of the default, for a twentieth more bytes


class Thumbnail(TypedDict):
    """A thumbnail as a data URL; `width` and `height` are those of the original, in pixels."""

    src: str
    width: int
    height: int


def make_thumbnails(
    pictures: Collection[Picture], budget: int = BUDGET
) -> Iterator[Thumbnail | DataError]:
    """Yield a thumbnail of each picture in their order, or the error of one that cannot be read.

    Thumbnails are made one by one, so that only one decoded picture is in memory.

    Args:
        budget: bytes of all thumbnails, about; the more pictures, the smaller each of them.
    """
    bytes_per_picture = budget / max(1, len(pictures))
    # The side of a square of so many bytes
    side = int(math.sqrt(bytes_per_picture / _BYTES_PER_PIXEL))
    side = max(_MIN_SIDE, min(MAX_SIDE, side))
    for picture in pictures:
        try:
            image = picture.read()
        except DataError as error:
            yield error
            continue
        yield _shrink(image, side)


def _shrink(image: Image.Image, side: int) -> Thumbnail:
    """The thumbnail of an image, with the size of the original; the image itself shrinks.

    Args:
        side: the most pixels of its height and of its width.
    """
    original_width, original_height = image.size
    image.thumbnail((side, side))  # never larger than the image
    file = io.BytesIO()
    image.save(file, "WEBP", quality=_QUALITY, method=_METHOD)
    content = base64.b64encode(file.getvalue()).decode()
    return {
        "src": f"data:image/webp;base64,{content}",
        "width": original_width,
        "height": original_height,
    }
