"""The choices that HumorDB offers a model, for ``figlang judge read``: yes or no, first or second.

A language model reads answers that our rules left unread, and must not know what is right
(`figlang_tasks.core.choice`).
"""

from __future__ import annotations

from collections.abc import Mapping

from figlang_tasks.benchmarks.humordb.tasks import BINARY, COMPARISON
from figlang_tasks.core.choice import Choice, predicted_label, yes_or_no
from figlang_tasks.core.record import Record, RowIfKnown


def choice_of(record: Record) -> Choice | None:
    """The choice that a record's task offers; None for a rating."""
    if record["task"] == BINARY.name:
        return _FUNNY if record["question"] == "funny" else _NOT_FUNNY
    return _FUNNIER if record["task"] == COMPARISON.name else None


def _pictures(record: Record, document: RowIfKnown) -> Mapping[str, str]:
    """The two pictures by the words of the prompt."""
    return {"first": "the first image", "second": "the second image"}


_FUNNY = Choice("Is the image funny?", options=yes_or_no, fields=predicted_label)
_NOT_FUNNY = Choice("Is the image not funny?", options=yes_or_no, fields=predicted_label)
_FUNNIER = Choice("Which image is funnier?", options=_pictures, fields=predicted_label)
