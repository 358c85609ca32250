"""How many images the tasks of MetaCLUE have in the paper."""

from __future__ import annotations

from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.request import Request

CLASSIFY, RETRIEVE = "classify_", "retrieve_"  # how the names of tasks begin
PAPER = {"metaphor": 1331, "symbolic_negative": 1419, "literal_negative": 1000}
"""Test images of each set, sections 3.1 and 3.2 of the paper."""
GENERATED = 300  # samples of the paper's text-to-image evaluation


def count(request: Request) -> int | None:
    """Number of rows of a task, as published; None where that depends on the annotations
    (questions, concepts).
    """
    task = request["task"]
    if source_of(request.dataset).folder is not None:
        return None
    metaphors = PAPER["metaphor"]
    if task.startswith(CLASSIFY):
        return metaphors + PAPER[f"{task.removeprefix(CLASSIFY)}_negative"]
    if task.startswith((RETRIEVE, "caption")):
        return metaphors
    return GENERATED if task == "generate" else None
