"""Pictures of a report: small, each stored once, all together within a budget."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterator
from typing import Any

from figlang_tasks.core.errors import DataError
from figlang_tasks.report.originals import Picture

SIZE = 320
"""Pixels of the long side."""

BUDGET = 15_000_000
"""Bytes of all thumbnails, about; as base64 a third more. With the texts of 723 samples a report is some 25 MB."""

_QUALITY, _BYTES_OF_A_PIXEL = 75, 0.2
_METHOD = 2  # half the time of the default, for a twentieth more bytes


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

    def thumbnails(self, budget: int = BUDGET) -> Iterator[dict[str, Any] | DataError]:
        """One for each number: ``src`` (data URL), ``width`` and ``height`` of the original; or why there is none."""
        pixels = budget / max(1, len(self._pictures)) / _BYTES_OF_A_PIXEL
        side = max(16, min(SIZE, int(math.sqrt(pixels))))
        for picture in self._pictures:
            try:
                image = picture.read()
            except DataError as error:
                yield error
                continue
            about = {"width": image.width, "height": image.height}
            image.thumbnail((side, side))
            file = io.BytesIO()
            image.save(file, "WEBP", quality=_QUALITY, method=_METHOD)
            yield {"src": f"data:image/webp;base64,{base64.b64encode(file.getvalue()).decode()}", **about}
