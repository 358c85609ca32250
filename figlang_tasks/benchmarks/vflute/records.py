"""The record of an answer to V-FLUTE."""

from __future__ import annotations

from figlang_tasks.scoring.explained import ExplainedRecord


class VFluteRecord(ExplainedRecord, total=False):
    """The record of an answer: gold and predicted label, explanation, and reference explanation.

    The fields ``row`` and ``revision``, which only some records have, are inherited
    (`figlang_tasks.core.record.OptionalFields`).

    Attributes:
        instruction: the number of the instruction in Table 8 (arXiv 2405.01474); only where each
            row is asked with all 21 of them.
    """

    instruction: int
