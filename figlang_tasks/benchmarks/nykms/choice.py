"""The choice that NYK-MS offers a model, for ``figlang judge read``: the label, Yes or No.

A language model reads answers that our rules left unread, and must not know what is right
(`figlang_tasks.core.choice`).
"""

from __future__ import annotations

from collections.abc import Mapping

from figlang_tasks.benchmarks.nykms.parse import FIELDS, LABELS, Answers
from figlang_tasks.core.choice import Choice, yes_or_no
from figlang_tasks.core.record import Record


def choice_of(record: Record) -> Choice | None:
    """The choice of Yes or No; None if the question of a record asks for words alone."""
    first_field = FIELDS[record["question"]][0]
    if first_field not in LABELS:
        return None
    return METAPHOR if first_field == "MC" else SARCASM


def _fields_of_choice(record: Record, label: str) -> Mapping[str, Answers]:
    """The fields that a record has if the model chose Yes or No; its words stay as they are."""
    label_field = FIELDS[record["question"]][0]
    return {"predicted": {**record["predicted"], label_field: int(label == "Yes")}}


METAPHOR = Choice(
    "Does the cartoon with its caption contain a metaphor?",
    options=yes_or_no,
    fields=_fields_of_choice,
)
SARCASM = Choice(
    "Does the cartoon with its caption contain sarcasm?",
    options=yes_or_no,
    fields=_fields_of_choice,
)
