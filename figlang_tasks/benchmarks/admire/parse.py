"""Reads a ranking of all pictures, and the answer about a sequence; never a guess."""

from __future__ import annotations

import re
from functools import partial

from figlang_tasks.answers.option import option
from figlang_tasks.answers.text import REFUSAL, Answer, is_said
from figlang_tasks.answers.verdict import Evidence, Read, by_marks, decide, opened

# "Image" before a name is read as a row of @ below; a name may be in brackets or quotes.
_NOUN = re.compile(r"\b(?:image|picture|option|imagem)\b", re.I)
_OPEN, _CLOSE = r"""(?:@+[^\w\n]{0,4})?[#(\["'{]{0,3}""", r"""[)\]"'}]{0,3}"""
_NAME = rf"{_OPEN}(?P<name>[A-Z])(?!\w)"

# A list has names of one kind. A number with a point at the start of a line is that of an item.
_CAPITALS = re.compile(rf"(?<![\w']){_NAME}")
_SMALL = re.compile(rf"(?<![\w']){_OPEN}(?P<name>[a-z])(?!\w)")
_NUMBERS = re.compile(rf"(?<![\w']){_OPEN}(?P<name>\d{{1,2}})(?!\w)(?!(?<=^\d)[.):][ \t])", re.M)
# What joins two names of a list: signs, words in brackets, "and", line ends, the number of an item.
_JOIN = re.compile(
    rf"{_CLOSE}(?:\s\([^()\n]{{1,60}}\))?(?:\sis\sthe\sbest(?:\s\w{{1,12}})?)?[\s,;:>/-]{{0,8}}"
    rf"(?:(?:and|then|finally|followed\sby|e)\s){{0,2}}(?:(?<=\n)\s{{0,8}}\d{{1,2}}[.):]\s{{1,3}})?{_OPEN}\s{{0,8}}"
)
_BEHIND = re.compile(r"[^\w\n]*(?:\n|\Z)")
_FEWEST = 3  # names in a row that are a ranking, if not a whole one

_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_RANK = r"(?i:rank)(?:ed)?[^\w\n]{1,5}"
# "Rank 1: B", "1. Image B", "1st: B", '{"1": "B"', "First: B", a row of a table
_RANKED = re.compile(
    rf"(?<![\w.])(?:(?P<said>{_RANK})?(?P<rank>\d{{1,2}})(?P<nth>(?:st|nd|rd|th|º)(?:\splace)?)?"
    rf"|(?P<ordinal>(?i:{'|'.join(_ORDINALS)}))(?=\s?:))[^\w@]{{1,8}}(?:@+[^\w\n]{{0,4}}(?P<number>\d)(?!\w)|{_NAME})"
)
# "Image B: rank 1", '{"image": "B", "rank": 1'
_NAMED = re.compile(rf"(?<![\w']){_NAME}[^\w\n]{{1,8}}{_RANK}(?P<rank>\d{{1,2}})")
_HEAD = re.compile(r"^[^\w\n]{0,8}@[^\w\n]{1,16}rank\b", re.I | re.M)
_ROW = re.compile(rf"^[^\w\n]{{0,8}}{_NAME}[^\w\n]{{1,8}}(?P<rank>\d{{1,2}})\b", re.M)

_ABOVE = re.compile(r"([^\n]*\w[^\n]*:)\s*\n\W*(?:\d{1,2}[.):]\s*)?\Z")
_ITEMS = re.compile(r"^\W{0,8}(\d{1,2})[.):]", re.M)
_WORD = re.compile(r"\w")
_RANKING = re.compile(r"\b(?:rank\w*|order|answer|best|ordem)\b", re.I)
_SAYS = re.compile(r"(?:[:=]|\b(?:is|be|é)\b)[\s\"'(\[{]*\Z", re.I)
_COLON = re.compile(r"[:=][\s\"'(\[{]*\Z")
_DENIED = re.compile(r"(?:\b(?:not|cannot|could|n[aã]o)\b|n't\b)[^,.;\n]*\Z|\bif\b", re.I)
_ENDS = re.compile(r"\W*\Z|\sis\s(?:the|my)\sranking\b|,?\sbecause\b")
_ASIDE = re.compile(r"\s?[(:-]")
_WORST_FIRST = re.compile(
    r"(?<!to )(?<!to the )\b(?:worst|least|pior)(?:\s\w+){0,2}[\s>-]{1,3}(?:to|para|first)\b", re.I
)
_FINAL = re.compile(r"\bfinal\b", re.I)

