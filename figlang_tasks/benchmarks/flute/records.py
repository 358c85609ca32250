"""The records of answers to FLUTE."""

from __future__ import annotations

from figlang_tasks.scoring.explained import ExplainedRecord, LabelFields


class FluteRecord(ExplainedRecord):
    """The record of an answer to a row whose right answer is published.

    Attributes:
        predicted_official: the label that the released rule reads; None if it reads none.
    """

    predicted_official: int | None


class BlindRecord(LabelFields):
    """The record of an answer to a row of the shared task, as it is handed in.

    Attributes:
        codalab_id: the number of the row in the shared task's file, from 0.
        source_id: the id of the row in that file, which several rows may share.
        premise, hypothesis: the two sentences.
    """

    codalab_id: int
    source_id: int
    premise: str
    hypothesis: str
