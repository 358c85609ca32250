"""Yes or no."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from figlang_tasks.answers.text import ANNOUNCED, NEUTRAL, QUOTED, REFUSAL, Answer, is_said
from figlang_tasks.answers.verdict import Evidence, Read, by_marks, decide

_WORD = re.compile(
    r"(?<![\w-])(?<!\w')(?:(?P<yes>yes|yeah|y(?=\W*\Z))|(?P<no>no|nope|n(?=\W*\Z)))(?![\w-]|\.\d)"
    r"(?! (?!(?:it|the|this|there|because|as|since)\b)\w)",
    re.I,
)
_EITHER = re.compile(r"\byes['\"]?\s?(?:/|or)\s?['\"]?no\b", re.I)
_OPENS = re.compile(r"[\W\d]*(?:(?:so|therefore|i think|definitely|probably) )?\Z", re.I)
_ENDS_CLAUSE = re.compile(r"[,:]\s[\"']?\Z")
_END = re.compile(r"[\"')\]]?(?:,|\Z)")
_STATES = re.compile(
    r"(?:\b(?:image|picture|poster|ad|cartoon|caption|it|this|there)\b[^,;:]{0,40}?"
    r"\b(?:is|has|contains?|uses?|shows?|conveys?|visuali[sz]es?|illustrates?|captures?|represents?|depicts?|presents?)\s(?:(?:not|just|an?|the|clear|visual)\s){0,4}"
    rf"|(?:\b(?:sentences?|statements?|they|both|two|first|second)|{QUOTED})[\"')]{{0,2}}\s"
    r"(?:(?:do|does|are|seem to|\w+ly|indeed|in) ){0,3})\Z",
    re.I,
)
_OTHER = re.compile(r"\b(?:idiom(?!')|phrase|should)\b|\A\W*to\b", re.I)


def yes_no(output: str | None, about: str | None = None, own: Sequence[str] = ()) -> Read[bool]:
    """Yes or no; never a guess.

    The first of these that is found decides:

    - ``answer``: yes or no that is announced: "the answer is no", "I would say yes".
    - ``word``: yes or no that opens a line or a sentence, or closes a clause ("Based on the image, yes."). "No" before
      a noun is a determiner; "yes or no" is the echo of the question.
    - ``statement``: with `about`, a sentence about the thing that is asked for: "the image contains no metaphor". Its
      subject is the image (it, this, there ...). Questions and hedges (may, whether ...) state nothing.

    Different answers of one kind are ambiguous (``conflict``) unless the last corrects the others (``correction``).

    Args:
        output: the model's output; None if there is none.
        about: regular expression of the thing asked about, such as ``metaphors?``.
        own: texts of the prompt, such as the caption; where the answer repeats them, and in quoted sentences, it says
            nothing.

    Returns:
        True for yes; with one of these rules, or ``either``, ``refusal``, ``nothing``, ``thought``, ``empty``,
        ``missing``.

    Raises:
        TypeError: `output` is neither str nor None.
    """
    topic = re.compile(rf"\b(?:{about})\b", re.I) if about is not None else None
    return by_marks(output, partial(_read, about=topic), own)


def _read(answer: Answer, about: re.Pattern[str] | None) -> Read[bool]:
    words, stated = list(_words(answer)), list(_statements(answer, about)) if about is not None else []
    for found in (decide(answer, [word for word in words if word.rule == "answer"]), decide(answer, words)):
        if found is not None:
            # "Yes, the image contains no metaphor."; "The image contains no metaphor. [...] The answer is yes."
            disagree = any(_disagree(answer, words[0], other) for other in stated)
            if found.rule == "answer" and stated and stated[0].start < answer.sentence_ends[0]:
                disagree = disagree or stated[0].value != found.value
            return Read(None, "ambiguous", "conflict") if disagree and found.value is not None else found
    if NEUTRAL.match(answer.text):
        return Read(None, "refused", "refusal")
    found = decide(answer, stated)
    if found is not None:
        return found
    if _EITHER.search(answer.text):
        return Read(None, "ambiguous", "either")
    if REFUSAL.search(answer.text):
        return Read(None, "refused", "refusal")
    return Read(None, "unreadable", "nothing")


def _words(answer: Answer) -> Iterator[Evidence]:
    for word, (back, before, behind, _) in answer.mentions(_WORD, _EITHER):
        yes = word["yes"] is not None
        if ANNOUNCED.search(back) and is_said(before) is not None:
            yield Evidence(yes, *word.span(), "answer")
        elif _OPENS.match(before) or (
            _ENDS_CLAUSE.search(before) and _END.match(behind) and is_said(before) is not None
        ):
            yield Evidence(yes, *word.span(), "word")


def _statements(answer: Answer, about: re.Pattern[str]) -> Iterator[Evidence]:
    for topic, (_, before, behind, _) in answer.mentions(about):
        said = is_said(before)
        if said is None or _OTHER.search(before) or REFUSAL.search(before):
            continue
        if not said:
            yield Evidence(False, *topic.span(), "statement")
        elif _STATES.search(before) or not (before + behind).strip(" ."):
            yield Evidence(True, *topic.span(), "statement")


def _disagree(answer: Answer, word: Evidence, statement: Evidence) -> bool:
    before = answer.around(statement.start, statement.end).before
    return word.value != statement.value and statement.start - len(before) <= word.start < statement.start
