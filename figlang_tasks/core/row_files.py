"""Reads rows of CSV and TSV files with a header, and of JSON Lines, and names the faults in them.

Lines are counted from 1. JSON Lines are UTF-8, one value a line; empty lines are skipped, but they
count.
"""

from __future__ import annotations

import csv
import io
import json
import re
import reprlib
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from figlang_tasks.core import files
from figlang_tasks.core.data_id import DataId, digest_of_rows
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.hub import USE_THE_RELEASE
from figlang_tasks.core.record import Row
from figlang_tasks.core.text import LONE_SURROGATE

if TYPE_CHECKING:
    import datasets

# How processors, chat templates and the harness mark a picture (or a film or sound) in a prompt:
# <image>, </img>, <image 1>, <start_of_image>, <|image_pad|>, <|vision_start|>, <|image token|>,
# <|image>, [IMG_END].
_PLACEHOLDER = re.compile(
    r"<[/|]{0,2}[\w-]{0,30}(?:image|img|im_patch|video|audio)[\w-]{0,30}(?: ?\d{1,3})?[/|]{0,2}>"
    r"|<\|[\w-]{0,30}(?:image|img|media|vision|video|audio|patch)[\w -]{0,30}\|>"
    r"|\[/?IMG(?:_\w{1,10})?\]",
    re.IGNORECASE,
)

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 200
_LONGEST_CELL: Final = files.MOST_BYTES_OF_A_MEMBER
"""Characters of a cell of a table in text."""
_DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}

RowOrFault: TypeAlias = dict[str, Any] | str
"""The cells of a row by column, or a text that says what is wrong with the row."""

_Values = TypeVar("_Values")
_ParsedRow = TypeVar("_ParsedRow")
_Model = TypeVar("_Model", bound=BaseModel)
_Progressing = TypeVar("_Progressing")


# --- reading files ---


def read_rows(
    path: Path, required: Sequence[str] = (), most_bytes: int = files.MOST_BYTES
) -> Iterator[tuple[str, RowOrFault]]:
    """Read a ``.csv``, ``.tsv`` or JSON Lines file: pairs of a row's location and its cells.

    A location is for messages: ``rows.csv, line 3``. In place of its cells, a row that is not valid
    has a text that says what is wrong. Where the rest of a CSV file cannot be read (its encoding,
    its header, an open quote), nothing follows. Files of other names are read as JSON Lines.

    Args:
        path: the file.
        required: columns that each row must have.
        most_bytes: the most bytes that the file may have.
    """
    content = content_of(path, most_bytes)
    delimiter = _DELIMITERS.get(path.suffix.lower())
    if delimiter is None:
        rows = json_lines(io.BytesIO(content))
    else:
        rows = _csv_rows(content, required, delimiter)
    for number, row in rows:
        location = f"{path}, line {number}"
        if isinstance(row, str):
            yield location, row
        else:
            yield location, _missing_columns(row, required) or row  # "" if it has all


def content_of(path: Path, most_bytes: int = files.MOST_BYTES) -> bytes:
    """The content of a file; a `DataError` if it is not a regular file of a plausible size."""
    try:
        return files.read_file(path, most_bytes)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error