_FIELD = re.compile(r"^[^\w\n]{0,8}(?:(?P<image>imagem?)|sense|sentido)\W{0,3}[:=](?P<value>[^\n]+)", re.I | re.M)
_IDIOMATIC = "idiom[aá]tic[oa]?"
_SENSE = re.compile(rf"\b(?:(?P<idiomatic>{_IDIOMATIC}|figurative|figurad[oa])|literal)(?:ly|mente)?\b", re.I)
_EITHER = re.compile(rf"\b(?:{_IDIOMATIC}|literal) (?:or|ou) (?:{_IDIOMATIC}|literal)\b", re.I)
_NAO = re.compile(r"\bn[aã]o\b[^,.;]*\Z", re.I)


def ranking(output: str | None, count: int) -> Read[tuple[int, ...]]:
    """The order in which an answer names all pictures, the best first.

    It is a list ("B, D, A, C, E", "b > d > ...", "BDACE", one name a line), which stands alone, or which the words
    before it announce; or a rank beside each name ("1. Image B: ...", "B: rank 1", a table). Numbered items in the
    order A, B, C, D, E are as likely a description of the pictures, and are not read, nor is what is negated or hedged.
    A "final" ranking counts before others.
    """
    return by_marks(output, partial(_ranking, count=count))


def _ranking(answer: Answer, count: int) -> Read[tuple[int, ...]]:
    text, places = _NOUN.sub(lambda noun: "@" * len(noun[0]), answer.text), tuple(range(count))
    capitals, small, numbers = (_lists(text, names) for names in (_CAPITALS, _SMALL, _NUMBERS))
    lists = [*capitals, *small, *numbers, *_packed(text, count)]
    for ranked in ([each for each in lists if _is_whole(text, each, places)], _by_rank(text, places)):
        meant = [_announced(answer, each, places) for each in ranked]
        finals = [found for label, found in meant if found and _FINAL.search(label)]
        if read := decide(answer, finals) or decide(answer, [found for _, found in meant if found]):
            return read
    others = [each.value for each in (*capitals, *numbers)]
    if any(place not in places for value in others for place in value):
        return Read(None, "out_of_range", "range")
    if any(tuple(sorted(value)) != places for value in others):
        return Read(None, "unreadable", "incomplete")
    return Read(None, "refused", "refusal") if REFUSAL.search(text) else Read(None, "unreadable", "nothing")


def _is_whole(text: str, found: Evidence, places: tuple[int, ...]) -> bool:
    """Whether a list has all pictures; not one whose items are counted down."""
    if tuple(sorted(found.value)) != places:
        return False
    numbers = list(map(int, _ITEMS.findall(text, found.start, found.end)))
    return numbers == sorted(numbers)


def _lists(text: str, names: re.Pattern[str]) -> list[Evidence]:
    """Lists of at least three names that stand beside each other."""
    runs: list[list[re.Match[str]]] = []
    for name in names.finditer(text):
        if runs and _goes_on(text, runs[-1], name):
            runs[-1].append(name)
        else:
            runs.append([name])
    return [
        Evidence(tuple(_place(name["name"]) for name in run), run[0].start(), run[-1].end(), "list")
        for run in runs
        if len(run) >= _FEWEST
    ]


