"""Rows of the user in place of V-FLUTE's: a table for each split, and a folder of pictures.

``$FIGLANG_DATA_DIR/V-FLUTE`` holds ``test.csv`` or ``test.jsonl`` (also ``train``, ``validation``), in UTF-8: CSV with
a header, or one JSON object a line. Columns, all texts:

- ``id``: unique in the file;
- ``image``: path of the picture, below the folder;
- ``claim``: what the picture entails or contradicts;
- ``label``: ``entailment`` or ``contradiction``;
- ``explanation``: the reference explanation;
- ``source_dataset``: name of the source, which gets results of its own; may be left out;
- ``phenomenon``: may be left out. Of the source ``irfl`` the phenomenon ``idiom`` is a source of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from figlang_tasks.core import hub, row_files
from figlang_tasks.core.hub import DataError

REQUIRED = ("id", "image", "claim", "label", "explanation")
OPTIONAL = ("source_dataset", "phenomenon")
NO_SOURCE = "other"
"""The source of rows that name none."""

_SOURCE = re.compile(r"(?!all$|.*ci_(low|high)$)[\w-]{1,60}")  # it becomes part of the names of metrics
_EXAMPLE = "`figlang data template vflute` writes an example"


class Row(NamedTuple):
    """A row: `where` it is, for messages (file, line, id), and its cells by column, "" for those that it leaves out."""

    where: str
    cells: dict[str, str]


def table_of(name: str, split: str) -> Path | None:
    """The user's table of a split; None if there is none.

    Args:
        name: a dataset in V-FLUTE's schema.
        split: one of its splits.

    Raises:
        DataError: there are several tables, or Parquet files too; ``FIGLANG_DATA_DIR`` does not name a folder.
    """
    folder = hub.local_folder(hub.source(name))
    if folder is None:
        return None
    tables = [path for kind in ("csv", "jsonl") if (path := folder / f"{split}.{kind}").is_file()]
    if not tables:
        return None
    if others := [*tables[1:], *sorted(folder.glob(f"**/{split}-*.parquet"))[:1]]:
        raise DataError(
            f"{name}: {tables[0]} and {others[0].relative_to(folder)} both hold the split {split!r}: keep the one that "
            "is meant, and move the other out of the folder"
        )
    return tables[0]


def read(path: Path) -> tuple[list[Row], list[str], list[str]]:
    """Read a table; claims, labels and pictures are not looked at.

    Returns:
        The rows; the faults of others, each with file, line, column and remedy; the names of columns that are not used.

    Raises:
        DataError: the file cannot be read.
    """
    found: list[Row] = []
    faults: list[str] = []
    lines: dict[str, int] = {}
    unused: dict[str, None] = {}
    for number, values in row_files.read(path, REQUIRED):
        where = f"{path}, line {number}"
        if isinstance(values, str):
            faults.append(f"{where} {values}")
            continue
        unused |= dict.fromkeys(column for column in values if column not in (*REQUIRED, *OPTIONAL))
        try:
            row = _row(values, where)
            first = lines.setdefault(row.cells["id"], number)
            if first != number:
                raise DataError(f"{row.where}: the id is also that of line {first}: ids must be unique")
        except DataError as error:
            faults.append(str(error))
        else:
            found.append(row)
    if not found and not faults:
        faults = [f"{path} has no rows: write one for each picture and claim ({_EXAMPLE})"]
    return found, faults, list(unused)


def _row(values: Mapping[str, Any], where: str) -> Row:
    where = f"{where} ({row_files.text(values, 'id', where)[:80]})"
    cells = {column: row_files.text(values, column, where) for column in REQUIRED}
    cells |= {column: row_files.text(values, column, where, optional=True) for column in OPTIONAL}
    if cells["source_dataset"] and not _SOURCE.fullmatch(cells["source_dataset"]):
        raise DataError(
            f"{where}: source_dataset is {row_files.brief(cells['source_dataset'])}; it becomes part of the names of "
            "metrics: write letters, digits, _ and - (60 at most), not `all`"
        )
    return Row(where, cells)
