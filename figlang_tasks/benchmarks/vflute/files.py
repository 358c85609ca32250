"""Which files V-FLUTE's tasks read."""

from __future__ import annotations

from figlang_tasks.benchmarks.vflute.row_tables import USER_SUFFIXES
from figlang_tasks.core.parquet_files import split_pattern
from figlang_tasks.core.request import Request


def needed_files(request: Request) -> tuple[str, ...]:
    """Patterns of the files that a request reads: its split, of the user or of the release."""
    split = request["split"]
    patterns = [f"{split}{suffix}" for suffix in USER_SUFFIXES]
    patterns.append(split_pattern(split))
    return ("|".join(patterns),)
