"""Reads a ranking of all pictures, and the answer about a sequence; never a guess."""

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

# --- a ranking ---

_WORD = re.compile(r"\w")
_LINE_ABOVE = re.compile(
    r"([^\n]{0,160}:)[ \t]{0,8}\n[^\w\n]{0,8}(?:\n[^\w\n]{0,8}){0,3}(?:\d{1,2}[.):][^\w\n]{0,8})?\Z"
)
_RANKING = re.compile(r"\b(?:rank\w*|order|answer|best|ordem)\b", re.I)
_SAYS = re.compile(r"(?:[:=]|\b(?:is|be|é)\b)[\s\"'(\[{]{0,8}\Z", re.I)
_COLON = re.compile(r"[:=][\s\"'(\[{]{0,8}\Z")
_ARE = re.compile(r"\b(?:are|são)[\s:]{0,8}\Z", re.I)
_CHOOSES = re.compile(
    r"\b(?:go with|choose|pick|say|propose|suggest|put|rank)(?:\sthem)?[\s:\"'(\[{]{0,8}\Z", re.I
)
_DENIED = re.compile(r"(?:\b(?:not|cannot|could|n[aã]o)\b|n't\b)[^,.;\n]*\Z|\bif\b", re.I)
_ENDS = re.compile(r"\W*\Z|\sis\s(?:the|my)\sranking\b|,?\sbecause\b")
_ASIDE = re.compile(r"\s?[(:-]")
_WORST_FIRST = re.compile(
    r"(?<!to )(?<!to the )\b(?:worst|least|pior)(?:\s\w{1,20}){0,2}[\s>-]{1,3}(?:to|para|first)\b",
    re.I,
)
_FINAL = re.compile(r"\bfinal\b", re.I)


def ranking(output: str | None, count: int) -> Read[tuple[int, ...]]:
    """Read the order in which an answer names all pictures, the best first.

    The first of these forms that the answer has decides:

    - ``list``: "B, D, A, C, E", "b > d > ...", "BDACE", one name a line; it stands alone, or the
      words before it announce it.
    - ``items``: a rank beside each name: "1. Image B: ...", "B: rank 1", ``{"B": 1}``, a table.
      Numbered items in the order A, B, C, D, E are as likely a description of the pictures. Numbers
      behind letters may be scores: they are read where they are called ranks, are counted up while
      the letters are not, or are the whole answer.
    - ``told``: "B is best. Then D, which ... E is the worst."

    What is negated, hedged or asked is not read, nor is an order of some pictures or one with ties.
    A "final" ranking counts before others.
    """
    return read_marked_parts(output, partial(_ranking, count=count))


def _ranking(answer: Answer, count: int) -> Read[tuple[int, ...]]:
    text = answer.text
    capitals = find_lists(text, "capitals")
    numbers = find_lists(text, "numbers")
    lists = [*capitals, *find_lists(text, "small letters"), *numbers, *find_packed(text, count)]
    whole_lists = [
        names for names in lists if _is_whole(names, count) and not are_counted_down(text, names)
    ]

    for rankings in (whole_lists, find_ranks(text, count), find_told(text, count)):
        decision = _decide(answer, rankings, count)
        if decision:
            return decision

    for names in (*capitals, *numbers):
        if max(names.value) >= count or min(names.value) < 0:
            return Read(None, "out_of_range", "range")
    if not all(_is_whole(names, count) for names in (*capitals, *numbers)):
        return Read(None, "unreadable", "incomplete")
    if REFUSAL.search(text):
        return Read(None, "refused", "refusal")
    return Read(None, "unreadable", "nothing")


def _is_whole(ranking: Evidence, count: int) -> bool:
    """Whether a ranking has each picture once."""
    return sorted(ranking.value) == list(range(count))


def _decide(answer: Answer, rankings: list[Evidence], count: int) -> Read[tuple[int, ...]] | None:
    """The ranking that an answer means, of several in one form; None if it means none of them."""
    answers: list[Evidence] = []
    final_answers: list[Evidence] = []
    for ranking in rankings:
        introduction = _introduction(answer, ranking)
        if not _is_meant(answer, ranking, introduction):
            continue
        behind = answer.text[ranking.end : ranking.end + 40]
        if _WORST_FIRST.search(introduction) or _WORST_FIRST.search(behind):
            ranking = ranking._replace(value=ranking.value[::-1])
        answers.append(ranking)
        if _FINAL.search(introduction):
            final_answers.append(ranking)
    return decide(answer, final_answers) or decide(answer, answers)


