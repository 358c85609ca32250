"""A box as written: its numbers, what keys call its edges, and how edges, sizes and orders make a
box.

Each expression takes linear time: what repeats is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar

Form: TypeAlias = Literal["loc", "florence", "named", "brackets", "line"]
Value = TypeVar("Value")


class Coordinate(NamedTuple):
    """A number as written, and its unit: "%", "px", "" where none is written, "mixed" for a sum of
    different ones.
    """

    value: float
    unit: str


@dataclass(frozen=True)
class WrittenBox:
    """Left, top, right and bottom of one box as written, and the part of the text that gives
    them.
    """

    edges: tuple[Coordinate, Coordinate, Coordinate, Coordinate]
    start: int
    end: int
    form: Form

    @property
    def unit(self) -> str:
        """The unit of all four numbers; "mixed" if they differ."""
        units = {edge.unit for edge in self.edges}
        return units.pop() if len(units) == 1 else "mixed"

    @property
    def values(self) -> tuple[float, float, float, float]:
        left, top, right, bottom = self.edges
        return left.value, top.value, right.value, bottom.value


# --- numbers, points, and what edges are called ---

NUMBER: Final = (
    r"""["']?(-?(?:[0-9]{1,7}(?:\.[0-9]{0,20})?|\.[0-9]{1,20}))["']?"""
    r"""(?:\s?(%|px|pixels?))?["']?(?!\.?[0-9a-z%])"""
)
APART: Final = r"[\s,]{1,24}"
OPEN: Final = r"[(\[{]\s{0,9}"
CLOSE: Final = r"\s{0,9}[)\]}]"
POINT: Final = rf"[(\[]\s{{0,9}}{NUMBER}{APART}{NUMBER}\s{{0,9}}[)\]]"
XY_POINT: Final = (
    rf"""(?:{OPEN})?["']?x["']?\s?[:=]\s?{NUMBER}[\s,;]{{1,24}}"""
    rf"""["']?y["']?\s?[:=]\s?{NUMBER}(?:{CLOSE})?"""
)

XY: Final = ("left", "top", "right", "bottom")
YX: Final = ("top", "left", "bottom", "right")
_KEYS: Final = {
    "left": "x0|x min|min x|x start|start x|x left|left x|top left x|x top left|xtl|left|l|x",
    "top": "y0|y min|min y|y start|start y|y top|top y|top left y|y top left|ytl|top|upper|t|y",
    "right": "x2|x max|max x|x end|end x|x right|right x|bottom right x|x bottom right|xbr|right|r",
    "bottom": (
        "y2|y max|max y|y end|end y|y bottom|bottom y|bottom right y|y bottom"
        " right|ybr|bottom|lower|b"
    ),
    "x1": "x1",  # the right edge beside x0, else the left one
    "y1": "y1",
    "width": "width|w",
    "height": "height|h",
    "middle_x": "x center|x centre|center x|centre x|cx|xc",
    "middle_y": "y center|y centre|center y|centre y|cy|yc",
}
_ALL_KEYS: Final = "|".join(_KEYS.values()).split("|")
KEY: Final = "|".join(sorted(_ALL_KEYS, key=len, reverse=True)).replace(" ", "[ _-]?")
_WORD_BREAK = re.compile("[ _-]")


def edge_of_key(key: str) -> str:
    """The edge that a key names, however its words are joined: "x_min", "xMin", "X min"."""
    plain_key = _WORD_BREAK.sub("", key.lower())
    return next(
        edge for edge, keys in _KEYS.items() if plain_key in keys.replace(" ", "").split("|")
    )


def resolve(edges: Mapping[str, Value]) -> dict[str, Value]:
    """The same edges, ``x1`` and ``y1`` as what they are beside the others."""
    resolved = dict(edges)
    for name, low, high in (("x1", "left", "right"), ("y1", "top", "bottom")):
        if name in resolved:
            value = resolved.pop(name)
            resolved.setdefault(high if low in resolved else low, value)
    return resolved


def box_of_edges(
    edges: Mapping[str, Coordinate], start: int, end: int, form: Form
) -> WrittenBox | None:
    """The box that these edges and sizes make; None if they are not enough for one."""
    edges = resolve(edges)
    across = _ends(edges.get("left"), edges.get("right"), edges.get("width"), edges.get("middle_x"))
    down = _ends(edges.get("top"), edges.get("bottom"), edges.get("height"), edges.get("middle_y"))
    if across is None or down is None:
        return None
    return WrittenBox((across[0], down[0], across[1], down[1]), start, end, form)


def ordered_box(order: Sequence[str], match: re.Match[str], form: Form) -> WrittenBox:
    """The box of a match of four numbers in this order."""
    box = box_of_edges(dict(zip(order, coordinates(match), strict=True)), *match.span(), form)
    assert box is not None, "an order gives all edges"
    return box


def _ends(
    low: Coordinate | None,
    high: Coordinate | None,
    size: Coordinate | None,
    middle: Coordinate | None,
) -> tuple[Coordinate, Coordinate] | None:
    """Both ends of a box on one axis: as given, or from a size and the low end or the middle."""
    if low is not None and high is not None:
        return low, high
    if low is not None and size is not None:
        return low, _move(low, size, 1)
    if middle is not None and size is not None:
        return _move(middle, size, -0.5), _move(middle, size, 0.5)
    return None


def _move(place: Coordinate, size: Coordinate, share: float) -> Coordinate:
    """The place that lies a share of a size further on; rounded, so that .7 + .3 is not more than
    1.
    """
    unit = place.unit if place.unit == size.unit else "mixed"
    return Coordinate(round(place.value + share * size.value, 6), unit)


def coordinates(match: re.Match[str]) -> list[Coordinate]:
    """The numbers in a match of an expression whose groups without names are those of `NUMBER`."""
    with_names = match.re.groupindex.values()
    groups = [match[number] for number in range(1, match.re.groups + 1) if number not in with_names]
    numbers = []
    for value, sign in zip(groups[::2], groups[1::2], strict=True):
        if value is None:
            continue  # of another alternative of the expression
        unit = (sign or "").lower()
        if unit.startswith("pixel"):
            unit = "px"
        numbers.append(Coordinate(float(value), unit))
    return numbers
