"""FLUTE's rows as cards of the report (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.benchmarks.flute import tasks
from figlang_tasks.core.card import Answer, Card
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.record import Document, Record
from figlang_tasks.scoring import entailment_card


def _is_blind(records: Sequence[Record]) -> bool:
    """Whether the right answer of a row is not published."""
    return bool(records[0]["task"] == tasks.BLIND_TASK.name)


def card(data: DataId, records: Sequence[Record], document: Document) -> Card:
    """A row as a card; a blind row has texts alone, which its record holds."""
    if _is_blind(records):
        return {"facts": entailment_card.texts_of(document or records[0])}
    return entailment_card.card(data, records, document)


def answer(records: Sequence[Record]) -> Answer:
    """The predicted label and explanation, and whether the label is right where that is known."""
    return (
        entailment_card.blind_answer(records)
        if _is_blind(records)
        else entailment_card.answer(records)
    )
