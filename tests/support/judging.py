"""Judges outputs as a task does, for documents that a test writes by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figlang_tasks.scoring import Task

REQUEST = "DATASET,split=test"
"""Stands in the records of documents without a request."""


def values(task: Task, document: Mapping[str, Any], output: str | None) -> dict[str, Any]:
    """What ``process_results`` returns of an answer to a document: its record under ``sample``, and its numbers."""
    record = task.answer_record(document, output)
    return task.values({"request": REQUEST, **document}, record)


def record(task: Task, document: Mapping[str, Any], output: str | None) -> dict[str, Any]:
    """The record of an answer to a document."""
    judged: dict[str, Any] = values(task, document, output)["sample"]
    return judged
