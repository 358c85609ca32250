"""From a model's words to the boxes of the primary and the secondary concept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from figlang_tasks.answers.text import REFUSAL
from figlang_tasks.answers.verdict import Read, opened

Role: TypeAlias = Literal["primary", "secondary"]
Convention: TypeAlias = Literal["pixel", "unit", "thousand", "thousand_yx", "loc1024"]
"""How a model family writes coordinates: as pixels, 0 to 1, 0 to 1000, likewise y before x (``box_2d`` of Gemini), or
``<loc0000>`` to ``<loc1023>``, y before x (PaliGemma)."""

PixelBox: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True)
class Boxes:
    """Boxes x0, y0, x1, y1 in pixels by role, in the order of the output, and how many were left out."""

    primary: tuple[PixelBox, ...]
    secondary: tuple[PixelBox, ...]
    dropped: int = 0


class _Written(NamedTuple):
    """Four numbers as written, the words around them that may say whose box it is, and the form."""

    numbers: tuple[float, float, float, float]
    role: Role | None
    rule: str


_COORDINATE: Final = r"(-?[0-9]{1,7}(?:\.[0-9]{0,20})?)"
_BOX = re.compile(  # of one bracket, or of two: (1, 2), (3, 4)
    rf"[\[({{<>;]\s{{0,20}}{_COORDINATE}[\s,]{{1,24}}{_COORDINATE}[\s,()\[\]]{{1,24}}{_COORDINATE}[\s,]{{1,24}}"
    rf"{_COORDINATE}\s{{0,20}}(?=[\])}}<>;])"
)
_CORNERS = re.compile(
    r",\s{0,6}".join(rf'"{key}":\s{{0,3}}{_COORDINATE}' for key in ("x_min", "y_min", "x_max", "y_max"))
)
_LOC = re.compile(r"<loc([0-9]{4})>" * 4)
_LOC_OF_FLORENCE = re.compile(r"<loc_([0-9]{1,3})>" * 4)
_FORMS: Final = {"loc": _LOC, "florence": _LOC_OF_FLORENCE, "corners": _CORNERS, "brackets": _BOX}
"""Four numbers in brackets of any kind are a box, in JSON, in tags and in words."""
_TAG = re.compile(r"<[^<>]{1,40}>")
_NO_BOXES = re.compile(r"\[\s{0,9}\]")
_LOOK: Final = 300  # characters around a box in which its label is sought


def parse_boxes(
    output: str | None,
    convention: Convention,
    width: int,
    height: int,
    *,
    role: Role | None = None,
    names: Mapping[str, Role] | None = None,
) -> Read[Boxes]:
    """The boxes of the primary and the secondary concept in an answer.

    The label of a box is the last known name before it, or the first behind it in its JSON object or before the next
    PaliGemma box. A box right behind another shares its label. What the numbers mean is declared, never guessed: one
    that is outside of its range, a box of which all four are at most 1 where they are no shares, or a form of another
    convention gives ``out_of_range`` and no box at all.

    Args:
        role: whose boxes those without a known label are (the prompt asked for one concept); None: nobody's.
        names: more labels and the role of each, such as the concepts' own words; "primary" and "secondary" are known.
    """
    answer = opened(output)
    if isinstance(answer, Read):
        return answer
    roles: dict[str, Role] = {"primary": "primary", "secondary": "secondary"}
    roles |= {name: whose for name, whose in (names or {}).items() if name}
    written = list(_written(answer.raw, roles))
    if not written:
        if _NO_BOXES.search(answer.raw):
            return Read(Boxes((), ()), "read", "empty-list")
        if REFUSAL.search(answer.text):
            return Read(None, "refused", "refusal")
        return Read(None, "unreadable", "nothing")
    if '"box_2d"' in answer.raw and convention != "thousand_yx":
        return Read(None, "out_of_range", "box_2d")
    boxes: dict[Role, list[PixelBox]] = {"primary": [], "secondary": []}
    degenerate = unlabelled = 0
    for numbers, named, rule in written:
        box = _in_pixels(numbers, rule, convention, width, height)
        whose = named or role
        if box is None:
            return Read(None, "out_of_range", rule)
        if whose is None:
            unlabelled += 1
        elif box[0] >= box[2] or box[1] >= box[3]:
            degenerate += 1
        else:
            boxes[whose].append(box)
    if not any(boxes.values()):
        return Read(None, "unreadable", "degenerate" if degenerate else "unlabelled")
    found = Boxes(tuple(boxes["primary"]), tuple(boxes["secondary"]), degenerate + unlabelled)
    return Read(found, "read", written[0].rule)


def _written(text: str, roles: Mapping[str, Role]) -> Iterator[_Written]:
    """Yield the boxes of the first form that an answer has."""
    by_length = sorted(roles, key=len, reverse=True)
    known = re.compile("|".join(f"({re.escape(name)})" for name in by_length), re.I)
    rule = next((rule for rule, form in _FORMS.items() if form.search(text)), "brackets")
    role: Role | None = None
    last = 0
    for box in _FORMS[rule].finditer(text):
        before = text[max(last, text.rfind("}", last, box.start()), box.start() - _LOOK) : box.start()]
        names = [*known.finditer(before)][-1:] if rule != "loc" else []
        if names or last == 0 or rule == "loc" or any(map(str.isalpha, _TAG.sub("", before))):
            names = names or [*known.finditer(_behind(text, box.end(), rule))][:1]
            role = roles[by_length[(names[0].lastindex or 0) - 1]] if names else None
        last = box.end()
        a, b, c, d = map(float, box.groups())
        yield _Written((a, b, c, d), role, rule)


def _behind(text: str, start: int, rule: str) -> str:
    """The text after a box that may name it: until PaliGemma's next box, or the rest of its JSON object."""
    near = text[start : start + _LOOK]
    if rule == "loc":
        return near.partition("<loc")[0]
    inside, end, _ = near.partition("}")
    return inside if end and "{" not in inside else ""


def _in_pixels(
    numbers: tuple[float, float, float, float], rule: str, convention: Convention, width: int, height: int
) -> PixelBox | None:
    """The box x0, y0, x1, y1 in pixels; None if the form or a number is not of the convention."""
    if (rule == "loc") != (convention == "loc1024") or (rule == "florence" and convention != "thousand"):
        return None
    a, b, c, d = numbers
    if convention in ("loc1024", "thousand_yx") and rule != "corners":
        a, b, c, d = b, a, d, c
    tops = {"pixel": (width, height), "unit": (1, 1), "loc1024": (1023, 1023)}.get(convention, (1000, 1000))
    if not all(0 <= value <= top for value, top in zip((a, b, c, d), tops * 2, strict=True)):
        return None
    # Shares of the image where whole numbers are declared: inside of the range, and meant otherwise.
    if convention not in ("unit", "loc1024") and max(a, b, c, d) <= 1 and (c > a or d > b):
        return None
    wide, high = (1024, 1024) if convention == "loc1024" else tops
    return a * width / wide, b * height / high, c * width / wide, d * height / high
