"""From a model's words to a metaphor's statement: ``primary is as relationship as secondary``.

`parse_official` is the paper's reading, `parse_caption` a careful one of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.verdict import Read, find_answer
from figlang_tasks.answers.words import REFUSAL


@dataclass(frozen=True)
class Statement:
    """What is compared with what: the parts, none of them empty, and the statement in words."""

    primary: str
    relationship: str
    secondary: str
    text: str


_EDGES = " .,;:!?\"'`*_"
_IS_AS = re.compile(r" is as ", re.I)
_AS = re.compile(r" as ", re.I)


def in_one_line(output: str | None) -> str:
    """All that a model answers, in one line; of more than 64 KiB both ends."""
    return _line(Answer.of(output or ""))


def _line(answer: Answer) -> str:
    return " ".join(answer.raw.replace("\x00", " ").split())


def parse_official(output: str | None) -> Read[Statement]:
    """The parts of a caption as the paper has them (section 3.2): the whole answer is the
    statement.

    The first "is as" and the first "as" after it separate the parts, so a preface becomes part of
    the primary concept. A caption without them scores 0 on each ("The score of 0 is given if
    parsing fails"). No code was released; that the first "as" counts is inferred.
    """
    answer = find_answer(output)
    if isinstance(answer, Read):
        return answer
    text = _line(answer)
    parts = _parts(text, _IS_AS.search(text), _EDGES)
    return (
        Read(Statement(*parts, text), "read", "statement")
        if parts
        else Read(None, "unreadable", "nothing")
    )


def _parts(text: str, verb: re.Match[str] | None, edges: str) -> tuple[str, str, str] | None:
    # The blank before the second "as" may be the one after the first: "is as as good".
    second = _AS.search(text, verb.end()) if verb else None
    if verb is None or second is None:
        return None
    found = (text[: verb.start()], text[verb.end() : second.start()], text[second.end() :])
    primary, relationship, secondary = (part.strip(edges) for part in found)
    return (primary, relationship, secondary) if primary and relationship and secondary else None


_BRACKETS = _EDGES + "#-\u2018\u2019\u201c\u201d<>[](){}"
_NUMBER = re.compile(r"\A\W{0,3}\d{1,3}[.)] ")
_VERB = re.compile(r" (is|are|was|were|can be)(?: just)? as (?!if )", re.I)
# A point behind "Mr" or "J" ends no sentence.
_STOP = re.compile(
    r"(?<!\b[A-Z])(?<!\b[A-Z][a-z])[.!?][\"')*]{0,3} +(?=[\W_]{0,3}[A-Z0-9])|, or (?=that\b)" r"|\n"
)
_LEAD_IN = re.compile(
    r".*(?::[*_]{0,2} |[\"\u201c](?=\w)|\b(?:image|ad\w{0,12}|poster|metaphor|i) \w.{0,80}? that "
    r"|\Ain this \w{1,20}, )",
    re.I,
)
_TAIL = re.compile(
    r"(?:[.!]?[\"\u201d]|,? because\b|, (?:which\b|(?:\w{1,20}ly )?\w{3,20}ing (?!and\b)\w)|"
    r" [(\u2014]).*\Z"
)
_EXPLANATION = re.compile(r"\n\W{0,8}explanation\b", re.I)
_VALUE = r"(?: concept)?[\"*]{0,3}:[\"* ]{1,5}([^\"\n]{1,100})[\"*,\s]{1,4}"
_NAMED = re.compile(rf"\bprimary{_VALUE}relationship{_VALUE}secondary{_VALUE}", re.I)


def parse_caption(output: str | None) -> Read[Statement]:
    """The statement in a caption, as a careful reader takes it: without what leads in, and without
    afterthoughts.

    The first of these decides: the three parts stand by their names (``named``); the one statement
    behind a colon (``heading``); the only one (``statement``). A repeated pattern ("... is as
    relationship as ...") is none.
    """
    answer = find_answer(output)
    if isinstance(answer, Read):
        return answer
    raw = answer.raw.replace("\x00", "\n") + "\n"
    named = _NAMED.search(raw)
    if named is not None:
        primary, relationship, secondary = (part.strip(_BRACKETS) for part in named.groups())
        relationship = re.sub(r"\A(?:is )?as (.*) as\Z", r"\1", relationship)
        text = f"{primary} is as {relationship} as {secondary}"
        if primary and relationship and secondary:
            return Read(Statement(primary, relationship, secondary, text), "read", "named")
    found: dict[str, Statement] = {}
    headed = set()
    explanation = _EXPLANATION.search(raw)
    for statement, has_heading in _statements(raw[: explanation.start()] if explanation else raw):
        found.setdefault(statement.text.lower(), statement)
        if has_heading:
            headed.add(statement.text.lower())
    if len(headed) == 1:
        return Read(found[headed.pop()], "read", "heading")
    if len(found) == 1:
        return Read(next(iter(found.values())), "read", "statement")
    if found:
        return Read(None, "ambiguous", "conflict")
    if REFUSAL.search(answer.text):
        return Read(None, "refused", "refusal")
    return Read(None, "unreadable", "nothing")


def _statements(text: str) -> Iterator[tuple[Statement, bool]]:
    """Yield each statement, and whether it has a heading in its line."""
    for sentence in _STOP.split(text):
        bare = " ".join(sentence.split())
        verb = _VERB.search(bare)
        lead_in = _LEAD_IN.match(bare, 0, verb.start()) if verb else None
        has_heading = lead_in is not None and lead_in[0].rstrip(" *_").endswith(":")
        if lead_in is not None:
            if not has_heading and REFUSAL.search(lead_in[0].replace("\u2019", "'")):
                continue
            bare = bare[lead_in.end() :]
        bare = _NUMBER.sub("", bare)
        parts = _parts(bare, _VERB.search(bare), _BRACKETS)
        if verb is None or parts is None:
            continue
        primary, relationship, secondary = (_TAIL.sub("", part).strip(_BRACKETS) for part in parts)
        if secondary and relationship.lower() != "relationship":
            text = f"{primary} {verb[1]} as {relationship} as {secondary}"
            yield Statement(primary, relationship, secondary, text), has_heading
