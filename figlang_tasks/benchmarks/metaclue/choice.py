"""The choices that MetaCLUE offers a model (`figlang_tasks.core.choice`).

``figlang judge read`` needs them: a language model reads answers that our rules left unread, and
must not know what is right.
"""

from __future__ import annotations

from collections.abc import Mapping

from figlang_tasks.benchmarks.metaclue import tasks
from figlang_tasks.core.choice import Choice, yes_or_no
from figlang_tasks.core.record import Record, RowIfKnown


def choice_of(record: Record) -> Choice | None:
    """Yes or No in classification, the statements in retrieval; None for the other tasks."""
    return _CHOICE_BY_TASK.get(record["task"])


def _fields_of_yes_or_no(record: Record, label: str) -> Mapping[str, int]:
    """The fields that a classification record has if the model answered Yes, or No."""
    return {"predicted": int(label == "Yes")}


def _statements(record: Record, document: RowIfKnown) -> Mapping[str, str]:
    """The statements by their number in the prompt, from 1.

    None are offered where the answer is scores that cannot be used: no number in it is a choice.
    """
    if record["rule"] == "scores":
        return {}
    statements = (document or {})["candidates"]
    return {str(number): statement for number, statement in enumerate(statements, start=1)}


def _fields_of_statement(record: Record, number: str) -> Mapping[str, int]:
    """The fields that a retrieval record has if the model chose the statement with this number."""
    return {"chosen": int(number) - 1}


METAPHOR = Choice(
    "Does the image contain a visual metaphor?",
    options=yes_or_no,
    fields=_fields_of_yes_or_no,
)
STATEMENTS = Choice(
    "Which statement is the metaphor that the image conveys?",
    options=_statements,
    fields=_fields_of_statement,
    needs_document=True,
)
_CHOICE_BY_TASK = {tasks.CLASSIFY.name: METAPHOR, tasks.RETRIEVE.name: STATEMENTS}
