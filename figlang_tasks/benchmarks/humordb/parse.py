"""Reads a rating from 1 to 10 in an answer, and the answer to "Is the image not funny?"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from figlang_tasks.answers.statements import find_statements
from figlang_tasks.answers.text import Answer, Around
from figlang_tasks.answers.verdict import Evidence, Read, decide, find_answer, read_marked_parts
from figlang_tasks.answers.words import CONDITION, IN_LOOPS
from figlang_tasks.answers.yes_no import yes_no

FUNNY = r"funny|humorous|amusing|comical|hilarious|humou?r"
"""Regular expression of what the binary task asks about."""

# --- "Is the image not funny?" ---

# "No, it is not." may say that it is not funny, and "Yes, it is." that it is.
_ELLIPSIS = re.compile(
    r"\b(?:yes|no)\W{1,3}(?:it|this|the (?:image|picture))(?:'s| is| isn't)(?: not)?"
    r"(?=\s?[.!,;]|\Z)",
    re.I,
)


def is_not_funny(output: str | None) -> Read[bool]:
    """What an answer to "Is the image not funny?" says: True for yes, it is not funny.

    "No, it is not funny" and "No, it is not" mean one thing by their first word and another by the
    rest, and are ambiguous. "It is not funny" is yes.

    Args:
        output: the model's output; None if there is none.
    """
    reading = yes_no(output)
    answer = find_answer(output)
    if isinstance(answer, Read) or reading.status == "ambiguous":
        return reading
    answer = answer.without_quotations()
    if reading.value is not None and _ELLIPSIS.search(answer.text):
        return Read(None, "ambiguous", "conflict")
    statements = find_statements(answer, re.compile(rf"\b(?:{FUNNY})\b", re.I))
    values = {not statement.value for statement in statements}
    if reading.value is not None:
        values.add(reading.value)
    if len(values) > 1:
        return Read(None, "ambiguous", "conflict")
    if reading.value is None and values:
        return Read(values.pop(), "read", "statement")
    return reading


# --- a rating ---

_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# "7", "6.5", "seven", "6,5/10", but not "-3", "1.2.3", "6,5", "7%", "5+", "3-dimensional"
_NUMBER = re.compile(
    rf"(?<![\w.,/:+-])(?P<number>\d{{1,4}}(?:\.\d{{1,4}}|,\d(?=\s?/\s?10))?|{'|'.join(_WORDS)})"
    r"(?![\w%+]|[.,:]\d|-[a-z]|\s(?:point|and a half)\b)"
    # Blanks stand for marks of emphasis: "**7**/10"
    r"(?P<of_ten>(?:\s{0,4}/\s{0,4}10(?!\d|\.\d)"
    r"|\s{1,4}(?:out\s)?of\s{1,4}(?:an?\s)?(?:possible\s)?(?:10|ten)\b){1,2})?"
    r"(?P<of_other>\s{0,4}/\s{0,4}\d{1,4}|\s{1,4}out\sof\s{1,4}\w{1,9})?",
    re.I,
)
_NOTE = r"(?:\s?\([^()\n]{1,60}\))?"  # "1 (not funny) to 10 (very funny)"
_ONE_TO = rf"(?:[01]|zero|one){_NOTE}\s?(?:-|to|and|through)\s?"
_ONE_TO_TEN = rf"{_ONE_TO}(?:10|ten)\b{_NOTE}"
_OTHER_SCALE = re.compile(rf"\bscale\s(?:of|from|between)\s{_ONE_TO}(?!(?:10|ten)\b)\w", re.I)
_SCALE_OF = r"(?:scale\s(?:of|from|between)\s)?"
# "7 on a scale of 1 to 10", "7 on the 1-10 scale" is 7/10.
_ON_THE_SCALE = re.compile(
    rf"(?<=\w)\s[(]?(?:on|in)\s(?:a|the)\s{_SCALE_OF}{_ONE_TO_TEN}(?:\sscale\b)?", re.I
)
# The echo of the scale: ", from 1 to 10,", "On a scale of 1-10:", "1 being not funny"
_SCALE = re.compile(
    rf"(?:,\s)?(?:\bon\s(?:a|the)\s)?(?:\bscale\s)?(?:\b(?:of|from|between)\s)?"
    rf"(?<![\w.,/-]){_ONE_TO_TEN},?"
    r"|\b(?:1|10|one|ten)\s?(?:=|being\b|means\b|meaning\b)|\(out of (?:10|ten)\)",
    re.I,
)
# What may stand between two numbers of which neither is the answer: "6-7", "6 or a 7", "7, maybe 8"
_OR = r"\s?(?:-|~|to|or|and|/|,)\s?(?:(?:maybe|perhaps|possibly|even|or|wait,?|no,?|an?)\s){0,3}"
# "6 or a 7", "7 for creativity and 4 for humor"
_OR_A_SECOND = re.compile(
    rf"(?:\sfor\s(?:\w+\s){{0,3}}\w+)?{_OR}(?:\d|(?:{'|'.join(_WORDS)})\b)", re.I
)
_OR_BETWEEN = re.compile(_OR, re.I)

_ABOUT = (
    r"about|around|approximately|roughly|maybe|perhaps|probably|only|just|like|solid|strong|perfect"
)
_FILLER = (
    r"(?:[ :=\"'()\[\]{]|- |\b(?:an?|the|it|it's|this|is|of|at|as|be|would|with|rated|rating|score"
    rf"|{_ABOUT})\b)"
)
_SUBJECT = (
    r"(?:it|this(?: one)?|(?:this|the) (?:image|picture|photo(?:graph)?|cartoon|meme|drawing))"
)
# Words for a rating or the giving of one, before a number: "I'd rate it a", "Final score:"
_RATES = re.compile(
    r"\b(?:(?:i|i'd|i'll|we|would|to|could|can|will) (?:would |will )?(?:personally )?"
    r"(?:rate|give|score|rank|assign|say|call|put|place|estimate|go (?:with|for))"
    rf"(?: {_SUBJECT})?"
    r"|(?:rating|score|funniness|(?:its|the) humou?r|(?:funniness|humou?r) level|degree|answer"
    r"|verdict|overall|final|total|rated?|scored?)"
    rf"(?: (?:of funniness|(?:of|in|for|to) {_SUBJECT})){{0,2}})"
    rf"{_FILLER}{{0,12}}\Z",
    re.I,
)
# The picture, before a number: "This image is a"
_IS = re.compile(
    rf"\b{_SUBJECT}(?:'s| is| would be| gets| scores| deserves| earns| rates){_FILLER}{{0,12}}\Z",
    re.I,
)
_ARTICLE = re.compile(r"\ban? (?:\w+ )?\Z", re.I)
_OVERALL = re.compile(r"\b(?:overall|final|total|in sum|therefore|conclusion)\b", re.I)
# What may follow a rating. "I would say two dogs" rates nothing.
_ENDS = re.compile(
    r"[\s\"')\]}]*(?:\Z|[,;:(-]|(?:points?\Z|or so|for|from|because|since|due|as|in terms|based"
    r"|overall|at best|given|with|and|but|which|where|on)\b)",
    re.I,
)
_ENDS_A_CLAUSE = re.compile(r"[\s\"')\]}]*(?:\Z|[,;:(])")
_DENIED = re.compile(
    r"(?:\b(?:not|never|cannot|rather than|instead of|more than|less than|above|below|under|over|at"
    r" least|at most|up to|than|says|reads|reading|written)\b|n't\b)[^,;:]{0,24}\Z",
    re.I,
)
_OF_OTHERS = re.compile(
    r"\b(?:others|some|someone|people|viewers?|one|you) (?:\w+ )?(?:may|might|could|would)\b"
    r"|\b(?:judges|jury|critics)\b",
    re.I,
)
_IF = re.compile(r"\b(?:if|unless)\b", re.I)
_HEAD = re.compile(rf"[\W_]*(?:(?:an?|{_ABOUT})\s)*", re.I)
_AFTER_HEAD = re.compile(
    r"[^\S\n]*[\"')\]}]*[^\S\n]*(?:\n|\Z|points?\b|because\b|[,:;(!]|-\s|\.(?:\s|\Z))", re.I
)
_SECOND_ITEM = re.compile(r"\n\s*2[.)]")
_NOTHING_MORE = re.compile(r"[\s.!]*\Z")


def rating(output: str | None) -> Read[float]:
    """The rating from 1 to 10 that an answer gives; no value where a careful reader would doubt it.

    The first of these rules with evidence decides:

    - ``overall``: an announced number after a word such as "overall".
    - ``announced``: "I'd rate it a 6.5", "Rating: 8", "This image is a seven."
    - ``of_ten``: "7/10", "7 out of 10", "7 on a scale of 1 to 10".
    - ``line``: the number begins the answer, or is its last line: "7", "Seven. The dog ...".

    Different numbers of one rule are ambiguous (``conflict``), and so is "6 or 7". What is denied,
    conditional, quoted or others' opinion is no evidence, nor is the echo of the scale.

    Args:
        output: the model's output; None if there is none.

    Returns:
        A number out of 1 to 10, or of another scale (also by the rule ``scale``), has the status
        ``out_of_range``. Without evidence the rule is ``nothing``, ``thought``, ``empty`` or
        ``missing``.
    """
    return read_marked_parts(output, _read, prompt_texts=())


def _read(answer: Answer) -> Read[float]:
    """The rating that the first rule with evidence gives, or why there is none."""
    if _OTHER_SCALE.search(answer.text):
        return Read(None, "out_of_range", "scale")
    answer = _without_scale(answer)
    evidence = list(_evidence(answer))
    for rule in ("overall", "announced", "of_ten", "line"):
        reading = decide(answer, [piece for piece in evidence if piece.rule == rule])
        if reading is None:
            continue
        if reading.status == "read" and reading.value is None:
            return Read(None, "ambiguous", "conflict")
        if reading.value is not None and not 1 <= reading.value <= 10:
            return Read(None, "out_of_range", rule)
        return reading
    return Read(None, "unreadable", "nothing")


def _without_scale(answer: Answer) -> Answer:
    """The answer with blanks for the echo of the scale; its length does not change."""

    def of_ten(scale: re.Match[str]) -> str:
        return "/10".ljust(len(scale[0]))

    def blanks(scale: re.Match[str]) -> str:
        return " " * len(scale[0])

    text = _ON_THE_SCALE.sub(of_ten, answer.text)
    return replace(answer, text=_SCALE.sub(blanks, text))


def _evidence(answer: Answer) -> Iterator[Evidence]:
    """Yield what the numbers of an answer say, in their order, each by its strongest rule.

    The value is None for a number of two ("6 or 7"), and 0 for one of another scale ("4 out of 5"),
    which is out of range.
    """
    end_of_last: int | None = None  # of the number before
    for number, around in answer.mentions(_NUMBER):
        start, end = number.span()
        is_one_of_two = _OR_A_SECOND.match(answer.text, end) is not None
        if end_of_last is not None and _OR_BETWEEN.fullmatch(answer.text, end_of_last, start):
            is_one_of_two = True
        end_of_last = end
        rule = _rule(answer, number, around)
        if rule is not None:
            yield Evidence(None if is_one_of_two else _value(number), start, end, rule)


def _value(number: re.Match[str]) -> float:
    """The number that a match of `_NUMBER` says; 0 if it is one of another scale."""
    if number["of_other"]:
        return 0.0
    word = number["number"].lower()
    return float(_WORDS.index(word) + 1 if word in _WORDS else word.replace(",", "."))


def _rule(answer: Answer, number: re.Match[str], around: Around) -> str | None:
    """The rule by which a number is a rating; None if it is none."""
    before, after = around.sentence_before, around.sentence_after
    if not _may_rate(before, after):
        return None
    is_of_scale = bool(number["of_ten"] or number["of_other"])
    is_word = number["number"].isalpha() and not is_of_scale
    ends = _ENDS_A_CLAUSE if is_word else _ENDS  # "This is one on top of another" rates nothing.
    if ends.match(after):
        announcement = _announcement(before, is_word)
        if announcement is not None:
            return announcement
        if is_of_scale:
            return "of_ten"
    if _HEAD.fullmatch(answer.text, 0, number.start()):
        begins = _AFTER_HEAD.match(answer.text, number.end())
        return "line" if begins and not _SECOND_ITEM.search(answer.text, number.end()) else None
    line_start = answer.text.rfind("\n", 0, number.start()) + 1
    is_alone = _HEAD.fullmatch(answer.text, line_start, number.start())
    return "line" if is_alone and _NOTHING_MORE.match(answer.text, number.end()) else None


@lru_cache(maxsize=IN_LOOPS)
def _may_rate(before: str, after: str) -> bool:
    """Whether a sentence neither denies the number in it, nor makes it conditional or others'."""
    if CONDITION.match(before) or _IF.search(after):
        return False
    return not (_DENIED.search(before) or _OF_OTHERS.search(before))


@lru_cache(maxsize=IN_LOOPS)
def _announcement(before: str, is_word: bool) -> str | None:
    """``announced`` or ``overall`` if a sentence announces the number after it, else None.

    "This is a seven" announces the word, and "This is seven" does not.
    """
    before = re.sub(r"\s+", " ", before)
    is_said_of_picture = _IS.search(before) and (not is_word or _ARTICLE.search(before))
    if not is_said_of_picture and not _RATES.search(before):
        return None
    return "overall" if _OVERALL.search(before) else "announced"
