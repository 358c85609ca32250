"""The measures of Emblems."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.scoring import Measure, Measures, Record

EMBLEMS = Measures.of(
    Measure("acc", each=lambda record: float(record["predicted"] == record["gold"])),
    Measure("parse_rate", each=lambda record: float(record["status"] == "read"), diagnostic=True),
)


def of_records(records: Sequence[Record]) -> Measures:
    """The measures of the task that wrote `records`."""
    return EMBLEMS
