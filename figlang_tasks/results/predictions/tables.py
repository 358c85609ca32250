"""Reads predictions from tables: CSV, TSV, JSON, JSON Lines, Parquet and Excel."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from figlang_tasks.core import files
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.row_files import brief, read_rows
from figlang_tasks.results.predictions.columns import Cells, predictions_of_table
from figlang_tasks.results.predictions.prediction import ColumnNames, PredictionFile

if TYPE_CHECKING:
    import pandas as pd

FORM_BY_SUFFIX = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".json": "JSON",
    ".jsonl": "JSON Lines",
    ".parquet": "Parquet",
    ".xlsx": "Excel",
}
"""The names of the tables that are read, by the ending of the file."""

MOST_BYTES_OF_A_TABLE = 1024 * files.MEBIBYTE
"""The limit for a table: 100,000 answers of 10,000 characters."""
_MOST_UNPACKED_BYTES = 2048 * files.MEBIBYTE
"""The limit for the files in an Excel file, unpacked: a small file may unpack to any size."""


def read_table(path: Path, names: ColumnNames) -> PredictionFile:
    """Read the predictions in a table, by the ending of its name.

    Raises:
        RunError: the file cannot be read, or has no predictions.
    """
    readers = {
        ".csv": _rows_of_text,
        ".tsv": _rows_of_text,
        ".jsonl": _rows_of_text,
        ".json": _rows_of_json,
        ".parquet": _rows_of_parquet,
        ".xlsx": _rows_of_excel,
    }
    suffix = path.suffix.lower()
    try:
        files.check_file(path, MOST_BYTES_OF_A_TABLE)
        return predictions_of_table(path, FORM_BY_SUFFIX[suffix], readers[suffix](path), names)
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror or error}") from error


def predictions_of_frame(frame: pd.DataFrame, names: ColumnNames) -> PredictionFile:
    """The predictions in a DataFrame, for `figlang_tasks.score`.

    Raises:
        RunError: the frame has a column twice, or no predictions.
    """
    columns = [str(column) for column in frame.columns]
    source = Path("DataFrame")
    _check_unique(source, columns)
    rows: list[tuple[str, Cells]] = []
    for position, values in enumerate(frame.itertuples(index=False, name=None)):
        cells = dict(zip(columns, map(_plain_value, values), strict=True))
        rows.append((f"DataFrame, row {position}", cells))
    return predictions_of_table(source, "DataFrame", rows, names)


def predictions_of_mapping(
    output_by_id: Mapping[str, str | None], names: ColumnNames
) -> PredictionFile:
    """The predictions in a mapping from ids to outputs, for `figlang_tasks.score`."""
    source = Path("predictions")
    content = {str(row_id): output for row_id, output in output_by_id.items()}
    return predictions_of_table(source, "mapping", rows_of_content(source, content), names)


def _rows_of_text(path: Path) -> Iterator[tuple[str, Cells]]:
    """The rows of CSV, TSV or JSON Lines; the first fault raises a `RunError`."""
    for location, row in read_rows(path, most_bytes=MOST_BYTES_OF_A_TABLE):
        if isinstance(row, str):  # what is wrong with the row
            raise RunError(f"{location} {row}")
        yield location, row


def _rows_of_json(path: Path) -> Iterator[tuple[str, Cells]]:
    """The rows of a JSON file: a list of objects, or an object with an output for each id."""
    try:
        content = json.loads(files.read_file(path, MOST_BYTES_OF_A_TABLE).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} is not JSON in UTF-8 ({error}): save the file again") from error
    yield from rows_of_content(path, content)


def rows_of_content(path: Path, content: object) -> Iterator[tuple[str, Cells]]:
    """The rows of what a JSON file holds.

    Args:
        path: of the file.
        content: a list of objects, or an object that has for each id an output, or an object with
            columns.

    Raises:
        RunError: it is of another form.
    """
    if isinstance(content, dict):
        for row_id, answer in content.items():
            location = f"{path}, {brief(row_id)}"
            if isinstance(answer, dict):
                yield location, {"id": row_id, **answer}
            elif isinstance(answer, str | None):
                yield location, {"id": row_id, "output": answer}
            else:
                raise RunError(
                    f"{location} is {brief(answer)}: in an object each id must have the output as"
                    " a text, or an object with columns"
                )
        return
    if not isinstance(content, list):
        raise RunError(
            f"{path} holds {brief(content)}: it must be a list of objects, or an object with an"
            " output for each id"
        )
    for number, row in enumerate(content, start=1):
        location = f"{path}, entry {number}"
        if not isinstance(row, dict):
            raise RunError(f"{location} is {brief(row)}, must be an object with columns")
        yield location, row


def _rows_of_parquet(path: Path) -> Iterator[tuple[str, Cells]]:
    """The rows of a Parquet file, read in pieces; columns of pictures are left out."""
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.ParquetFile(path)
        columns = table.schema_arrow.names
        _check_unique(path, columns)
        # A row of a dataset may hold its picture, which tells nothing here.
        is_readable = {
            field.name: not pyarrow.types.is_binary(field.type)
            and not pyarrow.types.is_struct(field.type)
            for field in table.schema_arrow
        }
        readable_columns = [column for column in columns if is_readable[column]]
        number = 0
        for batch in table.iter_batches(batch_size=1000, columns=readable_columns):
            for row in batch.to_pylist():
                yield f"{path}, row {number}", row
                number += 1
    except (pyarrow.ArrowException, ValueError) as error:
        raise RunError(f"{path} is no Parquet file that can be read ({error})") from error


def _rows_of_excel(path: Path) -> Iterator[tuple[str, Cells]]:
    """The rows of the first sheet of an Excel file; a formula stays the text that it is.

    Raises:
        RunError: openpyxl is not installed, or the file is no Excel file, or unpacks to too much.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise RunError(
            f"{path}: Excel files need openpyxl: pip install 'figlang-tasks[excel]', or save the"
            " sheet as CSV"
        ) from error
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked_bytes = sum(member.file_size for member in archive.infolist())
        if unpacked_bytes > _MOST_UNPACKED_BYTES:
            raise RunError(f"{path} unpacks to {unpacked_bytes:,} bytes: save the sheet as CSV")
        # With `data_only=False` a cell "=1+1" is this text; nothing is computed.
        book = openpyxl.load_workbook(path, read_only=True, data_only=False)
        sheet_rows = book.worksheets[0].iter_rows(values_only=True)
        header = [str(cell) if cell is not None else "" for cell in next(sheet_rows, ())]
        while header and not header[-1]:  # empty columns behind the last one
            header.pop()
        _check_unique(path, header)
        for number, values in enumerate(sheet_rows, start=2):
            cells = dict(zip(header, values, strict=False))
            if any(cell is not None for cell in cells.values()):
                yield f"{path}, row {number}", cells
    except (zipfile.BadZipFile, KeyError, ValueError, IndexError) as error:
        raise RunError(
            f"{path} is no Excel file that can be read ({error}): save the sheet as CSV"
        ) from error


def _check_unique(path: Path, columns: list[str]) -> None:
    """Raise a `RunError` if a table has a column twice."""
    for column in columns:
        if columns.count(column) > 1:
            raise RunError(f"{path} has the column {column!r} twice: rename one")


def _plain_value(value: object) -> object:
    """A cell of a DataFrame as a value of Python: numpy's numbers and pandas' NA are none."""
    import pandas as pd

    if isinstance(value, list | dict | tuple):
        return list(value) if isinstance(value, tuple) else value
    if pd.isna(value):  # type: ignore[call-overload]
        return None
    item = getattr(value, "item", None)
    return item() if callable(item) else value
