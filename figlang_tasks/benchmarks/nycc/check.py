"""What ``figlang data check nycc`` checks besides the rows that tasks ask."""

from __future__ import annotations

from collections.abc import Iterator

from figlang_tasks.benchmarks.nycc import rows
from figlang_tasks.core.errors import DataError


def check() -> Iterator[DataError]:
    """Yield the faults of the training rows, of which tasks with exemplars draw some."""
    return rows.training_faults("NYCC")
