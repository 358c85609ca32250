"""How many rows the tables of IRFL have, and the types in them."""

from __future__ import annotations

from figlang_tasks.core.request import Request

ROWS = {
    "idiom-detection-task": 200,
    "metaphor-detection-task": 333,
    "simile-detection-task": 277,
    "open-simile-detection-task": 277,
    "metaphor-retrieval-task": 34,
    "simile-retrieval-task": 142,
    "idioms-dataset": 6697,
    "idiom-retrieval-task": 243,
    "open-simile-retrieval-task": 142,
    "metaphors-dataset": None,
    "similes-dataset": None,
}
"""Rows of each table of the release; None where nobody knows."""
INFERRED = ("idiom-retrieval-task", "open-simile-retrieval-task")
"""Tables whose number of rows is deduced from the paper's: another one is no fault."""
ROWS_OF_TYPES = {"idiom-detection-task": {"figurative": 131, "figurative+literal": 69}}


def count(request: Request) -> int | None:
    """How many rows a table of the release has; None for candidates drawn at random, and for our
    own tables.
    """
    return ROWS.get(request["table"]) if request.dataset == "IRFL" else None
