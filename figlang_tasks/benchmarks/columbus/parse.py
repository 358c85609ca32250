"""Reads which of the four options an answer names: by the released rule, and by ours."""

from __future__ import annotations

import re
from collections.abc import Mapping

from figlang_tasks.answers.choices import Choices
from figlang_tasks.answers.option import option
from figlang_tasks.answers.verdict import Read

# The released patterns, each matched at the start of an output.
_LETTER_IN_BRACKETS = re.compile(r"\([A-D]\)\s.+")  # (A) text
_LETTER_AND_BRACKET = re.compile(r"[A-D]\)\s.+")  # A) text


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
    if _LETTER_IN_BRACKETS.match(output):
        return _letter_if_text_is_equal(output, options, letter_index=1)
    if _LETTER_AND_BRACKET.match(output):
        return _letter_if_text_is_equal(output, options, letter_index=0)
    if re.fullmatch("[A-D]", output):
        return output
    # Only the output is put into lower case: an option with a capital is never equal.
    output_in_lower_case = output.lower()
    for letter, text in options.items():
        if text == output_in_lower_case:
            return letter
    return None


def _letter_if_text_is_equal(
    output: str, options: Mapping[str, str], letter_index: int
) -> str | None:
    """The letter in the first word of an output; None unless its option's text follows.

    Args:
        output: an output such as "(A) up and about".
        options: the text of each option by its letter.
        letter_index: where the letter stands in the first word.
    """
    first_word, *other_words = output.split()
    letter = first_word[letter_index]
    text = " ".join(other_words)
    return letter if text == options[letter] else None


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
