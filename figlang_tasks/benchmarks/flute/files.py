"""Which files FLUTE's tasks read."""

from __future__ import annotations

from figlang_tasks.benchmarks.flute.pairs import JSON_LINES
from figlang_tasks.core.parquet_files import split_pattern
from figlang_tasks.core.request import Request


def needed_files(request: Request) -> tuple[str, ...]:
    """Patterns of the files that every request reads: the train split, from which all parts are."""
    return (f"{split_pattern('train')}|{JSON_LINES}",)
