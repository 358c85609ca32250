"""Pictures of a report: small, each stored once, all together within a budget."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterator
from typing import Any

from PIL import Image

from figlang_tasks.core.hub import DataError
from figlang_tasks.report.originals import Picture

SIZE = 320
"""Pixels of the long side."""

BUDGET = 15_000_000
"""Bytes of all thumbnails; as base64 a third more. With the texts of 723 samples a report stays under 25 MB."""

_QUALITIES = (75, 50, 25)
_SHRINK = 0.75


class Album:
    """Collects pictures, then makes thumbnails of them one by one, so that one decoded picture is in memory."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._pictures: list[Picture] = []

    def __len__(self) -> int:
        return len(self._pictures)

    def place(self, picture: Picture) -> int:
        """The picture's number; a new one if it was not there."""
        if picture.key not in self._places:
            self._places[picture.key] = len(self._pictures)
            self._pictures.append(picture)
        return self._places[picture.key]

    def thumbnails(self, size: int = SIZE, budget: int = BUDGET) -> Iterator[dict[str, Any] | DataError]:
        """One for each number: ``src`` (data URL), ``width`` and ``height`` of the original; or why there is none.

        Args:
            size: pixels of the long side, at most.
            budget: bytes of all thumbnails. Each has an equal share of it.
        """
        share = budget // max(1, len(self._pictures))
        for picture in self._pictures:
            try:
                image = picture.read()
            except DataError as error:
                yield error
                continue
            content = base64.b64encode(encoded(image, size, share)).decode("ascii")
            yield {"src": f"data:image/webp;base64,{content}", "width": image.width, "height": image.height}


def encoded(image: Image.Image, size: int, most: int) -> bytes:
    """A picture as WebP of at most `most` bytes: coarser first, then smaller (not below 16 pixels).

    Args:
        image: RGB.
        size: pixels of the long side, at most; a smaller picture is not enlarged.
        most: bytes.
    """
    side = size
    while True:
        small = image.copy()
        small.thumbnail((side, side))
        for quality in _QUALITIES:
            file = io.BytesIO()
            small.save(file, "WEBP", quality=quality, method=4)
            if file.tell() <= most or (side == 16 and quality == _QUALITIES[-1]):
                return file.getvalue()
        side = max(16, int(side * min(_SHRINK, math.sqrt(most / file.tell()))))
