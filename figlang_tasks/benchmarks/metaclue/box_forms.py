"""Finds boxes as models write them: as tokens, with names, in brackets, as two points, or as four
numbers in a line.

Each expression takes linear time: what repeats is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from figlang_tasks.benchmarks.metaclue.named_boxes import find_named_boxes
from figlang_tasks.benchmarks.metaclue.written_boxes import (
    APART,
    KEY,
    NUMBER,
    POINT,
    XY,
    XY_POINT,
    YX,
    Coordinate,
    Form,
    WrittenBox,
    box_of_edges,
    edge_of_key,
    ordered_box,
    resolve,
)

# Molmo's points, in percent without a sign, are no corners
_POINT_TAG = re.compile(r"<points?\b[^<>]*", re.I)


def find_boxes(
    text: str, labels: re.Pattern[str], *, y_first: bool, largest: tuple[float, float]
) -> list[WrittenBox]:
    """The boxes of the first form that a text has: tokens, names, brackets or points, a line of
    four numbers.

    Args:
        labels: words that may stand before four numbers without brackets.
        y_first: numbers without names have y before x. An order that the answer names, as "(x, y,
            width, height)", counts before it; where it names several, numbers without names are not
            read.
        largest: the largest x and y. A box from (0, 0) to these is left out where the words before
            it tell the scale.
    """
    text = _POINT_TAG.sub(lambda tag: " " * len(tag[0]), text)
    forms = [
        _token_boxes(text, _LOC, "loc", YX),
        _token_boxes(text, _LOC_OF_FLORENCE, "florence", XY),
        find_named_boxes(text, y_first),
    ]
    orders = _named_orders(text) or {YX if y_first else XY}
    if len(orders) == 1:
        order = orders.pop()
        forms += [_bracket_boxes(text, order), _line_boxes(text, order, labels)]
    for form in forms:
        boxes = [box for box in form if not _tells_scale(text, box, largest)]
        if boxes:
            return boxes
    return []


_SCALE = re.compile(
    r"\b(?:coordinates?|scale[ds]?|range|resolution|normali[sz]ed|origin|grid|image|picture|where)\b",
    re.I,
)


def _tells_scale(text: str, box: WrittenBox, largest: tuple[float, float]) -> bool:
    """Whether a box is a remark such as "the coordinates run from (0, 0) to (1000, 1000)"."""
    if box.form == "loc" or box.values != (0.0, 0.0, *largest):
        return False
    before = text[max(0, box.start - 80) : box.start].rpartition("\n")[2]
    return bool(_SCALE.search(before)) and not before.rstrip(" \"'([{").endswith((":", "="))


# --- the order of four numbers ---

_ORDER = re.compile(
    rf"(?<![a-z0-9])({KEY})" + rf"""["']?\s?,\s?["']?({KEY})""" * 3 + "(?![a-z0-9])", re.I
)
_SHORT_ORDERS: Final = {
    "xyxy": XY,
    "yxyx": YX,
    "xywh": ("left", "top", "width", "height"),
    "cxcywh": ("middle_x", "middle_y", "width", "height"),
}
_SHORT_ORDER = re.compile(rf"(?<![a-z])(?:{'|'.join(_SHORT_ORDERS)})(?![a-z])", re.I)


def _named_orders(text: str) -> set[tuple[str, ...]]:
    """The orders of four numbers that an answer names: "[x1, y1, x2, y2]", "(x, y, width, height)",
    "xywh".
    """
    orders: set[tuple[str, ...]] = {
        _SHORT_ORDERS[match[0].lower()] for match in _SHORT_ORDER.finditer(text)
    }
    for match in _ORDER.finditer(text):
        positions = resolve(
            {edge_of_key(key): position for position, key in enumerate(match.groups())}
        )
        order = tuple(sorted(positions, key=positions.__getitem__))
        if len(order) == 4 and box_of_edges(
            dict.fromkeys(order, Coordinate(0, "")), 0, 0, "brackets"
        ):
            orders.add(order)
    return orders


# --- tokens ---

_LOC = re.compile("<loc([0-9]{4})()>" * 4)  # with a group for the unit, as in `NUMBER`
_LOC_OF_FLORENCE = re.compile("<loc[_ ]([0-9]{1,3})()>" * 4)


