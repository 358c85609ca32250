"""Reads a ranking of all pictures, and the answer about a sequence; never a guess."""

from __future__ import annotations

import re
from functools import partial

from figlang_tasks.answers.fields import by_marks
from figlang_tasks.answers.option import option
from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.verdict import Found, Read, decide, opened
from figlang_tasks.answers.words import REFUSAL, is_said

# "B", "(B)", "Image B", "IMAGE 2": a number alone may be the rank of a picture as well as its name.
_NAME = (
    r"""(?:(?i:image|picture|caption)s?\s{0,2}[#(\["']{0,2}(?P<number>\d{1,2})|"""
    r"""(?:(?i:image|picture|caption)s?\s{0,2})?[#(\["']{0,2}(?P<letter>[A-Z]))(?![\w'])"""
)
_NAMES = re.compile(rf"(?<![\w']){_NAME}")
# What joins two names of a ranking: signs and line ends, "and", the number of an item in a list.
_JOIN = re.compile(
    r"""[)\]"']{0,2}[\s,;:>/-]{0,8}(?:(?:and|then)\s)?(?:(?<=\n)\s{0,8}\d{1,2}[.):]\s{1,3})?[("'\[\s]{0,3}"""
)
_ITEM = re.compile(rf"^\s{{0,8}}\d{{1,2}}[.):]\s{{1,3}}{_NAME}", re.M)
_BEFORE = re.compile(r"(?:\A|[\n:])[^\w\n]{0,8}(?:\d{1,2}[.):][^\w\n]{0,8})?\Z")
_BEHIND = re.compile(r"[^\w\n]*(?:\n|\Z)")
_FEWEST = 3  # names in a row that are a ranking, if not a whole one

_FIELD = re.compile(r"^[^\w\n]{0,8}(?P<key>image|sense)\W{0,3}[:=](?P<value>[^\n]+)", re.I | re.M)
_SENSE = re.compile(r"\b(?:(?P<idiomatic>idiomatic|figurative)|literal)(?:ly)?\b", re.I)
_EITHER = re.compile(r"\bidiomatic or literal\b|\bliteral or idiomatic\b", re.I)


def ranking(output: str | None, count: int) -> Read[tuple[int, ...]]:
    """The order in which an answer names all pictures, the best first.

    - ``list``: "B, D, A, C, E", "B > D > ...", one name a line, "1. Image B" to "5. Image E". One that stands alone in
      its lines comes before one in a sentence.
    - ``items``: the same with words behind each: "1. Image B: it shows ...". Not in the order A, B, C, D, E, which is
      as likely a description of the pictures.

    Several different ones are ambiguous (``conflict``) unless the last corrects the others (``correction``). Other
    reasons for none are ``incomplete`` (one is missing or named twice), ``range`` (one was not shown), ``refusal``,
    ``nothing``, ``thought``, ``empty`` and ``missing``.
    """
    return by_marks(output, partial(_ranking, count=count))


def _ranking(answer: Answer, count: int) -> Read[tuple[int, ...]]:
    text = answer.text
    runs: list[list[re.Match[str]]] = []
    for name in _NAMES.finditer(text):
        if runs and _goes_on(text, runs[-1], name):
            runs[-1].append(name)
        else:
            runs.append([name])
    lists = [_found(run, "list") for run in runs if len(run) >= _FEWEST]
    items = [_found(run, "items") for run in [list(_ITEM.finditer(text))] if run]
    places = list(range(count))
    whole = [found for found in lists if sorted(found.value) == places]
    told = [found for found in items if sorted(found.value) == places != list(found.value)]
    alone = [
        found
        for found in whole
        if _BEFORE.search(text, max(0, found.start - 20), found.start) and _BEHIND.match(text, found.end)
    ]
    if read := decide(answer, alone) or decide(answer, whole) or decide(answer, told):
        return read
    if any(place not in places for found in lists for place in found.value):
        return Read(None, "out_of_range", "range")
    if lists:
        return Read(None, "unreadable", "incomplete")
    return Read(None, "refused", "refusal") if REFUSAL.search(text) else Read(None, "unreadable", "nothing")


def _goes_on(text: str, run: list[re.Match[str]], name: re.Match[str]) -> bool:
    """Whether a list has one more name: all in one line, or each alone in a line of its own."""
    gap = text[run[-1].end() : name.start()]
    breaks = "\n" in gap
    if len(run) > 1 and breaks != ("\n" in text[run[0].end() : run[1].start()]):
        return False
    return bool(_JOIN.fullmatch(gap)) and not (breaks and not _BEHIND.match(text, name.end()))


def _found(run: list[re.Match[str]], rule: str) -> Found:
    places = (int(name["number"]) - 1 if name["number"] else ord(name["letter"]) - ord("A") for name in run)
    return Found(tuple(places), run[0].start(), run[-1].end(), rule)


def sequence(output: str | None, count: int) -> tuple[Read[int], Read[str]]:
    """The picture that an answer chooses, and the sense that it names (rule ``word``).

    They are looked for behind "Image:" and "Sense:" at the start of a line, else in the whole answer.
    """
    answer = opened(output)
    if isinstance(answer, Read):
        return answer, answer
    parts = {field["key"].lower(): answer.part(*field.span("value")) for field in _FIELD.finditer(answer.text)}
    told = parts.get("sense", answer)
    senses = [
        Found("idiomatic" if word["idiomatic"] else "literal", *word.span(), "word")
        for word, around in told.mentions(_SENSE, _EITHER)
        if is_said(around.before.replace("literal", ""), around.behind)
    ]
    item = option(parts["image"].text if "image" in parts else output, count)
    return item, decide(told, senses) or Read(None, "unreadable", "nothing")
