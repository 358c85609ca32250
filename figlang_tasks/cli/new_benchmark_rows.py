"""Reads the table of questions that ``figlang new-benchmark`` makes a benchmark of.

A column is found by its name in any case. Rows with empty cells only, which spreadsheet programs
write, are skipped. What is wrong is said with the line and what to do.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from figlang_tasks.core import images, row_files
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.record import Row
from figlang_tasks.core.row_files import RowOrFault, brief
from figlang_tasks.core.text import did_you_mean, listing
from figlang_tasks.metrics import overlap
from figlang_tasks.scoring.simple_rows import LETTERS, Kind, checked_options, checked_row, id_text

SUFFIXES = (".csv", ".tsv", ".jsonl")
"""The endings of the tables that are read."""

_SEPARATORS: Mapping[str, tuple[bytes, str]] = {".csv": (b",", "commas"), ".tsv": (b"\t", "tabs")}
"""What separates the cells of a table, and its name, by the ending of the file."""

_COLUMNS = ("id", "image", "question", "options", "answer")
_NUMBERED = re.compile(r"option_(\d{1,2})")
_LABEL_BY_WORD: Mapping[str, str] = {"yes": "Yes", "true": "Yes", "no": "No", "false": "No"}
"""What the answers to questions of yes or no may be, and what they mean."""


@dataclass(frozen=True)
class Table:
    """The questions of a table, without faults.

    Attributes:
        kind: how they are answered.
        rows: in the form of `figlang_tasks.scoring.simple_rows`.
        picture_by_name: the file of each picture, by its path in the folder of the data.
        option_columns: the columns that the options come from; empty without options.
        has_questions: whether there is a column with questions.
    """

    kind: Kind
    rows: list[dict[str, Any]]
    picture_by_name: Mapping[str, Path]
    option_columns: Sequence[str]
    has_questions: bool


def read_questions(
    path: Path, name: str, pictures: Path, kind: Kind | None, prompt: str | None
) -> Table:
    """Read a table, and check each row and its picture.

    Args:
        path: the table.
        name: of the benchmark; rows without an id are numbered with it.
        pictures: the folder that the paths of pictures are relative to.
        kind: how the questions are answered; None to infer it.
        prompt: the question of each row, if the table has no column with questions.

    Raises:
        DataError: the table has faults, all of them in its attribute ``faults``.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(f"{path} is not a table that is read: save it as {', '.join(SUFFIXES)}")
    _check_separator(path)
    located_rows: list[tuple[str, RowOrFault]] = []
    for location, row in row_files.read_rows(path):
        if isinstance(row, str):
            located_rows.append((location, row))
        elif not _has_empty_cells_only(row):
            located_rows.append((location, _canonical(row)))
    rows = [row for _, row in located_rows if isinstance(row, dict)]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    if rows:
        _raise_faults(_column_faults(path, columns, kind, prompt))
    option_columns = _option_columns(columns)
    converter = _Converter(
        name=name,
        kind=kind or _inferred_kind(rows, option_columns),
        columns=columns,
        option_columns=option_columns,
        pictures=pictures,
        prompt=prompt,
    )
    numbered_rows: list[tuple[str, tuple[int, Row] | str]] = []
    for number, (location, row) in enumerate(located_rows, start=1):
        numbered_rows.append((location, row if isinstance(row, str) else (number, row)))
    converted, faults = row_files.validate_rows(numbered_rows, converter.convert, key=id_text)
    if not numbered_rows:
        faults = [f"{path} has no rows: write a row for each question below the names of columns"]
    _raise_faults(faults)
    return Table(
        kind=converter.kind,
        rows=converted,
        picture_by_name=converter.picture_by_name,
        option_columns=option_columns,
        has_questions="question" in columns,
    )


def _raise_faults(faults: Sequence[str]) -> None:
    """Raise a `DataError` with these faults; do nothing if there are none."""
    if faults:
        error = DataError(faults[0])
        error.faults = faults
        raise error


# --- columns ---


def _check_separator(path: Path) -> None:
    """Raise a `DataError` if the header of a table has another separator than its file name says.

    It is looked at alone, because a row with a comma in a text has more cells than such a header.
    """
    separator = _SEPARATORS.get(path.suffix.lower())
    if separator is None:
        return
    sign, sign_name = separator
    header = row_files.content_of(path).partition(b"\n")[0]
    if sign not in header and re.search(b"[,;\t]", header):
        raise DataError(
            f"{path}: its cells are not separated by {sign_name}: save it with {sign_name}"
        )


