"""Rows of the released tables, and of their types, beside those that the paper names (``figlang reproduce``)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from figlang_tasks.benchmarks.irfl.tables import ROWS, TYPES, file_name
from figlang_tasks.core.row_files import content_of


def cells(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Name of each number, the number as it was printed, and ours."""
    for name in (name for name in ROWS if (folder / file_name(name)).exists()):
        table = content_of(folder / file_name(name)).decode("utf-8")
        rows = list(csv.DictReader(io.StringIO(table, newline="")))
        yield name, str(ROWS[name]), len(rows)
        for kind, published in TYPES.get(name, {}).items():
            yield f"{name}, {kind}", str(published), sum(row["type"] == kind for row in rows)