def released_table(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    """The rows of a CSV or TSV file of a release, unchecked; `read_rows` reads rows of users."""
    text = io.StringIO(content_of(path).decode("utf-8"), newline="")
    csv.field_size_limit(_LONGEST_CELL)
    return list(csv.DictReader(text, delimiter=delimiter))


def released_json(path: Path) -> Any:
    """What a JSON file of a release holds, unchecked; a `DataError` if it is not valid JSON."""
    try:
        return json.loads(content_of(path))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not valid JSON ({error}). {USE_THE_RELEASE}") from error


def json_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, RowOrFault]]:
    """Read JSON Lines: the number of each line, and its object or what is wrong with it.

    Empty lines are skipped.

    Args:
        lines: the lines of a file, split at ``\\n`` alone. Texts may hold other line separators,
            unescaped.
    """
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        encoding = "utf-8-sig" if number == 1 else "utf-8"  # a byte order mark
        try:
            json_text = line.decode(encoding)
            value = _DECODER.decode(json_text)
        except UnicodeDecodeError as error:
            yield number, _utf8_fault(error)
            continue
        except DataError as error:
            yield number, str(error)
            continue
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", None) or error
            if json_text.startswith("\ufeff"):  # A file with such a mark was put behind another.
                reason = "a byte order mark stands before it: remove the mark"
            yield number, f"is not valid JSON ({reason}): each line must be an object"
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            yield number, f"is {reprlib.repr(value)}, not a JSON object: each line must be one"


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; a `DataError` if it has a key twice: Python would take the last."""
    # The rows of a file have the same keys. Kept once for all, they save a third of the memory.
    members = {sys.intern(key): value for key, value in pairs}
    if len(members) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise DataError(f"has {brief(repeated)} twice: rename or remove one")
    return members


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_unique_keys)  # one for all lines


def _csv_rows(
    content: bytes, required: Sequence[str], delimiter: str
) -> Iterator[tuple[int, RowOrFault]]:
    """Read a CSV file: the number of each row's first line, and its cells or what is wrong.

    Args:
        content: the whole file.
        required: columns that the header must have.
        delimiter: the separator of cells.
    """
    # The last line of the row before. The number of a row comes from it, and not from the reader's
    # line, because a quote that is not closed swallows all lines behind it.
    line_before = 0
    try:
        text = io.StringIO(content.decode("utf-8-sig"), newline="")
        csv.field_size_limit(_LONGEST_CELL)  # Python's own limit is 131,072
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        columns = next(reader, [])
        if len(set(columns)) < len(columns):  # Python would silently take the last of the two
            yield 1, "has a column twice: rename one"
            return
        # An empty file has neither columns nor rows, and no fault here.
        header_fault = _missing_columns(columns, required) if columns else ""
        if header_fault:
            yield 1, header_fault
            return

        row_fault = (
            f"does not have the {len(columns)} cells of the header: put a text with the"
            " separator in quotes"
        )
        line_before = reader.line_num
        for cells in reader:
            if cells and len(cells) == len(columns):
                yield line_before + 1, dict(zip(columns, cells, strict=True))
            elif cells:  # An empty line is no row.
                yield line_before + 1, row_fault
            line_before = reader.line_num
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1  # of the line with the wrong byte
        yield number, _utf8_fault(error)
    except csv.Error as error:
        yield line_before + 1, f"is not CSV ({error}): correct it, or save the table as CSV again"


def _utf8_fault(error: UnicodeDecodeError) -> str:
    return f"is not UTF-8 ({error.reason} at byte {error.start}): save the file as UTF-8"


def _missing_columns(columns: Collection[str], required: Sequence[str]) -> str:
    """What is wrong with a row or header that lacks required columns; "" if it has them all."""
    missing = [column for column in required if column not in columns]
    if not missing:
        return ""
    present = brief(", ".join(columns))
    return (
        f"has no column {', '.join(missing)}: it must have {', '.join(required)} (found: {present})"
    )


# --- checking rows ---


def validate_rows(
    rows: Iterable[tuple[str, _Values | str]],
    parse: Callable[[_Values, str], _ParsedRow],
    key: Callable[[_ParsedRow], str] | None = None,
) -> tuple[list[_ParsedRow], list[str]]:
    """Parse rows; return the valid ones, and the faults of the others as messages.

    Args:
        rows: the location of each row, for messages, and its values. A text in place of values says
            what is wrong with the row.
        parse: ``(values, location) -> parsed row``; raises `DataError` for values that are not
            valid.
        key: the name of what must be unique among parsed rows (``id 7``); None if nothing must be.
    """
    valid_rows: list[_ParsedRow] = []
    faults: list[str] = []
    location_by_key: dict[str, str] = {}
    for location, values in rows:
        if isinstance(values, str):
            faults.append(f"{location} {values}")
            continue
        try:
            row = parse(values, location)
            if key is not None:
                name = key(row)
                # The location of the first row with this name, which may be this row itself.
                first_location = location_by_key.setdefault(name, location)
                if first_location != location:
                    raise DataError(
                        f"{location}: {name} is also that of {first_location}: it must be unique"
                    )
        except DataError as error:
            faults.append(str(error))
        else:
            valid_rows.append(row)
    return valid_rows, faults


def parse_row(model: type[_Model], values: Row, location: str) -> _Model:
    """The values of a row as a model of pydantic.

    Raises:
        DataError: a field is not valid; the message names the first one.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise DataError(f"{location}: {first_fault(error)}") from error


