"""AdMIRe's rows and answers on cards of the report (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from figlang_tasks.benchmarks.admire import measures, tasks
from figlang_tasks.benchmarks.admire.records import RankingRecord, SequenceRecord
from figlang_tasks.benchmarks.admire.rows import LETTERS
from figlang_tasks.core.card import Answer, outcome, plain_card
from figlang_tasks.core.record import Record

card = plain_card


def answer(records: Sequence[Record]) -> Answer:
    """The letters of the answer, and whether they are right."""
    record = records[0]
    return _ANSWERS[record["task"]](record)


def _ranking(record: RankingRecord) -> Answer:
    """The ranking; the outcome is that of its first picture, as in ``acc``."""
    predicted = record["predicted"] or []
    letters = [LETTERS[record["names"].index(name)] for name in predicted]
    is_right = bool(measures.is_right_first(record))
    return {"predicted": ", ".join(letters) or "none", "outcome": outcome(is_right, bool(letters))}


def _sequence(record: SequenceRecord) -> Answer:
    """The chosen picture."""
    predicted = record["predicted"]
    letter = "none" if predicted is None else LETTERS[record["names"].index(predicted)]
    return {
        "predicted": letter,
        "outcome": outcome(bool(measures.is_right_item(record)), predicted is not None),
    }


_ANSWERS: Mapping[str, Callable[[Any], Answer]] = {
    tasks.RANK.name: _ranking,
    tasks.RANK_BOTH.name: _ranking,
    tasks.SEQUENCE.name: _sequence,
    tasks.SEQUENCE_BOTH.name: _sequence,
}
