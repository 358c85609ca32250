"""The choice that YesBut's detection offers a model, for ``figlang judge read``: Y or N.

A language model reads answers that our rules left unread, and must not know what is right
(`figlang_tasks.core.choice`).
"""

from __future__ import annotations

from collections.abc import Mapping

from figlang_tasks.core.choice import Choice, predicted_label
from figlang_tasks.core.record import Record, RowIfKnown


def choice_of(record: Record) -> Choice | None:
    """The choice between Y and N; None for an explanation, which chooses nothing."""
    return SATIRE if record["task"] == "yesbut_detection" else None


def _labels(record: Record, document: RowIfKnown) -> Mapping[str, str]:
    """The labels with what they mean."""
    return {"Y": "it is extremely funny", "N": "it is not"}


SATIRE = Choice(
    "Is the combination of both halves of the image extremely funny?",
    options=_labels,
    fields=predicted_label,
)
