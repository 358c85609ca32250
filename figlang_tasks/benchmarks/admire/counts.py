"""The tables of AdMIRe, such as ``en_test``, and how many rows each has as published."""

from __future__ import annotations

from figlang_tasks.core.request import Request

PARTS = {"train": "train", "dev": "dev", "test": "test", "extended": "xe"}
"""The parts of the data; each with the short name that files have (``subtask_a_xe.tsv``)."""

# Subtask A in English and in Portuguese, and subtask B, which is in English: the numbers of rows in
# the order of `PARTS`.
_ROWS_OF_PARTS = {"en": (70, 15, 15, 100), "pt": (32, 10, 13, 55), "sequence": (20, 5, 5, 30)}

BOTH: dict[str, tuple[str, ...]] = {}
"""The tables with both senses of each compound, ``en_both`` say, and the tables that they join.

The extended rows have each compound of the three other parts in its other sense.
"""

ROWS: dict[str, int] = {}
"""How many rows each table has as published."""

for _prefix, _part_sizes in _ROWS_OF_PARTS.items():
    _part_tables = tuple(f"{_prefix}_{part}" for part in PARTS)
    ROWS.update(zip(_part_tables, _part_sizes, strict=True))
    BOTH[f"{_prefix}_both"] = _part_tables
for _both_table, _part_tables in BOTH.items():
    ROWS[_both_table] = sum(ROWS[part_table] for part_table in _part_tables)


def count(request: Request) -> int | None:
    """The published number of rows of the table that a request names; None for an unknown one."""
    return ROWS.get(request["table"])


def is_sequence_table(table: str) -> bool:
    """Whether a table is of subtask B, sequences, and not of subtask A, rankings."""
    return table.startswith("sequence")
