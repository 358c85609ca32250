"""The size in which Qwen2.5-VL sees a picture, whose pixels its boxes are in."""

from __future__ import annotations

import math
from collections.abc import Callable

# As the harness's class qwen2_5_vl sets its processor.
_FACTOR, _FEWEST, _MOST = 28, 256 * 28 * 28, 2048 * 28 * 28


def resized(width: int, height: int) -> tuple[int, int]:
    """Width and height of a picture as Qwen2.5-VL sees it: multiples of 28, its area within
    bounds.
    """

    def multiple(value: float, rounded: Callable[[float], float]) -> int:
        return max(_FACTOR, int(rounded(value / _FACTOR)) * _FACTOR)

    near = multiple(width, round), multiple(height, round)
    if near[0] * near[1] > _MOST:
        shrink = math.sqrt(width * height / _MOST)
        return multiple(width / shrink, math.floor), multiple(height / shrink, math.floor)
    if near[0] * near[1] < _FEWEST:
        grow = math.sqrt(_FEWEST / (width * height))
        return multiple(width * grow, math.ceil), multiple(height * grow, math.ceil)
    return near
