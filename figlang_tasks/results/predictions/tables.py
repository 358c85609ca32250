"""Reads predictions from tables: CSV, TSV, JSON, JSON Lines, Parquet and Excel."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from figlang_tasks.core import files
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.row_files import brief, read_rows
from figlang_tasks.results.predictions.columns import (
    Cells,
    may_hold_predictions,
    predictions_of_table,
)
from figlang_tasks.results.predictions.json_fields import MOST_BYTES, check_unique
from figlang_tasks.results.predictions.prediction import ColumnNames, PredictionFile

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow

FORM_BY_SUFFIX = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".json": "JSON",
    ".jsonl": "JSON Lines",
    ".parquet": "Parquet",
    ".xlsx": "Excel",
}
"""The names of the tables that are read, by the ending of the file."""

MOST_BYTES_OF_A_TABLE = MOST_BYTES
"""The limit for a table: 100,000 answers of 10,000 characters."""
_MOST_UNPACKED_BYTES = 256 * files.MEBIBYTE
"""The limit for the files in an Excel file, unpacked: a small file may unpack to any size."""


def read_table(path: Path, names: ColumnNames) -> PredictionFile:
    """Read the predictions in a table that is no JSON, by the ending of its name.

    Raises:
        RunError: the file cannot be read, or has no predictions.
    """
    readers: dict[str, Callable[[Path], Iterator[tuple[str, Cells]]]] = {
        ".csv": _rows_of_text,
        ".tsv": _rows_of_text,
        ".jsonl": _rows_of_text,
        ".parquet": partial(_rows_of_parquet, names=names),
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
    check_unique(source, columns)
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


def read_json_table(path: Path, content: object, names: ColumnNames) -> PredictionFile:
    """Read the predictions in the content of a JSON file that is a table.

    Raises:
        RunError: it has another form, or no predictions.
    """
    rows = rows_of_content(path, content)
    return predictions_of_table(path, FORM_BY_SUFFIX[".json"], rows, names)


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
            elif isinstance(answer, list):
                raise RunError(
                    f"{location} is {brief(answer)}: in an object each id must have the output as"
                    " a text, or an object with columns"
                )
            else:
                yield location, {"id": row_id, "output": answer}
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


def _rows_of_parquet(path: Path, names: ColumnNames) -> Iterator[tuple[str, Cells]]:
    """The rows of a Parquet file, read in pieces; columns of pictures are left out.

    Raises:
        RunError: the file is damaged, has a column twice, or unpacks to too much.
    """
    import pyarrow
    import pyarrow.parquet

    try:
        schema = pyarrow.parquet.read_schema(path)
        check_unique(path, schema.names)
        # A row of a dataset may hold its picture, which tells nothing here. A column with the
        # name of predictions is kept, so that a message says what is wrong with it.
        columns = [
            field.name
            for field in schema
            if _is_plain(field.type) or may_hold_predictions(field.name, names)
        ]
        # Texts and bytes stay in dictionaries until their lengths are known, those in lists too: a
        # few kilobytes may stand for gigabytes of equal texts.
        stored = pyarrow.parquet.read_metadata(path).schema
        leaves = [stored.column(position) for position in range(len(stored))]
        texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
        table = pyarrow.parquet.ParquetFile(path, read_dictionary=texts)
        number = 0
        unpacked_bytes = 0
        for batch in table.iter_batches(batch_size=1000, columns=columns):
            unpacked_bytes += sum(map(_unpacked_bytes, batch.columns))
            if unpacked_bytes > MOST_BYTES_OF_A_TABLE:
                raise RunError(
                    f"{path} unpacks to more than {MOST_BYTES_OF_A_TABLE:,} bytes: is it the right"
                    " file?"
                )
            for row in batch.to_pylist():
                yield f"{path}, row {number}", row
                number += 1
    except (pyarrow.ArrowException, ValueError, OSError) as error:
        raise RunError(
            f"{path} is no Parquet file that can be read ({error}): save the table again"
        ) from error


def _is_text(arrow_type: pyarrow.DataType) -> bool:
    """Whether a column of Parquet has texts."""
    import pyarrow

    return bool(pyarrow.types.is_string(arrow_type) or pyarrow.types.is_large_string(arrow_type))


def _is_plain(arrow_type: pyarrow.DataType) -> bool:
    """Whether the cells of a column are texts, numbers, truth values or times, or lists of them."""
    import pyarrow

    types = pyarrow.types
    if types.is_dictionary(arrow_type):
        return _is_plain(arrow_type.value_type)
    if types.is_list(arrow_type) or types.is_large_list(arrow_type):
        return _is_plain(arrow_type.value_type)
    is_value = types.is_primitive(arrow_type) or types.is_null(arrow_type)
    return bool(is_value or types.is_decimal(arrow_type) or _is_text(arrow_type))


def _unpacked_bytes(column: pyarrow.Array) -> int:
    """How many bytes the cells of a column have, each with a copy of its texts."""
    import pyarrow
    import pyarrow.compute

    types = pyarrow.types
    if types.is_list(column.type) or types.is_large_list(column.type):
        return int(column.offsets.nbytes) + _unpacked_bytes(column.flatten())
    if types.is_struct(column.type):
        return sum(map(_unpacked_bytes, column.flatten()))
    if not types.is_dictionary(column.type) or types.is_primitive(column.type.value_type):
        return int(column.nbytes)
    lengths = pyarrow.compute.binary_length(column.dictionary).take(column.indices)
    return pyarrow.compute.sum(lengths).as_py() or 0  # None for a column without texts


def _rows_of_excel(path: Path) -> Iterator[tuple[str, Cells]]:
    """The rows of the first sheet of an Excel file; a formula stays the text that it is.

    Columns without a name are left out.

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
        _check_members(path)
        # With `data_only=False` a cell "=1+1" is this text; nothing is computed.
        book = openpyxl.load_workbook(path, read_only=True, data_only=False)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # those of some programs would fill each row with 16,384 cells
        sheet_rows = sheet.iter_rows(values_only=True)
        header = [str(cell) if cell is not None else "" for cell in next(sheet_rows, ())]
        check_unique(path, [column for column in header if column])
        for number, values in enumerate(sheet_rows, start=2):
            cells = dict(zip(header, map(_excel_value, values), strict=False))
            cells.pop("", None)
            if any(cell is not None for cell in cells.values()):
                yield f"{path}, row {number}", cells
    except (RunError, OSError):
        raise
    except Exception as error:  # of whatever class: damaged files have openpyxl raise many
        raise RunError(
            f"{path} is no Excel file that can be read ({error}): save the sheet as CSV"
        ) from error


