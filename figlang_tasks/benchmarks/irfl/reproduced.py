"""Rows of the tables in a folder, and of their types, beside those of the release (``figlang
reproduce``).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from figlang_tasks.benchmarks.irfl.counts import ROWS, ROWS_OF_TYPES
from figlang_tasks.benchmarks.irfl.tables import file_name
from figlang_tasks.core.row_files import released_table

COMPARED_WITH = "in the release"
"""What the numbers of `cells` are compared with: no model's results were released, so that no
printed one can be.
"""

_IN_THE_PAPER = {
    "metaphor-retrieval-task": 35,
    "idiom-detection-task, figurative": 135,
    "idiom-detection-task, figurative+literal": 65,
}
"""Counts of the paper (arXiv 2303.15445) that the released tables do not have."""


def cells(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Name of each number, the number of the release, and ours."""
    for name, released_rows in ROWS.items():
        file = folder / file_name(name)
        if not file.exists():
            continue
        rows = released_table(file)
        yield _with_paper(name), str(released_rows), len(rows)
        for kind, released in ROWS_OF_TYPES.get(name, {}).items():
            yield (
                _with_paper(f"{name}, {kind}"),
                str(released),
                sum(row["type"] == kind for row in rows),
            )


def _with_paper(cell: str) -> str:
    """The name of a number, with that of the paper if it is another one."""
    return f"{cell} (the paper: {_IN_THE_PAPER[cell]})" if cell in _IN_THE_PAPER else cell
