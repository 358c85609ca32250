"""Which files the tasks of the New Yorker Caption Contest read."""

from __future__ import annotations

from figlang_tasks.benchmarks.nycc.configurations import fold_names
from figlang_tasks.core.request import Request


def needed_files(request: Request) -> tuple[str, ...]:
    """Patterns of the files that a request reads: the test rows of each fold."""
    return tuple(f"{name}/**/test-*.parquet" for name in fold_names(request))
