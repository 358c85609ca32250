"""From a model's words to the answers of NYK-MS by the published post-processing, and the marks of
gold answers.

`parse_official` follows section 3.4 of the paper (arXiv 2409.01037), `read_annotation` its Appendix
C.
"""

from __future__ import annotations

import re
from itertools import zip_longest
from typing import Literal, NamedTuple, TypeAlias

from figlang_tasks.answers.thoughts import EXPLAINED, explanation_in_thought
from figlang_tasks.answers.verdict import Read, find_answer
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.core.errors import DataError

FIELDS: dict[str, tuple[str, ...]] = {
    "metaphor": ("MC", "MW", "ME"),
    "sarcasm": ("SC", "SW", "ST", "SE"),
    **{name.lower(): (name,) for name in ("MC", "MW", "ME", "SC", "SW", "ST", "SE")},
}
"""The answers that each question asks for: all about metaphor or sarcasm in one prompt, or a single
one.
"""

QUESTIONS = tuple(FIELDS)
LABELS = ("MC", "SC")
MARKED_FIELDS = ("MW", "SW", "ST")
Answers: TypeAlias = dict[str, int | str]
"""The answers by field (`FIELDS`): 0 or 1 of MC and SC, a text, possibly empty, of the others."""


# --- the published rules ---

# "1. ", as in the paper; not the start of "3.5 million"
_NUMBER = re.compile(r"\A[ \t]*\d{1,2}\.(?!\d)[ \t]*")
_YES = re.compile(r"Yes\b")
_NO = re.compile(r"No\b")
_QUOTED = re.compile(
    r'["\u201c\u201d\u201e\u00ab\u00bb]([^"\u201c\u201d\u201e\u00ab\u00bb]+)["\u201c\u201d\u00bb\u00ab]'
)
_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})
_CANNOT = (
    r"(?:can't|cannot|can not|could not|couldn't|won't|will not|(?:am |'m )(?:unable|not able) to)"
)
_SERVE = (
    r"(?:assist|help|provide|answer|comply|fulfil|do that|do"
    r" this|discuss|analy[sz]e|see|view|determine|process|comment"
    r"|respond|support|engage|identify|describe|access|continue|make|give)"
)
_TOPICS = {
    "metaphor": r"\bmetaphor(?:s|ical(?:ly)?)?\b",
    "sarcasm": r"\b(?:sarcasm|sarcastic(?:ally)?)\b",
}
_TOPIC = rf"(?:{_TOPICS['metaphor']}|{_TOPICS['sarcasm']})"
_BEGIN = r"\A\W*(?:\d{1,2}\W+)?(?:unfortunately,? |however,? )?"
_PICTURE = r"(?:images?|pictures?|cartoons?|photos?|drawings?)"
# What can be nothing but a refusal, also as the answer to a question in words: an apology with what
# cannot be done, an assistant that speaks of itself, no help with the thing that was asked.
_SURE_REFUSAL = re.compile(
    rf"{_BEGIN}(?:(?:(?:i'?m |i am |we'?re |we are )?(?:very |really |so |terribly )?sorry\b|(?:i"
    r" |my |we )?"
    rf"apolog(?:ies|i[sz]e)\b)[^.\n]{{0,80}}?{_CANNOT}"
    r"|as an? (?:[\w-]+ ){0,3}?(?:ai|model|assistant)\b[^.\n]{0,80}\bi(?: do not| don't|"
    rf" {_CANNOT}|'m | am )"
    rf"|(?:i |i|we ){_CANNOT} (?:\w+"
    r" ){0,2}?(?:assist|help|provide|comply|fulfil|answer|discuss|analy[sz]e|process"
    r"|respond|support|engage|describe|view|access)\b(?: \w+){0,2}?(?:"
    r" (?:this|that|it)(?:\W*\Z|[.!\n])"
    r"| (?:this|that|the|your|such|any|these|those) (?:\w+"
    rf" )?(?:{_PICTURE}|content|requests?|questions?|material)\b"
    rf"| {_PICTURE}\b)"
    rf"|i (?:do not|don't) have the (?:ability|capability) to|(?:there (?:is|was) )?no {_PICTURE} "
    r"(?:was |is |has been )?(?:\w+"
    r" )?(?:provided|attached|given|visible|available|included|shown|uploaded)\b"
    rf"|i (?:do not|don't) see an? (?:\w+ )?{_PICTURE}\b)",
    re.I,
)
# Words that begin many refusals and, where words are asked for, many answers: for questions of yes
# or no alone.
_REFUSAL = re.compile(
    rf"{_BEGIN}(?:(?:(?:i'?m |i am |we'?re |we are )?(?:very |really |so |terribly"
    r" )?afraid\b|apolog(?:ies|i[sz]e)\b)"
    rf"[^.\n]{{0,80}}?{_CANNOT}|(?:i |i|we ){_CANNOT} (?:\w+ ){{0,3}}{_SERVE}\b"
    r"|i(?:'m| am) not comfortable|i must (?:decline|refuse)|i decline|i refuse)",
    re.I,
)
_SEES_NONE = re.compile(
    rf"{_CANNOT} (?:\w+ ){{0,2}}(?:see|find|identify|detect|spot|discern|recogni[sz]e) (?:\w+"
    rf" ){{0,3}}{_TOPIC}",
    re.I,
)


