"""What ``figlang data check nycc`` looks at beside what the tasks ask for."""

from __future__ import annotations

from collections.abc import Iterator

from figlang_tasks.benchmarks.nycc import rows
from figlang_tasks.core.errors import DataError


def check() -> Iterator[DataError]:
    """The faults of the training rows, of which tasks with exemplars draw some."""
    return rows.training_faults("NYCC")
