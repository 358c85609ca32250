"""Which files CII-Bench's tasks read."""

from __future__ import annotations

from figlang_tasks.benchmarks.ciibench.rows import archive_table, parts_of
from figlang_tasks.core.parquet_files import split_pattern
from figlang_tasks.core.request import Request


def needed_files(request: Request) -> tuple[str, ...]:
    """Patterns of the files that a request reads: of the authors' archive, or of the hub."""
    patterns: list[str] = []
    for split in parts_of(request["split"]):
        patterns.append(f"{archive_table(split)}|{split_pattern(split)}")
        patterns.append(f"images/{split}/*|{split_pattern(split)}")
    return tuple(patterns)
