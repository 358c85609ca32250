"""Pictures of a report: small, each stored once, all together within a budget."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Collection, Iterator
from typing import Any

from figlang_tasks.core.errors import DataError
from figlang_tasks.report.originals import Picture

SIZE = 320
"""Pixels of the long side."""

BUDGET = 15_000_000
"""Bytes of all thumbnails, about; as base64 a third more. With the texts of 723 samples a report is
some 25 MB.
"""

_QUALITY, _BYTES_OF_A_PIXEL = 75, 0.2
_METHOD = 2  # half the time of the default, for a twentieth more bytes


def thumbnails(
    pictures: Collection[Picture], budget: int = BUDGET
) -> Iterator[dict[str, Any] | DataError]:
    """A thumbnail of each picture: ``src`` (data URL), ``width`` and ``height`` of the original; or
    why there is none.

    They are made one by one, so that one decoded picture is in memory.
    """
    pixels = budget / max(1, len(pictures)) / _BYTES_OF_A_PIXEL
    side = max(16, min(SIZE, int(math.sqrt(pixels))))
    for picture in pictures:
        try:
            image = picture.read()
        except DataError as error:
            yield error
            continue
        about = {"width": image.width, "height": image.height}
        image.thumbnail((side, side))
        file = io.BytesIO()
        image.save(file, "WEBP", quality=_QUALITY, method=_METHOD)
        yield {
            "src": f"data:image/webp;base64,{base64.b64encode(file.getvalue()).decode()}",
            **about,
        }
