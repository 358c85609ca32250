"""Small pictures for tests: the same for the same number, different for others."""

from __future__ import annotations

import random

from PIL import Image, ImageDraw


def drawing(number: int | str, size: int = 48, colour: str = "") -> Image.Image:
    """A shape of `colour`, or of one that follows from the number, on a coloured ground; RGB,
    `size` x `size`.
    """
    draw = random.Random(number)
    red, green, blue = (draw.randrange(256) for _ in range(3))
    image = Image.new("RGB", (size, size), (blue, red, green))
    left, top = draw.randrange(size // 3 + 1), draw.randrange(size // 3 + 1)
    ImageDraw.Draw(image).ellipse(
        (left, top, size - left // 2, size - top // 2), fill=colour or (red, green, blue)
    )
    return image