def _excel_value(value: object) -> object:
    """A cell of a sheet; the text of a formula that openpyxl has as an object."""
    from openpyxl.worksheet.formula import ArrayFormula, DataTableFormula

    if isinstance(value, ArrayFormula):
        return value.text
    if isinstance(value, DataTableFormula):
        return f"=TABLE({value.r1 or ''},{value.r2 or ''})"  # as Excel shows it
    return value


def _check_members(path: Path) -> None:
    """Check the files in an Excel file before openpyxl reads them.

    They are unpacked in small pieces and counted, because their header may lie about their size. A
    document type, which Excel never writes, may define texts that grow without end, or may name
    other files.

    Raises:
        RunError: they unpack to too much, or one has a document type.
    """
    unpacked_bytes = 0
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            with archive.open(member) as file:
                beginning = b""
                while piece := file.read(files.MEBIBYTE):
                    beginning = beginning or piece
                    unpacked_bytes += len(piece)
                    if unpacked_bytes > _MOST_UNPACKED_BYTES:
                        raise RunError(
                            f"{path} unpacks to more than {_MOST_UNPACKED_BYTES:,} bytes: save the"
                            " sheet as CSV"
                        )
            # In UTF-16 there is a zero beside each character.
            if b"<!DOCTYPE" in beginning.replace(b"\0", b""):
                raise RunError(
                    f"{path}: {member.filename} has a document type, which Excel does not write:"
                    " save the sheet as CSV"
                )


def _plain_value(value: object) -> object:
    """A cell of a DataFrame as a value of Python: numpy's numbers and pandas' NA are none."""
    import numpy as np
    import pandas as pd

    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | dict | tuple):
        return list(value) if isinstance(value, tuple) else value
    if pd.isna(value):  # type: ignore[call-overload]
        return None
    item = getattr(value, "item", None)
    return item() if callable(item) else value
