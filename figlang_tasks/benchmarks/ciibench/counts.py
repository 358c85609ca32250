"""How many rows CII-Bench has as published."""

from __future__ import annotations

from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.request import Request


def count(request: Request) -> int:
    """The number of rows of a split, or of both (``split=all``), over which the paper reports."""
    splits = source_of(request.dataset).splits
    return sum(splits.values()) if request["split"] == "all" else splits[request["split"]]
