"""The choice that V-FLUTE offers a model, for ``figlang judge read``: entailment or contradiction.

A language model reads answers that our rules left unread, and must not know what is right
(`figlang_tasks.core.choice`).
"""

from __future__ import annotations

from collections.abc import Mapping

from figlang_tasks.benchmarks.vflute.rows import LABELS
from figlang_tasks.benchmarks.vflute.scene_graph import stages_from_json
from figlang_tasks.core.choice import Choice
from figlang_tasks.core.record import Record, RowIfKnown


def choice_of(record: Record) -> Choice:
    """The choice that every row offers: `LABEL_CHOICE`, between the two labels."""
    return LABEL_CHOICE


def _labels(record: Record, document: RowIfKnown) -> Mapping[str, str]:
    """The two labels as options, each with the text "": the judge's prompt only names them."""
    return dict.fromkeys(LABELS, "")


def _fields_of_choice(record: Record, label: str) -> Mapping[str, int]:
    """The fields that a record has if the model chose this label."""
    return {"predicted": LABELS[label]}


def _answer_in(output: str) -> str:
    """The part of an output that answers: in a scene-graph run, the output of its second call."""
    stages = stages_from_json(output)
    return output if stages is None else stages["answer"]


LABEL_CHOICE = Choice(
    "Does the image entail the claim, or does it contradict it?",
    options=_labels,
    fields=_fields_of_choice,
    answer_in=_answer_in,
)
