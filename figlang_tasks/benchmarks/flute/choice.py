"""The choice that FLUTE offers a model, for ``figlang judge read``: the labels of its prompt.

A language model reads answers that our rules left unread, and must not know what is right
(`figlang_tasks.core.choice`).
"""

from __future__ import annotations

from collections.abc import Mapping

from figlang_tasks.benchmarks.flute import tasks
from figlang_tasks.core.choice import Choice, yes_or_no
from figlang_tasks.core.record import Record, RowIfKnown

_LABELS = {"Entails": 1, "Contradicts": 0}

# Prompt v1 asks whether the sentences contradict each other.
_LABELS_OF_YES_OR_NO = {"Yes": 0, "No": 1}


def choice_of(record: Record) -> Choice:
    """The choice that the prompt of a row offers: v1 for the task ``flute_v1``, else v2."""
    return CONTRADICTION if record["task"] == tasks.V1.name else ENTAILMENT


def _labels(record: Record, document: RowIfKnown) -> Mapping[str, str]:
    """The two labels as options. Their names are their texts."""
    return dict.fromkeys(_LABELS, "")


def _fields_of_label(record: Record, label: str) -> Mapping[str, int]:
    """The fields that a record has if the model chose this label."""
    return {"predicted": _LABELS[label]}


def _fields_of_yes_or_no(record: Record, label: str) -> Mapping[str, int]:
    """The fields that a record has if the model chose Yes or No."""
    return {"predicted": _LABELS_OF_YES_OR_NO[label]}


ENTAILMENT = Choice(
    "Does the first sentence entail the second, or does it contradict it?",
    options=_labels,
    fields=_fields_of_label,
)
CONTRADICTION = Choice(
    "Do the two sentences contradict each other?",
    options=yes_or_no,
    fields=_fields_of_yes_or_no,
)
