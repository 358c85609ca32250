"""How many rows HumorDB's tasks have as published."""

from __future__ import annotations

from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.request import Request

COMPARISONS = {"train": 15466, "validation": 5062, "test": 5086}
"""Comparisons of each split with one of the eight anchors in which one picture wins."""


def count(request: Request) -> int | None:
    """The number of pictures, or of comparisons; None for a split that does not exist.

    The binary task asks about each picture twice.
    """
    if request["question"] == "comparison":
        return COMPARISONS.get(request["split"])
    return source_of(request.dataset).splits.get(request["split"])
