"""Lists of options in an answer: where they begin, and which of their items is affirmed."""

from __future__ import annotations

import re

from figlang_tasks.answers.checkboxes import mark_beside
from figlang_tasks.answers.choices import Mention
from figlang_tasks.answers.option_analysis import OptionAnalysis
from figlang_tasks.answers.verdict import Evidence, Read, decide

_AFFIRMED = re.compile(
    r"\W{0,6}(?:yes|correct|true|right|best|match(?:es)?|fits?|suitable|appropriate)\b", re.I
)
_IN_PART = re.compile(r"\b(?:literal\w*|but|only|partly|except)\b", re.I)  # "yes, but only partly"
_REFUTED = re.compile(
    r"\W{0,6}(?:no|incorrect|false|wrong|not|does not|doesn't|unsuitable)\b", re.I
)


_LONGEST_MARK_BEFORE = 8  # characters before an item that may be its box: "[x] A"
_LONGEST_JUDGEMENT = 60  # characters after an item that may judge it


def affirmed_option(analysis: OptionAnalysis) -> Read[int] | None:
    """The option that is affirmed where all items are judged: "A (no), B (yes)"; else None.

    An item is judged by a word after it or by a box beside it: "[x] A [ ] B". Two affirmed options
    are ambiguous.
    """
    text = analysis.text
    items = analysis.list_items or analysis.mentions
    if len({item.value for item in items}) < 2:
        return None

    affirmed: list[Evidence] = []
    for item in items:
        before = text[max(0, item.start - _LONGEST_MARK_BEFORE) : item.start]
        after = text[item.end : item.end + _LONGEST_JUDGEMENT].partition("\n")[0]
        mark = mark_beside(before, after)
        is_ticked = mark in ("tick", "x")
        if is_ticked or (_AFFIRMED.match(after) and not _IN_PART.search(after)):
            affirmed.append(item.evidence("judged"))
        elif mark is None and not _REFUTED.match(after):
            return None  # An item is not judged.
        # else it is refuted, by a word or by an empty or crossed box.
    return decide(analysis.answer, affirmed)


_LEADS_A_LIST = re.compile(
    r"(?:\b(?:options|choices|images|pictures|points|captions|statements|others?|each|each"
    r" (?:one|option|image))\b"
    r"[^.:\n]{0,40}:|\b(?:let me|let's|look at|looking at|i'll|i will)\b[^.:\n]{0,60}"
    r"\b(?:each|one by one)\b[^.:\n]{0,30}[.:])\W{1,8}\Z",
    re.I,
)
_LONGEST_LEAD = 120  # characters before a mention that may lead to a list


def begins_list(analysis: OptionAnalysis, mention: Mention) -> bool:
    """Whether words before a mention lead to a list of options: "The options:\n\n(A) ...".

    The answer may be cut off after that first item.
    """
    if not analysis.opens_line(mention):
        return False
    lead_start = max(0, mention.start - _LONGEST_LEAD)
    return _LEADS_A_LIST.search(analysis.text, lead_start, mention.start) is not None
