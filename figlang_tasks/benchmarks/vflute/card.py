"""V-FLUTE's rows as cards of the report (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.core.card import Card, Document, Record, entailment
from figlang_tasks.core.data_id import DataId


def card(data: DataId, records: Sequence[Record], document: Document) -> Card:
    return entailment(data, records, document) | {"pictures": [{"name": records[0]["id"], "label": "", "role": ""}]}
