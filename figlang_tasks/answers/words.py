"""Words that every reader knows, as named alternations."""

from __future__ import annotations

import re
from typing import Final

QUOTED: Final = "\ufffc"
"""Stands for each sign of a quoted sentence (`text.Answer.without_quotations`); in `text.Around` for all of it."""

REFUSAL: Final = re.compile(
    r"\b(?:sorry|unable|not sure|maybe|please provide|not possible|impossible)\b"
    r"|\bi (?:cannot|can't|do not) (?!(?:see|find) an?y?\b)|\bcannot (?:be )?determine",
    re.I,
)
NONE_OF: Final = re.compile(r"\bnone of the\b", re.I)
NEUTRAL: Final = re.compile(r"\A\W*neutral\b", re.I)
CORRECTION: Final = re.compile(
    r"\b(?:wait|actually|correction|correct this|overlooked|second thought|final answer)\b", re.I
)

_NAMES = (
    r"(?:answer|choice|letter|prediction|label|classification|response|conclusion|verdict|decision"
    r"|(?:best|selected) image)"
)
ANNOUNCED: Final = re.compile(
    rf"(?:\b{_NAMES}\b[^.?!\n]{{0,60}}?(?:\b(?:is|be)\b|[:=\n-])|\u7b54\u6848\W|\bi(?:'d| would) (?:say|answer)\b)"
    r"""(?:[\s:"'(\[]|\b(?:an?|therefore|(?!hardly)\w+ly)\b)*\Z""",
    re.I,
)

_CLAUSE = re.compile(r"[,:;(]|\b(?:but|so(?! far)|because|and|as)\b", re.I)
_UNSAID = re.compile(
    r"\b(?:not(?! (?:only|just))|no(?! (?:doubt|wait))|non|never|neither|cannot|nothing|lacks?|without"
    r"|fails? to|than(?! one)|unrelated|worst|incorrect|is wrong)\b|n't\b",
    re.I,
)
_REJECTED = re.compile(r"\bliteral\b", re.I)
_HEDGED = re.compile(r"\b(?:may|might|could|whether|if|so far)\b", re.I)


def is_said(before: str, behind: str = "") -> bool | None:
    """Return whether a sentence says what a word in it names: False if it denies it, None if it leaves it open.

    Args:
        before: the sentence up to the word; its last clause counts.
        behind: the sentence behind it; its first clause counts.
    """
    before, cut = before.rstrip(" :,;\"'(["), 0
    for end in _CLAUSE.finditer(before):
        cut = end.end()
    clauses = before[cut:], _CLAUSE.split(behind.partition(" that ")[0], maxsplit=1)[0]
    if any(map(_HEDGED.search, clauses)):
        return None
    return not (any(map(_UNSAID.search, clauses)) or _REJECTED.search(clauses[1]))
