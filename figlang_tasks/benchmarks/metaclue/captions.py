"""Reads the statement of a metaphor in a caption: ``primary is as relationship as secondary``.

`parse_official` reads as the paper does (arXiv 2212.09898, section 3.2), `parse_caption` as a
careful reader. Each expression takes linear time: what repeats is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.verdict import Read, find_answer
from figlang_tasks.answers.words import REFUSAL


@dataclass(frozen=True)
class Statement:
    """What is compared with what.

    Attributes:
        primary, relationship, secondary: the parts, none of them empty.
        text: the whole statement.
    """

    primary: str
    relationship: str
    secondary: str
    text: str


def in_one_line(output: str | None) -> str:
    """All that a model answers, in one line; both ends of an answer longer than 64 KiB."""
    return _line(Answer.of(output or ""))


def _line(answer: Answer) -> str:
    """An answer with single spaces in place of line breaks and other white space."""
    # "\x00" stands for what is left out of a long answer.
    return " ".join(answer.raw.replace("\x00", " ").split())


# --- the paper's reading ---

# Signs around a part that are none of its words.
_EDGES = " .,;:!?\"'`*_"
_IS_AS = re.compile(r" is as ", re.I)
_AS = re.compile(r" as ", re.I)


def parse_official(output: str | None) -> Read[Statement]:
    """Read a caption as the paper does: all of it is the statement, split at "is as" and "as".

    "Since the target captions follow the fixed syntactic structure, we parse each predicted caption
    into the primary concept, the secondary concept, and their relationship". The first "is as" and
    the first "as" after it separate the parts, so that a preface becomes part of the primary
    concept. A caption without them has no statement: "The score of 0 is given if parsing fails".
    No code was released; that the first "as" counts is inferred.
    """
    answer = find_answer(output)
    if isinstance(answer, Read):  # The output has no answer.
        return answer
    text = _line(answer)
    parts = _split_at_verb(text, _IS_AS.search(text), _EDGES)
    if parts is None:
        return Read(None, "unreadable", "nothing")
    return Read(Statement(*parts, text), "read", "statement")


class _Parts(NamedTuple):
    """The parts of a statement, none of them empty."""

    primary: str
    relationship: str
    secondary: str


def _split_at_verb(text: str, verb: re.Match[str] | None, edges: str) -> _Parts | None:
    """The parts of a statement; None if it has no verb or no second "as", or a part is empty.

    Args:
        text: the statement.
        verb: the match of " is as ", or another verb with "as", in the text; it ends with a blank.
            None if the text has no such verb.
        edges: signs that are no part of a concept or relationship.
    """
    if verb is None:
        return None
    # The verb's match ends with its blank and `_AS` begins with one, so in "is as as good" the
    # second "as" is not found.
    second_as = _AS.search(text, verb.end())
    if second_as is None:
        return None
    primary = text[: verb.start()].strip(edges)
    relationship = text[verb.end() : second_as.start()].strip(edges)
    secondary = text[second_as.end() :].strip(edges)
    if not (primary and relationship and secondary):
        return None
    return _Parts(primary, relationship, secondary)


# --- a careful reading ---

# Signs around a part, with brackets, list markers and curly quotation marks.
_BRACKETS = _EDGES + "#-\u2018\u2019\u201c\u201d<>[](){}"
_LIST_NUMBER = re.compile(r"\A\W{0,3}\d{1,3}[.)] ")
_VERB = re.compile(r" (is|are|was|were|can be)(?: just)? as (?!if )", re.I)
# Where a statement ends: at the end of a sentence (but not behind the point of "Mr" or "J"), before
# ", or that", or with its line.
_STOP = re.compile(
    r"(?<!\b[A-Z])(?<!\b[A-Z][a-z])[.!?][\"')*]{0,3} +(?=[\W_]{0,3}[A-Z0-9])"
    r"|, or (?=that\b)"
    r"|\n"
)
# What leads to a statement: "Metaphor: ", a quotation mark, "The image implies that ".
_LEAD_IN = re.compile(
    r".*(?::[*_]{0,2} |[\"\u201c](?=\w)|\b(?:image|ad\w{0,12}|poster|metaphor|i) \w.{0,80}? that "
    r"|\Ain this \w{1,20}, )",
    re.I,
)
# An afterthought: "because ...", "which ...", ", suggesting speed", "(with flames)".
_TAIL = re.compile(
    r"(?:[.!]?[\"\u201d]|,? because\b|, (?:which\b|(?:\w{1,20}ly )?\w{3,20}ing (?!and\b)\w)|"
    r" [(\u2014]).*\Z"
)
_EXPLANATION = re.compile(r"\n\W{0,8}explanation\b", re.I)
# Three named parts: "Primary concept: this phone", "relationship": "fast", ...; a group for each.
_VALUE = r"(?: concept)?[\"*]{0,3}:[\"* ]{1,5}([^\"\n]{1,100})[\"*,\s]{1,4}"
_NAMED = re.compile(rf"\bprimary{_VALUE}relationship{_VALUE}secondary{_VALUE}", re.I)


def parse_caption(output: str | None) -> Read[Statement]:
    """Read the statement in a caption without what leads to it and without afterthoughts.

    The first of these rules that fits decides:

    - ``named``: the three parts stand by their names: "Primary: this phone".
    - ``heading``: one statement stands behind a colon: "Answer: ...".
    - ``statement``: there is only one statement.

    Several different statements are ambiguous. The repeated pattern of the question, "... is as
    relationship as ...", is no statement.
    """
    answer = find_answer(output)
    if isinstance(answer, Read):  # The output has no answer.
        return answer
    # "\x00" stands for what is left out of a long answer. In `_NAMED`, something follows each part.
    text = answer.raw.replace("\x00", "\n") + "\n"
    named_statement = _named_statement(text)
    if named_statement is not None:
        return Read(named_statement, "read", "named")

    explanation = _EXPLANATION.search(text)
    if explanation is not None:
        text = text[: explanation.start()]
    # By its words in lower case: a statement that comes again is the same one.
    statement_by_words: dict[str, Statement] = {}
    words_with_heading: set[str] = set()
    for statement, has_heading in _statements(text):
        words = statement.text.lower()
        statement_by_words.setdefault(words, statement)
        if has_heading:
            words_with_heading.add(words)

    if len(words_with_heading) == 1:
        return Read(statement_by_words[words_with_heading.pop()], "read", "heading")
    if len(statement_by_words) == 1:
        return Read(next(iter(statement_by_words.values())), "read", "statement")
    if statement_by_words:
        return Read(None, "ambiguous", "conflict")
    if REFUSAL.search(answer.text):
        return Read(None, "refused", "refusal")
    return Read(None, "unreadable", "nothing")


def _named_statement(text: str) -> Statement | None:
    """The statement whose parts stand by their names; None if one is empty or has no name.

    Its text is put together from the parts.
    """
    match = _NAMED.search(text)
    if match is None:
        return None
    primary, relationship, secondary = (part.strip(_BRACKETS) for part in match.groups())
    # Some write the pattern too: "Relationship: is as fast as".
    relationship = re.sub(r"\A(?:is )?as (.*) as\Z", r"\1", relationship)
    if not (primary and relationship and secondary):
        return None
    statement_text = f"{primary} is as {relationship} as {secondary}"
    return Statement(primary, relationship, secondary, statement_text)


def _statements(text: str) -> Iterator[tuple[Statement, bool]]:
    """Yield each statement in a text, and whether a heading stands before it: "Answer: ..."."""
    for sentence in _STOP.split(text):
        line = " ".join(sentence.split())
        verb = _VERB.search(line)
        if verb is None:
            continue
        lead_in = _LEAD_IN.match(line, 0, verb.start())
        has_heading = lead_in is not None and lead_in[0].rstrip(" *_").endswith(":")
        if lead_in is not None:
            # "I cannot say that this phone is as fast as a rocket". `REFUSAL` has straight
            # apostrophes. Behind a heading the words before it do not count.
            is_refusal = REFUSAL.search(lead_in[0].replace("\u2019", "'")) is not None
            if is_refusal and not has_heading:
                continue
            line = line[lead_in.end() :]
        statement = _statement_in_line(_LIST_NUMBER.sub("", line), verb[1])
        if statement is not None:
            yield statement, has_heading


def _statement_in_line(line: str, verb_word: str) -> Statement | None:
    """The statement that a line is, without afterthoughts; None if it is none.

    Args:
        line: a line without its lead-in.
        verb_word: the verb of its statement: "is" or "are", say.
    """
    parts = _split_at_verb(line, _VERB.search(line), _BRACKETS)
    if parts is None:
        return None
    primary, relationship, secondary = (_TAIL.sub("", part).strip(_BRACKETS) for part in parts)
    is_pattern_of_question = relationship.lower() == "relationship"
    if not secondary or is_pattern_of_question:  # all of it may have been an afterthought
        return None
    text = f"{primary} {verb_word} as {relationship} as {secondary}"
    return Statement(primary, relationship, secondary, text)