def _introduction(answer: Answer, ranking: Evidence) -> str:
    """The words before a ranking in its sentence, or the line above it if that ends in a colon."""
    around = answer.around(ranking.start, ranking.end)
    if _WORD.search(around.sentence_before):
        return around.sentence_before
    line = _LINE_ABOVE.search(around.text_before)
    return line[1] if line else ""


def _is_meant(answer: Answer, ranking: Evidence, introduction: str) -> bool:
    """Whether a ranking is the answer: neither asked nor denied, and a list only where it is
    announced or alone.
    """
    around = answer.around(ranking.start, ranking.end)
    if around.is_in_question or _DENIED.search(introduction):
        return False
    if ranking.rule != "list":
        return True
    # The order of the alphabet, and numbers, may be something else than a ranking.
    is_in_order = list(ranking.value) == sorted(ranking.value)
    is_doubtful = is_in_order or answer.text[ranking.end - 1].isdigit()
    if not introduction:
        return bool(
            _ENDS.match(around.sentence_after)
            or (_ASIDE.match(around.sentence_after) and not is_in_order)
        )
    names_ranking = _RANKING.search(introduction)
    if names_ranking and _SAYS.search(introduction):
        return True
    if is_doubtful:
        return False
    return bool(
        _COLON.search(introduction)
        or _CHOOSES.search(introduction)
        or (names_ranking and _ARE.search(introduction))
    )


# --- a sequence ---

_FIELD = re.compile(
    r"(?:^|[{,;.])[^\w\n]{0,8}(?P<name>imagem?|sense|sentido)\W{0,3}[:=]", re.I | re.M
)
_IDIOMATIC = "idiom[aá]tic[oa]?"
_SENSE = re.compile(
    rf"\b(?:(?P<idiomatic>{_IDIOMATIC}|figurative|figurad[oa])|literal)(?:ly|mente)?\b", re.I
)
_EITHER = re.compile(rf"\b(?:{_IDIOMATIC}|literal) (?:or|ou) (?:{_IDIOMATIC}|literal)\b", re.I)
_NAO = re.compile(r"\bn[aã]o\b[^,.;]*\Z", re.I)


def sequence(output: str | None, count: int) -> tuple[Read[int], Read[str]]:
    """Read the picture that an answer chooses, and the sense that it names.

    Each is looked for in its field ("Image: B", "Sense: literal"), or in the whole answer where it
    has no such field.
    """
    answer = find_answer(output)
    if isinstance(answer, Read):
        return answer, answer
    fields = _fields(answer)
    choices = Choices(count, are_pictures=True)
    picture = option(fields["image"].text if "image" in fields else output, choices)
    part_with_sense = fields.get("sense", answer)
    sense = decide(part_with_sense, _senses(part_with_sense))
    return picture, sense or Read(None, "unreadable", "nothing")


def _fields(answer: Answer) -> dict[str, Answer]:
    """What stands behind "Image:" and "Sense:" in their lines; the last of each counts."""
    heads = list(_FIELD.finditer(answer.text))
    fields = {}
    for number, head in enumerate(heads, 1):
        end = heads[number].start() if number < len(heads) else len(answer.text)
        line_end = answer.text.find("\n", head.end(), end)
        value = answer.part(head.end(), end if line_end < 0 else line_end)
        if value.text.strip():
            name = "image" if head["name"].lower().startswith("image") else "sense"
            fields[name] = value
    return fields


def _senses(answer: Answer) -> Iterator[Evidence]:
    """Yield each sense that an answer names and does not deny."""
    for word, around in answer.mentions(_SENSE, _EITHER):
        # "not literal but idiomatic" denies the first alone
        before = around.sentence_before.replace("literal", "")
        if is_said(before, around.sentence_after) and not _NAO.search(around.sentence_before):
            yield Evidence("idiomatic" if word["idiomatic"] else "literal", *word.span(), "word")
