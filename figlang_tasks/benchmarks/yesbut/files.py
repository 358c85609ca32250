"""Which files YesBut's tasks read."""

from __future__ import annotations

from figlang_tasks.benchmarks.yesbut import archive, rows
from figlang_tasks.core.request import Request


def needed_files(request: Request) -> tuple[str, ...]:
    """Patterns of the files that a request reads: the hub's table, or pictures and annotations."""
    pictures = [f"{folder}/*.jpg" for folder in archive.FOLDERS.values()]
    if request["task"] == "detection":
        return tuple(pictures)
    return (f"{rows.TABLE}|{archive.ANNOTATIONS}", f"{rows.TABLE}|{pictures[0]}")
