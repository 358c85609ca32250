"""What FLUTE offers to choose, by prompt, and what its records say of a choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figlang_tasks.benchmarks.flute import tasks
from figlang_tasks.core.choice import Choice, yes_or_no
from figlang_tasks.core.record import Document, Record

_LABELS = {"Entails": 1, "Contradicts": 0}
_OF_YES_OR_NO = {"Yes": 0, "No": 1}
"""Prompt v1 asks whether the sentences contradict each other."""


def choice_of(record: Record) -> Choice:
    """The labels that the prompt of a row offers; that of blind rows is v2."""
    return CONTRADICTION if record["task"] == tasks.V1.name else ENTAILMENT


def _labels(record: Record, document: Document) -> Mapping[str, str]:
    return dict.fromkeys(_LABELS, "")


def _fields(record: Record, label: str) -> Mapping[str, Any]:
    return {"predicted": _LABELS[label]}


def _fields_of_yes_or_no(record: Record, label: str) -> Mapping[str, Any]:
    return {"predicted": _OF_YES_OR_NO[label]}


ENTAILMENT = Choice(
    "Does the first sentence entail the second, or does it contradict it?", _labels, _fields
)
CONTRADICTION = Choice(
    "Do the two sentences contradict each other?", yes_or_no, _fields_of_yes_or_no
)
