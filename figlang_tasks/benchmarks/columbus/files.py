"""Which files COLUMBUS's tasks read."""

from __future__ import annotations

from figlang_tasks.benchmarks.columbus.rows import EXTRACTED_FILES, PUBLISHED_OUTPUTS
from figlang_tasks.core.request import Request


def needed_files(request: Request) -> tuple[str, ...]:
    """Patterns of the files that a request reads: rows, pictures, and what published runs showed.

    Rows and pictures have other names on the hub than in the archive of the authors.
    """
    patterns: tuple[str, ...] = (
        "metadata.jsonl|benchmark.json",
        "images/*.png|results/benchmark/images/*.png",
    )
    if "graph" in request or request["order"] == "published":
        patterns += (f"{PUBLISHED_OUTPUTS}|{EXTRACTED_FILES[0]}",)
    return patterns
