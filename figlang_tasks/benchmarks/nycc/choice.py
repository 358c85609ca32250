"""The choice that the caption contest offers a model, for ``figlang judge read``: the captions.

A language model reads answers that our rules left unread, and must not know what is right
(`figlang_tasks.core.choice`).
"""

from __future__ import annotations

from collections.abc import Mapping

from figlang_tasks.benchmarks.nycc import tasks
from figlang_tasks.core.choice import Choice, predicted_label
from figlang_tasks.core.record import Record, RowIfKnown

_LETTERS = "ABCDE"


def choice_of(record: Record) -> Choice | None:
    """The choice among captions that a record's task offers; None for an explanation."""
    return _CHOICES.get(record["task"])


def _captions(record: Record, document: RowIfKnown) -> Mapping[str, str]:
    """The captions of a row as options, by letter: five in matching, two in ranking."""
    assert document is not None  # the choices below need the document
    return dict(zip(_LETTERS, document["captions"], strict=False))


MATCHING = Choice(
    "Which caption belongs to the cartoon?",
    options=_captions,
    fields=predicted_label,
    needs_document=True,
)
RANKING = Choice(
    "Which caption is funnier for the cartoon?",
    options=_captions,
    fields=predicted_label,
    needs_document=True,
)
_CHOICES = {tasks.MATCHING.name: MATCHING, tasks.RANKING.name: RANKING}
