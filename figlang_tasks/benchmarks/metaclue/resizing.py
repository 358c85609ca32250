"""The size in which Qwen2.5-VL sees a picture, whose pixels its boxes are in."""

from __future__ import annotations

import math
from typing import Final

# lmms-eval's class qwen2_5_vl sets its processor so.
_FACTOR: Final = 28
_SMALLEST_AREA: Final = 256 * 28 * 28
_LARGEST_AREA: Final = 2048 * 28 * 28


def resized(width: int, height: int) -> tuple[int, int]:
    """Width and height of a picture as Qwen2.5-VL sees it: multiples of 28, its area within bounds.

    Source: ``smart_resize`` in the image processor of Qwen2-VL in transformers.
    """
    nearest_width = _multiple(round(width / _FACTOR))
    nearest_height = _multiple(round(height / _FACTOR))
    area = nearest_width * nearest_height
    if area > _LARGEST_AREA:
        shrink = math.sqrt(width * height / _LARGEST_AREA)
        return (
            _multiple(math.floor(width / shrink / _FACTOR)),
            _multiple(math.floor(height / shrink / _FACTOR)),
        )
    if area < _SMALLEST_AREA:
        grow = math.sqrt(_SMALLEST_AREA / (width * height))
        return (
            _multiple(math.ceil(width * grow / _FACTOR)),
            _multiple(math.ceil(height * grow / _FACTOR)),
        )
    return nearest_width, nearest_height


def _multiple(count: int) -> int:
    """`count` times 28, at least once."""
    return max(1, count) * _FACTOR
