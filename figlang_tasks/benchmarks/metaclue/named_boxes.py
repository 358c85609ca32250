"""Finds boxes whose numbers have names: under keys, as named corners, or in words.

Each expression takes linear time: what repeats is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from figlang_tasks.benchmarks.metaclue.written_boxes import (
    CLOSE,
    KEY,
    NUMBER,
    OPEN,
    POINT,
    XY_POINT,
    Coordinate,
    WrittenBox,
    box_of_edges,
    coordinates,
    edge_of_key,
)

_CORNERS: Final = {
    "left_top": "(?:top|upper)[ _-]?left|left[ _-]?(?:top|upper)|tl|starts?|begins|min",
    "right_top": "(?:top|upper)[ _-]?right|right[ _-]?(?:top|upper)|tr",
    "left_bottom": "(?:bottom|lower)[ _-]?left|left[ _-]?(?:bottom|lower)|bl",
    "right_bottom": "(?:bottom|lower)[ _-]?right|right[ _-]?(?:bottom|lower)|br|ends?|max",
}
_CORNER: Final = "|".join(f"(?P<{corner}>{names})" for corner, names in _CORNERS.items())
# A name, or a brace, in one of the groups "brace"; "left_top" and the other corners; "across" ("x
# range"); "down" ("vertically"); "key" ("x_min", "width", a mere "x").
_NAME = re.compile(
    r"(?P<brace>[{}])|(?<![a-z0-9])(?:"
    rf"(?:{_CORNER})(?![ _-]?[xy](?![a-z0-9]))"
    r"|(?P<across>horizontal(?:ly)?|x[ _-](?:range|axis))|(?P<down>vertical(?:ly)?|y["
    r" _-](?:range|axis))"
    # A width or height of the picture is none of a box.
    rf"|(?<!image[ _-])(?<!img[ _-])(?<!picture[ _-])(?<!original[ _-])(?P<key>{KEY})"
    r")(?![a-z0-9])",
    re.I,
)
# What follows the name of a corner: " corner of the box is at (105, 301)", or the group "xy" in
# '": {"x": 105, "y": 301}'.
_POINT_VALUE = re.compile(
    r"""["']?(?:\s(?:corner|point|vertex|coordinates?))?(?:\sof(?:\s\w{1,20}){1,6}?)?"""
    r"""(?:\s?\([xy0-9, ]{1,9}\))?["']?[\s:=>-]{0,8}(?:(?:is|at|located|lies)\s){0,3}"""
    rf"(?:(?P<xy>{XY_POINT})|{POINT}|{NUMBER}\s?,\s?{NUMBER})",
    re.I,
)
# What follows an axis: " ranges from 105 to 232", ': [105, 232]', ': {"min": 105, "max": 232}'.
_RANGE_VALUE = re.compile(
    r"""["']?[\s:=\u2208]{1,4}(?:(?:is|ranges|goes|from|in|between)\s){0,3}"""
    rf"(?:{NUMBER}\s?(?:-|to|and|\.\.)\s?{NUMBER}"
    rf"""|{OPEN}(?:["']?(?:min|start|from)["']?\s?:\s?)?{NUMBER}"""
    rf"""\s?,\s{{0,9}}(?:["']?(?:max|end|to)["']?\s?:\s?)?{NUMBER}{CLOSE})""",
    re.I,
)
# What follows a key: " edge: 105", " is at 105"; what stands between is the group "sign".
_NUMBER_VALUE = re.compile(
    r"""["']?(?:\s(?:edge|side|border|boundary|coordinate))?(?:\s?\([a-z0-9 -]{1,20}\))?["']?"""
    rf"(?P<sign>\s{{0,3}}[:=>]\s{{0,5}}|\s{{1,2}}(?:(?:is|at)\s){{0,2}}){NUMBER}",
    re.I,
)
# What may stand between the names of one box, outside of an object: ", and the ".
_FILLER = re.compile(
    r"""(?:[\s,;.:()\[\]"'<>*-]|</[\w ]{1,20}>"""
    r"|\b(?:and|to|with|the|its|from|while|size|corner|edge|side)\b){0,80}",
    re.I,
)


