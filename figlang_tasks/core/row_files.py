"""Rows that users bring: a CSV or TSV file with a header, or JSON Lines. Lines are counted from 1."""

from __future__ import annotations

import csv
import io
import reprlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from figlang_tasks.core import json_lines
from figlang_tasks.core.hub import DataError
from figlang_tasks.core.text import HALF_A_PAIR

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 200


def read(path: Path, required: Sequence[str]) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Each row of a ``.csv``, ``.tsv`` or JSON Lines file: its line number, with its cells or what is wrong, as text.

    Where a whole CSV file cannot be read (its encoding, its header, a quote that is not closed), nothing follows.
    """
    content = json_lines.content_of(path)
    if (delimiter := {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())) is not None:
        yield from _csv(content, required, delimiter)
        return
    for number, found in json_lines.objects(content):
        yield number, found if isinstance(found, str) else _missing(found, required) or found


def _csv(content: bytes, required: Sequence[str], delimiter: str) -> Iterator[tuple[int, dict[str, Any] | str]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        yield number, f"is not UTF-8 ({error.reason} at byte {error.start}): save the file as UTF-8"
        return
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    columns: list[str] = []
    while True:
        start = reader.line_num + 1  # where a row begins: a quote that is not closed swallows all lines behind it
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield start, f"is not CSV ({error}): correct it, or save the table as CSV again"
            return
        if cells is None:
            return
        if not cells:  # an empty line
            continue
        if not columns:
            columns = cells
            if wrong := _twice(columns) or _missing(columns, required):
                yield start, wrong
                return
        elif len(cells) != len(columns):
            yield (
                start,
                f"has {len(cells)} cells, the header has {len(columns)}: put a text with the separator in quotes",
            )
        else:
            yield start, dict(zip(columns, cells, strict=True))


def _twice(columns: Sequence[str]) -> str:
    twice = [column for column, count in Counter(columns).items() if count > 1]
    return f"has the column {twice[0]!r} twice: rename one" if twice else ""


def _missing(columns: Sequence[str] | Mapping[str, Any], required: Sequence[str]) -> str:
    missing = [column for column in required if column not in columns]
    if not missing:
        return ""
    needed, found = ", ".join(required), brief(", ".join(columns))
    return f"has no column {', '.join(missing)}: it must have {needed} (found: {found})"


def brief(value: Any) -> str:
    """A value as a message shows it."""
    return _SHORT.repr(value)


def text(values: Mapping[str, Any], column: str, where: str, optional: bool = False) -> str:
    """The text in a column of a row, without white space around it; "" if it is `optional` and not there."""
    value = values.get(column)
    if value is None and (optional or column not in values):
        if optional:
            return ""
        raise DataError(f"{where}: {column} is missing; it must be a text")
    if not isinstance(value, str):
        raise DataError(f"{where}: {column} is {brief(value)}, must be a text")
    if HALF_A_PAIR.search(value):
        raise DataError(
            f"{where}: {column} contains half a surrogate pair, which is not a character. Is the file damaged? Correct "
            "the text"
        )
    if not value.strip() and not optional:
        raise DataError(f"{where}: {column} is empty; it must be a text")
    return value.strip()
