"""Compares the tables of a folder with those of IRFL's release, for ``figlang reproduce``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from figlang_tasks.benchmarks.irfl.counts import ROWS, ROWS_OF_TYPES
from figlang_tasks.benchmarks.irfl.tables import file_name
from figlang_tasks.core.row_files import released_table

COMPARED_WITH = "in the release"
"""What the numbers of `cells` are compared with. The authors released no answers of models, so that
none of the paper's results can be recomputed.
"""

_COUNTS_IN_THE_PAPER = {
    "metaphor-retrieval-task": 35,
    "idiom-detection-task, figurative": 135,
    "idiom-detection-task, figurative+literal": 65,
}
"""Counts that the paper (arXiv 2303.15445) prints, and the released tables do not have."""


def cells(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Yield name, released count (as text) and count in `folder`, of the rows of each table.

    After a table come its types of rows, with names such as
    ``idiom-detection-task, figurative (the paper: 135)``. The released count is "None" where it is
    not known.

    Args:
        folder: the folder with the tables; those that are not there are left out.
    """
    for table, released_count in ROWS.items():
        path = folder / file_name(table)
        if not path.exists():
            continue
        rows = released_table(path)
        yield _with_papers_count(table), str(released_count), len(rows)
        for row_type, released_count_of_type in ROWS_OF_TYPES.get(table, {}).items():
            rows_of_type = sum(row["type"] == row_type for row in rows)
            name = _with_papers_count(f"{table}, {row_type}")
            yield name, str(released_count_of_type), rows_of_type


def _with_papers_count(name: str) -> str:
    """The name of a count, with the paper's count behind it where that is another one."""
    if name not in _COUNTS_IN_THE_PAPER:
        return name
    return f"{name} (the paper: {_COUNTS_IN_THE_PAPER[name]})"
