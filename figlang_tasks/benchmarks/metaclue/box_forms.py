"""Finds boxes as models write them: as tokens, with names, in brackets, as two points, or as four numbers in a line.

Each expression takes linear time: what repeats is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias, TypeVar

Form: TypeAlias = Literal["loc", "florence", "named", "brackets", "line"]
Value = TypeVar("Value")


class Coordinate(NamedTuple):
    """A number as written, and its unit: "%", "px", "" where none is written, "mixed" for a sum of different ones."""

    value: float
    unit: str


@dataclass(frozen=True)
class WrittenBox:
    """Left, top, right and bottom of one box as written, and the part of the text that gives them."""

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


def find_boxes(text: str, labels: re.Pattern[str], *, y_first: bool, largest: tuple[float, float]) -> list[WrittenBox]:
    """The boxes of the first form that a text has: tokens, names, brackets or points, a line of four numbers.

    Args:
        labels: words that may stand before four numbers without brackets.
        y_first: numbers without names have y before x. An order that the answer names, as "(x, y, width, height)",
            counts before it; where it names several, numbers without names are not read.
        largest: the largest x and y. A box from (0, 0) to these is left out where the words before it tell the scale.
    """
    text = _POINT_TAG.sub(lambda tag: " " * len(tag[0]), text)
    forms = [
        _token_boxes(text, _LOC, "loc", _YX),
        _token_boxes(text, _LOC_OF_FLORENCE, "florence", _XY),
        _named_boxes(text, y_first),
    ]
    orders = _named_orders(text) or {_YX if y_first else _XY}
    if len(orders) == 1:
        order = orders.pop()
        forms += [_bracket_boxes(text, order), _line_boxes(text, order, labels)]
    for form in forms:
        boxes = [box for box in form if not _tells_scale(text, box, largest)]
        if boxes:
            return boxes
    return []


_SCALE = re.compile(
    r"\b(?:coordinates?|scale[ds]?|range|resolution|normali[sz]ed|origin|grid|image|picture|where)\b", re.I
)


def _tells_scale(text: str, box: WrittenBox, largest: tuple[float, float]) -> bool:
    """Whether a box is a remark such as "the coordinates run from (0, 0) to (1000, 1000)"."""
    if box.form == "loc" or box.values != (0.0, 0.0, *largest):
        return False
    before = text[max(0, box.start - 80) : box.start].rpartition("\n")[2]
    return bool(_SCALE.search(before)) and not before.rstrip(" \"'([{").endswith((":", "="))


# --- numbers, points, and what edges are called ---

_NUMBER: Final = (
    r"""["']?(-?(?:[0-9]{1,7}(?:\.[0-9]{0,20})?|\.[0-9]{1,20}))["']?(?:\s?(%|px|pixels?))?["']?(?![0-9a-z%])"""
)
_APART: Final = r"[\s,]{1,24}"
_OPEN: Final = r"[(\[{]\s{0,9}"
_CLOSE: Final = r"\s{0,9}[)\]}]"
_POINT: Final = rf"{_OPEN}{_NUMBER}{_APART}{_NUMBER}{_CLOSE}"
_XY_POINT: Final = (
    rf"""(?:{_OPEN})?["']?x["']?\s?[:=]\s?{_NUMBER}[\s,;]{{1,24}}["']?y["']?\s?[:=]\s?{_NUMBER}(?:{_CLOSE})?"""
)
_POINT_TAG = re.compile(r"<points?\b[^<>]*", re.I)  # Molmo's points, in percent without a sign, are no corners

_XY: Final = ("left", "top", "right", "bottom")
_YX: Final = ("top", "left", "bottom", "right")
_KEYS: Final = {
    "left": "x0|x min|min x|x start|start x|x left|left x|top left x|x top left|left|x",
    "top": "y0|y min|min y|y start|start y|y top|top y|top left y|y top left|top|y",
    "right": "x2|x max|max x|x end|end x|x right|right x|bottom right x|x bottom right|right",
    "bottom": "y2|y max|max y|y end|end y|y bottom|bottom y|bottom right y|y bottom right|bottom",
    "x1": "x1",  # the right edge beside x0, else the left one
    "y1": "y1",
    "width": "width|w",
    "height": "height|h",
    "middle_x": "x center|x centre|center x|centre x|cx|xc",
    "middle_y": "y center|y centre|center y|centre y|cy|yc",
}
_ALL_KEYS: Final = "|".join(_KEYS.values()).split("|")
_KEY: Final = "|".join(sorted(_ALL_KEYS, key=len, reverse=True)).replace(" ", "[ _-]?")
_WORD_BREAK = re.compile("[ _-]")