def _declines(output: str, in_words: bool) -> bool:
    """Whether an output is a refusal; that no metaphor can be seen answers a question of yes or
    no.
    """
    start = output.translate(_APOSTROPHES)[:1000]
    if in_words:
        return _SURE_REFUSAL.match(start) is not None
    if _SEES_NONE.search(start[:200]):
        return False
    return _SURE_REFUSAL.match(start) is not None or _REFUSAL.match(start) is not None


def parse_official(output: str | None, question: str) -> Read[Answers]:
    """The answers by the published post-processing; without a value they count as `nothing`.

    1. The non-empty lines are taken, padded with blank ones to 4. What follows the fourth is not
       looked at.
    2. A question number such as ``1. `` is removed from the front of each.
    3. ``metaphor`` and ``sarcasm``: the first line "matches the word Yes" if it begins with it, in
       this spelling (the paper does not say whether it must be all of the line, which would make a
       No of "Yes." and "Yes, it does"). Then MC (SC) is 1, else 0, and all other answers are empty.
    4. The second line is the word (MW, SW); if it has double quotation marks, straight or curly,
       what stands between the first pair of them.
    5. ``metaphor``: lines 3 and 4, joined by a blank, are ME. ``sarcasm``: line 3 is ST, line 4 is
       SE.

    Of a single question (ours, after the same rules) ``mc`` and ``sc`` are decided by the first
    line, ``mw`` and ``sw`` are the first line as in rule 4; ``me``, ``st`` and ``se`` are all
    lines, joined by blanks. An explanation (``me``, ``se``) may stand in a thought that is meant
    for a reader, if nothing stands outside.

    Source: NYK-MS, section 3.4.
    """
    fields = FIELDS[question]
    asks_for_label = fields[0] in LABELS

    def read(rule: str, *values: int | str) -> Read[Answers]:
        return Read(dict(zip_longest(fields, values, fillvalue="")), "read", rule)

    answer = find_answer(output)
    if isinstance(answer, Read):
        in_thought = explanation_in_thought(output or "")
        if in_thought is None or question not in ("me", "se"):
            return answer
        return read(EXPLAINED, " ".join(in_thought.split()))
    stripped = [line.strip() for line in answer.raw.splitlines()]
    lines = [_NUMBER.sub("", line, count=1).strip() for line in stripped if line]
    if not lines:
        return Read(None, "empty", "empty")
    first, second, third, fourth = (lines + [""] * 4)[:4]

    if asks_for_label and _YES.match(first):
        if question == "metaphor":
            return read("yes", 1, _word(second)[0], " ".join(filter(None, (third, fourth))))
        return read("yes", 1, *((_word(second)[0], third, fourth) if question == "sarcasm" else ()))
    if asks_for_label and _NO.match(first):
        return read("no", 0)
    if _declines(answer.raw, in_words=not asks_for_label):
        return Read(None, "refused", "refusal")
    if asks_for_label:
        return Read(None, "unreadable", "not-yes")
    text, rule = (
        _word(first) if question in ("mw", "sw") else (" ".join(filter(None, lines)), "lines")
    )
    return read(rule, text) if text else Read(None, "empty", rule)


