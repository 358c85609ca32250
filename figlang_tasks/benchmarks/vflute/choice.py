"""What V-FLUTE offers to choose, and what its records say of a choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.benchmarks.vflute.tasks import stages_of
from figlang_tasks.core.choice import Choice
from figlang_tasks.core.record import Document, Record


def choice_of(record: Record) -> Choice:
    """The two labels."""
    return ENTAILMENT


def _labels(record: Record, document: Document) -> Mapping[str, str]:
    return dict.fromkeys(rows.LABELS, "")


def _fields(record: Record, label: str) -> Mapping[str, Any]:
    return {"predicted": rows.LABELS[label]}


def _answer_in(output: str) -> str:
    """The last answer of a run in two stages; any other output as it is."""
    stages = stages_of(output)
    return output if stages is None else str(stages["answer"])


ENTAILMENT = Choice(
    "Does the image entail the claim, or does it contradict it?",
    _labels,
    _fields,
    answer_in=_answer_in,
)
