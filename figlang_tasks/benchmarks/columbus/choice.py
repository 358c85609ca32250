"""The choice that COLUMBUS offers a model, for ``figlang judge read``: four words or phrases.

A language model reads answers that our rules left unread, and must not know what is right
(`figlang_tasks.core.choice`).
"""

from __future__ import annotations

from collections.abc import Mapping

from figlang_tasks.benchmarks.columbus.tasks import options_by_letter
from figlang_tasks.core.choice import Choice
from figlang_tasks.core.record import Record, RowIfKnown


def choice_of(record: Record) -> Choice:
    """The choice between the four options, which every rebus offers."""
    return PHRASES


def _phrases(record: Record, document: RowIfKnown) -> Mapping[str, str]:
    """The text of each option by its letter."""
    # `needs_document` below: the document is always there.
    return options_by_letter(document or {})


def _fields_of_choice(record: Record, letter: str) -> Mapping[str, str]:
    """The fields that a record has if the model chose this letter."""
    return {"predicted": letter}


PHRASES = Choice(
    "Which word or phrase does the rebus convey?",
    options=_phrases,
    fields=_fields_of_choice,
    needs_document=True,
)
