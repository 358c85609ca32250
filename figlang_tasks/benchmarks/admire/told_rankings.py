"""Finds rankings that are told in sentences: "B is best. Then D, which ..., then A and C. E is
last."

Each expression takes linear time: what repeats is bounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from figlang_tasks.answers.verdict import Evidence
from figlang_tasks.benchmarks.admire.ranking_forms import CLOSE, NAME, place_of

_NAME = re.compile(rf"(?<![\w'])(?![IO]\b){NAME}")  # "I would put B first", "O melhor é B"
_FITTING: Final = (
    r"(?:relevant|fitting|suitable|appropriate|accurate|pertinent|representative|related)"
)
_FITTING_PT: Final = r"(?:relevante|adequad[oa]|apropriad[oa]|pertinente)"
_BEST: Final = (
    rf"best|winner|on top|top(?= (?:choice|pick|match)\b)|most {_FITTING}|melhor|mais {_FITTING_PT}"
)
_RANKS: Final = {
    "first": "1st|first|primeir[oa]",
    "second": "2nd|second|runner-up|segund[oa]",
    "third": "3rd|third|terceir[oa]",
    "fourth": "4th|fourth|quart[oa]",
    "fifth": "5th|fifth|quint[oa]",
}
_LAST: Final = (
    rf"last|lastly|finally|worst|least {_FITTING}|pior|menos {_FITTING_PT}|últim[oa]|por fim|por"
    r" último|finalmente"
)
_NEXT: Final = (
    r"then|next|followed by|follows|after (?:that|it|this)|depois|em seguida|seguid[oa] (?:de|por)"
)
_NTH: Final = "|".join(f"(?P<{rank}>{words})" for rank, words in _RANKS.items())
_CUE: Final = rf"(?P<best>{_BEST})|{_NTH}|(?P<last>{_LAST})|(?P<next>{_NEXT})"
_NOUN: Final = rf"(?:place|choice|match|fit|best|most {_FITTING}|lugar)"
_CUE_BEFORE = re.compile(
    rf"\b(?:{_CUE})(?P<noun>(?:[ -]{_NOUN}){{1,2}})?(?:\s(?:one|image|option))?[\s,:]{{0,3}}"
    r"(?:(?:is|comes|to|goes to|would be|by|é|vem|i (?:would |'d"
    r" )?(?:put|place|rank|choose))\b[\s:]{0,3})?"
    r"(?:images\s)?\Z",
    re.I,
)
_CUE_BEHIND = re.compile(
    rf"{CLOSE} {{1,3}}"
    r"(?:(?:is|comes|takes|ranks?|ranked|goes|(?:would|should|will)"
    r" be|é|vem|fica|placed|out|in|as|em|the|a|o|clear"
    r"|clearly|definitely|probably)\s){0,4}"
    # Not "second to last"
    rf"(?:(?:{_CUE})\b(?![ -](?:to )?(?:last|least|worst))(?P<noun>[ -]{_NOUN})?"
    r"(?:\s(?:one|image|option))?"
    r"|(?P<fits>(?:shows|fits|illustrates|captures|represents|depicts|matches)(?:\s\w{1,14}){0,5}\sbest\b))",
    re.I,
)
_LOOK: Final = 80  # characters before a name in which words rank it
# Not "B first shows"
_PAUSE = re.compile(r"\s?(?:[^\w\s]|\n|\Z|(?:and|then|because|since|as|for|e|por)\b)", re.I)
_PLAIN_JOINT = re.compile(rf"{CLOSE}\s{{0,2}}(?:,\s?)?(?P<and>(?:and|e)\b)?\s{{0,2}}", re.I)
# "A man", not "A and C" or "A shows"
_ARTICLE = re.compile(
    r"A\s(?!(?:and|then|e|which|as|because|since|for|with|is|has|shows|depicts|fits|captures|would)\b)[a-zà-ü]{2}"
)
_OTHER_WORD = re.compile(r"\b(?!(?:and|e)\b)\w", re.I)
_SENTENCE_END = re.compile(rf"{CLOSE}\s?(?:[.,;!\n]|\Z)")
_CONDITION = re.compile(r"\b(?:if|unless|depend\w{0,4}|caso)\b", re.I)


def find_told(text: str, count: int) -> list[Evidence]:
    """The rankings of all pictures that sentences tell.

    What is said of a picture may stand between, if the first one is said to be the best: "First, B
    shows ... Then D shows ..." describes the pictures.
    """
    rankings = []
    story = _Story(text, count)
    end = 0
    for name in _NAME.finditer(text):
        cue = _cue(text, end, name)
        end = cue.end if cue else name.end()
        has_words_behind = cue is not None and cue.end > name.end()
        if has_words_behind or not _ARTICLE.match(text, name.end() - 1):
            story.add(name, cue)
        if len(story.places) == count:
            if story.is_meant():
                rankings.append(Evidence(tuple(story.places), story.start, story.end, "told"))
            story = _Story(text, count)
    return rankings


# --- the words that rank a name ---


@dataclass(frozen=True)
class _Cue:
    """Words that rank a name.

    Attributes:
        rank: "best", "first" to "fifth", "last", or "next".
        is_praise: whether they say of a picture that it is the best, and do not only begin with it.
        start: where they or the name begin.
        end: where they or the name end.
    """

    rank: str
    is_praise: bool
    start: int
    end: int


def _cue(text: str, start: int, name: re.Match[str]) -> _Cue | None:
    """The words that rank a name: those between `start` and it, such as "then", or behind it, such
    as "is second".
    """
    window = max(start, name.start() - _LOOK)
    before = _CUE_BEFORE.search(text[window : name.start()])
    behind = _CUE_BEHIND.match(text, name.end())
    if behind and not (behind["best"] or behind["fits"] or _PAUSE.match(text, behind.end())):
        behind = None
    if before and not (before["next"] and behind):  # "Then D is third" is of rank three
        rank = _rank(before)
        is_praise = rank == "best" or (rank == "first" and before["noun"] is not None)
        return _Cue(rank, is_praise, window + before.start(), name.end())
    if behind:
        rank = _rank(behind)
        return _Cue(rank, rank in ("best", "first"), name.start(), behind.end())
    return None


def _rank(cue: re.Match[str]) -> str:
    """The rank that a cue gives: the name of its group."""
    for rank in ("best", *_RANKS, "last", "next"):
        if cue[rank]:
            return rank
    return "best"  # "fits the sentence best"


class _Story:
    """The pictures that sentences have ranked so far, from the best one on."""

    def __init__(self, text: str, count: int) -> None:
        self.text = text
        self.count = count
        self.places: list[int] = []
        self.start = 0
        self.end = 0
        self.is_praised = False

    def add(self, name: re.Match[str], cue: _Cue | None) -> None:
        """Take a picture on its rank; begin anew where that does not follow on the others."""
        place = place_of(name)
        position = self._position(name, cue)
        if position is None or place in self.places[-1:]:
            return
        is_new = place < self.count and place not in self.places
        if position == 0:
            self.places = [place] if place < self.count else []
            self.start = name.start()
            self.is_praised = cue is not None and cue.is_praise
        elif position == len(self.places) and is_new and self._follows(name, cue):
            self.places.append(place)
        else:
            self.places = []
        self.end = cue.end if cue else name.end()

    def _position(self, name: re.Match[str], cue: _Cue | None) -> int | None:
        """The 0-based rank that the words give a name, -1 if it shares one; None if they give it
        none.
        """
        if cue and cue.rank in _RANKS:
            return list(_RANKS).index(cue.rank)
        if cue and cue.rank == "best":
            return 0
        if cue and cue.rank == "last":
            return self.count - 1
        if not self.places:
            return None
        if cue:
            return len(self.places)
        joint = _PLAIN_JOINT.fullmatch(self.text, self.end, name.start())
        if joint is None:
            return None
        is_last = len(self.places) == self.count - 1
        return len(self.places) if is_last or not joint["and"] else -1

    def _follows(self, name: re.Match[str], cue: _Cue | None) -> bool:
        """Whether nothing is said between two pictures, unless the first one is praised."""
        start = cue.start if cue else name.start()
        return self.is_praised or not _OTHER_WORD.search(self.text, self.end, start)

    def is_meant(self) -> bool:
        """Whether this ranks pictures and does not describe them, and under no condition."""
        if _CONDITION.search(self.text, self.start, self.end):
            return False
        is_in_alphabet = self.places == sorted(self.places)
        ends = _SENTENCE_END.match(self.text, self.end)
        return self.is_praised or (not is_in_alphabet and ends is not None)
