"""NYK-MS's rules that extract answers from a model's output, and the marks of annotated answers.

`parse_official` follows the post-processing of section 3.4 of the paper (arXiv 2409.01037),
`read_annotation` the annotation rules of its Appendix C.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, TypeAlias

from figlang_tasks.answers.thoughts import EXPLAINED, explanation_in_thought
from figlang_tasks.answers.verdict import Read, find_answer
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.nykms.refusals import (
    TOPICS,
    is_refusal_in_words,
    is_refusal_of_yes_or_no,
)
from figlang_tasks.core.errors import DataError

FIELDS: dict[str, tuple[str, ...]] = {
    "metaphor": ("MC", "MW", "ME"),
    "sarcasm": ("SC", "SW", "ST", "SE"),
    "mc": ("MC",),
    "mw": ("MW",),
    "me": ("ME",),
    "sc": ("SC",),
    "sw": ("SW",),
    "st": ("ST",),
    "se": ("SE",),
}
"""The answers that each question asks for, named as the paper names its seven tasks.

``metaphor`` and ``sarcasm`` are the paper's joint prompts (Table 4), which ask for all of them at
once. The others ask for a single answer and are ours.
"""

QUESTIONS = tuple(FIELDS)
JOINT_QUESTIONS = ("metaphor", "sarcasm")
LABELS = ("MC", "SC")
"""The answers that are Yes or No. All others are words."""

MARKED_FIELDS = ("MW", "SW", "ST")
"""The answers whose annotations may have a mark (`read_annotation`)."""

Answers: TypeAlias = dict[str, int | str]
"""The answers by field (`FIELDS`): 0 or 1 for MC and SC, a text (perhaps "") for the others."""


# --- the published post-processing (section 3.4) ---

# A question number such as "1. ", but not the start of "3.5 million".
_NUMBER = re.compile(r"\A[ \t]*\d{1,2}\.(?!\d)[ \t]*")
_YES = re.compile(r"Yes\b")
_NO = re.compile(r"No\b")
# What stands between quotation marks: straight, curly (also the low one), or guillemets.
_QUOTED = re.compile(
    r'["\u201c\u201d\u201e\u00ab\u00bb]([^"\u201c\u201d\u201e\u00ab\u00bb]+)["\u201c\u201d\u00bb\u00ab]'
)
_PADDED_LINES = 4


def parse_official(output: str | None, question: str) -> Read[Answers]:
    """The answers by the published post-processing; the value is None if no answer was read.

    What is not read counts as `nothing`. The rules:

    1. The non-empty lines are taken, padded with blank ones to 4. Lines behind the fourth do not
       count.
    2. A question number such as ``1. `` is removed from the start of each line.
    3. ``metaphor`` and ``sarcasm``: the first line "matches the word Yes" if it begins with it, in
       this spelling (the paper does not say whether it must be all of the line, which would make a
       No of "Yes." and "Yes, it does"). Then MC (SC) is 1, else 0, and all other answers are empty.
    4. The second line is the word (MW, SW). If it has double quotation marks, straight or curly,
       the word is what stands between the first pair of them.
    5. ``metaphor``: lines 3 and 4, joined by a blank, are ME. ``sarcasm``: line 3 is ST, line 4 is
       SE.

    The single questions are ours and follow the same rules: ``mc`` and ``sc`` are decided by the
    first line; ``mw`` and ``sw`` are the first line as in rule 4; ``me``, ``st`` and ``se`` are all
    lines, joined by blanks. An explanation (``me``, ``se``) may stand in a thought that is meant
    for a reader, if nothing stands outside.

    Args:
        output: the model's output; None if there is none.
        question: a key of `FIELDS`.

    Source: NYK-MS, section 3.4.
    """
    answer = find_answer(output)
    if isinstance(answer, Read):  # the output has no answer outside of thoughts
        return _read_explanation_in_thought(output, question) or answer

    lines: list[str] = []
    for line in answer.raw.splitlines():
        if line.strip():
            lines.append(_NUMBER.sub("", line.strip(), count=1).strip())
    if not lines:
        return Read(None, "empty", "empty")
    asks_for_label = FIELDS[question][0] in LABELS
    if asks_for_label:
        return _read_label_and_words(answer.raw, lines, question)
    return _read_words(answer.raw, lines, question)


def nothing(question: str) -> Answers:
    """The answers that an output counts as if none was read: No, and empty texts."""
    answers: Answers = {}
    for field in FIELDS[question]:
        answers[field] = 0 if field in LABELS else ""
    return answers


def _read_label_and_words(raw_answer: str, lines: list[str], question: str) -> Read[Answers]:
    """The answers to a question that begins with Yes or No (rules 3 to 5 of `parse_official`).

    Args:
        raw_answer: the answer as the model wrote it.
        lines: its non-empty lines without question numbers, at least one.
        question: ``metaphor``, ``sarcasm``, ``mc`` or ``sc``.
    """
    label_field = FIELDS[question][0]
    padding = [""] * _PADDED_LINES
    first, second, third, fourth = (lines + padding)[:_PADDED_LINES]
    answers = nothing(question)
    if _YES.match(first):
        answers[label_field] = 1
        # ``mc`` and ``sc`` ask for the label alone.
        if question == "metaphor":
            answers["MW"] = _quoted_text(second) or second
            answers["ME"] = _join_lines([third, fourth])
        elif question == "sarcasm":
            answers["SW"] = _quoted_text(second) or second
            answers["ST"] = third
            answers["SE"] = fourth
        return Read(answers, "read", "yes")
    if _NO.match(first):
        return Read(answers, "read", "no")  # `nothing` is what No says
    if is_refusal_of_yes_or_no(raw_answer):
        return Read(None, "refused", "refusal")
    return Read(None, "unreadable", "not-yes")


def _read_words(raw_answer: str, lines: list[str], question: str) -> Read[Answers]:
    """The answer to a single question in words: the first line by rule 4, or all lines.

    Args:
        raw_answer: the answer as the model wrote it.
        lines: its non-empty lines without question numbers, at least one.
        question: ``mw``, ``me``, ``sw``, ``st`` or ``se``.
    """
    if is_refusal_in_words(raw_answer):
        return Read(None, "refused", "refusal")
    (field,) = FIELDS[question]
    if question not in ("mw", "sw"):
        text = _join_lines(lines)
        rule = "lines"
    elif quoted_text := _quoted_text(lines[0]):
        text = quoted_text
        rule = "quoted"
    else:
        text = lines[0]
        rule = "line"
    if not text:
        return Read(None, "empty", rule)
    return Read({field: text}, "read", rule)


def _read_explanation_in_thought(output: str | None, question: str) -> Read[Answers] | None:
    """The explanation (``me``, ``se``) if it stands in a thought that is meant for a reader.

    None for other questions, and without such a thought.
    """
    if output is None or question not in ("me", "se"):
        return None
    explanation = explanation_in_thought(output)
    if explanation is None:
        return None
    (field,) = FIELDS[question]
    return Read({field: " ".join(explanation.split())}, "read", EXPLAINED)


def _quoted_text(line: str) -> str:
    """What stands between the first pair of double quotation marks; "" without such a pair."""
    quoted = _QUOTED.search(line)
    return "" if quoted is None else quoted[1].strip()


def _join_lines(lines: list[str]) -> str:
    """The lines that are not empty, joined by blanks."""
    return " ".join(filter(None, lines))


# --- the label as a careful reader reads it ---

_REPEATED_QUESTION = re.compile(
    r"does (?:it|the cartoon|this) contain (?:an? |any )?(?:metaphors?|sarcasm)\?", re.I
)
_LETTER = re.compile(r"[^\W\d_]")  # of any alphabet


def first_answer(output: str | None, question: str) -> Read[bool]:
    """The label as a careful reader reads it: True for Yes; the value is None if it is not read.

    It stands in the first line that is more than the question repeated or a heading, such as
    "**Answer:**". The lines behind it answer the other questions of a joint prompt.

    Args:
        output: the model's output; None if there is none.
        question: ``metaphor``, ``sarcasm``, ``mc`` or ``sc``.
    """
    answer = find_answer(output)
    if isinstance(answer, Read):
        return answer
    topic = "metaphor" if question in ("metaphor", "mc") else "sarcasm"
    line_with_answer = "-"  # without such a line: a text in which no answer is read
    for line in answer.raw.splitlines():
        other_words = _REPEATED_QUESTION.sub("", line).rstrip("* ")
        is_heading = other_words.endswith(":")
        if _LETTER.search(other_words) and not is_heading:
            line_with_answer = other_words
            break
    return yes_no(line_with_answer, about=TOPICS[topic])


# --- marks of annotated answers (Appendix C) ---

Referent: TypeAlias = Literal["word", "object", "image", "free"]
"""What an annotated answer names, which its mark says.

