"""Reads which of the six options an answer names, by the released rule of CII-Bench."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

_READ_LETTERS = "ABCDEFGH"
"""The letters of the released rule. No question offers G or H, which are then wrong answers."""

_ANNOUNCEMENTS = ("\n答案", "\n**答案：")
"""What stands before the last answer, at the start of a line ("answer" in Chinese)."""

_IN_BRACKETS = re.compile(r"\(([A-F])\)")
# Chinese characters are characters of a word too, so that "选A" has no boundary before its letter.
_ALONE = re.compile(r"\b([A-F])\b")


def parse_official(output: str, options: Mapping[str, str]) -> str | None:
    """The letter that the released rule reads in an output, A to H; None where it reads none.

    Its quirks are kept: behind "答案" at the start of a line, the first letter of the alphabet
    counts, wherever it stands; an option is also named by a part of its text, however short.

    Source: MING-ZCH/CII-Bench, ``src/eval_cii.py``, lines 10 to 61.

    Args:
        output: the model's answer.
        options: the text of each option by its letter.
    """
    answer = output.strip()
    if answer in tuple(_READ_LETTERS):
        return answer
    for announcement in _ANNOUNCEMENTS:
        if announcement in answer:
            answer = answer.rpartition(announcement)[2]
            announced_letters = set(_READ_LETTERS) & set(answer)
            if announced_letters:
                return min(announced_letters)
    letters = _IN_BRACKETS.findall(answer) or _ALONE.findall(answer)
    return _most_frequent(letters or _letters_by_text(answer, options))


def _letters_by_text(answer: str, options: Mapping[str, str]) -> list[str]:
    """The letters of the options whose text is in the answer, or has the answer in it."""
    letters: list[str] = []
    for letter, text in options.items():
        if text.strip() in answer or answer in text:
            letters.append(letter)
    return letters


def _most_frequent(letters: Sequence[str]) -> str | None:
    """The most frequent letter; among equals the one that first stands last. None without any."""
    counts = Counter(letters)  # in the order in which letters first stand
    most_frequent: str | None = None
    for letter, count in counts.items():
        if most_frequent is None or count >= counts[most_frequent]:
            most_frequent = letter
    return most_frequent
