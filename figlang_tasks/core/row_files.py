"""Rows of CSV and TSV files with a header, and of JSON Lines, and the faults of those that are not
valid.

Lines are counted from 1. JSON Lines are UTF-8, one value a line; empty lines are skipped, but they
count.
"""

from __future__ import annotations

import csv
import io
import json
import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from figlang_tasks.core import files
from figlang_tasks.core.data_id import DataId, digest_of_rows
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.text import LONE_SURROGATE

if TYPE_CHECKING:
    import datasets

# How processors, chat templates and the harness write the place of a picture (or of a film or
# sound) in a prompt: <image>, </img>, <image 1>, <start_of_image>, <|image_pad|>, <|vision_start|>,
# <|image token|>, <|image>, [IMG_END].
_PLACEHOLDER = re.compile(
    r"<[/|]{0,2}[\w-]{0,30}(?:image|img|im_patch|video|audio)[\w-]{0,30}(?: ?\d{1,3})?[/|]{0,2}>"
    r"|<\|[\w-]{0,30}(?:image|img|media|vision|video|audio|patch)[\w -]{0,30}\|>"
    r"|\[/?IMG(?:_\w{1,10})?\]",
    re.IGNORECASE,
)

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 200
_Row = TypeVar("_Row")
_Model = TypeVar("_Model", bound=BaseModel)


def lines(path: Path, required: Sequence[str] = ()) -> Iterator[tuple[str, dict[str, Any] | str]]:
    """Each row of a ``.csv``, ``.tsv`` or JSON Lines file: its place (file and line), with its
    cells or what is wrong.

    Where the rest of a CSV file cannot be read (its encoding, its header, an open quote), nothing
    follows.
    """
    content = content_of(path)
    delimiter = {".csv": ",", ".tsv": "\t"}.get(path.suffix.lower())
    found = (
        json_lines(io.BytesIO(content)) if delimiter is None else _csv(content, required, delimiter)
    )
    for number, row in found:
        wrong = row if isinstance(row, str) else _missing(row, required)
        yield f"{path}, line {number}", wrong or row


