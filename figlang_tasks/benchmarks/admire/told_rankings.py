"""Finds rankings that sentences tell: "B is best. Then D, which ..., then A. E is last."

Each expression takes linear time: what repeats is bounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from figlang_tasks.answers.verdict import Evidence
from figlang_tasks.benchmarks.admire.ranking_forms import CLOSE, NAME, picture_index

# I and O name no picture: "I would put B first", "O melhor é B".
_NAME = re.compile(rf"(?<![\w'])(?![IO]\b){NAME}")
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
# The words that rank a name are its cue. Each match of `_CUE` has one group, which names the rank:
# "best", "first" to "fifth", "last" or "next".
_NTH: Final = "|".join(f"(?P<{rank}>{words})" for rank, words in _RANKS.items())
_CUE: Final = rf"(?P<best>{_BEST})|{_NTH}|(?P<last>{_LAST})|(?P<next>{_NEXT})"
_NOUN: Final = rf"(?:place|choice|match|fit|best|most {_FITTING}|lugar)"
# A cue before a name, up to the name: "second choice: ", with " choice" as group "noun"; "the best
# image is "; "First, I would put ".
_CUE_BEFORE = re.compile(
    rf"\b(?:{_CUE})(?P<noun>(?:[ -]{_NOUN}){{1,2}})?(?:\s(?:one|image|option))?[\s,:]{{0,3}}"
    r"(?:(?:is|comes|to|goes to|would be|by|é|vem|i (?:would |'d"
    r" )?(?:put|place|rank|choose))\b[\s:]{0,3})?"
    r"(?:images\s)?\Z",
    re.I,
)
# A cue from the end of a name on: " is clearly the best choice", " comes second"; or the group
# "fits", as in " fits the sentence best".
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
# What must follow a cue behind a name: a sign, a line's or the text's end, or a conjunction. So the
# cue in "B first shows a man" is none.
_PAUSE = re.compile(r"\s?(?:[^\w\s]|\n|\Z|(?:and|then|because|since|as|for|e|por)\b)", re.I)
# All that may stand between two names of which the second has no cue: ", ", " and ".
_PLAIN_JOINT = re.compile(rf"{CLOSE}\s{{0,2}}(?:,\s?)?(?P<and>(?:and|e)\b)?\s{{0,2}}", re.I)
# A as an article: "A man", not "A and C" or "A shows".
_ARTICLE = re.compile(
    r"A\s(?!(?:and|then|e|which|as|because|since|for|with|is|has|shows|depicts|fits|captures|would)\b)[a-zà-ü]{2}"
)
_OTHER_WORD = re.compile(r"\b(?!(?:and|e)\b)\w", re.I)
_SENTENCE_END = re.compile(rf"{CLOSE}\s?(?:[.,;!\n]|\Z)")
_CONDITION = re.compile(r"\b(?:if|unless|depend\w{0,4}|caso)\b", re.I)


def find_told(text: str, count: int) -> list[Evidence]:
    """The rankings of all pictures that sentences tell: indices of pictures, the best first.

    "B is best. It shows ... Then D, which ..., then A" is one: other words may stand between the
    names, since the first picture is said to be the best. "First, B shows ... Then D shows ..." is
    none: it describes the pictures.

    Args:
        text: the answer.
        count: how many pictures were shown.
    """
    rankings: list[Evidence] = []
    story = _Story(text, count)
    end_of_last_name = 0
    for name in _NAME.finditer(text):
        cue = _find_cue(text, end_of_last_name, name)
        end_of_last_name = cue.end if cue else name.end()
        # The A of "A man shows ..." is an article, that of "A comes third" is not.
        has_cue_behind = cue is not None and cue.end > name.end()
        looks_like_article = _ARTICLE.match(text, name.end() - 1) is not None
        if has_cue_behind or not looks_like_article:
            story.add(name, cue)
        if len(story.pictures) == count:
            if story.is_meant():
                order = tuple(story.pictures)
                rankings.append(Evidence(order, story.start, story.end, rule="told"))
            story = _Story(text, count)
    return rankings


# --- the words that rank a name ---


@dataclass(frozen=True)
class _Cue:
    """Words that rank a name: "then" before it, or "is second" behind it.

    Attributes:
        rank: "best", "first" to "fifth", "last", or "next" ("then").
        is_praise: whether they say that the picture is the best: "First place: B", "B comes first".
            "First, B" may only begin a description.
        start: where the words before the name begin; where the name begins if they are behind it.
        end: where the words behind the name end; where the name ends if they are before it.
    """

    rank: str
    is_praise: bool
    start: int
    end: int


def _find_cue(text: str, start: int, name: re.Match[str]) -> _Cue | None:
    """The words before or behind a name that rank it, such as "then" or "is second"; None without.

    Of words on both sides those before the name count, unless they are a mere "then".

    Args:
        text: the answer.
        start: where the words before the name may begin: the end of the name before it.
        name: the name.
    """
    window = max(start, name.start() - _LOOK)
    before = _CUE_BEFORE.search(text[window : name.start()])
    behind = _CUE_BEHIND.match(text, name.end())
    if behind and not _PAUSE.match(text, behind.end()):
        # "B first shows a man" does not rank B, but "B best shows the sense" does.
        is_praised_behind = behind["best"] or behind["fits"]
        if not is_praised_behind:
            behind = None
    if before and before["next"] and behind:
        before = None  # "Then D is third": the words behind the name say more.

    if before:
        rank = _rank(before)
        is_praise = rank == "best" or (rank == "first" and before["noun"] is not None)
        return _Cue(rank, is_praise, window + before.start(), name.end())
    if behind:
        rank = _rank(behind)
        return _Cue(rank, rank in ("best", "first"), name.start(), behind.end())
    return None


def _rank(cue: re.Match[str]) -> str:
    """The rank that a match of a cue gives, "second" say, which is the name of a group of it."""
    for rank in ("best", *_RANKS, "last", "next"):
        if cue[rank]:
            return rank
    return "best"  # by the group "fits": "fits the sentence best"


class _Story:
    """The pictures that sentences have ranked so far, from the best one on.

    `find_told` hands `add` one name after the other. In "B is best. It shows a dog. Then D, A":

    - "B is best" begins the story, whatever it was before: `pictures` is [1].
    - "Then D" has the next rank, and so has "A", before which stands only a comma: [1, 3, 0].
    - Another rank than the next one, or a tie ("then A and C"), ends the story: [].
    - A name that gets no rank, as in "The dog in B ...", changes nothing.

    Attributes:
        text: the answer.
        count: how many pictures were shown.
        pictures: the 0-based indices of the pictures that are ranked, the best first.
        start: where the first of their names begins.
        end: where the last name ends, or the words behind it that rank it.
        is_praised: whether the words say of the first picture that it is the best (`_Cue`). `add`
            sets it with the first picture.
    """

    def __init__(self, text: str, count: int) -> None:
        self.text = text
        self.count = count
        self.pictures: list[int] = []
        self.start = 0
        self.end = 0
        self.is_praised = False

    def add(self, name: re.Match[str], cue: _Cue | None) -> None:
        """Add a picture if the words give it the next rank; begin anew at the first rank.

        Any other rank empties `pictures`. A name without a rank is ignored.

        Args:
            name: the name of the picture.
            cue: the words that rank it; None if there are none.
        """
        picture = picture_index(name)
        is_latest_again = self.pictures[-1:] == [picture]  # "B is best. B is first since ..."
        rank_index = self._rank_index(name, cue)
        if rank_index is None or is_latest_again:
            return

        was_shown = picture < self.count
        is_next = rank_index == len(self.pictures) and picture not in self.pictures
        if rank_index == 0:
            self.pictures = [picture] if was_shown else []
            self.start = name.start()
            self.is_praised = cue is not None and cue.is_praise
        elif is_next and was_shown and self._follows(name, cue):
            self.pictures.append(picture)
        else:
            self.pictures = []
        self.end = cue.end if cue else name.end()

    def _rank_index(self, name: re.Match[str], cue: _Cue | None) -> int | None:
        """The rank of a name, from 0, by its cue or by its place behind the name before it.

        It is -1 for a tie, which is never the next rank; None for a name that is not ranked.
        """
        if cue and cue.rank in _RANKS:
            return list(_RANKS).index(cue.rank)
        if cue and cue.rank == "best":
            return 0
        if cue and cue.rank == "last":
            return self.count - 1
        next_rank_index = len(self.pictures)
        if next_rank_index == 0:
            return None  # a "then" or a comma goes on with nothing
        if cue:  # the rank is "next", as of "then"
            return next_rank_index

        # A name without a cue may go on with a list: "Then D, A and E".
        joint = _PLAIN_JOINT.fullmatch(self.text, self.end, name.start())
        if joint is None:
            return None
        is_last = next_rank_index == self.count - 1
        if joint["and"] and not is_last:  # "then A and C" puts both on one rank
            return -1
        return next_rank_index

    def _follows(self, name: re.Match[str], cue: _Cue | None) -> bool:
        """Whether a name goes on with the ranking: no word stands between it and the last name.

        If the first picture is said to be the best, words may: they explain the ranking.
        """
        if self.is_praised:
            return True
        start = cue.start if cue else name.start()
        return _OTHER_WORD.search(self.text, self.end, start) is None

    def is_meant(self) -> bool:
        """Whether the sentences rank the pictures, have no "if", and do not only describe them."""
        if _CONDITION.search(self.text, self.start, self.end):
            return False
        if self.is_praised:
            return True
        # "First B, then D, A, C, E." is a ranking. In the order A, B, C, D, E, or if the last name
        # goes on ("and E shows ..."), it may be a description.
        is_alphabetical = self.pictures == sorted(self.pictures)
        ends_a_sentence = _SENTENCE_END.match(self.text, self.end) is not None
        return ends_a_sentence and not is_alphabetical
