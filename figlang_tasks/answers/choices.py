"""What a question offers, and the places where an answer names one of the options."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from figlang_tasks.answers.verdict import Evidence
from figlang_tasks.answers.words import AFTER_NO_WORD, BEFORE_NO_WORD

Form: TypeAlias = Literal[
    "bracketed", "labelled", "bare", "small", "number", "ordinal", "place", "text"
]
"""How an answer names an option.

- bracketed: "(B)" or "B)".
- labelled: with a noun before it: "image B", "option 2".
- bare: "B"; "2" where numbers are offered.
- small: "b".
- number: "2" where letters are offered.
- ordinal: "the second image".
- place: a place in one picture: "top left".
- text: by its text.
"""

OFFERED_FORMS: tuple[Form, ...] = ("bracketed", "labelled", "bare", "small")
"""The forms of names that a prompt offers; they outrank an ordinal, number or place beside them."""


@dataclass(frozen=True)
class Choices:
    """What a question offers.

    Attributes:
        count: how many options there are.
        names: what they are called: letters from A on, or numbers from 1 on.
        texts: the text of each option, where the prompt shows texts.
        are_pictures: whether the options are pictures, so that "the second image" names one. None
            if that is not known: then such words name an option only where the answer has no
            others.
        places: regular expressions, without groups of their own, of the places of the options in
            one picture, such as ``top.left``.
    """

    count: int
    names: Literal["letters", "numbers"] = "letters"
    texts: tuple[str, ...] | None = None
    are_pictures: bool | None = None
    places: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.texts is not None and len(self.texts) != self.count:
            raise ValueError(f"{len(self.texts)} texts of {self.count} options")


@dataclass(frozen=True)
class Mention:
    """A place in an answer that names an option.

    Attributes:
        value: the 0-based option; it may be one that was not offered.
        start: where it begins, with its noun ("image") and bracket.
        end: where it ends, with its bracket.
        form: how it is written.
    """

    value: int
    start: int
    end: int
    form: Form

    def evidence(self, rule: str) -> Evidence:
        """The mention as evidence for its option, by this rule."""
        return Evidence(self.value, self.start, self.end, rule)


# --- the forms of a name ---

NOUN = (
    r"(?:images?|pictures?|photos?|figures?|options?|choices?|candidates?|statements?|captions?|panels?|points?|box(?:es)?"
    r"|letters?|numbers?|no\.|imagem|imagen|bild|letra|op[cç][aã]o|opci[oó]n|alternativa|图片?|选项|選項)"
)
"""Nouns that stand before the name of an option."""

_OPEN = r"""[(\[<"']"""
_CLOSE = r"""[)\]>"']"""
_LONGEST_BRACKET = 80
_CLOSED_BY = {"(": ")", "[": "]", "<": ">", '"': '"', "'": "'"}
# "U.S.A", "R&B", "O'B" and "x-B" name no option, nor does "B's" or "B-movie".
_APART_BEFORE = rf"{AFTER_NO_WORD}(?<![&.\\-])(?<!\w')(?<!\b[Nn]/)"
_APART_AFTER = rf"{BEFORE_NO_WORD}(?!['&-]\w|\.\w)"

# A bare "A" is an article but before these words, and "I" a pronoun but at the end of a line.
_AFTER_THE_NAME_A = (
    r"(?:is|isn't|was|are|and|or|nor|because|since|as|but|rather|over|than|with|for|if|in|on|to|at|would|could|should|can"
    r"|can't|cannot|may|might|does|doesn't|has|had|will|must|seems|appears|looks|shows|depicts|displays|fits|matches"
    r"|represents|illustrates|portrays|conveys|captures|corresponds|visualizes|expresses|reflects|makes|also|clearly|better"
    r"|more|most|best (?:\w+s|describes|match)|only)\b"
)
# "Answer: A The man ..." begins a sentence after the name.
_NEXT_SENTENCE = r"(?:The|This|That|These|It|Because|Since|Explanation|Reason|Here|Hope)\b"
_CAPITAL = (
    rf"(?:A(?!\x20(?!{_AFTER_THE_NAME_A}|{_NEXT_SENTENCE})[\w\"'])|[B-HJ-Z]"
    r"|I(?=[^\w\n']*(?:\n|\Z)|,\s(?:because|since|as|which)\b)|\AI(?=[.:]\s))"
)

# In each pattern of a letter the group `letter` is the name; the match has its noun and brackets.
# "image (B)", "[B]", '"B"'; `_is_closed` looks whether the two brackets are of one form. "[x]" is a
# box.
_BRACKETED_LETTER = re.compile(
    rf"(?:{AFTER_NO_WORD}{NOUN}[ #]{{1,3}})?{AFTER_NO_WORD}(?P<opening>{_OPEN}{{1,2}})\s?"
    rf"(?P<letter>[A-Z])(?<!\[[Xx])\s?\.?(?P<closing>{_CLOSE}{{1,2}}){BEFORE_NO_WORD}",
    re.I,
)
# "B)", "option B )"
_LETTER_BEFORE_A_BRACKET = re.compile(
    rf"(?:{AFTER_NO_WORD}{NOUN}[ #]{{1,3}})?{_APART_BEFORE}(?P<letter>[A-Z])\s?\)", re.I
)
# "image B", "option #b"
_LABELLED_LETTER = re.compile(
    rf"(?:{AFTER_NO_WORD}(?i:{NOUN})[ #]{{1,3}}|(?:图片?|选?项|選?項|片)[\s:]?)"
    # "image a man": a small "a" is a name at the end of a line alone
    rf"(?P<letter>(?:[A-Z]|[b-z]|a(?=[^\w\n']{{0,9}}(?:\n|\Z))){_APART_AFTER})",
)
_BARE_LETTER = re.compile(
    rf"{_APART_BEFORE}(?P<letter>{_CAPITAL}{_APART_AFTER})(?:\s?[选選][项項])?"
)
# A small letter without brackets is a name where it is all of an answer, heads it, or ends it as
# what something is: "b", "b. The boat", "it is b". After other words it is an article, or a word
# that is cut off.
_SMALL_LETTER_AT_HEAD = re.compile(r"\A\W*(?P<letter>[a-z])(?=\W*\Z|[.:]\s)")
_SMALL_LETTER_AT_END = re.compile(
    r"(?:(?<=\bis\s)|(?<=\bbe\s)|(?<=\banswer\s)|(?<=[:=>]\s)|(?<=[:=>]))(?P<letter>[b-z])(?=\W*\Z)"
)

# " (2)" or " #2" after a noun
_NUMBER_IN_BRACKETS = rf"[ #]{{1,3}}{_OPEN}?(?P<number>\d{{1,4}})(?!\w|[.,]\d){_CLOSE}?"
_LABELLED_NUMBER = re.compile(rf"{AFTER_NO_WORD}{NOUN}{_NUMBER_IN_BRACKETS}", re.I)
# Where letters are offered, "the number 2" is a number of something else.
_LABELLED_NUMBER_BESIDE_LETTERS = re.compile(
    rf"{AFTER_NO_WORD}(?!number|letter){NOUN}{_NUMBER_IN_BRACKETS}", re.I
)
_PICTURE = re.compile(r"(?:image|picture|photo|figure|panel)", re.I)
# "2", "(2)", "#2", but not "2%", "2.5", "1/2"
_NUMBER = re.compile(
    rf"{_APART_BEFORE}(?<!\d[,/])[(\[{{#\"']{{0,2}}(?P<number>\d{{1,4}})(?:[)\]}}\"']{{1,2}}|(?![\w%]|[.,:/]\d))"
    # "3 years" is no name
    r"(?!\s(?!(?:because|since|as|and|or|to|is|are|but|fits?|match(?:es)?|best)\b)[a-z])"
)

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_SHORT_ORDINALS = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th")
# "the second image", with its noun in `noun`; "the second" alone where no other noun follows
_ORDINAL = re.compile(
    rf"\b(?:the\s)?(?P<ordinal>{'|'.join(_ORDINALS + _SHORT_ORDINALS)}|last)"
    r"(?:(?P<noun>\s(?:images?|pictures?|photos?|photographs?|panels?|options?|choices?|captions?|statements?|one)\b)"
    r"|(?!\s(?!and\b|a\b|is\b|best\b|show)\w|,))",
    re.I,
)


def find_mentions(text: str, choices: Choices) -> list[Mention]:
    """All mentions of options by a name, ordinal or place, in their order; none overlap.

    Where letters are offered, bare numbers and ordinals are mentions too: the tiers say what they
    are worth.
    """
    other_forms = [*_ordinals(text, choices.count), *_places(text, choices)]
    if choices.names == "letters":
        labelled = list(_numbers(text, _LABELLED_NUMBER_BESIDE_LETTERS, "labelled"))
        if not choices.are_pictures:
            # "Image 2" may be the second picture of the question, which is another option or none.
            labelled = [mention for mention in labelled if not _PICTURE.match(text, mention.start)]
        offered = [*_letters(text, choices.count), *labelled]
        other_forms += _numbers(text, _NUMBER, "number")
    else:
        offered = [*_numbers(text, _LABELLED_NUMBER, "labelled"), *_numbers(text, _NUMBER, "bare")]
    # First the offered names among themselves, where "(B)" is "bracketed" and "bare"; then the
    # other forms give way to them.
    offered = _without_overlaps(first=[], second=offered)
    return _without_overlaps(first=offered, second=other_forms)


def _letters(text: str, count: int) -> Iterator[Mention]:
    """Yield the mentions by letters, form by form; those of several forms overlap.

    A letter after the last option counts only as an unquoted capital ("E" of four options). A small
    or quoted one belongs to something else: "the angle (x)", 'the text "I"'.
    """
    forms: tuple[tuple[Form, re.Pattern[str]], ...] = (
        ("bracketed", _BRACKETED_LETTER),
        ("bracketed", _LETTER_BEFORE_A_BRACKET),
        ("labelled", _LABELLED_LETTER),
        ("bare", _BARE_LETTER),
        ("small", _SMALL_LETTER_AT_HEAD),
        ("small", _SMALL_LETTER_AT_END),
    )
    for form, pattern in forms:
        for match in pattern.finditer(text):
            if pattern is _BRACKETED_LETTER and not _is_closed(match):
                continue  # "h'(1)", of a formula
            if pattern is _LETTER_BEFORE_A_BRACKET and _is_in_brackets(text, match.start()):
                continue  # the last of "(A, B, C or D)"
            letter = match["letter"]
            value = ord(letter.upper()) - ord("A")
            is_quoted = match[0][-1] in "\"'"
            if value < count or (letter.isupper() and not is_quoted):
                yield Mention(value, match.start(), match.end(), form)


def _is_closed(bracketed: re.Match[str]) -> bool:
    """Whether the bracket after a letter is of the same form as the one before it: "(B)", "[(B)]".

    Of two brackets those next to the letter are compared.
    """
    return bracketed["closing"][0] == _CLOSED_BY[bracketed["opening"][-1]]


def _is_in_brackets(text: str, position: int) -> bool:
    """Whether a "(" stands before a position of a text, and no ")" between them."""
    search_from = max(0, position - _LONGEST_BRACKET)
    return text.rfind("(", search_from, position) > text.rfind(")", search_from, position)


def _numbers(text: str, pattern: re.Pattern[str], form: Form) -> Iterator[Mention]:
    """Yield the mentions by a number, of one pattern and in its form."""
    for match in pattern.finditer(text):
        yield Mention(int(match["number"]) - 1, match.start(), match.end(), form)


def _ordinals(text: str, count: int) -> Iterator[Mention]:
    """Yield the mentions by ordinals: "the second image"; "last" is the last of `count`."""
    first_word = re.search(r"\w", text)
    for match in _ORDINAL.finditer(text):
        is_first_word = first_word is not None and first_word.start() == match.start()
        has_article = match[0][:3].lower() == "the"
        if not (match["noun"] or has_article or is_first_word):
            continue  # "in first place", "a second", "at last"
        ordinal = match["ordinal"].lower()
        if ordinal == "last":
            value = count - 1
        elif ordinal in _ORDINALS:
            value = _ORDINALS.index(ordinal)
        else:
            value = _SHORT_ORDINALS.index(ordinal)
        yield Mention(value, match.start(), match.end(), "ordinal")


def _places(text: str, choices: Choices) -> Iterator[Mention]:
    """Yield the mentions by places in the picture, "top left"; each option has one."""
    for value, place in enumerate(choices.places):
        for match in re.finditer(rf"\b{place}\b", text, re.I):
            yield Mention(value, match.start(), match.end(), "place")


def _without_overlaps(first: list[Mention], second: list[Mention]) -> list[Mention]:
    """Merge two lists of mentions; of two that overlap, the first list wins, then the earlier.

    Where two of one list begin at one position, the one that stands first in the list wins.

    Args:
        first: mentions that do not overlap.
        second: any mentions.

    Returns:
        Mentions in the order of the text, none of which overlap.
    """
    taken_positions: set[int] = set()
    for mention in first:
        taken_positions.update(range(mention.start, mention.end))
    candidates = list(first)
    for mention in second:
        if taken_positions.isdisjoint(range(mention.start, mention.end)):
            candidates.append(mention)

    mentions: list[Mention] = []
    for mention in sorted(candidates, key=lambda mention: mention.start):
        if not mentions or mention.start >= mentions[-1].end:
            mentions.append(mention)
    return mentions


# --- texts of options ---

_QUOTATION = re.compile(r'"[^"\n]+"')


def plain_text(text: str) -> str:
    """A text in the form in which options are compared: "The boat." as "the boat".

    It has no capitals, no hyphens, no signs at its ends and no repeated blanks.
    """
    return " ".join(text.replace("-", " ").split()).strip(" \"'.,;:!?()[]").casefold()


def find_texts(text: str, texts: Sequence[str]) -> list[Mention]:
    """All mentions of options by their texts, except texts that two options share.

    A text in quotation marks must be all that they hold: of the option "eggshells" the quotation
    "walk on eggshells" is no mention.

    Args:
        text: the answer.
        texts: the text of each option, in their order.
    """
    plain_texts = [plain_text(option) for option in texts]
    values: dict[str, int] = {}  # the 0-based option, by its plain text
    for value, option in enumerate(plain_texts):
        if option and plain_texts.count(option) == 1:
            values[option] = value
    if not values:
        return []

    quotations = [match.span() for match in _QUOTATION.finditer(text)]
    quotation_starts = [start for start, _ in quotations]
    is_all_of_quotation = [plain_text(text[start:end]) in values for start, end in quotations]

    mentions = []
    for match in _texts_pattern(values).finditer(text):
        # The last quotation that begins before the mention; -1 if none does
        number = bisect_right(quotation_starts, match.start()) - 1
        is_quoted = number >= 0 and match.start() < quotations[number][1]
        if is_quoted and not is_all_of_quotation[number]:
            continue
        mentions.append(Mention(values[plain_text(match[0])], match.start(), match.end(), "text"))
    return mentions


def _texts_pattern(plain_texts: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds the texts of options as whole words, the longest first."""
    alternatives = []
    for option in sorted(plain_texts, key=len, reverse=True):
        words = r"[\s-]{1,3}".join(map(re.escape, option.split()))
        if option in ("yes", "no", "none", "all"):  # words of any sentence
            words = rf"{words}(?=\W*\Z|[.,;:!)])"
        alternatives.append(words)
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(alternatives)})(?![\w-]|\.\d)", re.I)