def _canonical(row: dict[str, Any]) -> RowOrFault:
    """A row with the names of columns as they are looked up; a text for a column that is twice."""
    canonical: dict[str, Any] = {}
    for column, cell in row.items():
        name = str(column).strip()
        if len(name) == 1:
            name = name.upper()  # the letter of an option
        elif name.casefold() in _COLUMNS or _NUMBERED.fullmatch(name.casefold()):
            name = name.casefold()
        if name in canonical:
            return f"has the column {name} twice: rename or remove one"
        canonical[name] = cell
    return canonical


def _option_columns(columns: Sequence[str]) -> list[str]:
    """The columns with the options, in the order of the options; empty if there are none."""
    if "options" in columns:
        return ["options"]
    lettered = [letter for letter in LETTERS if letter in columns]
    numbers = [int(match[1]) for match in map(_NUMBERED.fullmatch, columns) if match]
    return lettered or [f"option_{number}" for number in sorted(numbers)]


def _column_faults(
    path: Path, columns: Sequence[str], kind: Kind | None, prompt: str | None
) -> list[str]:
    """What is wrong with the columns of a table."""
    faults: list[str] = []
    option_columns = _option_columns(columns)
    known = (*_COLUMNS, *option_columns)
    for column in columns:
        if column not in known:
            faults.append(
                f"{path}: unknown column {brief(column)}{did_you_mean(column, known)}: rename or"
                " remove it. There are id, image, question, answer and, for a choice, options, or"
                f" A, B, C ... {LETTERS[-1]}, or option_1, option_2 ..."
            )
    expected = [f"option_{number}" for number in range(1, len(option_columns) + 1)]
    is_complete = option_columns in (["options"], list(LETTERS[: len(option_columns)]), expected)
    if option_columns and not is_complete:
        faults.append(
            f"{path}: the columns of options are {', '.join(option_columns)}: name them without a"
            " gap, A, B, C ... or option_1, option_2 ..."
        )
    if "answer" not in columns:
        faults.append(f"{path} has no column answer: add it, with the right answers")
    if "question" not in columns and not prompt:
        faults.append(f"{path} has no column question: add it, or give one question by --prompt")
    if kind == "choice" and not option_columns:
        faults.append(f"{path} has no columns of options, which --kind choice needs: add A, B ...")
    if kind in ("yes-no", "free") and option_columns:
        faults.append(
            f"{path} has columns of options ({', '.join(option_columns)}), which --kind {kind} does"
            " not have: remove them, or leave out --kind"
        )
    return faults


def _inferred_kind(rows: Sequence[Row], option_columns: Sequence[str]) -> Kind:
    """How questions are answered: by options if there are any, by yes and no if all answers are."""
    if option_columns:
        return "choice"
    answers = [_cell_text(row.get("answer")).casefold() for row in rows]
    if answers and all(answer in _LABEL_BY_WORD for answer in answers):
        return "yes-no"
    return "free"


def _has_empty_cells_only(row: Row) -> bool:
    """Whether a row has cells, and all of them are empty."""
    return bool(row) and not any(map(_cell_text, row.values()))


def _cell_text(cell: object) -> str:
    """A cell as a text without white space around it; "" for an empty one."""
    return "" if cell is None else str(cell).strip()


# --- rows ---


