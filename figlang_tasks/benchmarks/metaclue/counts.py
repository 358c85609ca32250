"""How many images MetaCLUE's tasks have in the paper (arXiv 2212.09898)."""

from __future__ import annotations

from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.request import Request

CLASSIFY_PREFIX = "classify_"
"""How the names of classification tasks begin; ``symbolic`` or ``literal`` follows."""

RETRIEVE_PREFIX = "retrieve_"
"""How the names of retrieval tasks begin; a name of `candidates.SETTINGS` follows."""

PAPER = {"metaphor": 1331, "symbolic_negative": 1419, "literal_negative": 1000}
"""Test images by set (section 3.1)."""

GENERATED_IMAGES = 300
"""Samples of the test set that text-to-image models draw (section 3.4)."""


def count(request: Request) -> int | None:
    """The published number of rows of a task; None if there is none.

    There is none for the mini benchmark, and where it depends on the annotations, which were not
    released: the questions of VQA, the concepts of localization.
    """
    task = request["task"]
    is_mini = source_of(request.dataset).folder is not None
    if is_mini:
        return None
    metaphors = PAPER["metaphor"]
    if task.startswith(CLASSIFY_PREFIX):
        negatives = task.removeprefix(CLASSIFY_PREFIX)
        return metaphors + PAPER[f"{negatives}_negative"]
    if task.startswith((RETRIEVE_PREFIX, "caption")):
        return metaphors
    if task == "generate":
        return GENERATED_IMAGES
    return None
