"""The records of FLUTE."""

from __future__ import annotations

from figlang_tasks.scoring.explained import ExplainedRecord, LabelFields


class FluteRecord(ExplainedRecord):
    """The record of an answer to a row with a published one.

    Attributes:
        predicted_official: the label that the released rule reads; None if it reads none.
    """

    predicted_official: int | None


class BlindRecord(LabelFields):
    """The record of an answer to a row without a published one: what is handed in."""

    codalab_id: int
    source_id: str
    premise: str
    hypothesis: str
