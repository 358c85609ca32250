"""Documents of IRFL as its loader makes them, and answers by matching scores."""

from __future__ import annotations

from typing import Any

from figlang_tasks.core import score_requests

_SHARED_COLUMNS = {
    "dataset": "figlang_mini_irfl",
    "phrase": "He is a fox",
    "definitions": [],
    "type": "figurative",
}
ROTATIONS = "figlang_mini_irfl,table=simile-detection-task,rotations=true"
"""The request for each choice in all rotations."""


def choice_doc(**changed_columns: Any) -> dict[str, Any]:
    """A choice among four images, of which the second, B, is right."""
    doc = {
        "request": "figlang_mini_irfl,table=simile-detection-task",
        "data": "figlang_mini_irfl/simile-detection-task@package:0",
        "id": "simile-detection-task-0",
        "row": "simile-detection-task-0",
        "figurative_type": "simile",
        "candidates": ["1", "2", "3", "4"],
        "roles": ["source", "answer", "target", "random"],
        "answer": 1,
    }
    return _SHARED_COLUMNS | doc | changed_columns


def pair_doc(
    positive: bool, number: int = 0, images: int = 2, row: str = "r0", **changed_columns: Any
) -> dict[str, Any]:
    """One image of a row of retrieval.

    Args:
        positive: whether it shows the figurative meaning.
        number: its number in the row, from 0.
        images: how many images the row has.
        row: the id of the row.
        changed_columns: columns with other values.
    """
    doc = {
        "request": "figlang_mini_irfl,table=metaphor-retrieval-task",
        "data": "figlang_mini_irfl/metaphor-retrieval-task@package:0",
        "id": f"{row}-{number}",
        "row": row,
        "figurative_type": "metaphor",
        "candidates": [str(number)],
        "role": "answer" if positive else "literal",
        "positive": positive,
        "images": images,
    }
    return _SHARED_COLUMNS | doc | changed_columns


def scores(*image_scores: float) -> list[str]:
    """The output of a model that gives these matching scores, as ``process_results`` takes it."""
    return [score_requests.answer(image_scores)]
