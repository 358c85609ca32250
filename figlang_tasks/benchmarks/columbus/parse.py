"""From a model's words to one of four options: by the released rule, and by ours."""

from __future__ import annotations

import re
from collections.abc import Mapping

from figlang_tasks.answers.choices import Choices
from figlang_tasks.answers.option import option
from figlang_tasks.answers.verdict import Read


def parse_official(output: str, options: Mapping[str, str]) -> str | None:
    """The letter that the released rule finds (``results/analysis/AnalysisReport.py``, lines 517 to
    557).

    "(A) text" and "A) text" count if the text is that of the option to the letter; a capital alone;
    a text that is an option once it is in lower case. The clean-up before it depends on the model,
    and is no part of it.
    """
    for pattern, place in ((r"\([A-D]\)\s.+", 1), (r"[A-D]\)\s.+", 0)):
        if re.match(pattern, output):
            head, *words = output.split()
            return head[place] if " ".join(words) == options[head[place]] else None
    if re.fullmatch("[A-D]", output):
        return output
    return next((letter for letter, text in options.items() if text == output.lower()), None)


def letter(output: str | None, options: Mapping[str, str]) -> Read[str]:
    """The letter of the option that an answer names by its letter or by its text; never a guess."""
    reading = option(output, Choices(len(options), texts=tuple(options.values())))
    letter_read = None if reading.value is None else list(options)[reading.value]
    return Read(letter_read, reading.status, reading.rule)