@dataclass(frozen=True)
class _Entry:
    """A name with its numbers.

    Attributes:
        name: the name in lower case: ``x_min``, ``top left``.
        edges: the edges and sizes that the numbers give, by name (`written_boxes.XY`).
        start, end: where name and numbers stand in the text.
        is_in_object: whether they stand between braces.
    """

    name: str
    edges: dict[str, Coordinate]
    start: int
    end: int
    is_in_object: bool


def find_named_boxes(text: str, y_first: bool) -> Iterator[WrittenBox]:
    """Yield the boxes whose numbers have names, all in one object or side by side in words.

    Args:
        y_first: whether the numbers of a corner have y before x.
    """
    for group in _groups(text, y_first):
        box = _named_box(group)
        if box is not None:
            yield box


def _groups(text: str, y_first: bool) -> Iterator[list[_Entry]]:
    """Yield the names with numbers that stand together, and so may make a box; some groups are [].

    In "left: 105, top: 301, right: 232, bottom: 480" they are four.
    """
    group: list[_Entry] = []
    for entry in _named_numbers(text, y_first):
        if entry is None:  # An object begins or ends.
            yield group
            group = []
            continue
        if _begins_box(text, group, entry):
            yield group
            group = []
        group.append(entry)
    yield group


def _named_numbers(text: str, y_first: bool) -> Iterator[_Entry | None]:
    """Yield each name that has numbers; None where an object begins or ends."""
    end = 0  # of the numbers that were read last
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
            yield _Entry(name[0].lower(), edges, name.start(), end, is_in_object)


def _value(text: str, name: re.Match[str], is_in_object: bool) -> re.Match[str] | None:
    """The match of the numbers right behind a name; None if there are none.

    In an object, where labels are texts, numbers behind a mere blank do not count.
    """
    group = name.lastgroup  # of `_NAME`
    if group in _CORNERS:
        return _POINT_VALUE.match(text, name.end())
    if group != "key":  # "x range", "vertically"
        return _RANGE_VALUE.match(text, name.end())
    if len(name[0]) == 1:  # "x: 105 to 232", but also "x: 105"
        value = _RANGE_VALUE.match(text, name.end())
        if value:
            return value
    value = _NUMBER_VALUE.match(text, name.end())
    if value and is_in_object and not value["sign"].strip():
        return None
    return value


def _edges_of(name: re.Match[str], value: re.Match[str], y_first: bool) -> dict[str, Coordinate]:
    """The edges that a name and its numbers give: ``{"left": 105, "top": 301}``.

    A corner gives two, as does an axis ("x: 105 to 232"); any other name gives one.
    """
    numbers = coordinates(value)
    if name.lastgroup in _CORNERS:
        edges = name.lastgroup.split("_")  # "left_top"
        if y_first and not value["xy"]:
            edges.reverse()
    elif len(numbers) == 1:
        edges = [edge_of_key(name["key"])]
    elif name.lastgroup == "across" or name[0] in "xX":
        edges = ["left", "right"]
    else:  # "down", or a key such as "y"
        edges = ["top", "bottom"]
    return dict(zip(edges, numbers, strict=True))


def _begins_box(text: str, group: list[_Entry], entry: _Entry) -> bool:
    """Whether a name belongs to another box than the names before it.

    It does if one of them is the same, or, outside of an object, if other words stand between.
    """
    if any(entry.name == former.name for former in group):
        return True
    if not group or entry.is_in_object:
        return False
    return not _FILLER.fullmatch(text, group[-1].end, entry.start)


def _named_box(group: list[_Entry]) -> WrittenBox | None:
    """The box that names with numbers make together; None if they make none.

    They make none if they give two numbers for one edge, or are not enough for a box. Two corners
    may give one edge, with the same number.
    """
    if not group:
        return None
    edges: dict[str, Coordinate] = {}
    for entry in group:
        for edge, coordinate in entry.edges.items():
            is_second_size = edge in ("width", "height") and edge in edges
            is_contradicted = edges.setdefault(edge, coordinate) != coordinate
            if is_second_size or is_contradicted:
                return None
    return box_of_edges(edges, group[0].start, group[-1].end, "named")
