"""Answers in the form of check boxes: "[x] Yes [ ] No"."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from figlang_tasks.answers.verdict import Evidence, Value

Mark: TypeAlias = Literal["tick", "x", "cross", "empty"]
"""What stands in a box.

- tick: "[\u2713]", "\u2611"; it chooses.
- x: "[x]"; it chooses, unless a tick stands beside another word.
- cross: "\u2717", "[\u2717]"; it rejects, unless the other boxes are empty.
- empty: "[ ]", "\u2610".
"""

_SPACE = r"[^\S\n]{0,3}[:;-]?[^\S\n]{0,3}"  # ";" stands for the line between columns of a table
# Signs that are a mark without brackets
_TICKS = "\u2611\u2705\u2713\u2714\u25cf\u25c9\U0001f5f9"
_X = "\u2612"
_CROSSES = "\u2717\u2718\u274c\u2716\u274e"
_EMPTY_BOXES = "\u2610\u25cb\u25ef\u2b1c\u25a1"
_MARK = (
    rf"(?:(?P<tick>[\[(]\s?[\u2713\u2714\u2705\u2611\u2022\u25cf]\s?[\])]|[{_TICKS}])"
    rf"|(?P<x>[\[(]\s?[xXvV]\s?[\])]|{_X})"
    rf"|(?P<cross>[\[(]\s?[\u2717\u2718\u274c]\s?[\])]|[{_CROSSES}])"
    rf"|(?P<empty>\[\s{{0,3}}\]|\(\s{{0,3}}\)|[{_EMPTY_BOXES}]))"
)
# What a mark begins with: most answers have none of it.
_MARK_START = re.compile(rf"[\[({_TICKS}{_X}{_CROSSES}{_EMPTY_BOXES}]")
_ENDS_IN_MARK = re.compile(rf"{_MARK}[ \t]{{0,3}}\Z")
_BEGINS_WITH_MARK = re.compile(rf"[^\w\n\[(]{{0,6}}?{_MARK}")


@dataclass(frozen=True)
class Checkbox:
    """A word of an answer beside a box.

    Attributes:
        word: the place of the word.
        mark: what stands in the box.
    """

    word: re.Match[str]
    mark: Mark


@lru_cache(maxsize=8)
def _patterns(word: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Three patterns: of a box and then a word ("[x] Yes"), of "Yes [x]", and of the word alone.

    The group ``boxed`` is the word; the groups of `_MARK` tell what stands in the box.
    """
    before = rf"{_MARK}{_SPACE}[\"']?(?P<boxed>{word})(?!\w)"
    after = rf"(?<!\w)(?P<boxed>{word})[\"']?{_SPACE}{_MARK}"
    return re.compile(before, re.I), re.compile(after, re.I), re.compile(word, re.I)


def checkboxes(text: str, word: str) -> list[Checkbox]:
    """The words of a text that have a box: before each of them, or after each of them.

    In "Yes [x] No [ ]" the boxes stand after the words, since a word comes first; the box between
    two words is not read twice.

    Args:
        text: an answer.
        word: regular expression of the words, which has no anchors.
    """
    if not _MARK_START.search(text):
        return []
    before_word, after_word, bare_word = _patterns(word)
    before = list(before_word.finditer(text))
    after = list(after_word.finditer(text))
    boxes_after_words = bool(after) and (not before or after[0].start() < before[0].start())

    boxes: list[Checkbox] = []
    matches = after if boxes_after_words else before
    for box in matches:
        # The word alone is matched again, for callers that take its position and its text.
        boxed = bare_word.match(text, *box.span("boxed"))
        assert boxed is not None
        boxes.append(Checkbox(boxed, _mark_of(box)))
    return boxes


def mark_beside(before: str, after: str) -> Mark | None:
    """The mark of a box directly before a name, or else directly after it; None without a box.

    Args:
        before: the text before the name.
        after: the text after it.
    """
    box = _ENDS_IN_MARK.search(before) or _BEGINS_WITH_MARK.match(after)
    return None if box is None else _mark_of(box)


def _mark_of(box: re.Match[str]) -> Mark:
    """What stands in the box of a match, by the group of `_MARK` that is set."""
    if box["tick"]:
        return "tick"
    if box["x"]:
        return "x"
    if box["cross"]:
        return "cross"
    return "empty"


def ticked(boxes: list[Checkbox], value_of: Callable[[re.Match[str]], Value]) -> list[Evidence]:
    """Evidence from the boxes whose mark means "chosen".

    That mark is a tick; else the letter x, if a box has one and none has a tick; else a cross, if
    all other boxes are empty. `value_of` turns the match of a box's word into its value.
    """
    marks = {box.mark for box in boxes}
    choosing: Mark = "tick"
    if "tick" not in marks and "x" in marks:
        choosing = "x"
    elif marks == {"cross", "empty"}:
        choosing = "cross"
    chosen = [box for box in boxes if box.mark == choosing]
    return [Evidence(value_of(box.word), *box.word.span(), "checked") for box in chosen]
