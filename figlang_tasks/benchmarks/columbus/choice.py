"""What COLUMBUS offers to choose, and what its records say of a choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figlang_tasks.benchmarks.columbus.tasks import by_letter
from figlang_tasks.core.choice import Choice
from figlang_tasks.core.record import Document, Record


def choice_of(record: Record) -> Choice:
    """The four words or phrases of a rebus."""
    return PHRASES


def _options(record: Record, document: Document) -> Mapping[str, str]:
    return by_letter(document or {})


def _fields(record: Record, letter: str) -> Mapping[str, Any]:
    return {"predicted": letter}


PHRASES = Choice(
    "Which word or phrase does the rebus convey?", _options, _fields, needs_document=True
)
