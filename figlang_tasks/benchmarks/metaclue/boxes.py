"""Reads the boxes of the primary and the secondary concept in a model's answer.

What the numbers mean is declared by a task's convention, never guessed (docs/cards/metaclue.md).
"""

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
"""How a model family writes coordinates.

- pixel: pixels.
- unit: 0 to 1.
- thousand: 0 to 1000.
- thousand_yx: 0 to 1000, y before x (``box_2d`` of Gemini).
- loc1024: ``<loc0000>`` to ``<loc1023>``, y before x (PaliGemma).
"""

PixelBox: TypeAlias = tuple[float, float, float, float]
"""Left, top, right and bottom in pixels."""


@dataclass(frozen=True)
class Boxes:
    """The boxes in an answer.

    Attributes:
        primary, secondary: the boxes of each concept, in the order of the output.
        dropped: how many boxes were left out: without an area, or of no known concept.
    """

    primary: tuple[PixelBox, ...]
    secondary: tuple[PixelBox, ...]
    dropped: int = 0


_LABEL_REACH: Final = 300  # Characters before and behind a box in which its label is sought.
# The tags of a label are no words: "</ref><box>".
_TAG = re.compile(r"<[^<>]{1,40}>")
# Behind the last number of {"bbox": {...}, "label": ...}: the end of the inner object.
_CLOSED_OBJECT = re.compile(r"""[\s"'\])]{0,9}\}(?=\s{0,9},)""")
_EMPTY_LIST = re.compile(r"\[\s{0,9}\]")
# Gemini's key, whose numbers have y before x.
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

    A number with a percent sign is a share of the width or height whatever the convention, since it
    says so itself. "percent" in words, or with some of the numbers only, is not enough. A number in
    "px" is one of the convention ``pixel``. Widths and heights are read where keys name them.

    No box at all is read, with the status ``out_of_range``, if a number is outside of the
    convention's range, if all four numbers of a box are at most 1 where they are no shares, or if
    the form or unit is that of another convention.

    Args:
        output: the model's output; None if there is none.
        convention: how the task's prompt asks for numbers.
        width, height: the size of the picture that the model sees.
        role: the concept that the prompt asked for, to which boxes without a known label belong;
            None leaves them out.
        names: more labels and the role of each, such as the concepts' own words; "primary" and
            "secondary" are always known.
    """
    answer = find_answer(output)
    if isinstance(answer, Read):  # The output has no answer.
        return answer
    labels = _Labels.of(names or {})
    written_boxes = find_boxes(
        answer.text,
        labels.pattern,
        y_first=convention in ("thousand_yx", "loc1024"),
        largest=_largest(convention, width, height),
    )
    if not written_boxes:
        if _EMPTY_LIST.search(answer.raw):  # "[]" says that there is none
            return Read(Boxes(primary=(), secondary=()), "read", "empty-list")
        if REFUSAL.search(answer.text):
            return Read(None, "refused", "refusal")
        return Read(None, "unreadable", "nothing")

    form = written_boxes[0].form  # that of all boxes
    if form == "brackets" and _BOX_2D.search(answer.raw) and convention != "thousand_yx":
        return Read(None, "out_of_range", "box_2d")
    if _are_percent_in_words(answer.text, written_boxes):
        return Read(None, "out_of_range", "percent")
    pixel_boxes = [_in_pixels(box, convention, width, height) for box in written_boxes]
    # A box without a label is of the concept that was asked for.
    roles = [label or role for label in _labels_of_boxes(answer.raw, written_boxes, labels)]
    return _divide_by_role(pixel_boxes, roles, form)


def _divide_by_role(
    pixel_boxes: Sequence[PixelBox | None], roles: Sequence[Role | None], form: str
) -> Read[Boxes]:
    """The boxes of each concept; without a value if one of them is None, or if none is left.

    Boxes without an area ("degenerate") or without a concept ("unlabelled") are dropped.

    Args:
        pixel_boxes: None for a box that is not of the prompt's convention.
        roles: the concept of each box; None for a box without a known label, which is left out.
        form: how the boxes are written: the rule of the reading.
    """
    boxes_by_role: dict[Role, list[PixelBox]] = {"primary": [], "secondary": []}
    degenerate_count = 0
    unlabelled_count = 0
    for box, box_role in zip(pixel_boxes, roles, strict=True):
        if box is None:
            return Read(None, "out_of_range", form)
        left, top, right, bottom = box
        if box_role is None:
            unlabelled_count += 1
        elif left >= right or top >= bottom:
            degenerate_count += 1
        else:
            boxes_by_role[box_role].append(box)
    primary = tuple(boxes_by_role["primary"])
    secondary = tuple(boxes_by_role["secondary"])
    if not primary and not secondary:
        return Read(None, "unreadable", "degenerate" if degenerate_count else "unlabelled")
    return Read(Boxes(primary, secondary, degenerate_count + unlabelled_count), "read", form)


# --- whose box it is ---


@dataclass(frozen=True)
class _Labels:
    """The known labels of boxes: "primary", "secondary", and the concepts' own words.

    Attributes:
        pattern: an expression with one group for each label.
        roles: the role of each label, in the order of the groups.
    """

    pattern: re.Pattern[str]
    roles: tuple[Role, ...]

    @classmethod
    def of(cls, names: Mapping[str, Role]) -> _Labels:
        """The labels "primary" and "secondary", and those in `names`, the longest first."""
        roles: dict[str, Role] = {"primary": "primary", "secondary": "secondary"}
        roles.update({name: role for name, role in names.items() if name})
        longest_first = sorted(roles, key=len, reverse=True)
        pattern = re.compile("|".join(f"({re.escape(name)})" for name in longest_first), re.I)
        return cls(pattern, tuple(roles[name] for name in longest_first))

    def first(self, text: str) -> Role | None:
        """The role of the first label in a text; None without one."""
        match = self.pattern.search(text)
        return self._role(match) if match else None

    def last(self, text: str) -> Role | None:
        """The role of the last label in a text; None without one."""
        matches = list(self.pattern.finditer(text))
        return self._role(matches[-1]) if matches else None

    def _role(self, match: re.Match[str]) -> Role:
        """The role of a match, of whose groups exactly one matched."""
        return self.roles[(match.lastindex or 0) - 1]


def _labels_of_boxes(text: str, boxes: Sequence[WrittenBox], labels: _Labels) -> list[Role | None]:
    """The role that the labels around each box give it; None for a box without a label.

    Args:
        text: the answer.
        boxes: its boxes, in the order of the text.
        labels: the known labels.
    """
    roles: list[Role | None] = []
    previous_end = 0
    for box in boxes:
        previous_object_end = text.rfind("}", previous_end, box.start)
        start = max(previous_end, previous_object_end, box.start - _LABEL_REACH)
        before = text[start : box.start]

        role = None
        follows_previous_box = False
        # PaliGemma's labels stand behind their boxes: words before a box are of the one before it.
        if box.form != "loc":
            role = labels.last(before)
            follows_previous_box = bool(roles) and not _has_words(before)
        # Words behind a box right behind another are not its own, unless it has keys: its object
        # may name it last.
        if role is None and (box.form == "named" or not follows_previous_box):
            role = labels.first(text[box.start : box.end]) or labels.first(_behind(text, box))
        if role is None and follows_previous_box:
            role = roles[-1]
        roles.append(role)
        previous_end = box.end
    return roles


def _has_words(text: str) -> bool:
    """Whether a text has letters outside of tags."""
    return any(map(str.isalpha, _TAG.sub("", text)))


def _behind(text: str, box: WrittenBox) -> str:
    """The text behind a box that may name it; "" if there is none.

    It is the rest of its JSON object, or for PaliGemma all up to the next box.
    """
    near = text[box.end : box.end + _LABEL_REACH]
    if box.form == "loc":
        return near.partition("<loc")[0]
    closed_object = _CLOSED_OBJECT.match(near)  # {"bbox": {...}, "label": ...}
    if closed_object:
        near = near[closed_object.end() :]
    rest_of_object, closing_brace, _ = near.partition("}")
    if not closing_brace or "{" in rest_of_object:
        return ""  # the box is in no object, or the next one begins
    return rest_of_object


# --- what the numbers mean ---


def _largest(convention: Convention, width: int, height: int) -> tuple[float, float]:
    """The largest x and y of a convention: ``(1000, 1000)`` for ``thousand``."""
    if convention == "pixel":
        return width, height
    if convention == "unit":
        return 1, 1
    if convention == "loc1024":
        return 1023, 1023
    return 1000, 1000  # "thousand", "thousand_yx"


def _are_percent_in_words(text: str, boxes: Sequence[WrittenBox]) -> bool:
    """Whether numbers without a percent sign are percent by the words around them."""
    if any(box.unit for box in boxes):  # "%" or "px" behind some numbers
        return False
    greatest = max(max(box.values) for box in boxes)
    return 1 < greatest <= 100 and bool(_IN_PERCENT.search(text))


def _in_pixels(box: WrittenBox, convention: Convention, width: int, height: int) -> PixelBox | None:
    """A box in pixels; None if its form, its unit or a number is not of the convention."""
    full_width, full_height = _largest(convention, width, height)
    if box.unit == "%":  # a share of the picture, whatever the convention
        full_width, full_height = 100, 100
    elif box.unit == "mixed" or (box.unit == "px" and convention != "pixel"):
        return None
    elif (box.form == "loc") != (convention == "loc1024"):
        return None
    elif box.form == "florence" and convention != "thousand":  # <loc_0> to <loc_999>
        return None

    left, top, right, bottom = box.values
    is_within_width = min(left, right) >= 0 and max(left, right) <= full_width
    is_within_height = min(top, bottom) >= 0 and max(top, bottom) <= full_height
    if not is_within_width or not is_within_height:
        return None
    # Numbers up to 1 are meant as shares, which this convention may not have. A box without an area
    # ([0, 0, 0, 0]) says nothing about that.
    can_have_small_numbers = convention in ("unit", "loc1024") and box.unit != "%"
    has_extent = right > left or bottom > top
    if not can_have_small_numbers and max(box.values) <= 1 and has_extent:
        return None

    if box.form == "loc":  # The last token is 1023, but there are 1024 of them.
        full_width, full_height = 1024, 1024
    return (
        left * width / full_width,
        top * height / full_height,
        right * width / full_width,
        bottom * height / full_height,
    )
