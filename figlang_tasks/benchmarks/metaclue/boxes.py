"""Reads the boxes of the primary and the secondary concept in a model's words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from figlang_tasks.answers.verdict import Read, find_answer
from figlang_tasks.answers.words import REFUSAL
from figlang_tasks.benchmarks.metaclue.box_forms import find_boxes
from figlang_tasks.benchmarks.metaclue.written_boxes import WrittenBox

Role: TypeAlias = Literal["primary", "secondary"]
Convention: TypeAlias = Literal["pixel", "unit", "thousand", "thousand_yx", "loc1024"]
"""How a model family writes coordinates: as pixels, 0 to 1, 0 to 1000, likewise y before x
(``box_2d`` of Gemini), or ``<loc0000>`` to ``<loc1023>``, y before x (PaliGemma)."""

PixelBox: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True)
class Boxes:
    """Boxes x0, y0, x1, y1 in pixels by role, in the order of the output, and how many were left
    out.
    """

    primary: tuple[PixelBox, ...]
    secondary: tuple[PixelBox, ...]
    dropped: int = 0


_LOOK: Final = 300  # characters around a box in which its label is sought
_TAG = re.compile(r"<[^<>]{1,40}>")
_CLOSED_OBJECT = re.compile(r"""[\s"'\])]{0,9}\}(?=\s{0,9},)""")
_EMPTY_LIST = re.compile(r"\[\s{0,9}\]")
_BOX_2D = re.compile(r"""["']box_2d["']""")
_IN_PERCENT = re.compile(
    r"\b(?:in|as|are)\s(?:\w{1,12}\s)?(?:percent|%)|\bpercentages?\b|\(%\)|[\])]\s?%|%\sof\sthe\s(?:image|picture)",
    re.I,
)


def parse_boxes(
    output: str | None,
    convention: Convention,
    width: int,
    height: int,
    *,
    role: Role | None = None,
    names: Mapping[str, Role] | None = None,
) -> Read[Boxes]:
    """Read the boxes of the primary and the secondary concept in an answer.

    Boxes are read in the forms of `find_boxes`, of which an answer has one. The label of a box is
    the last known name before it, or the first in it, or the first behind it in its JSON object or
    before the next PaliGemma box. A box right behind another shares its label.

    What the numbers mean is declared, never guessed. A number with a percent sign is a share of the
    width or height whatever the convention, since it says so itself; "percent" in words, or with
    some of the numbers only, is not enough. A number in "px" is one of the convention ``pixel``.
    Widths and heights are read where keys name them. A number outside of the convention's range, a
    box of which all four are at most 1 where they are no shares, or a form or unit of another
    convention gives ``out_of_range`` and no box at all.

    Args:
        role: whose boxes those without a known label are (the prompt asked for one concept); None:
            nobody's.
        names: more labels and the role of each, such as the concepts' own words; "primary" and
            "secondary" are known.
    """
    answer = find_answer(output)
    if isinstance(answer, Read):
        return answer
    labels = _Labels.of(names or {})
    written_boxes = find_boxes(
        answer.text,
        labels.pattern,
        y_first=convention in ("thousand_yx", "loc1024"),
        largest=_largest(convention, width, height),
    )
    if not written_boxes:
        if _EMPTY_LIST.search(answer.raw):
            return Read(Boxes((), ()), "read", "empty-list")
        if REFUSAL.search(answer.text):
            return Read(None, "refused", "refusal")
        return Read(None, "unreadable", "nothing")

    form = written_boxes[0].form
    if form == "brackets" and _BOX_2D.search(answer.raw) and convention != "thousand_yx":
        return Read(None, "out_of_range", "box_2d")
    if _are_percent_in_words(answer.text, written_boxes):
        return Read(None, "out_of_range", "percent")
    pixel_boxes = [_in_pixels(box, convention, width, height) for box in written_boxes]
    roles = [label or role for label in _labels_of_boxes(answer.raw, written_boxes, labels)]

    boxes: dict[Role, list[PixelBox]] = {"primary": [], "secondary": []}
    degenerate = unlabelled = 0
    for box, box_role in zip(pixel_boxes, roles, strict=True):
        if box is None:
            return Read(None, "out_of_range", form)
        if box_role is None:
            unlabelled += 1
        elif box[0] >= box[2] or box[1] >= box[3]:
            degenerate += 1
        else:
            boxes[box_role].append(box)
    if not any(boxes.values()):
        return Read(None, "unreadable", "degenerate" if degenerate else "unlabelled")
    dropped = degenerate + unlabelled
    return Read(Boxes(tuple(boxes["primary"]), tuple(boxes["secondary"]), dropped), "read", form)


