"""How records of a task belong together: by resampling unit, by row of the benchmark, by repeat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from figlang_tasks.core.record import Record

AnyRecord: TypeAlias = Any
"""A record of one kind of task. Functions of a benchmark name its `TypedDict` in this place."""

REPEAT = "repeat"
"""The field with the number of an answer, from 1, of rows with several answers (``--repeats``)."""


def unit_of(record: Record) -> str:
    """The resampling unit of a record: its group if rows depend on each other, else its id."""
    return str(record.get("unit", record["id"]))


def row_of(record: Record) -> str:
    """The id of the benchmark's row, which rotations and the pictures of a ranking share."""
    return str(record.get("row", record["id"]))


def by_repeat(records: Sequence[Record]) -> list[list[Record]]:
    """Group records by repeat: the first answers to all rows, then the second ones, and so on.

    There is a single group if each row has one answer.
    """
    numbers = {record.get(REPEAT, 1) for record in records}
    if len(numbers) == 1:
        return [list(records)]
    answers_by_number: dict[int, list[Record]] = {}
    for record in records:
        answers_by_number.setdefault(record.get(REPEAT, 1), []).append(record)
    return [answers_by_number[number] for number in sorted(answers_by_number)]
