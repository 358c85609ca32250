"""A box as a model writes it: its numbers, the names of its edges, and how these make a box.

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
    """A number as written.

    Attributes:
        value: the number.
        unit: "%" or "px"; "" where none is written, "mixed" for a sum of different units.
    """

    value: float
    unit: str


@dataclass(frozen=True)
class WrittenBox:
    """One box as written.

    Attributes:
        edges: left, top, right and bottom.
        start, end: where it stands in the text.
        form: the form in which it is written.
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
        """Left, top, right and bottom without their units."""
        left, top, right, bottom = self.edges
        return left.value, top.value, right.value, bottom.value


# --- numbers, points, and what edges are called ---

# "105", "-3.5", ".5", "'105'", "50 %", "120px", as two groups: the number, and the unit or None.
# No letter, digit or second decimal follows.
NUMBER: Final = (
    r"""["']?(-?(?:[0-9]{1,7}(?:\.[0-9]{0,20})?|\.[0-9]{1,20}))["']?"""
    r"""(?:\s?(%|px|pixels?))?["']?(?!\.?[0-9a-z%])"""
)
APART: Final = r"[\s,]{1,24}"
OPEN: Final = r"[(\[{]\s{0,9}"
CLOSE: Final = r"\s{0,9}[)\]}]"
# "(105, 301)"
POINT: Final = rf"[(\[]\s{{0,9}}{NUMBER}{APART}{NUMBER}\s{{0,9}}[)\]]"
# "x: 105, y: 301", '{"x": 105, "y": 301}'
XY_POINT: Final = (
    rf"""(?:{OPEN})?["']?x["']?\s?[:=]\s?{NUMBER}[\s,;]{{1,24}}"""
    rf"""["']?y["']?\s?[:=]\s?{NUMBER}(?:{CLOSE})?"""
)

XY: Final = ("left", "top", "right", "bottom")
YX: Final = ("top", "left", "bottom", "right")
# The keys of each edge or size. A blank stands for a blank, "_", "-" or nothing: "x min", "xmin".
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
    """The name in `_KEYS` of the edge or size that a key gives: ``left`` for "x_min", "xMin"."""
    # The patterns ignore case, and in this "ı" is an "i".
    plain_key = _WORD_BREAK.sub("", key.lower().replace("ı", "i"))
    for edge, keys in _KEYS.items():
        if plain_key in keys.replace(" ", "").split("|"):
            return edge
    raise ValueError(f"{key!r} is no key")


def resolve(edges: Mapping[str, Value]) -> dict[str, Value]:
    """The same edges, with ``left`` or ``right`` for ``x1``, and ``top`` or ``bottom`` for ``y1``.

    Beside ``left`` (of ``x0``, say), ``x1`` is the right edge, otherwise the left one.

    Args:
        edges: what is known of each edge or size, by its name in `_KEYS`.
    """
    resolved = dict(edges)
    for name, low, high in (("x1", "left", "right"), ("y1", "top", "bottom")):
        if name in resolved:
            value = resolved.pop(name)
            resolved.setdefault(high if low in resolved else low, value)  # unless it has a number
    return resolved


def box_of_edges(
    edges: Mapping[str, Coordinate], start: int, end: int, form: Form
) -> WrittenBox | None:
    """The box that these edges and sizes make; None if they are not enough for one.

    Args:
        edges: the number of each edge or size, by its name in `_KEYS`.
        start, end: where the box stands in the text.
        form: the form in which it is written.
    """
    edges = resolve(edges)
    x_ends = _ends(edges.get("left"), edges.get("right"), edges.get("width"), edges.get("middle_x"))
    y_ends = _ends(
        edges.get("top"), edges.get("bottom"), edges.get("height"), edges.get("middle_y")
    )
    if x_ends is None or y_ends is None:
        return None
    left, right = x_ends
    top, bottom = y_ends
    return WrittenBox((left, top, right, bottom), start, end, form)


def ordered_box(order: Sequence[str], match: re.Match[str], form: Form) -> WrittenBox:
    """The box of four matched numbers, of which `order` says what each is.

    Args:
        order: the edge or size that each number is: `XY`, or ("left", "top", "width", "height").
        match: a match of an expression that contains `NUMBER` four times.
        form: the form in which the box is written.
    """
    edges = dict(zip(order, coordinates(match), strict=True))
    box = box_of_edges(edges, match.start(), match.end(), form)
    assert box is not None, "an order gives all edges"
    return box


def _ends(
    low: Coordinate | None,
    high: Coordinate | None,
    size: Coordinate | None,
    middle: Coordinate | None,
) -> tuple[Coordinate, Coordinate] | None:
    """Both ends of a box on one axis: as given, or from a size and the low end or the middle.

    None if these numbers do not decide them.
    """
    if low is not None and high is not None:
        return low, high
    if low is not None and size is not None:
        return low, _move(low, size, 1)
    if middle is not None and size is not None:
        return _move(middle, size, -0.5), _move(middle, size, 0.5)
    return None


def _move(coordinate: Coordinate, size: Coordinate, share: float) -> Coordinate:
    """A coordinate moved by a share of a size: by 0.5 from the middle to the high end."""
    unit = coordinate.unit if coordinate.unit == size.unit else "mixed"
    # Rounded, so that .7 + .3 is not more than 1.
    return Coordinate(round(coordinate.value + share * size.value, 6), unit)


def coordinates(match: re.Match[str]) -> list[Coordinate]:
    """The numbers in a match of an expression that contains `NUMBER` several times.

    Its groups without names are all those of `NUMBER`: in turn a number and its unit.
    """
    named_groups = match.re.groupindex.values()
    texts: list[str | None] = []
    for group in range(1, match.re.groups + 1):
        if group not in named_groups:
            texts.append(match[group])
    numbers: list[Coordinate] = []
    # Every second group is a unit.
    for number, written_unit in zip(texts[::2], texts[1::2], strict=True):
        if number is None:  # It belongs to an alternative of the expression that did not match.
            continue
        unit = (written_unit or "").lower()
        if unit.startswith("pixel"):
            unit = "px"
        numbers.append(Coordinate(float(number), unit))
    return numbers
