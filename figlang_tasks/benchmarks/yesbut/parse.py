"""Reads whether an answer says Y or N."""

from __future__ import annotations

import re

from figlang_tasks.answers.verdict import Read
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.yesbut.records import Label

# The letters alone, as the prompt asks for them: not those of "Y/N" or "N.B."
_LETTER = re.compile(r"(?<![\w'/.-])(?P<letter>[YN])(?![\w'/-]|\.\w)")
_WORDS = {"Y": "Yes", "N": "No"}


def _word(letter: re.Match[str]) -> str:
    """The word that a letter stands for."""
    return _WORDS[letter["letter"]]


def label(output: str | None) -> Read[Label]:
    """The label that an answer gives as Y or N, or as yes or no; never a guess.

    The letters are read as the words that they stand for (`yes_no`). "It is funny." says neither,
    since the question is whether the picture is *extremely* funny.

    Args:
        output: the model's answer; None if there is none.
    """
    words = None if output is None else _LETTER.sub(_word, output)
    reading = yes_no(words)
    if reading.value is None:
        return Read(None, reading.status, reading.rule)
    return Read("Y" if reading.value else "N", reading.status, reading.rule)
