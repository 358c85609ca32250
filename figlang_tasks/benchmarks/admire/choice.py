"""What AdMIRe offers to choose, and what its records say of a choice: the picture that ends a
sequence.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figlang_tasks.benchmarks.admire import tasks
from figlang_tasks.benchmarks.admire.rows import LETTERS
from figlang_tasks.core.choice import Choice, letters_alone
from figlang_tasks.core.record import Document, Record


def choice_of(record: Record) -> Choice | None:
    """The pictures, or their captions, of a sequence; None of a ranking, which is an order and no
    choice.
    """
    if record["task"] not in (tasks.SEQUENCE.name, tasks.SEQUENCE_BOTH.name):
        return None
    return CAPTIONS if record["shown"] == "captions" else PICTURES


def _pictures(record: Record, document: Document) -> Mapping[str, str]:
    """The letters; none where the picture was read, and only the sense was not."""
    return {} if record["predicted"] is not None else letters_alone(len(record["names"]), LETTERS)


def _captions(record: Record, document: Document) -> Mapping[str, str]:
    """The letters with their captions, which stand behind those of the two pictures before."""
    letters = _pictures(record, document)
    captions = (document or {})["captions"][-len(record["names"]) :]
    return dict(zip(letters, captions, strict=False))


def _fields(record: Record, letter: str) -> Mapping[str, Any]:
    return {"predicted": record["names"][LETTERS.index(letter)]}


_QUESTION = "Which image ends the story?"
PICTURES = Choice(_QUESTION, _pictures, _fields)
CAPTIONS = Choice(_QUESTION, _captions, _fields, needs_document=True)
