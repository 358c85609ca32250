"""Documents of IRFL as its loader makes them: a choice between four images, and one image of a row
to rank.
"""

from __future__ import annotations

from typing import Any

from figlang_tasks.core import score_requests

SHARED = {
    "dataset": "figlang_mini_irfl",
    "phrase": "He is a fox",
    "definitions": [],
    "type": "figurative",
}
ROTATIONS = "figlang_mini_irfl,table=simile-detection-task,rotations=true"
"""The request for each choice in all rotations."""


def choice_doc(**changed: Any) -> dict[str, Any]:
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
    return SHARED | doc | changed


def pair_doc(
    positive: bool, place: int = 0, images: int = 2, row: str = "r0", **changed: Any
) -> dict[str, Any]:
    doc = {
        "request": "figlang_mini_irfl,table=metaphor-retrieval-task",
        "data": "figlang_mini_irfl/metaphor-retrieval-task@package:0",
        "id": f"{row}-{place}",
        "row": row,
        "figurative_type": "metaphor",
        "candidates": [str(place)],
        "role": "answer" if positive else "literal",
        "positive": positive,
        "images": images,
    }
    return SHARED | doc | changed


def scores(*values: float) -> list[str]:
    return [score_requests.answer(values)]
