"""How many rows IRFL's tables have in the release, and how many of each type."""

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
"""The number of rows of each table; None where it is not known."""

INFERRED = ("idiom-retrieval-task", "open-simile-retrieval-task")
"""Tables whose number of rows we deduced from the paper, so that another one is no fault."""

ROWS_OF_TYPES = {"idiom-detection-task": {"figurative": 131, "figurative+literal": 69}}
"""The number of rows by table and type; the paper prints 135 and 65."""


def count(request: Request) -> int | None:
    """The number of rows of a released table; None if it is not known.

    It is None for random candidates and for tables of another dataset, too.
    """
    if request.dataset != "IRFL":
        return None
    return ROWS.get(request["table"])
