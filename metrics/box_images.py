"""Images with true and predicted boxes: what average precision is computed from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["primary", "secondary"]
"""The concept that a box shows: the primary or the secondary one of the metaphor."""

BoxType: TypeAlias = Literal["explicit", "contextual", "logo", "text"]
"""How a box shows its concept."""

Xyxy: TypeAlias = tuple[float, float, float, float]
"""The left, upper, right and lower edge of a box: x0, y0, x1, y1."""


def _check_box(name: str, box: Xyxy) -> None:
    """Raise ValueError unless a box has four finite numbers and a finite area above 0.

    An overlap with NaN would count as a match.

    Args:
        name: what the message calls the box, e.g. "the true".
        box: its edges.
    """
    if len(box) != 4 or not all(map(math.isfinite, box)):
        raise ValueError(f"{name} box {tuple(box)} must have four finite numbers: x0, y0, x1, y1")
    x0, y0, x1, y1 = map(float, box)
    is_ordered = x0 < x1 and y0 < y1
    if not is_ordered or not 0 < (x1 - x0) * (y1 - y0) < math.inf:
        raise ValueError(
            f"{name} box {tuple(box)} must have x0 < x1 and y0 < y1, and a finite area"
        )


@dataclass(frozen=True)
class TrueBox:
    """An annotated box.

    Attributes:
        box: x0, y0, x1, y1 in pixels, finite, x0 < x1 and y0 < y1.
        role: the concept that the box shows.
        type: how it shows it.

    Raises:
        ValueError: numbers that are no such box.
    """

    box: Xyxy
    role: Role
    type: BoxType

    def __post_init__(self) -> None:
        _check_box("the true", self.box)


@dataclass(frozen=True)
class PredictedBox:
    """A predicted box.

    Attributes:
        box: x0, y0, x1, y1 in pixels, finite, x0 < x1 and y0 < y1; may reach outside the image.
        role: the concept that the model says the box shows.
        score: finite, higher is surer; the same for all where the model gives none.

    Raises:
        ValueError: numbers that are no such box, or a score that is not finite.
    """

    box: Xyxy
    role: Role
    score: float = 1.0

    def __post_init__(self) -> None:
        _check_box("the predicted", self.box)
        if not math.isfinite(self.score):
            raise ValueError(
                f"the score of the predicted box {tuple(self.box)} is {self.score}, must be finite"
            )


@dataclass(frozen=True)
class BoxImage:
    """The boxes of one image.

    Attributes:
        image_id: different for every image; no result depends on it.
        truth: its annotated boxes.
        predicted: its predicted boxes.
    """

    image_id: str
    truth: tuple[TrueBox, ...]
    predicted: tuple[PredictedBox, ...]