def nothing(question: str) -> Answers:
    """What an output counts as that could not be read: No, and empty texts."""
    return {field: 0 if field in LABELS else "" for field in FIELDS[question]}


def _word(line: str) -> tuple[str, str]:
    quoted = _QUOTED.search(line)
    return (quoted[1].strip(), "quoted") if quoted and quoted[1].strip() else (line, "line")


_ASKED = re.compile(
    r"does (?:it|the cartoon|this) contain (?:an? |any )?(?:metaphors?|sarcasm)\?", re.I
)
_LETTER = re.compile(r"[^\W\d_]")


def first_answer(output: str | None, question: str) -> Read[bool]:
    """The label as a careful reader takes it, from the first line that is more than the question
    said again.

    Of several numbered answers the others are not about the label.
    """
    answer = find_answer(output)
    if isinstance(answer, Read):
        return answer
    topic = _TOPICS["metaphor" if question in ("metaphor", "mc") else "sarcasm"]
    lines = (_ASKED.sub("", line).rstrip("* ") for line in answer.raw.splitlines())
    first = next((line for line in lines if _LETTER.search(line) and not line.endswith(":")), "-")
    return yes_no(first, about=topic)


# --- marks of annotated answers ---

Kind: TypeAlias = Literal["word", "object", "image", "free"]
"""What an annotated answer names: words of the caption (no mark), an object in the image (``[I]
object``), the whole image (``[I]``; of MW and SW only), or the annotators' own words (``[S]
text``)."""

WHOLE_IMAGE = "the whole image"
_ANY_MARK = re.compile(r"\[\s*[IS]\s*\]", re.I)
_MARK = re.compile(r"\A\s*\[([^\[\]]*)\]\s*")
_WHOLE_IMAGE = re.compile(
    r"\A\W*(?:the |this )?(?:whole |entire |complete |full"
    r" )?(?:image|picture|cartoon|drawing|scene)(?: itself)?\W*\Z",
    re.I,
)


class Annotation(NamedTuple):
    """An annotated answer without its mark: what a prediction is compared with."""

    text: str
    kind: Kind


def read_annotation(raw: str, field: str) -> Annotation:
    """An annotated answer (``flat``, ``[I] horse``, ``[I]``, ``[S] office life``) without its mark.

    A `DataError` if it breaks the rules of NYK-MS, Appendix C: only MW, SW and ST carry marks.
    """
    text = raw.strip()
    if not text:
        raise DataError("is empty")
    mark = _MARK.match(text) if field in MARKED_FIELDS else None
    rest = text[mark.end() :].strip() if mark is not None else text
    if field in MARKED_FIELDS and _ANY_MARK.search(
        rest
    ):  # no prediction could ever equal such an answer
        raise DataError(
            "has two marks, or a mark that is not at the start: write one mark, then the words"
        )
    if mark is None:
        return Annotation(text, "word")
    if mark[1] in ("I", "S") and rest and rest[0] in ",;:.!?-\u2013\u2014":
        raise DataError(f"has {rest[0]!r} behind its mark [{mark[1]}]: one mark, then the words")
    if mark[1] == "I":
        if rest:
            return Annotation(rest, "object")
        if field == "ST":
            raise DataError("is only [I]: the whole image is an answer to MW and SW only")
        return Annotation(WHOLE_IMAGE, "image")
    if mark[1] == "S":
        if not rest:
            raise DataError("is [S] without words after it")
        return Annotation(rest, "free")
    raise DataError(
        f"has the unknown mark [{mark[1]}]; known: [I] object, [I] (the whole image), [S] text"
    )


def without_mark(text: str) -> tuple[str, bool]:
    """A predicted answer without its mark, and whether it had one; ``[I]`` is the whole image."""
    mark = _MARK.match(text)
    if mark is None or mark[1] not in ("I", "S"):
        return text, False
    rest = text[mark.end() :].strip()
    return (WHOLE_IMAGE if mark[1] == "I" and not rest else rest), True


def same_place(text: str) -> str:
    """``the whole image`` where an answer names it in other words, else the answer itself."""
    return WHOLE_IMAGE if _WHOLE_IMAGE.match(text) else text