# --- whose box it is ---


@dataclass(frozen=True)
class _Labels:
    """An expression with a group for each known label, and the role of each."""

    pattern: re.Pattern[str]
    roles: tuple[Role, ...]

    @classmethod
    def of(cls, names: Mapping[str, Role]) -> _Labels:
        """The labels "primary" and "secondary", and these."""
        roles: dict[str, Role] = {"primary": "primary", "secondary": "secondary"}
        roles.update({name: role for name, role in names.items() if name})
        longest_first = sorted(roles, key=len, reverse=True)
        pattern = re.compile("|".join(f"({re.escape(name)})" for name in longest_first), re.I)
        return cls(pattern, tuple(roles[name] for name in longest_first))

    def first(self, text: str) -> Role | None:
        """The role of the first label in a text."""
        match = self.pattern.search(text)
        return self._role(match) if match else None

    def last(self, text: str) -> Role | None:
        """The role of the last label in a text."""
        matches = list(self.pattern.finditer(text))
        return self._role(matches[-1]) if matches else None

    def _role(self, match: re.Match[str]) -> Role:
        return self.roles[(match.lastindex or 0) - 1]


def _labels_of_boxes(text: str, boxes: Sequence[WrittenBox], labels: _Labels) -> list[Role | None]:
    """The role that the labels around each box give it."""
    roles: list[Role | None] = []
    previous_end = 0
    for box in boxes:
        start = max(previous_end, text.rfind("}", previous_end, box.start), box.start - _LOOK)
        before = text[start : box.start]
        label = None if box.form == "loc" else labels.last(before)
        is_right_behind = (
            box.form != "loc" and bool(roles) and not any(map(str.isalpha, _TAG.sub("", before)))
        )
        if label is None and (box.form == "named" or not is_right_behind):
            label = labels.first(text[box.start : box.end]) or labels.first(_behind(text, box))
        if label is None and is_right_behind:
            label = roles[-1]
        roles.append(label)
        previous_end = box.end
    return roles


def _behind(text: str, box: WrittenBox) -> str:
    """The text behind a box that may name it: until PaliGemma's next box, or the rest of its JSON
    object.
    """
    near = text[box.end : box.end + _LOOK]
    if box.form == "loc":
        return near.partition("<loc")[0]
    closed_object = _CLOSED_OBJECT.match(near)  # {"bbox": {...}, "label": ...}
    if closed_object:
        near = near[closed_object.end() :]
    inside, brace, _ = near.partition("}")
    if not brace or "{" in inside:
        return ""
    return inside


# --- what the numbers mean ---


def _largest(convention: Convention, width: int, height: int) -> tuple[float, float]:
    """The largest x and y of a convention."""
    if convention == "pixel":
        return width, height
    if convention == "unit":
        return 1, 1
    if convention == "loc1024":
        return 1023, 1023
    return 1000, 1000


def _are_percent_in_words(text: str, boxes: Sequence[WrittenBox]) -> bool:
    """Whether numbers without a sign are percent by what the words around them say."""
    if any(box.unit for box in boxes):
        return False
    greatest = max(max(box.values) for box in boxes)
    return 1 < greatest <= 100 and bool(_IN_PERCENT.search(text))


def _in_pixels(box: WrittenBox, convention: Convention, width: int, height: int) -> PixelBox | None:
    """The box x0, y0, x1, y1 in pixels; None if its form, its unit or a number is not of the
    convention.
    """
    full_width, full_height = _largest(convention, width, height)
    if box.unit == "%":
        full_width = full_height = 100
    elif box.unit == "mixed" or (box.unit == "px" and convention != "pixel"):
        return None
    elif (box.form == "loc") != (convention == "loc1024"):
        return None
    elif box.form == "florence" and convention != "thousand":
        return None

    left, top, right, bottom = box.values
    if (
        min(left, right) < 0
        or max(left, right) > full_width
        or min(top, bottom) < 0
        or max(top, bottom) > full_height
    ):
        return None
    # Numbers up to 1 are meant as shares, and no shares are declared here.
    has_shares = convention in ("unit", "loc1024") and box.unit != "%"
    if not has_shares and max(box.values) <= 1 and (right > left or bottom > top):
        return None

    if box.form == "loc":
        full_width = full_height = 1024
    return (
        left * width / full_width,
        top * height / full_height,
        right * width / full_width,
        bottom * height / full_height,
    )