- word: words of the caption; no mark.
- object: an object in the image; ``[I] object``.
- image: the whole image; ``[I]`` alone, for MW and SW only.
- free: the annotators' own words; ``[S] text``.
"""

WHOLE_IMAGE = "the whole image"
_ANY_MARK = re.compile(r"\[\s*[IS]\s*\]", re.I)
_LEADING_MARK = re.compile(r"\A\s*\[([^\[\]]*)\]\s*")
_NAME_OF_WHOLE_IMAGE = re.compile(
    r"\A\W*(?:the |this )?(?:whole |entire |complete |full"
    r" )?(?:image|picture|cartoon|drawing|scene)(?: itself)?\W*\Z",
    re.I,
)


class Annotation(NamedTuple):
    """An annotated answer without its mark: the text that a prediction is compared with."""

    text: str
    referent: Referent


def read_annotation(raw: str, field: str) -> Annotation:
    """An annotated answer without its mark: ``[I] horse`` is ``horse``, an object in the image.

    Args:
        raw: the answer as annotated: ``flat``, ``[I] horse``, ``[I]``, ``[S] office life``.
        field: the answer's field; only MW, SW and ST have marks.

    Raises:
        DataError: it breaks the rules of NYK-MS, Appendix C. The message says what is wrong with
            the answer and leaves out its name: ``is empty``.
    """
    text = raw.strip()
    if not text:
        raise DataError("is empty")
    if field not in MARKED_FIELDS:
        return Annotation(text, "word")

    leading_mark = _LEADING_MARK.match(text)
    words = text if leading_mark is None else text[leading_mark.end() :].strip()
    # No prediction could ever equal an answer with a mark in its words.
    if _ANY_MARK.search(words):
        raise DataError(
            "has two marks, or a mark that is not at the start: write one mark, then the words"
        )
    if leading_mark is None:
        return Annotation(text, "word")
    return _read_marked(leading_mark[1], words, field)


def _read_marked(mark: str, words: str, field: str) -> Annotation:
    """An annotated answer from its mark, such as ``I``, and the words behind it, perhaps "".

    Raises:
        DataError: see `read_annotation`.
    """
    if mark not in ("I", "S"):
        raise DataError(
            f"has the unknown mark [{mark}]; known: [I] object, [I] (the whole image), [S] text"
        )
    if words and words[0] in ",;:.!?-\u2013\u2014":
        raise DataError(f"has {words[0]!r} behind its mark [{mark}]: one mark, then the words")
    if mark == "S":
        if not words:
            raise DataError("is [S] without words after it")
        return Annotation(words, "free")
    if words:
        return Annotation(words, "object")
    if field == "ST":
        raise DataError("is only [I]: the whole image is an answer to MW and SW only")
    return Annotation(WHOLE_IMAGE, "image")


def without_mark(text: str) -> tuple[str, bool]:
    """A predicted answer without its mark, and whether it had one: ``("horse", True)``.

    ``[I]`` alone is ``the whole image``. Other brackets are part of the answer.
    """
    leading_mark = _LEADING_MARK.match(text)
    if leading_mark is None or leading_mark[1] not in ("I", "S"):
        return text, False
    words = text[leading_mark.end() :].strip()
    if leading_mark[1] == "I" and not words:
        return WHOLE_IMAGE, True
    return words, True


def named_whole_image(text: str) -> str:
    """``the whole image`` if an answer names it in other words, else the answer itself."""
    return WHOLE_IMAGE if _NAME_OF_WHOLE_IMAGE.match(text) else text
