"""V-FLUTE's rows as cards of the report (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.core.card import Card
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.record import Document, Record
from figlang_tasks.scoring import entailment_card

answer = entailment_card.answer


def card(data: DataId, records: Sequence[Record], document: Document) -> Card:
    """A row as a card: its picture and texts, the gold label and the reference explanation."""
    return entailment_card.card(data, records, document) | {
        "pictures": [{"name": records[0]["id"], "label": "", "role": ""}]
    }
