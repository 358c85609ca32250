"""V-FLUTE's rows as cards of the report's gallery (`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.core.card import Card, CardPicture
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.record import Record, RowIfKnown
from figlang_tasks.scoring import entailment_card

answer = entailment_card.answer


def card(data: DataId, records: Sequence[Record], document: RowIfKnown) -> Card:
    """The card of a row: its picture and texts, the gold label and the reference explanation.

    Args:
        data: the data that the row is of.
        records: records of answers to this row, at least one.
        document: the row; None, which the type `RowIfKnown` includes, if the data is not at hand.
    """
    row_card = entailment_card.card(data, records, document)
    # The picture of a row is found by the document's id. There is only one, so it needs no label.
    picture = CardPicture(name=records[0]["id"], label="", role="")
    row_card["pictures"] = [picture]
    return row_card
