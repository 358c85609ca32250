"""Groups records by row, and leaves out rows that a limit has cut.

A row of retrieval has a record for each of its images, a row in all rotations one for each
rotation. Only complete rows can be judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from loguru import logger

from figlang_tasks.core import notes
from figlang_tasks.scoring.records import AnyRecord

RowSize: TypeAlias = Callable[[AnyRecord], int]
"""``(record) -> number``: how many records the row of a record has when it is complete."""


class RecordsByRow(NamedTuple):
    """Records grouped by row.

    Attributes:
        complete: the records of each complete row.
        incomplete_count: how many rows lack records.
    """

    complete: list[list[AnyRecord]]
    incomplete_count: int


def group_by_row(records: Sequence[AnyRecord], row_size: RowSize) -> RecordsByRow:
    """The records of each complete row, and how many rows are not complete.

    A row is complete if it has as many records as `row_size` gives for one of them.
    """
    records_by_row: dict[str, list[AnyRecord]] = {}
    for record in records:
        records_by_row.setdefault(record["row"], []).append(record)
    complete: list[list[AnyRecord]] = []
    for row_records in records_by_row.values():
        if len(row_records) == row_size(row_records[0]):
            complete.append(row_records)
    return RecordsByRow(complete, incomplete_count=len(records_by_row) - len(complete))


def complete_rows(records: Sequence[AnyRecord], row_size: RowSize) -> list[list[AnyRecord]]:
    """The records of each complete row."""
    return group_by_row(records, row_size).complete


def phrases_of(rows: Sequence[Sequence[AnyRecord]]) -> list[str]:
    """The phrase of each row, which is its resampling unit: all records of a row have the same."""
    return [row_records[0]["unit"] for row_records in rows]


def warn_of_incomplete_rows(
    metric: str, row_size: RowSize
) -> Callable[[Sequence[AnyRecord]], None]:
    """Make the function of records that warns if rows are left out of a metric (`Measure.warn`).

    If no row is complete, it also notes that the run has failed to compute the metric.

    Args:
        metric: the name of the metric, for messages.
        row_size: how many records a complete row has.
    """

    def warn(records: Sequence[AnyRecord]) -> None:
        """Log how many rows are left out of the metric."""
        rows = group_by_row(records, row_size)
        if rows.incomplete_count:
            row_count = len(rows.complete) + rows.incomplete_count
            logger.warning(
                f"figlang_tasks: {rows.incomplete_count} of {row_count} rows are not complete"
                f" (--limit?) and left out of {metric}"
            )
        if not rows.complete:
            notes.note_failure(f"{metric} could not be computed: no row is complete (--limit?)")

    return warn