def first_fault(error: ValidationError) -> str:
    """The first invalid field and what it must be: ``shots is -1: must be greater than ...``."""
    fault = error.errors()[0]
    # pydantic says "Input should be ...", and "Value error, ..." before a message of ours.
    field = ".".join(map(str, fault["loc"]))
    requirement = fault["msg"].removeprefix("Value error, ").replace("Input should", "must")
    if not field:
        return requirement
    if fault["type"] == "missing":
        return f"{field}: {requirement}"
    return f"{field} is {brief(fault['input'])}: {requirement}"


def raise_first_fault(faults: Sequence[str], benchmark: str) -> None:
    """Raise a `DataError` for faults of the data; do nothing if there are none.

    The message has the first fault, and says how a user of the benchmark finds the others.
    """
    if not faults:
        return
    message = faults[0]
    if len(faults) > 1:
        message = (
            f"{message.rstrip('.')}. {len(faults) - 1} more fault(s): `figlang data check"
            f" {benchmark}` lists them."
        )
    error = DataError(message)
    error.faults = faults
    raise error


def as_documents(
    rows: Sequence[Row], dataset: str, part: str, revision: str | None = None
) -> datasets.Dataset:
    """Make documents of rows, each with ``data``: the `DataId` of dataset, part and revision.

    Pictures in the column ``image`` stay undecoded.

    Raises:
        DataError: there are no rows.
    """
    import datasets

    if not rows:
        raise DataError(f"{dataset}/{part} has no rows")
    data = str(DataId(dataset, part, digest_of_rows(rows), revision))
    documents = datasets.Dataset.from_list([{**row, "data": data} for row in rows])
    if "image" in documents.column_names:
        documents = documents.cast_column("image", datasets.Image(decode=False))
    return documents


def progress(
    rows: Iterable[_Progressing], description: str, count: int | None = None
) -> Iterable[_Progressing]:
    """The rows, with a progress bar on a terminal.

    Args:
        rows: the rows.
        description: stands before the bar.
        count: how many there are; None if `rows` tells.
    """
    from tqdm.auto import tqdm

    bar: Iterable[_Progressing] = tqdm(
        rows, desc=description, total=count, unit="picture", disable=None, leave=False
    )
    return bar


def rows_of_table(table: datasets.Dataset) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table, 100 of which are loaded at a time: they may hold pictures."""
    for batch in table.iter(batch_size=100):
        for cells in zip(*batch.values(), strict=True):
            yield dict(zip(batch, cells, strict=True))


# --- cells ---


def brief(value: object) -> str:
    """The ``repr`` of a value, shortened to about 200 characters, for messages."""
    return _SHORT.repr(value)


def text(values: Row, column: str, location: str, optional: bool = False) -> str:
    """The text in a column of a row, without white space around it.

    Args:
        values: the row.
        column: the name of the column.
        location: the file and the line of the row, for messages.
        optional: whether the text may be missing or empty; it is then "".

    Raises:
        DataError: the column holds no text, or one that models would misread.
    """
    value = values.get(column)
    if value is None and optional:
        return ""
    if isinstance(value, str):
        stripped = value.strip()
        if (stripped or optional) and not LONE_SURROGATE.search(value):
            require_no_placeholder(value, column, location)
            return stripped
    requirement = "a text" if optional else "a text that is not empty"
    raise DataError(f"{location}: {column} is {brief(value)}, must be {requirement}")


def placeholder_fault(text: str) -> str:
    """What is wrong with a text that holds a placeholder of a picture; "" for any other text.

    The words of our prompts may hold one, where a picture belongs. In the text of a row, models and
    chat templates would take it for one picture more.
    """
    # Most texts have nothing that a placeholder begins with.
    placeholder = _PLACEHOLDER.search(text) if "<" in text or "[" in text else None
    if placeholder is None:
        return ""
    return (
        f"must not contain {placeholder[0]}, which models take for the place of a picture: write it"
        " without brackets"
    )


def require_no_placeholder(text: str, column: str, location: str) -> None:
    """Raise a `DataError` if the text of a row holds a placeholder such as ``<image>``."""
    fault = placeholder_fault(text)
    if fault:
        raise DataError(f"{location}: {column} is {brief(text)}: it {fault}")
