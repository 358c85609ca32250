"""What the New Yorker Caption Contest offers to choose, and what its records say of a choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figlang_tasks.benchmarks.nycc import tasks
from figlang_tasks.core.choice import Choice
from figlang_tasks.core.record import Document, Record

_LETTERS = "ABCDE"


def choice_of(record: Record) -> Choice | None:
    """The captions of a row; None of an explanation."""
    return _CHOICES.get(record["task"])


def _captions(record: Record, document: Document) -> Mapping[str, str]:
    captions = (document or {})["captions"]
    return dict(zip(_LETTERS, captions, strict=False))


def _fields(record: Record, letter: str) -> Mapping[str, Any]:
    return {"predicted": letter}


MATCHING = Choice("Which caption belongs to the cartoon?", _captions, _fields, needs_document=True)
RANKING = Choice(
    "Which caption is funnier for the cartoon?", _captions, _fields, needs_document=True
)
_CHOICES = {tasks.MATCHING.name: MATCHING, tasks.RANKING.name: RANKING}
