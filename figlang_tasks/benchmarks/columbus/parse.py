"""Reads which of the four options an answer names: by the released rule, and by ours."""

from __future__ import annotations

import re
from collections.abc import Mapping

from figlang_tasks.answers.choices import Choices
from figlang_tasks.answers.option import option
from figlang_tasks.answers.verdict import Read

# Both released patterns for a letter with a text: "(A) text", "A) text".
_FOLLOWED_BY_TEXT = re.compile(r"\(?([A-D])\)\s.+")


def parse_official(output: str, options: Mapping[str, str]) -> str | None:
    """The letter that the released rule reads in an output; None where it reads none.

    It reads "(A) text" and "A) text" if the text equals that of the option in every character; a
    capital that stands alone; and an option's text, once the output is in lower case. The clean-up
    that the authors do before it depends on the model, and is no part of it.

    Source: ``results/analysis/AnalysisReport.py``, lines 517 to 557.

    Args:
        output: the model's answer.
        options: the text of each option by its letter.
    """
    letter = named_letter(output, options)
    if letter is None or not _FOLLOWED_BY_TEXT.match(output):
        return letter
    _, *words_of_text = output.split()
    text = " ".join(words_of_text)
    return letter if text == options[letter] else None


def named_letter(output: str, options: Mapping[str, str]) -> str | None:
    """The letter of an output by the released patterns, whatever text follows it.

    The authors count these letters for the share of the most frequent one (Table 2), while an
    answer is right for them only if the text is the option's too (`parse_official`).

    Args:
        output: the model's answer.
        options: the text of each option by its letter.
    """
    match = _FOLLOWED_BY_TEXT.match(output)
    if match:
        return match[1]
    if re.fullmatch("[A-D]", output):
        return output
    # Only the output is put into lower case: an option with a capital is never equal.
    output_in_lower_case = output.lower()
    for letter, text in options.items():
        if text == output_in_lower_case:
            return letter
    return None


def letter(output: str | None, options: Mapping[str, str]) -> Read[str]:
    """The letter of the option that an answer names by its letter or by its text; never a guess.

    Args:
        output: the model's answer; None if there is none.
        options: the text of each option by its letter.
    """
    texts = tuple(options.values())
    index_reading = option(output, Choices(len(options), texts=texts))
    if index_reading.value is None:
        return Read(None, index_reading.status, index_reading.rule)
    letters = list(options)
    return Read(letters[index_reading.value], index_reading.status, index_reading.rule)
