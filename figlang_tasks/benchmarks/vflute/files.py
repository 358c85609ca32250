"""Which files V-FLUTE's tasks read."""

from __future__ import annotations

from figlang_tasks.core.request import Request


def needed_files(request: Request) -> tuple[str, ...]:
    """Patterns of the files that a request reads: its split, of the user or of the release."""
    split = request["split"]
    return (f"{split}.csv|{split}.jsonl|**/{split}-*.parquet",)
