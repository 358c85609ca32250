"""From a model's words to one of four options: by the released rule, and by ours."""

from __future__ import annotations

import re
from collections.abc import Mapping

from figlang_tasks.answers.option import option
from figlang_tasks.answers.text import Answer, is_said
from figlang_tasks.answers.verdict import Evidence, Read, decide, opened

_IS = re.compile(r"\bis[\s:\"'(]*(?:[A-D]\)\s*)?\Z")
_QUOTATION = re.compile(r'"[^"\n]+"')


def parse_official(output: str, options: Mapping[str, str]) -> str | None:
    """The letter that the released rule finds (``results/analysis/AnalysisReport.py``, lines 517 to 557).

    "(A) text" and "A) text" count if the text is that of the option to the letter; a capital alone; a text that is an
    option once it is in lower case. The clean-up before it depends on the model, and is no part of it.
    """
    for pattern, place in ((r"\([A-D]\)\s.+", 1), (r"[A-D]\)\s.+", 0)):
        if re.match(pattern, output):
            head, *words = output.split()
            return head[place] if " ".join(words) == options[head[place]] else None
    if re.fullmatch("[A-D]", output):
        return output
    return next((letter for letter, text in options.items() if text == output.lower()), None)


def letter(output: str | None, options: Mapping[str, str]) -> Read[str]:
    """The option of an answer by its letter or its text; never a guess.

    Without a letter the only text that the answer says counts; "is" before a text decides among several. A letter, and
    the text of another option and no other, are a ``conflict``.
    """
    answer = opened(output)
    if isinstance(answer, Read):
        return answer
    by_text = {_plain(text): letter for letter, text in options.items()}
    longest_first = sorted(by_text, key=len, reverse=True)  # a text may stand inside another
    alternatives = "|".join(r"\s+".join(map(re.escape, text.split())) for text in longest_first)
    texts = re.compile(rf"(?<![\w-])(?:{alternatives})(?![\w-])", re.I)
    said = _said(answer, texts, by_text)
    found = option(texts.sub("_", answer.raw), len(options))  # "last of the big spenders" names no last option
    if found.value is None:
        by_its_text = decide(answer, said) if found.status in ("unreadable", "refused", "empty") else None
        return by_its_text or Read(None, found.status, found.rule)
    read, others = "ABCD"[found.value], {place.value for place in said}
    if len(others) == 1 and read not in others:
        return Read(None, "ambiguous", "conflict")
    return Read(read, "read", found.rule)


def _said(answer: Answer, texts: re.Pattern[str], by_text: Mapping[str, str]) -> list[Evidence]:
    """The places where an answer chooses the text of an option; only those behind "is", if there are any."""
    quotations = list(_QUOTATION.finditer(answer.text))
    found: dict[bool, list[Evidence]] = {True: [], False: []}
    for match in texts.finditer(answer.text):
        around = answer.around(*match.span())
        quotation = next((each[0] for each in quotations if each.start() < match.start() < each.end()), match[0])
        # "walk eggshells" is not "eggshells"
        if _plain(quotation) in by_text and is_said(around.before, around.behind) and not around.asked:
            is_told = _IS.search(around.before) is not None
            found[is_told].append(Evidence(by_text[_plain(match[0])], *match.span(), "said"))
    return found[True] or found[False]


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(" \"'.,;:!?()").casefold()
