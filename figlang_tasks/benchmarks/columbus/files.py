"""Which files COLUMBUS's tasks read."""

from __future__ import annotations

from figlang_tasks.benchmarks.columbus import rows
from figlang_tasks.core.request import Request


def needed_files(request: Request) -> tuple[str, ...]:
    """Patterns of the files that a request reads: rows, pictures, and what published runs showed.

    Rows and pictures have other names on the hub than in the archive of the authors.
    """
    patterns: tuple[str, ...] = (
        f"{rows.HUB_TABLE}|{rows.ARCHIVE_TABLE}",
        f"{rows.HUB_PICTURES}/*.png|{rows.ARCHIVE_PICTURES}/*.png",
    )
    if "graph" in request or request["order"] == "published":
        patterns += (f"{rows.PUBLISHED_OUTPUTS}|{rows.EXTRACTED_FILES[0]}",)
    return patterns
