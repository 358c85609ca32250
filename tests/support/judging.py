"""Judges outputs as a task does, for documents that a test writes by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from figlang_tasks.core.benchmark import parse_request
from figlang_tasks.scoring import Measures, Record, Task

REQUEST = "DATASET,split=test"
"""Stands in the records of documents without a request."""


def values(task: Task, document: Mapping[str, Any], output: str | None) -> dict[str, Any]:
    """What ``process_results`` returns of an answer to a document: its record under ``sample``, and
    its numbers.
    """
    record = task.answer_record(document, output)
    return task.values({"request": REQUEST, **document}, record)


def record(task: Task, document: Mapping[str, Any], output: str | None) -> dict[str, Any]:
    """The record of an answer to a document."""
    judged: dict[str, Any] = values(task, document, output)["sample"]
    return judged


def measures_of(records: Sequence[Record]) -> Measures:
    """The measures of the one kind of task that wrote the records, found by what they say of it."""
    ((name, request),) = {(record["task"], record["request"]) for record in records}
    benchmark, _ = parse_request(request)
    return benchmark.task(name).measures


def task_with(measures: Measures) -> Task:
    """A kind of task with these measures, whose documents and answers a test makes itself."""
    return Task(
        name="test",
        description="What a test asks.",
        documents=_none,
        record=_none,
        measures=measures,
    )


def _none(*arguments: Any) -> Any:
    raise NotImplementedError