def content_of(path: Path) -> bytes:
    """The content of a file, which must be a regular one of a plausible size."""
    try:
        return files.read_file(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error


def released_table(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    """The rows of a CSV or TSV file of a release, as they are: rows of users are read by
    :func:`lines`.
    """
    return list(
        csv.DictReader(
            io.StringIO(content_of(path).decode("utf-8"), newline=""), delimiter=delimiter
        )
    )


def valid(
    rows: Iterable[tuple[str, Any]],
    make: Callable[[Any, str], _Row],
    key: Callable[[_Row], str] | None = None,
) -> tuple[list[_Row], list[str]]:
    """The rows that `make` makes of values and their place, and the fault of each other row.

    Args:
        rows: each a place, for messages, and its values, or what is wrong with them as text.
        make: raises `DataError` for values that are not valid.
        key: what is unique; None: nothing.
    """
    found: list[_Row] = []
    faults: list[str] = []
    places: dict[str, str] = {}
    for where, values in rows:
        try:
            if isinstance(values, str):
                raise DataError(f"{where} {values}")
            row = make(values, where)
            first = places.setdefault(key(row), where) if key else where
            if key and first != where:
                raise DataError(f"{where}: {key(row)} is also that of {first}: it must be unique")
            found.append(row)
        except DataError as error:
            faults.append(str(error))
    return found, faults


def checked(model: type[_Model], values: Mapping[str, Any], where: str) -> _Model:
    """The values of a row as a model of pydantic; the `DataError` names the first field that is not
    valid.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise DataError(f"{where}: {first_fault(error)}") from error


def first_fault(error: ValidationError) -> str:
    """The first field that is not valid, and what it must be."""
    wrong = error.errors()[0]
    field = ".".join(map(str, wrong["loc"]))
    must = wrong["msg"].removeprefix("Value error, ").replace("Input should", "must")
    if not field:
        return must
    return (
        f"{field}: {must}"
        if wrong["type"] == "missing"
        else f"{field} is {brief(wrong['input'])}: {must}"
    )


def end_with_the_first(faults: Sequence[str], benchmark: str) -> None:
    """End a run if its data has faults."""
    if faults:
        more = f"{len(faults) - 1} more fault(s): `figlang data check {benchmark}` lists them."
        error = DataError(faults[0] if len(faults) == 1 else f"{faults[0].rstrip('.')}. {more}")
        error.faults = faults
        raise error


def as_documents(
    rows: Sequence[Mapping[str, Any]], dataset: str, part: str, revision: str | None = None
) -> datasets.Dataset:
    """Makes documents of rows, each with ``data``: which dataset, part and revision it is of.

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


def progress(rows: Iterable[Any], what: str) -> Iterable[Any]:
    """The rows, with a progress bar on a terminal."""
    from tqdm.auto import tqdm

    return tqdm(rows, desc=what, unit="picture", disable=None, leave=False)


def json_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """The number of each line of JSON Lines, and its object or what is wrong with it; empty lines
    are skipped.
    """
    # Lines end at \n alone: texts may hold other line separators, unescaped.
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError as error:
            yield (
                number,
                f"is not UTF-8 ({error.reason} at byte {error.start}): save the file as UTF-8",
            )
        except (ValueError, RecursionError) as error:
            yield (
                number,
                (
                    f"is not valid JSON ({getattr(error, 'msg', None) or error}): each line must be"
                    " an object"
                ),
            )
        else:
            wrong = f"is {reprlib.repr(found)}, not a JSON object: each line must be one"
            yield number, found if isinstance(found, dict) else wrong


def _csv(
    content: bytes, required: Sequence[str], delimiter: str
) -> Iterator[tuple[int, dict[str, Any] | str]]:
    last = 0  # line of the row before: a quote that is not closed swallows all lines behind it
    try:
        text = io.StringIO(content.decode("utf-8-sig"), newline="")
        reader = csv.DictReader(text, delimiter=delimiter, strict=True)
        columns = reader.fieldnames or ()
        if len(set(columns)) < len(columns):  # of which Python would take the last in silence
            yield 1, "has a column twice: rename one"
            return
        if columns and (wrong := _missing(columns, required)):
            yield 1, wrong
            return
        last = reader.line_num
        for cells in reader:
            is_whole = None not in cells and None not in cells.values()
            wrong = (
                f"does not have the {len(columns)} cells of the header: put a text with the"
                " separator in quotes"
            )
            yield last + 1, cells if is_whole else wrong
            last = reader.line_num
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        yield number, f"is not UTF-8 ({error.reason} at byte {error.start}): save the file as UTF-8"
    except csv.Error as error:
        yield last + 1, f"is not CSV ({error}): correct it, or save the table as CSV again"


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
    """The text in a column of a row, without white space around it; "" if it is `optional` and not
    there.
    """
    value = values.get(column)
    if value is None and optional:
        return ""
    if (
        not isinstance(value, str)
        or LONE_SURROGATE.search(value)
        or not (value.strip() or optional)
    ):
        wanted = "a text" if optional else "a text that is not empty"
        raise DataError(f"{where}: {column} is {brief(value)}, must be {wanted}")
    require_no_placeholder(value, column, where)
    return value.strip()


def placeholder_fault(text: str) -> str:
    """What is wrong with a text of a row that holds a placeholder of a picture; "" for any other
    text.

    The words of our prompts may hold one, where a picture belongs. In a text of a row, models and
    chat templates would take it for the place of one picture more.
    """
    placeholder = _PLACEHOLDER.search(text)
    if placeholder is None:
        return ""
    return (
        f"must not contain {placeholder[0]}, which models take for the place of a picture: write it"
        " without brackets"
    )


def require_no_placeholder(text: str, column: str, where: str) -> None:
    """Refuse a text of a row that holds a placeholder of a picture, such as ``<image>``."""
    if fault := placeholder_fault(text):
        raise DataError(f"{where}: {column} is {brief(text)}: it {fault}")
