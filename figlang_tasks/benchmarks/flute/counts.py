"""How many rows the parts of FLUTE have."""

from __future__ import annotations

from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.request import Request

HELDOUT_SIZES = {
    ("sarcasm", "Entailment"): 241,
    ("sarcasm", "Contradiction"): 509,
    ("simile", "Entailment"): 125,
    ("simile", "Contradiction"): 125,
    ("metaphor", "Entailment"): 125,
    ("metaphor", "Contradiction"): 125,
    ("idiom", "Entailment"): 125,
    ("idiom", "Contradiction"): 125,
}
"""Held-out rows by portion and label, 1,500 in all.

The portions are as large as those of the shared task's test set. Within a portion the labels have
the proportions of the released rows.
"""

BLIND_ROWS = 1500
"""Rows of the shared task's test set, whose labels are not published."""


def count(request: Request) -> int:
    """The number of rows that a request reads; for the part ``rest`` an upper bound.

    ``heldout`` and ``codalab`` have fixed numbers. ``train`` has that of the whole train split, and
    so has ``rest`` here, although it lacks the held-out rows.
    """
    part = request["part"]
    if part == "heldout":
        return sum(HELDOUT_SIZES.values())
    if part == "codalab":
        return BLIND_ROWS
    return source_of(request.dataset).splits["train"]
