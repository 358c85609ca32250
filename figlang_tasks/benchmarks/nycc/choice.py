"""What the New Yorker Caption Contest offers to choose, and what its records say of a choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figlang_tasks.core.card import Document, Record
from figlang_tasks.core.choice import Choice

_LETTERS = "ABCDE"


def choice_of(record: Record) -> Choice | None:
    """The captions of a row; None of an explanation."""
    if "bleu_sums" in record:
        return None
    return RANKING if "winner_source" in record else MATCHING


def _captions(record: Record, document: Document) -> Mapping[str, str]:
    captions = (document or {})["captions"]
    return dict(zip(_LETTERS, captions, strict=False))


def _fields(record: Record, letter: str) -> Mapping[str, Any]:
    return {"predicted": letter}


MATCHING = Choice("Which caption belongs to the cartoon?", _captions, _fields, needs_document=True)
RANKING = Choice("Which caption is funnier for the cartoon?", _captions, _fields, needs_document=True)
