"""The choice that COLUMBUS offers a model, for ``figlang judge read``: four words or phrases.

A language model reads answers that our rules left unread, and must not know what is right
(`figlang_tasks.core.choice`).
"""

from __future__ import annotations

from collections.abc import Mapping

from figlang_tasks.benchmarks.columbus.tasks import options_by_letter
from figlang_tasks.core.choice import Choice, predicted_label
from figlang_tasks.core.record import Record, RowIfKnown


def choice_of(record: Record) -> Choice:
    """The choice between the four options, which every rebus offers."""
    return PHRASES


def _phrases(record: Record, document: RowIfKnown) -> Mapping[str, str]:
    """The text of each option by its letter."""
    # `needs_document` below: the document is always there.
    return options_by_letter(document or {})


PHRASES = Choice(
    "Which word or phrase does the rebus convey?",
    options=_phrases,
    fields=predicted_label,
    needs_document=True,
)
