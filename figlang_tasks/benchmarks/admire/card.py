"""AdMIRe's rows and answers on cards of the report (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.benchmarks.admire import measures, tasks
from figlang_tasks.benchmarks.admire.rows import LETTERS
from figlang_tasks.core.card import Answer, outcome, plain_card
from figlang_tasks.core.record import Record

card = plain_card


def answer(records: Sequence[Record]) -> Answer:
    """The letters of the answer; the outcome is that of the first picture, as in ``acc``, or of the chosen one."""
    record = records[0]
    predicted = record["predicted"]
    if predicted is None:
        return {"predicted": "none", "outcome": outcome(False, False)}
    if record["task"] in (tasks.SEQUENCE.name, tasks.SEQUENCE_BOTH.name):
        names, is_right = [predicted], measures.is_right_item(record)
    else:
        names, is_right = predicted, measures.is_right_first(record)
    letters = [LETTERS[record["names"].index(name)] for name in names]
    return {"predicted": ", ".join(letters), "outcome": outcome(bool(is_right))}
