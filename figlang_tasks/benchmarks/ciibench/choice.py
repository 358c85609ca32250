"""The choice that CII-Bench offers a model, for ``figlang judge read``: six implications.

A language model reads answers that our rules left unread, and must not know what is right
(`figlang_tasks.core.choice`).
"""

from __future__ import annotations

from collections.abc import Mapping

from figlang_tasks.benchmarks.ciibench.tasks import options_by_letter
from figlang_tasks.core.choice import Choice, predicted_label
from figlang_tasks.core.record import Record, RowIfKnown


def choice_of(record: Record) -> Choice:
    """The choice between the six options, which every question offers."""
    return IMPLICATIONS


def _implications(record: Record, document: RowIfKnown) -> Mapping[str, str]:
    """The text of each option by its letter."""
    # `needs_document` below: the document is always there.
    return options_by_letter(document or {})


IMPLICATIONS = Choice(
    "Which of these Chinese texts answers the question about the picture?",
    options=_implications,
    fields=predicted_label,
    needs_document=True,
)
