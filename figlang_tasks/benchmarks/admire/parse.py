"""Reads AdMIRe's answers, and never guesses: a ranking of all pictures, or picture and sense.

The shared task has no rules for this: the official scorer stops at an answer that is no ranking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from figlang_tasks.answers.choices import Choices
from figlang_tasks.answers.option import option
from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.verdict import Evidence, Read, decide, find_answer, read_marked_parts
from figlang_tasks.answers.words import REFUSAL, is_said
from figlang_tasks.benchmarks.admire.ranking_forms import (
    are_counted_down,
    find_lists,
    find_packed,
    find_ranks,
)
from figlang_tasks.benchmarks.admire.told_rankings import find_told

# --- a ranking (subtask A) ---

# Where the words before a ranking are its introduction (`_introduction`): in its sentence, or, for
# "Here is my ranking:\n\n1. B", in a line above that ends in a colon.
_WORD = re.compile(r"\w")
_LINE_ABOVE = re.compile(
    r"([^\n]{0,160}:)[ \t]{0,8}\n[^\w\n]{0,8}(?:\n[^\w\n]{0,8}){0,3}(?:\d{1,2}[.):][^\w\n]{0,8})?\Z"
)
# What an introduction says: "the ranking", how it ends ("is", ":", "are", "I would go with"), a
# denial or a condition.
_RANKING = re.compile(r"\b(?:rank\w*|order|answer|best|ordem)\b", re.I)
_SAYS = re.compile(r"(?:[:=]|\b(?:is|be|é)\b)[\s\"'(\[{]{0,8}\Z", re.I)
_COLON = re.compile(r"[:=][\s\"'(\[{]{0,8}\Z")
_ARE = re.compile(r"\b(?:are|são)[\s:]{0,8}\Z", re.I)
_CHOOSES = re.compile(
    r"\b(?:go with|choose|pick|say|propose|suggest|put|rank)(?:\sthem)?[\s:\"'(\[{]{0,8}\Z", re.I
)
_DENIED = re.compile(r"(?:\b(?:not|cannot|could|n[aã]o)\b|n't\b)[^,.;\n]*\Z|\bif\b", re.I)
# What stands behind a list: nothing, " is the ranking", ", because"; or an aside, " (B shows ...)".
_ENDS = re.compile(r"\W*\Z|\sis\s(?:the|my)\sranking\b|,?\sbecause\b")
_ASIDE = re.compile(r"\s?[(:-]")
# "From worst to best", "least fitting first".
_WORST_FIRST = re.compile(
    r"(?<!to )(?<!to the )\b(?:worst|least|pior)(?:\s\w{1,20}){0,2}[\s>-]{1,3}(?:to|para|first)\b",
    re.I,
)
_FINAL = re.compile(r"\bfinal\b", re.I)


def ranking(output: str | None, count: int) -> Read[tuple[int, ...]]:
    """The order in which an answer ranks all pictures: their 0-based positions, the best first.

    The first of these forms that the answer has decides:

    - ``list``: "B, D, A, C, E", "b > d > ...", "BDACE", one name a line; it stands alone, or the
      words before it announce it.
    - ``items``: a rank beside each name: "1. Image B: ...", "B: rank 1", ``{"B": 1}``, a table.
      Numbered items in the order A, B, C, D, E are as likely a description of the pictures. Numbers
      behind letters may be scores: they are read where they are called ranks, are counted up while
      the letters are not, or are the whole answer.
    - ``told``: "B is best. Then D, which ... E is the worst."

    What is negated, hedged or asked is not read, nor is an order of some pictures or one with ties.
    A "final" ranking counts before others. Without a ranking the status says why: ``out_of_range``
    (a list with "F"), ``unreadable`` (rule ``incomplete``, a list of some pictures, or
    ``nothing``), ``refused``, or ``ambiguous`` (several rankings).

    Args:
        output: the model's output; None if there is none.
        count: how many pictures were shown; A or 1 is the first.
    """
    return read_marked_parts(output, partial(_read_ranking, count=count))


def _read_ranking(answer: Answer, count: int) -> Read[tuple[int, ...]]:
    """The ranking in an answer or a marked part of it, see `ranking`; else why there is none."""
    text = answer.text
    capitals = find_lists(text, "capitals")
    numbers = find_lists(text, "numbers")
    lists = [*capitals, *find_lists(text, "small letters"), *numbers, *find_packed(text, count)]
    whole_lists: list[Evidence] = []
    for candidate in lists:
        if _has_each_picture_once(candidate, count) and not are_counted_down(text, candidate):
            whole_lists.append(candidate)

    for rankings in (whole_lists, find_ranks(text, count), find_told(text, count)):
        reading = _decide(answer, rankings)
        if reading is not None:
            return reading

    # No ranking was read. Lists of capitals or of numbers may say why; small letters may be words.
    clear_lists = [*capitals, *numbers]
    for candidate in clear_lists:
        if max(candidate.value) >= count or min(candidate.value) < 0:  # "F", or the number 0
            return Read(None, "out_of_range", "range")
    for candidate in clear_lists:
        if not _has_each_picture_once(candidate, count):
            return Read(None, "unreadable", "incomplete")
    if REFUSAL.search(text):
        return Read(None, "refused", "refusal")
    return Read(None, "unreadable", "nothing")


def _has_each_picture_once(ranking: Evidence, count: int) -> bool:
    """Whether a list is a ranking of all pictures, and has none of them twice."""
    return sorted(ranking.value) == list(range(count))


def _decide(answer: Answer, rankings: list[Evidence]) -> Read[tuple[int, ...]] | None:
    """The ranking that an answer means, of several in one form; None if it means none of them.

    Rankings that are called final count alone, if there are any. Several different ones are
    ambiguous (`figlang_tasks.answers.verdict.decide`). One from worst to best is turned round.
    """
    answers: list[Evidence] = []
    final_answers: list[Evidence] = []
    for ranking in rankings:
        introduction = _introduction(answer, ranking)
        if not _is_meant(answer, ranking, introduction):
            continue
        words_behind = answer.text[ranking.end : ranking.end + 40]
        if _WORST_FIRST.search(introduction) or _WORST_FIRST.search(words_behind):
            best_first = ranking.value[::-1]
            ranking = ranking._replace(value=best_first)
        answers.append(ranking)
        if _FINAL.search(introduction):
            final_answers.append(ranking)
    return decide(answer, final_answers) or decide(answer, answers)


def _introduction(answer: Answer, ranking: Evidence) -> str:
    """The words before a ranking in its sentence, else a line above that ends in a colon, else "".

    Examples are "The ranking is" and "Here is my ranking:".
    """
    around = answer.around(ranking.start, ranking.end)
    if _WORD.search(around.sentence_before):
        return around.sentence_before
    line_above = _LINE_ABOVE.search(around.text_before)
    return line_above[1] if line_above else ""


def _is_meant(answer: Answer, ranking: Evidence, introduction: str) -> bool:
    """Whether an answer means a ranking: it is neither asked nor denied nor only mentioned.

    A list such as "B, D, A" is only mentioned unless words announce it or it stands alone.

    Args:
        answer: the answer.
        ranking: the ranking, of any form.
        introduction: the words before it (`_introduction`); "" if there are none.
    """
    around = answer.around(ranking.start, ranking.end)
    if around.is_in_question or _DENIED.search(introduction):
        return False
    if ranking.rule != "list":
        return True
    if introduction:
        return _is_announced(answer, ranking, introduction)
    return _stands_alone(ranking, around.sentence_after)


def _stands_alone(ranking: Evidence, sentence_after: str) -> bool:
    """Whether a list without words before it is no part of a longer sentence.

    An aside may follow: "B, D, A, C, E (B shows ...)". Behind letters in the order of the alphabet
    it may be a description.
    """
    if _ENDS.match(sentence_after):
        return True
    has_aside = _ASIDE.match(sentence_after) is not None
    return has_aside and not _is_alphabetical(ranking)


def _is_announced(answer: Answer, listed: Evidence, introduction: str) -> bool:
    """Whether the words before a list announce it as the ranking.

    Weaker words announce a list too, but not one in alphabetical order or ending in a digit: that
    may be a mere enumeration.
    """
    mentions_ranking = _RANKING.search(introduction) is not None
    if mentions_ranking and _SAYS.search(introduction):
        return True  # "The order is B, D, A, C, E", "Ranking: A, B, C, D, E"
    ends_in_digit = answer.text[listed.end - 1].isdigit()
    if _is_alphabetical(listed) or ends_in_digit:
        return False  # "I see: A, B, C, D, E", "I would pick 2, 4, 1, 3, 5"
    if _COLON.search(introduction) or _CHOOSES.search(introduction):
        return True  # "I see: B, D, A, C, E", "I would pick B, D, A, C, E"
    return mentions_ranking and _ARE.search(introduction) is not None  # "The best are B, D, ..."


def _is_alphabetical(ranking: Evidence) -> bool:
    """Whether a ranking has the pictures in the order shown: A, B, C, D, E."""
    return list(ranking.value) == sorted(ranking.value)


# --- a sequence (subtask B) ---

# "Image:", "Sentido:" at the start of a line or behind one of the signs {,;.
_FIELD = re.compile(
    r"(?:^|[{,;.])[^\w\n]{0,8}(?P<name>imagem?|sense|sentido)\W{0,3}[:=]", re.I | re.M
)
_IDIOMATIC = "idiom[aá]tic[oa]?"
_SENSE = re.compile(
    rf"\b(?:(?P<idiomatic>{_IDIOMATIC}|figurative|figurad[oa])|literal)(?:ly|mente)?\b", re.I
)
# "Idiomatic or literal" repeats the question.
_EITHER = re.compile(rf"\b(?:{_IDIOMATIC}|literal) (?:or|ou) (?:{_IDIOMATIC}|literal)\b", re.I)
# `is_said` knows English denials alone.
_NAO = re.compile(r"\bn[aã]o\b[^,.;]*\Z", re.I)


def sequence(output: str | None, count: int) -> tuple[Read[int], Read[str]]:
    """The picture that an answer chooses, as its 0-based position, and the sense that it names.

    Each is looked for in its field ("Image: B", "Sense: literal"), or in the whole answer where it
    has no such field. Either reading may have no value while the other has one.

    Args:
        output: the model's output; None if there is none.
        count: how many candidates were shown; A is the first.
    """
    answer = find_answer(output)
    if isinstance(answer, Read):  # the output has no answer, and so neither picture nor sense
        return answer, answer
    fields = _fields(answer)
    choices = Choices(count, are_pictures=True)
    # `option` finds the answer in an output itself, so it gets all of it.
    text_with_picture = fields["image"].text if "image" in fields else output
    picture_reading = option(text_with_picture, choices)
    part_with_sense = fields.get("sense", answer)
    sense_reading = decide(part_with_sense, _senses(part_with_sense))
    if sense_reading is None:
        sense_reading = Read(None, "unreadable", "nothing")
    return picture_reading, sense_reading


def _fields(answer: Answer) -> dict[str, Answer]:
    """What stands behind "Image:" and "Sense:" in their lines, by ``image`` and ``sense``.

    A field ends with its line, or where the next one begins: {"Image": "B", "Sense": "literal"}.
    The last of each counts; one with nothing behind it is left out.
    """
    heads = list(_FIELD.finditer(answer.text))
    starts_of_next_heads = [head.start() for head in heads[1:]]
    starts_of_next_heads.append(len(answer.text))
    fields: dict[str, Answer] = {}
    # Without heads there is one start too many.
    for head, start_of_next_head in zip(heads, starts_of_next_heads, strict=False):
        line_end = answer.text.find("\n", head.end(), start_of_next_head)
        field_end = line_end if line_end >= 0 else start_of_next_head
        content = answer.part(head.end(), field_end)
        if content.text.strip():
            is_image = head["name"].lower().startswith("image")
            fields["image" if is_image else "sense"] = content
    return fields


def _senses(answer: Answer) -> Iterator[Evidence]:
    """Yield each sense that an answer names and does not deny."""
    for word, around in answer.mentions(_SENSE, _EITHER):
        # "Not literal but idiomatic": what the other sense says does not count for this one.
        words_before = around.sentence_before.replace("literal", "")
        is_denied_in_portuguese = _NAO.search(around.sentence_before) is not None
        if is_said(words_before, around.sentence_after) and not is_denied_in_portuguese:
            sense = "idiomatic" if word["idiomatic"] else "literal"
            yield Evidence(sense, word.start(), word.end(), rule="word")
