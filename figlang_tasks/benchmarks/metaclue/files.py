"""Which files MetaCLUE's tasks read."""

from __future__ import annotations

from figlang_tasks.benchmarks.metaclue.annotations import FILE
from figlang_tasks.core.request import Request


def needed_files(request: Request) -> tuple[str, ...]:
    """The file that every request reads; it says where the pictures are."""
    return (FILE,)
