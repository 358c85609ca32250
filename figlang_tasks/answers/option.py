"""One of several options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from figlang_tasks.answers.text import ANNOUNCED, NONE_OF, REFUSAL, Answer, is_said
from figlang_tasks.answers.verdict import Found, Read, by_marks, decide

_ORDINALS = ("first", "second", "third", "fourth")
_OPEN = r"""\s{0,3}#?[(\["'<{]{0,2}"""
_APART = r"(?<![\w.&-])(?<!\w')"
# "A" is an article before most words, "I" a pronoun; a letter in lower case is the last or heads all.
# A number with a point before other words is that of an item.
_LETTERS = re.compile(
    rf"(?<!\w)(?i:image|picture|option)s?{_OPEN}(?P<named>[A-HJ-Z](?!\w)|\d{{1,2}}(?!\w))"
    rf"|{_APART}(?!A\x20(?!(?:is|and|or|because|since|as)\b)[\w.-]{{2}})(?P<bare>[A-HJ-Z](?!\w|['&-]\w)|\d{{1,2}}(?!\w|[.)]\s{{0,3}}\S))"
    r"|\A\W*(?P<small>[a-h])(?=[.):])|(?<!\w)(?P<last>[a-h])(?=\W*\Z)"
    r"|\b(?i:(?P<the>the\s)?(?P<ordinal>first|second|third|fourth|last)\b"
    r"(?P<noun>\s(?:images?|picture|option|one)\b|(?!\s(?!and\b|a\b|show)\w|,)))"
)
_NUMBERS = re.compile(
    rf"(?<!\w)(?i:statement|option|number)s?{_OPEN}(?P<named>\d{{1,4}}(?!\w))"
    rf"|{_APART}(?P<bare>\d{{1,4}}(?![\w%]|[.,:]\d))"
)

_CLOSE = r"""[)\]"'>}]{0,2}"""
_WORD = re.compile(r"\w")
_THE = re.compile(r"\W*(?:the\W+)?", re.I)
_LETTER = re.compile(r"[^\W\d]")  # what is no number of an item
_HEADS = re.compile(rf"{_CLOSE}\s{{0,3}}(?:[.,;)\n]|\((?!\w\)))")
_COLON = re.compile(rf"{_CLOSE}\s{{0,3}}(?::|-\s)")
_CHOSEN = re.compile(
    r"(?:\b(?:choose|pick|select|go(?:ing)? with|actually,|wait,|most likely|i think|it(?:'s| is| would be)"
    r"|(?:best|correct|most)\b[^.?!\n]{0,100}?\b(?:is|be)\b)[\s:]{1,8}(?:the\s)?"
    r"|\A\W*(?:therefore|thus|hence|so,)[^.?!\n,]{0,40})\W{0,3}\Z",
    re.I,
)
_ASKED_FOR = re.compile(r"\b(?:metaphor|statement)\b[^.?!\n]{0,60}?\bis[\s:\"'(\[#]*\Z", re.I)
_IS_BEST = re.compile(
    rf"{_CLOSE}\s{{1,3}}(?:is\s)?(?:the\s)?(?:best|correct|closest|most\s(?:suitable|fitting|appropriate))\b",
    re.I,
)
_JOINED = re.compile(rf"{_CLOSE}\s?(?:,|,?\s?(?:or|and|to))\s(?:image\s)?[(\[\"'<{{]{{0,2}}\Z", re.I)


class _Mention(NamedTuple):
    """A letter, number, ordinal or place that may name an option; from `first` on with its noun."""

    value: int
    first: int
    start: int
    end: int
    is_bare: bool


def option(output: str | None, options: int, *, letters: bool = True, places: Sequence[str] = ()) -> Read[int]:
    """The option that an answer names; never a guess.

    The first of these that is found decides:

    - ``alone``: nothing but the option: "B", "(B)", "Image B", "2", "the second image".
    - ``line``: one line, the first or the last, has nothing else. ``head``: the answer begins with it: "B. The man
      ...". Several options with a colon or at the start of a line are a list and no answer.
    - ``verdict``: "the answer is B", "I choose B", "B is the best", "Therefore, image B ...".
    - ``mention``: an answer of one finished sentence names one option, and does not reject it: "B shows his fear."

    Different ones are ambiguous (``conflict``) unless the last corrects the others (``correction``). An option that
    was not offered is out of range.

    Args:
        output: the model's output; None if there is none.
        options: how many there are.
        letters: they are called A, B, C ... as well as 1, 2, 3 ... and "the first image"; False: by numbers alone.
        places: regular expressions, without groups of their own, of places in one picture, in the order of the options
            ("top.left").

    Returns:
        The 0-based option; with one of these rules, or ``refusal``, ``nothing``, ``thought``, ``empty``, ``missing``.

    Raises:
        TypeError: `output` is neither str nor None.
    """
    return by_marks(output, partial(_read, options=options, letters=letters, places=places))


def _read(answer: Answer, options: int, letters: bool, places: Sequence[str]) -> Read[int]:
    text = answer.text
    mentions = sorted(_mentions(text, options, letters, places), key=lambda mention: mention.start)
    runs = _runs(text, mentions)
    named = [run[0] for run in runs if len(run) == 1]
    found = decide(answer, _alone(text, mentions)) or decide(answer, _heads(text, named, letters))
    found = found or decide(answer, _verdicts(answer, named, letters))
    if found is None and (NONE_OF.search(text) or REFUSAL.search(text)):
        return Read(None, "refused", "refusal")
    found = found or decide(answer, _weak(answer, runs))
    if found is None:
        return Read(None, "unreadable", "nothing")
    if found.value is not None and not 0 <= found.value < options:
        return Read(None, "out_of_range", found.rule)
    return found


