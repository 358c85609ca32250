"""AdMIRe's rows as cards of the report (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.benchmarks.admire.measures import is_right
from figlang_tasks.benchmarks.admire.rows import LETTERS
from figlang_tasks.core.card import Answer, Record, outcome, plain_card

card = plain_card


def answer(records: Sequence[Record]) -> Answer:
    """The letters of the pictures in the model's order; the outcome is that of the first picture, as in ``acc``."""
    record = records[0]
    names = record["predicted"] or []
    if isinstance(names, str):
        names = [names]
    letters = ", ".join(LETTERS[record["names"].index(name)] for name in names)
    return {"predicted": letters or "none", "outcome": outcome(bool(is_right(record)), bool(letters))}
