"""The tables of AdMIRe, and how many rows each has as published."""

from __future__ import annotations

from figlang_tasks.core.request import Request

PARTS = {"train": "train", "dev": "dev", "test": "test", "extended": "xe"}
_COUNTS = {"en": (70, 15, 15, 100), "pt": (32, 10, 13, 55), "sequence": (20, 5, 5, 30)}
BOTH = {f"{kind}_both": tuple(f"{kind}_{part}" for part in PARTS) for kind in _COUNTS}
"""The extended rows have each compound of the three other parts in its other sense."""
ROWS = {
    **{
        f"{kind}_{part}": count
        for kind, own in _COUNTS.items()
        for part, count in zip(PARTS, own, strict=True)
    },
    **{f"{kind}_both": sum(own) for kind, own in _COUNTS.items()},
}
"""How many rows each table has as published."""


def count(request: Request) -> int | None:
    """The published number of rows of the table that a request names; None for an unknown one."""
    return ROWS.get(request["table"])
