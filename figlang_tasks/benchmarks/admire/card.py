"""AdMIRe's rows and answers on cards of the report's gallery (`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from figlang_tasks.benchmarks.admire import measures, tasks
from figlang_tasks.benchmarks.admire.records import RankingRecord, SequenceRecord
from figlang_tasks.benchmarks.admire.rows import LETTERS
from figlang_tasks.core.card import Answer, outcome, plain_card
from figlang_tasks.core.record import Record

card = plain_card


def answer(records: Sequence[Record]) -> Answer:
    """The letters that a run answers with, ``C, A, E, B, D`` or ``C``, and whether they are right.

    Args:
        records: the records of one row; the first is shown.
    """
    record = records[0]
    if record["task"] in (tasks.SEQUENCE.name, tasks.SEQUENCE_BOTH.name):
        return _sequence_answer(cast(SequenceRecord, record))
    return _ranking_answer(cast(RankingRecord, record))


def _ranking_answer(record: RankingRecord) -> Answer:
    """The ranking in letters. It is right if its first picture is, as in ``acc``."""
    ranked_names = record["predicted"] or []
    letters = [LETTERS[record["names"].index(name)] for name in ranked_names]
    is_right = bool(measures.is_right_first(record))
    return {
        "predicted": ", ".join(letters) or "none",
        "outcome": outcome(is_right, bool(letters)),
    }


def _sequence_answer(record: SequenceRecord) -> Answer:
    """The letter of the chosen picture, or "none", and whether it is right; not the sense."""
    chosen_name = record["predicted"]
    has_choice = chosen_name is not None
    letter = "none"
    if chosen_name is not None:
        letter = LETTERS[record["names"].index(chosen_name)]
    is_right = bool(measures.is_right_item(record))
    return {"predicted": letter, "outcome": outcome(is_right, has_choice)}