def _mentions(text: str, options: int, letters: bool, places: Sequence[str]) -> Iterator[_Mention]:
    for found in (_LETTERS if letters else _NUMBERS).finditer(text):
        kind, name = next((kind, name) for kind, name in found.groupdict().items() if name and kind != "the")
        if kind == "ordinal" and not (found["noun"] or found["the"] or not _WORD.search(text, 0, found.start())):
            continue  # "in first", "a second", "at last"
        name = name.lower()
        if name.isdigit():
            value = int(name) - 1
        elif len(name) == 1:
            value = ord(name) - ord("a")
        else:
            value = _ORDINALS.index(name) if name in _ORDINALS else options - 1
        yield _Mention(value, found.start(), found.start(kind), found.end(), kind == "bare")
    for value, place in enumerate(places):
        for found in re.finditer(rf"\b{place}\b", text, re.I):
            yield _Mention(value, found.start(), *found.span(), False)


def _runs(text: str, mentions: list[_Mention]) -> list[list[_Mention]]:
    """The mentions in runs: "and", "or" and commas join several to one enumeration."""
    runs: list[list[_Mention]] = []
    for mention in mentions:
        if runs and _JOINED.match(text, runs[-1][-1].end, mention.first):
            runs[-1].append(mention)
        else:
            runs.append([mention])
    return runs


def _alone(text: str, mentions: list[_Mention]) -> list[Found]:
    """The options of an answer that has nothing else."""
    starts, ends = [*(mention.first for mention in mentions), len(text)], [0, *(mention.end for mention in mentions)]
    if any(_WORD.search(text, end, start) for end, start in zip(ends, starts, strict=True)):
        return []
    return [Found(mention.value, mention.start, mention.end, "alone") for mention in mentions]


def _line(text: str, mention: _Mention) -> tuple[bool, bool]:
    """Whether a mention opens its line, and whether nothing follows it there."""
    start = text.rfind("\n", max(0, mention.first - 24), mention.first) + 1
    opens = (start > 0 or mention.first < 24) and not _LETTER.search(text, start, mention.first)
    stop = text.find("\n", mention.end, mention.end + 24)
    return opens, not _WORD.search(text, mention.end, stop if stop >= 0 else mention.end + 24)


def _heads(text: str, mentions: list[_Mention], letters: bool) -> list[Found]:
    """The option that is the first or the last line, or heads the answer; not an item of a list."""
    items = _items(text, mentions)
    alone = [each for each in mentions if _line(text, each) == (True, True) and not _COLON.match(text, each.end)]
    if len(alone) == 1:
        before, behind = text[: alone[0].first], text[alone[0].end :]
        # A list may be cut behind the next letter.
        closes = not _WORD.search(behind) and (not items or before.rstrip(" ([\"'").endswith("\n\n"))
        if closes or not _LETTER.search(before):
            return [Found(alone[0].value, alone[0].start, alone[0].end, "line")]
    if len({item.value for item in items}) != 1 or _LETTER.search(text, 0, items[0].first):
        return []
    # "A: The image shows" may go on with B, and "Image A: ..." describes it.
    if _COLON.match(text, items[0].end) and letters and (text[-1] not in ".!" or not items[0].is_bare):
        return []
    return [Found(items[0].value, items[0].start, items[0].end, "head")]


def _items(text: str, mentions: list[_Mention]) -> list[_Mention]:
    """The mentions that head a line or stand before a colon; if these are of several options, a list."""
    return [
        mention
        for mention in mentions
        if _COLON.match(text, mention.end) or (_line(text, mention)[0] and _HEADS.match(text, mention.end))
    ]


def _verdicts(answer: Answer, mentions: list[_Mention], letters: bool) -> Iterator[Found]:
    text = answer.text
    items = set(_items(text, mentions))
    is_list = len({item.value for item in items}) > 1
    for number, mention in enumerate(mentions):
        back, before, behind, asked = answer.around(mention.first, mention.end)
        opens, ends = _line(text, mention)
        for same in mentions[number + 1 : number + 2]:  # "(B) the second image"
            if same.value == mention.value and _THE.fullmatch(text, mention.end, same.first):
                ends = _line(text, same)[1] and not is_list
        ends = ends or not (letters or is_list) and mention in items  # "The answer is:\n2. This bottle ..."
        is_apart = opens and ends and not (is_list and _WORD.search(text, mention.end))
        before_it = back if is_apart else before  # "The answer is:\n\n**B**"
        announced = (
            ANNOUNCED.search(before_it)
            or (not letters and _ASKED_FOR.search(before_it) and _HEADS.match(text, mention.end))
            or _CHOSEN.search(before_it)
            or _IS_BEST.match(behind)
        )
        if announced and not asked and is_said(before, behind):
            yield Found(mention.value, mention.start, mention.end, "verdict")


def _weak(answer: Answer, runs: list[list[_Mention]]) -> list[Found]:
    """The one option that a finished sentence names and does not reject; of several, all."""
    left, words = [], set()
    for run in runs if answer.text[-1] in ".!" else []:
        around = [answer.around(mention.first, mention.end) for mention in run]
        if len(run) > 2 or not all(is_said(each.before, each.behind) for each in around):
            continue  # "A, B, C or D" is the echo of the question
        for mention, each in zip(run, around, strict=True):
            rest = len(answer.text) - len(each.before) - len(each.behind) - (mention.end - mention.first)
            if mention.is_bare and _WORD.search(each.before) and len(run) == 1:  # "vitamin C", "12 cars"
                words |= set() if answer.text[mention.start].isdigit() else {mention.value}
            elif rest <= 2 and not _COLON.match(each.behind):
                left.append(Found(mention.value, mention.start, mention.end, "mention"))
    return left if words <= {found.value for found in left} else []