def _token_boxes(
    text: str, tokens: re.Pattern[str], form: Form, order: Sequence[str]
) -> Iterator[WrittenBox]:
    """Yield the boxes that are written as four tokens."""
    for match in tokens.finditer(text):
        yield ordered_box(order, match, form)


# --- brackets and points ---

_FOUR_IN_BRACKETS = (
    rf"""[\[({{<>;"']\s{{0,20}}{APART.join([NUMBER] * 4)}\s{{0,20}}(?=[\])}}<>;"'])"""
)
_JOINT = r"""["'\s,;:>-]{0,12}(?:(?:to|until|and)\b\s{0,3})?["']?"""
_BRACKETS = re.compile(
    rf"(?P<four>{_FOUR_IN_BRACKETS})|{POINT}{_JOINT}{POINT}|(?P<xy>{XY_POINT}){_JOINT}{XY_POINT}",
    re.I,
)
_SPANS = re.compile(
    r"\b(?:between|corners?|from|box|region|rectangle|area|spans?|coordinates)\b", re.I
)
_MEASURES = re.compile(r"\b(?:distances?|lengths?|lines?|vectors?|slope|sqrt)\b", re.I)
_POINT_BEFORE = re.compile(r"[)\]][ ,]{1,4}(?:and )?[(\[]?\Z")
_POINT_BEHIND = re.compile(r"[)\]]{0,2}[ ,]{1,4}(?:and )?[(\[]{1,2}[0-9]")


def _bracket_boxes(text: str, order: Sequence[str]) -> Iterator[WrittenBox]:
    """Yield the boxes of four numbers in brackets of any kind, and of two points: "(105, 301) to
    (232, 480)".
    """
    for match in _BRACKETS.finditer(text):
        if not match["four"] and not _are_corners(text, match):
            continue
        yield ordered_box(XY if match["xy"] else order, match, "brackets")


def _are_corners(text: str, points: re.Match[str]) -> bool:
    """Whether two points are the corners of a box; not the eyes of a face, a distance, or two
    points of many.
    """
    before = text[max(0, points.start() - 60) : points.start()].rpartition("\n")[2]
    if "and" in points[0].lower() and not _SPANS.search(before):
        return False
    is_of_many = _POINT_BEFORE.search(before) or _POINT_BEHIND.match(text, points.end())
    return not (is_of_many or _MEASURES.search(before))


# --- a line of four numbers ---

_GAP: Final = r"[ \t,]{1,9}"
_FOUR_NUMBERS = re.compile(
    rf"(?<![\w.,%/-]){NUMBER}{_GAP}{NUMBER}{_GAP}(?:(?:to|-)[ \t]{{1,9}})?{NUMBER}{_GAP}{NUMBER}",
    re.I,
)
_NUMBER_BEFORE = re.compile(r"[0-9,%]\s*\Z")
_NUMBER_BEHIND = re.compile(r"[\s,]{0,3}[0-9%]|\.[0-9]")
_LINE_END = re.compile(r"""[.;"'\s]{0,4}(?:\n|\Z)""")
_NO_WORD = re.compile(r"[^\w\n]{0,9}(?:[0-9]{1,2}[.)])?[^\w\n]{0,9}")
_SAYS = re.compile(r"""(?:[:=]|\b(?:is|are|at|from))["'\s]{0,3}\Z""", re.I)
_BOX_WORD = re.compile(
    r"\b(?:box|bbox|bounding|coordinates?|corners?|region|rectangle|location|position|answer|area)\b",
    re.I,
)


def _line_boxes(text: str, order: Sequence[str], labels: re.Pattern[str]) -> Iterator[WrittenBox]:
    """Yield the boxes of four numbers without brackets: all of a line, or behind "the box is" or a
    label.
    """
    for match in _FOUR_NUMBERS.finditer(text):
        before = text[max(0, match.start() - 100) : match.start()].rpartition("\n")[2]
        if (
            _NUMBER_BEFORE.search(before)
            or _NUMBER_BEHIND.match(text, match.end())
            or ". " in match[0]
        ):
            continue  # a part of more numbers, or the numbers of items
        is_announced = _BOX_WORD.search(before) or _ORDER.search(before) or labels.search(before)
        if not _NO_WORD.fullmatch(before) and not (is_announced and _SAYS.search(before)):
            continue
        box = ordered_box(order, match, "line")
        if box.unit == "%" or _LINE_END.match(text, match.end()):
            yield box
