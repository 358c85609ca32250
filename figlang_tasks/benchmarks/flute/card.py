"""FLUTE's rows as cards of the report's gallery (`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.benchmarks.flute import tasks
from figlang_tasks.core.card import Answer, Card
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.record import Record, RowIfKnown
from figlang_tasks.scoring import entailment_card


def card(data: DataId, records: Sequence[Record], document: RowIfKnown) -> Card:
    """The card of a row: its texts and, unless the row is blind, the reference answer.

    Args:
        data: the data that the row is of.
        records: records of answers to this row, at least one.
        document: the row; None if the data is not at hand. The record of a blind row has its texts.
    """
    if _is_blind(records):
        return {"facts": entailment_card.texts_of(document or records[0])}
    return entailment_card.card(data, records, document)


def answer(records: Sequence[Record]) -> Answer:
    """The predicted label and explanation, and whether the label is right if that is known."""
    if _is_blind(records):
        return entailment_card.blind_answer(records)
    return entailment_card.answer(records)


def _is_blind(records: Sequence[Record]) -> bool:
    """Whether the right answer of a row is not published."""
    return bool(records[0]["task"] == tasks.BLIND_TASK.name)
