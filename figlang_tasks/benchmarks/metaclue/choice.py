"""What MetaCLUE offers to choose, and what its records say of a choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figlang_tasks.benchmarks.metaclue import tasks
from figlang_tasks.core.choice import Choice, yes_or_no
from figlang_tasks.core.record import Document, Record


def choice_of(record: Record) -> Choice | None:
    """Yes or No of classification, the statements of retrieval; None of captions, questions, boxes
    and pictures.
    """
    return _CHOICES.get(record["task"])


def _fields_of_yes_or_no(record: Record, label: str) -> Mapping[str, Any]:
    return {"predicted": int(label == "Yes")}


def _statements(record: Record, document: Document) -> Mapping[str, str]:
    """The statements by their number; none where the answer is in scores that cannot be used."""
    if record["rule"] == "scores":
        return {}
    statements = (document or {})["candidates"]
    return {str(number): statement for number, statement in enumerate(statements, start=1)}


def _fields_of_statement(record: Record, number: str) -> Mapping[str, Any]:
    return {"chosen": int(number) - 1}


METAPHOR = Choice("Does the image contain a visual metaphor?", yes_or_no, _fields_of_yes_or_no)
STATEMENTS = Choice(
    "Which statement is the metaphor that the image conveys?",
    _statements,
    _fields_of_statement,
    needs_document=True,
)
_CHOICES = {tasks.CLASSIFY.name: METAPHOR, tasks.RETRIEVE.name: STATEMENTS}