def _goes_on(text: str, run: list[re.Match[str]], name: re.Match[str]) -> bool:
    """Whether a list has one more name: all in one line, or each alone in a line of its own."""
    gap = text[run[-1].end() : name.start()]
    breaks = "\n" in gap
    if len(run) > 1 and breaks != ("\n" in text[run[0].end() : run[1].start()]):
        return False
    return bool(_JOIN.fullmatch(gap)) and not (breaks and not _BEHIND.match(text, name.end()))


def _place(name: str) -> int:
    return int(name) - 1 if name.isdigit() else ord(name.upper()) - ord("A")


def _packed(text: str, count: int) -> list[Evidence]:
    """Lists that are written as one word of all letters: "BDACE"."""
    words = re.finditer(rf"(?<!\w)(?:[A-Z]{{{count}}}|[a-z]{{{count}}})(?!\w)", text)
    return [Evidence(tuple(map(_place, word[0])), *word.span(), "list") for word in words]


def _by_rank(text: str, places: tuple[int, ...]) -> list[Evidence]:
    """Whole rankings that are given by a rank beside each name."""
    for pairs in (_NAMED, _ROW, _RANKED):
        groups: list[dict[int, re.Match[str]]] = []
        for pair in pairs.finditer(text) if pairs is not _ROW or _HEAD.search(text) else ():
            ordinal = pairs is _RANKED and pair["ordinal"]
            rank = _ORDINALS.index(ordinal.lower()) if ordinal else int(pair["rank"]) - 1
            if not groups or rank in groups[-1]:
                groups.append({})
            groups[-1][rank] = pair
        found = []
        for group in groups:
            parts = [group[rank].groupdict() for rank in sorted(group)]
            value = tuple(_place(part["name"] or part["number"]) for part in parts)
            is_said = pairs is not _RANKED or any(parts[0][name] for name in ("said", "nth", "ordinal"))
            if tuple(sorted(group)) == places == tuple(sorted(value)) and (is_said or value != places):
                start = min(pair.start() for pair in group.values())
                found.append(Evidence(value, start, max(pair.end() for pair in group.values()), "items"))
        if found:
            return found
    return []


def _announced(answer: Answer, found: Evidence, places: tuple[int, ...]) -> tuple[str, Evidence | None]:
    """The words that introduce a ranking; and the ranking, None if it is not meant as one."""
    back, before, behind, asked = answer.around(found.start, found.end)
    above = None if _WORD.search(before) else _ABOVE.search(back)
    label = above[1] if above else before if _WORD.search(before) else ""
    # The order of the alphabet, and numbers, may be something else than a ranking.
    is_doubtful = found.value == places or answer.text[found.end - 1].isdigit()
    if label:
        is_ranking = _RANKING.search(label) or (_COLON.search(label) and not is_doubtful)
        is_meant = bool(is_ranking and _SAYS.search(label))
    else:
        is_meant = bool(_ENDS.match(behind) or found.value != places and _ASIDE.match(behind))
    if asked or _DENIED.search(label) or not (is_meant or found.rule == "items"):
        return label, None
    if _WORST_FIRST.search(label) or _WORST_FIRST.search(behind[:40]):
        found = found._replace(value=found.value[::-1])
    return label, found


def sequence(output: str | None, count: int) -> tuple[Read[int], Read[str]]:
    """The picture that an answer chooses, and the sense that it names, behind "Image:" and "Sense:" if they stand."""
    answer = opened(output)
    if isinstance(answer, Read):
        return answer, answer
    parts = {bool(field["image"]): answer.part(*field.span("value")) for field in _FIELD.finditer(answer.text)}
    told = parts.get(False, answer)
    senses = [
        Evidence("idiomatic" if word["idiomatic"] else "literal", *word.span(), "word")
        for word, around in told.mentions(_SENSE, _EITHER)
        if is_said(around.before.replace("literal", ""), around.behind) and not _NAO.search(around.before)
    ]
    item = option(parts[True].text if True in parts else re.sub(r"(?i)\bimagem\b", "image ", output or ""), count)
    return item, decide(told, senses) or Read(None, "unreadable", "nothing")