def _edge(key: str) -> str:
    """The edge that a key names, however its words are joined: "x_min", "xMin", "X min"."""
    plain_key = _WORD_BREAK.sub("", key.lower())
    return next(edge for edge, keys in _KEYS.items() if plain_key in keys.replace(" ", "").split("|"))


def _resolve(edges: Mapping[str, Value]) -> dict[str, Value]:
    """The same edges, ``x1`` and ``y1`` as what they are beside the others."""
    resolved = dict(edges)
    for name, low, high in (("x1", "left", "right"), ("y1", "top", "bottom")):
        if name in resolved:
            value = resolved.pop(name)
            resolved.setdefault(high if low in resolved else low, value)
    return resolved


def _box(edges: Mapping[str, Coordinate], start: int, end: int, form: Form) -> WrittenBox | None:
    """The box that these edges and sizes make; None if they are not enough for one."""
    edges = _resolve(edges)
    across = _ends(edges.get("left"), edges.get("right"), edges.get("width"), edges.get("middle_x"))
    down = _ends(edges.get("top"), edges.get("bottom"), edges.get("height"), edges.get("middle_y"))
    if across is None or down is None:
        return None
    return WrittenBox((across[0], down[0], across[1], down[1]), start, end, form)


def _ordered_box(order: Sequence[str], match: re.Match[str], form: Form) -> WrittenBox:
    """The box of a match of four numbers in this order."""
    box = _box(dict(zip(order, _coordinates(match), strict=True)), *match.span(), form)
    assert box is not None, "an order gives all edges"
    return box


