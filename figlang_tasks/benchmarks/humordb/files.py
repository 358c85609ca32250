"""Which files HumorDB's tasks read."""

from __future__ import annotations

from figlang_tasks.benchmarks.humordb.rows import splits_of
from figlang_tasks.core.parquet_files import split_pattern
from figlang_tasks.core.request import Request


def needed_files(request: Request) -> tuple[str, ...]:
    """Patterns of the files that a request reads; comparisons need the splits of the anchors."""
    return tuple(split_pattern(split) for split in splits_of(request))
