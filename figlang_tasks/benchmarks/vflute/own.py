"""Rows of the user in place of V-FLUTE's: a table for each split, and a folder of pictures.

``$FIGLANG_DATA_DIR/V-FLUTE`` holds ``test.csv``, else ``test.jsonl`` (also ``train``, ``validation``), in UTF-8: CSV
with a header, or one JSON object a line. Columns, all texts:

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
    """Return the user's table of a split, which stands before any of the release; None if there is none.

    Raises:
        DataError: ``FIGLANG_DATA_DIR`` does not name a folder.
    """
    folder = hub.local_folder(hub.source(name))
    names = [f"{split}.csv", f"{split}.jsonl"] if folder else []
    return next((path for each in names if folder and (path := folder / each).is_file()), None)


def read(path: Path) -> tuple[list[Row], list[str]]:
    """Return the rows of a table, and the faults of others: file, line, column and remedy.

    Claims, labels and pictures are not looked at.

    Raises:
        DataError: the file cannot be read.
    """
    found: list[Row] = []
    faults: list[str] = []
    lines: dict[str, int] = {}
    for number, values in row_files.read(path, REQUIRED):
        where = f"{path}, line {number}"
        if isinstance(values, str):
            faults.append(f"{where} {values}")
            continue
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
    return found, faults


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