def _ends(
    low: Coordinate | None, high: Coordinate | None, size: Coordinate | None, middle: Coordinate | None
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
    """The place that lies a share of a size further on; rounded, so that .7 + .3 is not more than 1."""
    unit = place.unit if place.unit == size.unit else "mixed"
    return Coordinate(round(place.value + share * size.value, 6), unit)


def _coordinates(match: re.Match[str]) -> list[Coordinate]:
    """The numbers in a match of an expression whose groups without names are those of `_NUMBER`."""
    with_names = match.re.groupindex.values()
    groups = [match[number] for number in range(1, match.re.groups + 1) if number not in with_names]
    coordinates = []
    for value, unit in zip(groups[::2], groups[1::2], strict=True):
        if value is not None:
            unit = (unit or "").lower()
            coordinates.append(Coordinate(float(value), "px" if unit.startswith("p") else unit))
    return coordinates


# --- the order of four numbers ---

_ORDER = re.compile(rf"(?<![a-z0-9])({_KEY})" + rf"""["']?\s?,\s?["']?({_KEY})""" * 3 + "(?![a-z0-9])", re.I)
_SHORT_ORDERS: Final = {
    "xyxy": _XY,
    "yxyx": _YX,
    "xywh": ("left", "top", "width", "height"),
    "cxcywh": ("middle_x", "middle_y", "width", "height"),
}
_SHORT_ORDER = re.compile(rf"(?<![a-z])(?:{'|'.join(_SHORT_ORDERS)})(?![a-z])", re.I)


def _named_orders(text: str) -> set[tuple[str, ...]]:
    """The orders of four numbers that an answer names: "[x1, y1, x2, y2]", "(x, y, width, height)", "xywh"."""
    orders: set[tuple[str, ...]] = {_SHORT_ORDERS[match[0].lower()] for match in _SHORT_ORDER.finditer(text)}
    for match in _ORDER.finditer(text):
        positions = _resolve({_edge(key): position for position, key in enumerate(match.groups())})
        order = tuple(sorted(positions, key=positions.__getitem__))
        if len(order) == 4 and _box(dict.fromkeys(order, Coordinate(0, "")), 0, 0, "brackets"):
            orders.add(order)
    return orders


# --- tokens ---

_LOC = re.compile("<loc([0-9]{4})()>" * 4)  # with a group for the unit, as in `_NUMBER`
_LOC_OF_FLORENCE = re.compile("<loc[_ ]([0-9]{1,3})()>" * 4)


def _token_boxes(text: str, tokens: re.Pattern[str], form: Form, order: Sequence[str]) -> Iterator[WrittenBox]:
    """Yield the boxes that are written as four tokens."""
    for match in tokens.finditer(text):
        yield _ordered_box(order, match, form)


# --- names ---

_CORNERS: Final = {
    "left_top": "(?:top|upper)[ _-]?left|left[ _-]?(?:top|upper)|tl|start|min",
    "right_top": "(?:top|upper)[ _-]?right|right[ _-]?(?:top|upper)|tr",
    "left_bottom": "(?:bottom|lower)[ _-]?left|left[ _-]?(?:bottom|lower)|bl",
    "right_bottom": "(?:bottom|lower)[ _-]?right|right[ _-]?(?:bottom|lower)|br|end|max",
}
_CORNER: Final = "|".join(f"(?P<{corner}>{names})" for corner, names in _CORNERS.items())
_NAME = re.compile(
    r"(?P<brace>[{}])|(?<![a-z0-9])(?:"
    rf"(?:{_CORNER})(?![ _-]?[xy](?![a-z0-9]))"
    r"|(?P<across>horizontal(?:ly)?|x[ _-](?:range|axis))|(?P<down>vertical(?:ly)?|y[ _-](?:range|axis))"
    # A width or height of the picture is none of a box.
    rf"|(?<!image[ _-])(?<!img[ _-])(?<!picture[ _-])(?<!original[ _-])(?P<key>{_KEY})"
    r")(?![a-z0-9])",
    re.I,
)
_POINT_VALUE = re.compile(
    r"""["']?(?:\s(?:corner|point|vertex|coordinates?))?(?:\s?\([xy0-9, ]{1,9}\))?["']?"""
    rf"[\s:=>-]{{0,8}}(?:(?:is|at)\s){{0,2}}(?:(?P<xy>{_XY_POINT})|{_POINT}|{_NUMBER}\s?,\s?{_NUMBER})",
    re.I,
)
_RANGE_VALUE = re.compile(
    r"""["']?[\s:=]{1,4}(?:(?:is|ranges|goes|from|in|between)\s){0,3}"""
    rf"(?:{_NUMBER}\s?(?:-|to|and|\.\.)\s?{_NUMBER}"
    rf"""|{_OPEN}(?:["']?(?:min|start|from)["']?\s?:\s?)?{_NUMBER}"""
    rf"""\s?,\s{{0,9}}(?:["']?(?:max|end|to)["']?\s?:\s?)?{_NUMBER}{_CLOSE})""",
    re.I,
)
_NUMBER_VALUE = re.compile(
    r"""["']?(?:\s(?:edge|side|border|boundary|coordinate))?(?:\s?\([a-z0-9 -]{1,20}\))?["']?"""
    rf"(?P<sign>\s{{0,3}}[:=>]\s{{0,5}}|\s{{1,2}}(?:(?:is|at)\s){{0,2}}){_NUMBER}",
    re.I,
)
_FILLER = re.compile(
    r"""(?:[\s,;.:()\[\]"'<>*-]|</[\w ]{1,20}>|\b(?:and|to|with|the|its|from|corner|edge|side)\b){0,80}""", re.I
)


@dataclass(frozen=True)
class _Named:
    """A name with its numbers: the edges that they give, and whether they stand in an object (between braces)."""

    name: str
    edges: dict[str, Coordinate]
    start: int
    end: int
    is_in_object: bool


def _named_boxes(text: str, y_first: bool) -> Iterator[WrittenBox]:
    """The boxes whose numbers have names, all in one object or one beside the other in words."""
    boxes: list[WrittenBox | None] = []
    group: list[_Named] = []
    for named in _named_numbers(text, y_first):
        if named is None or _begins_box(text, group, named):
            boxes.append(_named_box(group))
            group = []
        if named is not None:
            group.append(named)
    boxes.append(_named_box(group))
    return filter(None, boxes)


def _named_numbers(text: str, y_first: bool) -> Iterator[_Named | None]:
    """Yield each name that has numbers; None where an object begins or ends."""
    end = 0
    is_in_object = False
    for name in _NAME.finditer(text):
        if name.start() < end:  # "x" in "top_left": {"x": 105, "y": 301}
            continue
        if name["brace"]:
            is_in_object = name["brace"] == "{"
            yield None
        elif value := _value(text, name, is_in_object):
            end = value.end()
            edges = _edges_of(name, value, y_first)
            yield _Named(name[0].lower(), edges, name.start(), end, is_in_object)


def _value(text: str, name: re.Match[str], is_in_object: bool) -> re.Match[str] | None:
    """The numbers right behind a name; in an object, where labels are texts, not those behind a mere blank."""
    if name.lastgroup in _CORNERS:
        return _POINT_VALUE.match(text, name.end())
    if name.lastgroup != "key" or len(name[0]) == 1:  # "x: 105 to 232"
        value = _RANGE_VALUE.match(text, name.end())
        if value or name.lastgroup != "key":
            return value
    value = _NUMBER_VALUE.match(text, name.end())
    if value and is_in_object and not value["sign"].strip():
        return None
    return value


def _edges_of(name: re.Match[str], value: re.Match[str], y_first: bool) -> dict[str, Coordinate]:
    """The edges that a name and its numbers give: both of a corner, both of an axis, or one."""
    coordinates = _coordinates(value)
    if name.lastgroup in _CORNERS:
        edges = name.lastgroup.split("_")
        if y_first and not value["xy"]:
            edges.reverse()
    elif len(coordinates) == 1:
        edges = [_edge(name["key"])]
    elif name.lastgroup == "across" or name[0] in "xX":
        edges = ["left", "right"]
    else:
        edges = ["top", "bottom"]
    return dict(zip(edges, coordinates, strict=True))


def _begins_box(text: str, group: list[_Named], named: _Named) -> bool:
    """Whether a name is of another box: it comes again, or other words stand before it outside of an object."""
    if any(named.name == former.name for former in group):
        return True
    if not group or named.is_in_object:
        return False
    return not _FILLER.fullmatch(text, group[-1].end, named.start)


def _named_box(group: list[_Named]) -> WrittenBox | None:
    """The box of names that stand together; None if they give two numbers for one edge, or not all."""
    edges: dict[str, Coordinate] = {}
    for named in group:
        for edge, coordinate in named.edges.items():
            is_second_size = edge in ("width", "height") and edge in edges
            if is_second_size or edges.setdefault(edge, coordinate) != coordinate:
                return None
    return _box(edges, group[0].start, group[-1].end, "named") if group else None


# --- brackets and points ---

_FOUR_IN_BRACKETS = rf"""[\[({{<>;"']\s{{0,20}}{_APART.join([_NUMBER] * 4)}\s{{0,20}}(?=[\])}}<>;"'])"""
_JOINT = r"""["'\s,;:>-]{0,12}(?:(?:to|until|and)\b\s{0,3})?["']?"""
_BRACKETS = re.compile(
    rf"{_FOUR_IN_BRACKETS}|{_POINT}{_JOINT}{_POINT}|(?P<xy>{_XY_POINT}){_JOINT}{_XY_POINT}",
    re.I,
)
_SPANS = re.compile(r"\b(?:between|corners?|from|box|region|rectangle|area|spans?|coordinates)\b", re.I)


def _bracket_boxes(text: str, order: Sequence[str]) -> Iterator[WrittenBox]:
    """Yield the boxes of four numbers in brackets of any kind, and of two points: "(105, 301) to (232, 480)"."""
    for match in _BRACKETS.finditer(text):
        before = text[max(0, match.start() - 60) : match.start()]
        if "and" in match[0].lower() and not _SPANS.search(before):
            continue  # "the eyes are at (105, 301) and (232, 480)"
        yield _ordered_box(_XY if match["xy"] else order, match, "brackets")


# --- a line of four numbers ---

_BLANK = r"[ \t]{0,9}"
_FOUR_NUMBERS = re.compile(
    rf"(?<![\w.,%/-]){_NUMBER}[ \t,]{{1,9}}{_NUMBER}{_BLANK}(?:,|to|-)?{_BLANK}{_NUMBER}[ \t,]{{1,9}}{_NUMBER}", re.I
)
_NUMBER_BEFORE = re.compile(r"[0-9,%]\s*\Z")
_NUMBER_BEHIND = re.compile(r"[\s,]{0,3}[0-9%]|\.[0-9]")
_LINE_END = re.compile(r"""[.;"'\s]{0,4}(?:\n|\Z)""")
_NO_WORD = re.compile(r"[^\w\n]{0,9}(?:[0-9]{1,2}[.)])?[^\w\n]{0,9}")
_SAYS = re.compile(r"""(?:[:=]|\b(?:is|are|at|from))["'\s]{0,3}\Z""", re.I)
_BOX_WORD = re.compile(
    r"\b(?:box|bbox|bounding|coordinates?|corners?|region|rectangle|location|position|answer|area)\b", re.I
)


def _line_boxes(text: str, order: Sequence[str], labels: re.Pattern[str]) -> Iterator[WrittenBox]:
    """Yield the boxes of four numbers without brackets: all of a line, or behind "the box is" or a label."""
    for match in _FOUR_NUMBERS.finditer(text):
        before = text[max(0, match.start() - 100) : match.start()].rpartition("\n")[2]
        if _NUMBER_BEFORE.search(before) or _NUMBER_BEHIND.match(text, match.end()):
            continue
        is_announced = _BOX_WORD.search(before) or _ORDER.search(before) or labels.search(before)
        if not _NO_WORD.fullmatch(before) and not (is_announced and _SAYS.search(before)):
            continue
        box = _ordered_box(order, match, "line")
        if box.unit == "%" or _LINE_END.match(text, match.end()):
            yield box
