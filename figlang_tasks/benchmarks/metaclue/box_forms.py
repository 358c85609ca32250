"""Finds boxes in all the forms in which models write them.

They are tokens, numbers with names, numbers in brackets, two points, or four numbers in a line.

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

# Molmo's points, in percent without a sign, are no corners.
_POINT_TAG = re.compile(r"<points?\b[^<>]*", re.I)


def find_boxes(
    text: str, labels: re.Pattern[str], *, y_first: bool, largest: tuple[float, float]
) -> list[WrittenBox]:
    """The boxes in a text, all of the first form that it has; [] if it has none.

    The forms are, in this order: tokens, numbers with names, numbers in brackets or two points, and
    four numbers in a line.

    Args:
        text: the answer. Boxes keep its positions.
        labels: words that may stand before four numbers without brackets.
        y_first: whether numbers without names have y before x. If the answer names an order, such
            as "(x, y, width, height)", that one counts. If it names several, numbers without names
            are not read.
        largest: the largest x and y of the convention. A box from (0, 0) to these is left out where
            the words before it tell the scale.
    """
    text = _POINT_TAG.sub(_blanks, text)
    # These are iterators: a form is looked for only if the text has no box of those before it.
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


def _blanks(tag: re.Match[str]) -> str:
    """As many blanks as a tag has characters, so that what follows keeps its position."""
    return " " * len(tag[0])


# Words before (0, 0) to (1000, 1000) that make it a remark about the scale.
_SCALE = re.compile(
    r"\b(?:coordinates?|scale[ds]?|range|resolution|normali[sz]ed|origin|grid|image|picture|where)\b",
    re.I,
)


def _tells_scale(text: str, box: WrittenBox, largest: tuple[float, float]) -> bool:
    """Whether a box is a remark such as "the coordinates run from (0, 0) to (1000, 1000)"."""
    if box.form == "loc" or box.values != (0.0, 0.0, *largest):
        return False
    before = _line_before(text, box.start, reach=80)
    # "Coordinates of the box: (0, 0) to (1000, 1000)" is a box that fills the picture.
    is_announced = before.rstrip(" \"'([{").endswith((":", "="))
    return not is_announced and _SCALE.search(before) is not None


def _line_before(text: str, position: int, reach: int) -> str:
    """What stands in the same line before a position, at most `reach` characters."""
    return text[max(0, position - reach) : position].rpartition("\n")[2]


# --- the order of four numbers ---

# Four keys with commas: "x1, y1, x2, y2" of "[x1, y1, x2, y2]".
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
    """The orders of four numbers that an answer names: ("left", "top", "right", "bottom"), say.

    It may write "[x1, y1, x2, y2]", "(x, y, width, height)" or "xywh". Four keys that make no box
    are no order.
    """
    orders: set[tuple[str, ...]] = set()
    for match in _SHORT_ORDER.finditer(text):
        orders.add(_SHORT_ORDERS[match[0].lower()])
    for match in _ORDER.finditer(text):
        positions = {edge_of_key(key): position for position, key in enumerate(match.groups())}
        positions = resolve(positions)  # x1 and y1 become edges
        order = tuple(sorted(positions, key=positions.__getitem__))
        # Fewer than four: two keys name one edge.
        if len(order) == 4 and _makes_box(order):
            orders.add(order)
    return orders


def _makes_box(edges: Sequence[str]) -> bool:
    """Whether these edges and sizes are enough for a box; tried with zeros."""
    zeros = dict.fromkeys(edges, Coordinate(0, ""))
    return box_of_edges(zeros, start=0, end=0, form="brackets") is not None


# --- tokens ---

_LOC = re.compile("<loc([0-9]{4})()>" * 4)  # with a group for the unit, as in `NUMBER`
_LOC_OF_FLORENCE = re.compile("<loc[_ ]([0-9]{1,3})()>" * 4)


def _token_boxes(
    text: str, tokens: re.Pattern[str], form: Form, order: Sequence[str]
) -> Iterator[WrittenBox]:
    """Yield the boxes that are written as four tokens: ``<loc0012><loc0345>...``."""
    for match in tokens.finditer(text):
        yield ordered_box(order, match, form)


# --- brackets and points ---

_FOUR_IN_BRACKETS = (
    rf"""[\[({{<>;"']\s{{0,20}}{APART.join([NUMBER] * 4)}\s{{0,20}}(?=[\])}}<>;"'])"""
)
_JOINT = r"""["'\s,;:>-]{0,12}(?:(?:to|until|and)\b\s{0,3})?["']?"""
# "[105, 301, 232, 480]", the group "four"; two points "(105, 301) to (232, 480)"; or two points
# such as "x: 105, y: 301", of which the first is the group "xy".
_BRACKETS = re.compile(
    rf"(?P<four>{_FOUR_IN_BRACKETS})|{POINT}{_JOINT}{POINT}|(?P<xy>{XY_POINT}){_JOINT}{XY_POINT}",
    re.I,
)
_SPANS = re.compile(
    r"\b(?:between|corners?|from|box|region|rectangle|area|spans?|coordinates)\b", re.I
)
_MEASURES = re.compile(r"\b(?:distances?|lengths?|lines?|vectors?|slope|sqrt)\b", re.I)
# Another point, before these two or behind them.
_POINT_BEFORE = re.compile(r"[)\]][ ,]{1,4}(?:and )?[(\[]?\Z")
_POINT_BEHIND = re.compile(r"[)\]]{0,2}[ ,]{1,4}(?:and )?[(\[]{1,2}[0-9]")


def _bracket_boxes(text: str, order: Sequence[str]) -> Iterator[WrittenBox]:
    """Yield the boxes of four numbers in brackets, and of two points: "(105, 301) to (232, 480)".

    Args:
        order: what the four numbers are (`XY`); points such as "x: 105, y: 301" say it themselves.
    """
    for match in _BRACKETS.finditer(text):
        if not match["four"] and not _are_corners(text, match):
            continue
        yield ordered_box(XY if match["xy"] else order, match, "brackets")


def _are_corners(text: str, points: re.Match[str]) -> bool:
    """Whether two points are the corners of a box.

    They are not if they are the eyes of a face, the ends of a distance, or two points of many.
    """
    before = _line_before(text, points.start(), reach=60)
    # "(105, 301) and (232, 480)" are corners behind "between", "corners" and the like alone.
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
# A fifth number, before the four or behind them.
_NUMBER_BEFORE = re.compile(r"[0-9,%]\s*\Z")
_NUMBER_BEHIND = re.compile(r"[\s,]{0,3}[0-9%]|\.[0-9]")
_LINE_END = re.compile(r"""[.;"'\s]{0,4}(?:\n|\Z)""")
# What may stand before four numbers that are alone in their line: signs, and a list number "2.".
_NO_WORD = re.compile(r"[^\w\n]{0,9}(?:[0-9]{1,2}[.)])?[^\w\n]{0,9}")
# How the words before four numbers end: "the box is", "Coordinates:".
_SAYS = re.compile(r"""(?:[:=]|\b(?:is|are|at|from))["'\s]{0,3}\Z""", re.I)
_BOX_WORD = re.compile(
    r"\b(?:box|bbox|bounding|coordinates?|corners?|region|rectangle|location|position|answer|area)\b",
    re.I,
)


def _line_boxes(text: str, order: Sequence[str], labels: re.Pattern[str]) -> Iterator[WrittenBox]:
    """Yield the boxes of four numbers without brackets: alone in a line, or announced.

    Words such as "the box is" or a label announce them.
    """
    for match in _FOUR_NUMBERS.finditer(text):
        before = _line_before(text, match.start(), reach=100)
        has_more_numbers = _NUMBER_BEFORE.search(before) or _NUMBER_BEHIND.match(text, match.end())
        has_list_number = ". " in match[0]  # "1. 30 120 240": three numbers of an item
        if has_more_numbers or has_list_number:
            continue
        names_box = _BOX_WORD.search(before) or _ORDER.search(before) or labels.search(before)
        is_announced = names_box and _SAYS.search(before)
        is_alone = _NO_WORD.fullmatch(before)
        if not is_alone and not is_announced:
            continue
        box = ordered_box(order, match, "line")
        # Percentages are a box even where the line goes on.
        if box.unit == "%" or _LINE_END.match(text, match.end()):
            yield box