@dataclass(frozen=True)
class _Converter:
    """Converts rows of a table to rows of a benchmark, and collects their pictures.

    Attributes:
        name: of the benchmark.
        kind: how its questions are answered.
        columns: of the table.
        option_columns: those with options.
        pictures: the folder with the pictures.
        prompt: the question of rows without a question.
        picture_by_name: the pictures so far, by their path in the folder of the data.
    """

    name: str
    kind: Kind
    columns: Sequence[str]
    option_columns: Sequence[str]
    pictures: Path
    prompt: str | None
    picture_by_name: dict[str, Path] = field(default_factory=dict)

    def convert(self, numbered_row: tuple[int, Row], location: str) -> dict[str, Any]:
        """A row of the benchmark; a `DataError` says what is wrong with that of the table."""
        number, row = numbered_row
        converted: dict[str, Any] = {
            "id": _cell_text(row.get("id")) if "id" in self.columns else f"{self.name}-{number}",
            "question": row.get("question") if "question" in self.columns else self.prompt,
        }
        answer = row.get("answer")
        if not _cell_text(answer):
            raise DataError(f"{location}: answer is empty: write the right answer")
        if self.kind == "choice":
            options = checked_options(self._options(row, location), location)
            converted["options"] = options
            converted["answer"] = self._letter(_cell_text(answer), options, location)
        elif self.kind == "yes-no":
            converted["answer"] = _yes_or_no(_cell_text(answer), location)
        else:
            converted["answer"] = _free_answer(_cell_text(answer), location)
        if "image" in self.columns:
            converted["image"] = self._picture(row, location)
        return checked_row(converted, location, self.kind)

    def _options(self, row: Row, location: str) -> list[Any]:
        """The options of a row; empty cells after the last option are left out."""
        if self.option_columns == ["options"]:
            options = row.get("options")
            if isinstance(options, str):
                with suppress(ValueError, RecursionError):
                    options = json.loads(options)
            if not isinstance(options, list):
                raise DataError(
                    f"{location}: options is {brief(options)}, must be a list in JSON:"
                    ' ["a cat", "a dog"]'
                )
            return options
        cells = [_cell_text(row.get(column)) for column in self.option_columns]
        while cells and not cells[-1]:
            cells.pop()
        for column, cell in zip(self.option_columns, cells, strict=False):
            if not cell:
                raise DataError(
                    f"{location}: {column} is empty, and a later option is not: fill it"
                )
        return cells

    def _letter(self, answer: str, options: Sequence[str], location: str) -> str:
        """The letter of the right option, which a table names by letter, text or column."""
        letters = LETTERS[: len(options)]
        named: set[str] = set()
        if answer in options:
            named.add(letters[options.index(answer)])
        bare_answer = answer.strip("().").upper()
        if len(bare_answer) == 1 and bare_answer in letters:
            named.add(bare_answer)
        columns_have_numbers = self.option_columns[0].startswith("option_")
        number = re.sub(r"\Aoption_", "", answer.casefold())
        if columns_have_numbers and number.isdecimal() and 1 <= int(number) <= len(options):
            named.add(letters[int(number) - 1])

        if len(named) == 1:
            return named.pop()
        if named:
            meanings = " or ".join(sorted(named))
            raise DataError(
                f"{location}: answer is {brief(answer)}, which may mean {meanings}: write the"
                " letter, and give no option the name of another"
            )
        if answer.isdecimal() and not columns_have_numbers:
            raise DataError(
                f"{location}: answer is {answer}, and numbers may count from 0 or from 1: write the"
                f" letter, {letters[0]} to {letters[-1]}, or the text of the option"
            )
        raise DataError(
            f"{location}: answer is {brief(answer)}, must be a letter from {letters[0]} to"
            f" {letters[-1]} or the text of an option: {listing(options, len(options))}"
        )

    def _picture(self, row: Row, location: str) -> str:
        """Check and collect the picture of a row; return its path in the folder of the data."""
        if not _cell_text(row.get("image")):
            raise DataError(
                f"{location}: image is empty: write the path of its picture; if no row has a"
                " picture, remove the column"
            )
        path = row_files.text(row, "image", location)
        file = images.below(self.pictures, path, location)
        if not os.path.isfile(file):  # False for impossible names too
            raise DataError(
                f"{location}: there is no picture {file}: correct the path, or name the folder of"
                " the pictures by --images"
            )
        # Two paths may lead to one file, through a link or "..".
        real_file = file.resolve()
        inner_path = real_file.relative_to(self.pictures.resolve()).as_posix()
        name = f"images/{inner_path.removeprefix('images/')}"
        if self.picture_by_name.setdefault(name, real_file) != real_file:
            raise DataError(
                f"{location}: {real_file} and {self.picture_by_name[name]} would both become"
                f" {name}: rename one"
            )
        images.decode_file(file, location)
        return name


def _yes_or_no(answer: str, location: str) -> str:
    """``Yes`` or ``No``, whichever a table says; a `DataError` if it says neither."""
    label = _LABEL_BY_WORD.get(answer.casefold())
    if label is None:
        raise DataError(f"{location}: answer is {brief(answer)}, must be Yes or No")
    return label


def _free_answer(answer: str, location: str) -> str:
    """The words of a free answer; a `DataError` if no answer of a model would match them."""
    if not overlap.relaxed_match(answer, answer):
        raise DataError(
            f"{location}: answer is {brief(answer)}, which has no letter and no digit to compare:"
            " write a word or a number"
        )
    return answer
