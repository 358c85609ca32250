"""Finds rankings as models write them: as a list of names, or as a rank beside each name.

A name is a letter or a number, perhaps behind "image" and in brackets. Each expression takes linear
time: what repeats is bounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from figlang_tasks.answers.verdict import Evidence

# `NAME` matches "image 2", "B", "option (B"; `CLOSE` the closing brackets behind it.
_NOUN: Final = r"(?:\b(?i:image|picture|photo|option|candidate|imagem)[^\w\n]{0,4})"
_OPEN: Final = rf"""{_NOUN}?[#(\["'{{]{{0,3}}"""
CLOSE: Final = r"""[)\]"'}]{0,3}"""
NAME: Final = rf"(?:{_NOUN}(?P<number>\d{{1,2}})(?!\w)|{_OPEN}(?P<letter>[A-Z])(?!\w))"


def picture_index(name: re.Match[str]) -> int:
    """The 0-based index of the picture that a match names by a letter or a 1-based number."""
    groups = name.groupdict()
    if groups.get("number"):
        return int(groups["number"]) - 1
    return ord(groups["letter"].upper()) - ord("A")


# --- lists: "B, D, A, C, E" ---

# A list has names of one kind. The "2. " at the start of a line is the number of an item, no name.
_NAMES: Final = {
    "capitals": re.compile(rf"(?<![\w']){_OPEN}(?P<letter>[A-Z])(?!\w)"),
    "small letters": re.compile(rf"(?<![\w']){_OPEN}(?P<letter>[a-z])(?!\w)"),
    "numbers": re.compile(
        rf"(?<![\w']){_OPEN}(?P<number>\d{{1,2}})(?!\w)(?!(?<=^\d)[.):][ \t])", re.M
    ),
}
_FEWEST: Final = 3  # names in a row that are a list
_THEN: Final = (
    r"(?:then|next|finally|lastly|last|followed by|after that|depois|em seguida|seguid[oa]"
    r" (?:de|por)|por fim"
    r"|finalmente)"
)
_BETTER: Final = (  # signs of order and arrows
    ">\u227b\u226b\u203a\u279c\u2794\u279d\u27a1\u27f6\u21e8\u25b6\u25ba"
)
_WORSE: Final = "<\u227a\u226a"
# All that may stand between two names of a list. The groups are:
# "best": " is the best" in "B is the best, then D";
# "signs": ", ", " > ", " => ", a line break ("&gt;" is read by its ";");
# "words": "and ", "followed by ", "then images ".
_JOINT = re.compile(
    rf"{CLOSE}(?:\s\([^()\n]{{1,60}}\))?"
    r"(?P<best> {1,3}(?:(?:is|comes|é)\s)?(?:(?:the|a)\s)?(?:best|first|melhor)"
    r"(?:\s(?:match|fit|choice|one|image|option))?)?"
    rf"(?P<signs>(?:[\s,;:/{_BETTER}{_WORSE}-]|=>|&gt;|\\succ\b|\.\s(?=(?i:then|next|finally|lastly|depois)\b)){{0,8}})"
    rf"(?P<words>(?:(?i:and|e|{_THEN})\b[\s,]{{1,3}}(?:(?:comes|is|by|images)\s)?){{0,3}})"
    rf"(?:(?<=\n)\s{{0,8}}\d{{1,2}}[.):]\s{{1,3}})?{_OPEN}\s{{0,8}}"  # the number of an item
)
# The sign that a joint is read as, by a sign that is written in it. The first that occurs counts.
_SIGNS: Final = {
    **dict.fromkeys((*_BETTER, "succ"), ">"),
    **dict.fromkeys(_WORSE, "<"),
    **{sign: sign for sign in "/;,:-"},
}
_REST_OF_LINE = re.compile(r"[^\w\n]*(?:\n|\Z)")
_ITEM_NUMBER = re.compile(r"^\W{0,8}(\d{1,2})[.):]", re.M)


@dataclass
class _List:
    """Names that are joined, in their order in the text: "B, D, A, C and E".

    What stands between two names is their joint, in the form of `_joint`: here "," and "and".

    Attributes:
        names: the matches of the names.
        sign: the joint of all names but those that words join: ",", ">" ..., "\n" if each name has
            a line, "" for one name or while only words join them.
        last_joint: the joint of the last two names; "" for one name.
        has_tie: whether "and" joins two names before the last, as in "B, D and A, C".
    """

    names: list[re.Match[str]]
    sign: str = ""
    last_joint: str = ""
    has_tie: bool = False

    def goes_on_with(self, joint: str) -> bool:
        """Whether a name with this joint before it belongs to the list: the sign is the same.

        "and" and "then" may stand in place of the sign, unless each name has a line.

        Args:
            joint: what stands between the last name and this one (`_joint`).
        """
        if len(self.names) == 1:
            return True
        if joint in ("and", "then"):
            return self.sign != "\n"
        # "B then D, A": words alone have joined the names so far.
        is_first_sign = not self.sign and joint in (",", " ")
        return joint == self.sign or is_first_sign

    def add(self, name: re.Match[str], joint: str) -> None:
        """Append a name; "and" before another than the last puts two pictures on one rank."""
        # This name is now the last, so the "and" before the name that was last made a tie.
        self.has_tie = self.has_tie or self.last_joint == "and"
        self.last_joint = joint
        self.names.append(name)
        if joint not in ("and", "then"):
            self.sign = joint

    def ranking(self) -> Evidence:
        """The list as a ranking: indices of pictures, the best first ("A < B" is turned round)."""
        order = [picture_index(name) for name in self.names]
        if self.sign == "<":
            order.reverse()
        return Evidence(tuple(order), self.names[0].start(), self.names[-1].end(), "list")


def find_lists(text: str, kind: Literal["capitals", "small letters", "numbers"]) -> list[Evidence]:
    """The lists in a text of at least three names of a kind, in which one sign joins all names.

    The value of each is a tuple of indices of pictures, the best first. They may be too few, or
    twice the same. A list ends where the sign changes: "B > D, A > C" has a tie, and is no list.
    """
    lists: list[_List] = []
    for name in _NAMES[kind].finditer(text):
        joint = _joint(text, lists[-1], name) if lists else None
        if joint is None or not lists[-1].goes_on_with(joint):
            lists.append(_List([name]))
        else:
            lists[-1].add(name, joint)
    rankings: list[Evidence] = []
    for name_list in lists:
        if len(name_list.names) >= _FEWEST and not name_list.has_tie:
            rankings.append(name_list.ranking())
    return rankings


def _joint(text: str, former: _List, name: re.Match[str]) -> str | None:
    """What joins a name to the list before it; None if other words stand between.

    It is one of the signs ``> < / ; , : -``; "and"; "then", also for other such words; "\n" if each
    name has a line; " " if nothing but blanks stand between.
    """
    gap = text[former.names[-1].end() : name.start()]
    joint = _JOINT.fullmatch(gap)
    if joint is None:
        return None
    if joint["best"] and len(former.names) > 1:
        return None  # only the first name of a list may be followed by "is the best"
    if "\n" in gap:
        has_line_alone = _REST_OF_LINE.match(text, name.end()) is not None
        return "\n" if has_line_alone else None
    word = joint["words"].strip(" ,").lower()
    if word:
        return "and" if word in ("and", "e") else "then"
    for written_sign, sign in _SIGNS.items():
        if written_sign in joint["signs"]:
            return sign
    return " "


def are_counted_down(text: str, ranking: Evidence) -> bool:
    """Whether the items of a list have numbers, and these do not ascend: "5. B", "4. D", ..."""
    numbers = [int(number) for number in _ITEM_NUMBER.findall(text, ranking.start, ranking.end)]
    return numbers != sorted(numbers)


def find_packed(text: str, count: int) -> list[Evidence]:
    """The words of `count` letters, each read as a list of letters: "BDACE", but also "THERE"."""
    rankings: list[Evidence] = []
    for word in re.finditer(rf"(?<!\w)(?:[A-Z]{{{count}}}|[a-z]{{{count}}})(?!\w)", text):
        order = tuple(ord(letter) - ord("A") for letter in word[0].upper())
        rankings.append(Evidence(order, word.start(), word.end(), rule="list"))
    return rankings


# --- a rank beside each name: "1. Image B", {"B": 1} ---

_ORDINALS: Final = {
    "best": 1, "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6,
    "last": -1, "worst": -1,
}  # fmt: skip
"""The rank that a word names; -1 is the last one, whatever the number of pictures."""
# Groups of the patterns below, and what they match:
# "rank": the "2" of "2. Image B", "rank 2" and "2nd"; or "ordinal": "second", a key of `_ORDINALS`;
# "said": "rank ", which says that the number is a rank; "nth": "nd", which says so too;
# "number" or "letter": the picture's name (`NAME`).
_ORDINAL: Final = f"(?P<ordinal>(?i:{'|'.join(_ORDINALS)}))"
_RANK: Final = r"(?i:rank(?:ed|s|ing)?|position|place|choice|lugar|posição)[^\w\n]{0,5}"
_NTH: Final = r"(?:st|nd|rd|th|º|ª)(?:\s(?:place|choice|lugar))?"
_RANK_FIELD: Final = (
    r"""["'](?P<said>rank|position|place)["']\s?:\s?["']?(?P<rank>\d{1,2})(?!\w)["']?"""
)
_OTHER_FIELDS: Final = r"[^{}]{0,400}?"
_RANK_THEN_NAME: Final = (
    # "1. Image B", "rank 1: B", "1st place: B", "(1, B)"; behind the "|": '"best": "B"'
    re.compile(
        rf"(?<![\w.])(?:(?P<said>{_RANK})?(?P<rank>\d{{1,2}})(?P<nth>{_NTH})?"
        # In "A: 3, B: 1" the 3 is not of B; it is in "(3, B)".
        r"(?(said)|(?(nth)|(?:(?<=[(\[]\d)|(?![,;]\s))))"
        rf"""|{_ORDINAL}(?:\s(?:place|choice|best))?(?=["']?\s?:))[^\w]{{1,8}}{NAME}"""
    ),
    # {"rank": 1, ... "image": "B"}
    re.compile(
        rf"""{_RANK_FIELD},{_OTHER_FIELDS}["'](?i:image|picture|option|letter|label|id)["']\s?:\s?{NAME}["']"""
    ),
)
_NAME_THEN_RANK: Final = (
    # "B: 1", "B is ranked 2nd", "B - rank 2", '"B": "second"'
    re.compile(
        rf"(?<![\w']){NAME}[^\w\n]{{1,8}}(?:(?:is|comes|ranks)\s{{1,2}})?(?P<said>{_RANK}(?:is\s)?)?"
        rf"""(?:(?P<rank>\d{{1,2}})(?P<nth>{_NTH})?(?![\w%/]|[.,]\d)|{_ORDINAL}(?=["']|\s?(?:[,;.\n]|\Z)))"""
    ),
    # "B": {... "rank": 1}
    re.compile(rf"""(?<![\w']){NAME}["']\s?[,:]\s?\{{?{_OTHER_FIELDS}{_RANK_FIELD}"""),
)
_RANKS_SAID = re.compile(
    r"\b(?:rank\w{0,4}|positions?|order|ordem|classifica\w{0,5})\b|\b1 ?(?:=|is|means|being) (?:the"
    r" )?(?:best|most)\b",
    re.I,
)
_SCORES_SAID = re.compile(
    r"\b(?:scor\w{1,4}|ratings?|rated|points?|grades?|confidence|probabilit\w{1,4}|relevance)\b"
    r"|\b[02-9]0{0,2} ?(?:=|is|means|being) (?:the )?(?:best|most)\b",
    re.I,
)
_THINGS = re.compile(r"\s(?!(?:and|then|e)\b)[a-zà-ü]")  # "B: 1 man"
_WORD = re.compile(r"\b(?!json\b)\w")
_LOOK: Final = 80
"""How many characters before and behind a ranking may say that its numbers are ranks, or scores."""


@dataclass(frozen=True)
class _RankedName:
    """A name with a rank beside it.

    Attributes:
        picture: the 0-based index of the picture that it names.
        rank: the rank, from 1.
        is_said: whether the words call it a rank: "rank 2", "2nd", "second".
        start: where the name or the rank begins, whichever is first.
        end: where the other one ends.
    """

    picture: int
    rank: int
    is_said: bool
    start: int
    end: int


def find_ranks(text: str, count: int) -> list[Evidence]:
    """The rankings of all pictures by a rank beside each name; [] if there are none.

    Each form is tried on the whole text, "B: 1" before "1. B". The first that has any decides.

    Args:
        text: the answer.
        count: how many pictures were shown.
    """
    for pattern in (*_NAME_THEN_RANK, *_RANK_THEN_NAME):
        are_ranks = _are_ranks_behind if pattern in _NAME_THEN_RANK else _are_ranks_before
        rankings: list[Evidence] = []
        for names in _ranked_names(pattern, text, count):
            order = _pictures_by_rank(names, count)
            if order is not None and are_ranks(text, names, order):
                rankings.append(Evidence(order, names[0].start, names[-1].end, rule="items"))
        if rankings:
            return rankings
    return []


def _pictures_by_rank(names: list[_RankedName], count: int) -> tuple[int, ...] | None:
    """The pictures, the best first; None unless each picture and each rank is there once."""
    picture_by_rank = {name.rank: name.picture for name in names}
    ranks = sorted(picture_by_rank)
    order = tuple(picture_by_rank[rank] for rank in ranks)
    has_all_ranks = ranks == list(range(1, count + 1))
    has_all_pictures = sorted(order) == list(range(count))
    return order if has_all_ranks and has_all_pictures else None


def _ranked_names(pattern: re.Pattern[str], text: str, count: int) -> list[list[_RankedName]]:
    """The names with ranks in a text, in groups; a rank that comes again begins a new group.

    Each group may be a ranking of its own: "1. B 2. A ... No: 1. A 2. B".

    Args:
        pattern: one of `_NAME_THEN_RANK` and `_RANK_THEN_NAME`.
        text: the answer.
        count: how many pictures were shown, which is the rank of "last".
    """
    groups: list[list[_RankedName]] = []
    ranks: set[int] = set()
    for match in pattern.finditer(text):
        words = match.groupdict()
        if words.get("ordinal"):
            rank = _ORDINALS[words["ordinal"].lower()]
            if rank < 0:  # "last", "worst"
                rank = count
        else:
            rank = int(words["rank"])
        if not groups or rank in ranks:
            groups.append([])
            ranks = set()
        is_said = any(words.get(group) for group in ("said", "nth", "ordinal"))
        name = _RankedName(picture_index(match), rank, is_said, match.start(), match.end())
        groups[-1].append(name)
        ranks.add(rank)
    return groups


def _are_ranks_before(text: str, names: list[_RankedName], order: tuple[int, ...]) -> bool:
    """Whether numbers before names rank them, as in "1. B".

    In the order A, B, C they may number a description of the pictures; "rank 1: A" does not.

    Args:
        text: the answer; not used, here as `_are_ranks_behind` takes it.
        names: the names with their ranks, in the order of the text.
        order: the pictures that they name, the best first.
    """
    best = min(names, key=lambda name: name.rank)
    is_alphabetical = order == tuple(sorted(order))
    return best.is_said or not is_alphabetical


def _are_ranks_behind(text: str, names: list[_RankedName], order: tuple[int, ...]) -> bool:
    """Whether numbers behind names are ranks and neither scores nor counts.

    They are if they are called ranks; if they are counted up while the letters are not; or if they
    are the whole answer, not counted down from the first name, which may have the highest score.

    Args:
        text: the answer.
        names: the names with their ranks, in the order of the text.
        order: the pictures that they name, the best first.
    """
    if all(name.is_said for name in names):
        return True
    if any(_THINGS.match(text, name.end) for name in names):
        return False
    start, end = names[0].start, names[-1].end
    before = text[max(0, start - _LOOK) : start]
    behind = text[end : end + _LOOK]
    if _SCORES_SAID.search(before) or _SCORES_SAID.search(behind):
        return False
    if _RANKS_SAID.search(before) or _RANKS_SAID.search(behind):
        return True
    ranks = [name.rank for name in names]
    is_counted_up = ranks == sorted(ranks)
    is_counted_down = ranks == sorted(ranks, reverse=True)
    is_alphabetical = order == tuple(sorted(order))
    if is_counted_up and not is_alphabetical:
        return True

    # Are they the whole answer? `before` and `behind` show it if they reach both ends of the text.
    is_all_in_view = start <= _LOOK and end + _LOOK >= len(text)
    has_other_words = bool(_WORD.search(before) or _WORD.search(behind))
    return is_all_in_view and not has_other_words and not is_counted_down
