"""What NYK-MS offers to choose, and what its records say of a choice: the label, the first answer
of a question.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figlang_tasks.benchmarks.nykms.parse import FIELDS, LABELS
from figlang_tasks.core.choice import Choice, yes_or_no
from figlang_tasks.core.record import Record


def choice_of(record: Record) -> Choice | None:
    """Yes or No, where the question asks for a label; None where it asks for words."""
    label = FIELDS[record["question"]][0]
    if label not in LABELS:
        return None
    return METAPHOR if label == "MC" else SARCASM


def _fields(record: Record, label: str) -> Mapping[str, Any]:
    """The label among the other answers, which stay as they are: words are not read again."""
    field = FIELDS[record["question"]][0]
    return {"predicted": {**record["predicted"], field: int(label == "Yes")}}


METAPHOR = Choice("Does the cartoon with its caption contain a metaphor?", yes_or_no, _fields)
SARCASM = Choice("Does the cartoon with its caption contain sarcasm?", yes_or_no, _fields)
