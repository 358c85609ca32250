"""Annotation sheets: CSV files that people fill in with a spreadsheet program.

A sheet of explanations has one row per explanation. Rows of an item (one sample) share its number;
within it a letter stands for the system. `label` and `preferred` are filled in once per item: in
any of its rows, or in all alike.

A sheet of generated pictures has one row per picture, and a `category` to fill in; an item is some
pictures of one phrase.
"""

from __future__ import annotations

import csv
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import pandas as pd

from figlang_tasks.core import files
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.rubric import TEXT_COLUMNS
from figlang_tasks.core.text import listing, no_formula, printable_lines

LETTERS = string.ascii_uppercase

ERRORS = ("hallucination", "unsound", "incomplete", "verbose")
"""The paper's taxonomy (section 5).

Not faithful to the image, against logic or common sense, without the key reason, too long.
"""

NO_PREFERENCE = "none"
"""The cell `preferred` of an item whose explanations are all bad or all alike."""

LLM_PREFIX = "LLM judge "
"""How the name of a language model begins, as an annotator and as the scorer of a key."""

COLUMNS: tuple[str, ...] = (
    "item",
    "letter",
    "image",
    *TEXT_COLUMNS,
    "label",
    "explanation",
    "adequate",
    "error",
    "preferred",
    "comment",
    "annotator",
    "benchmark",
    "sheet",
)
"""The columns of a sheet of explanations; a sheet has those that its benchmark needs."""

JUDGED_COLUMNS = ("label", "adequate", "error", "preferred")
"""Those that an annotator fills in."""

PICTURE_COLUMNS = (
    "item",
    "letter",
    "image",
    "phrase",
    "definitions",
    "category",
    "comment",
    "annotator",
    "sheet",
)
"""The columns of a sheet of generated pictures."""

_KNOWN_COLUMNS = tuple(dict.fromkeys([*COLUMNS, *PICTURE_COLUMNS]))
_REQUIRED_COLUMNS = ["item", "letter", "annotator", "sheet"]

Spellings: TypeAlias = Mapping[str, Sequence[str]]
"""The cells, in lower case, that mean each value of a column: ``{"yes": ("yes", "y"), ...}``."""

_SPELLINGS_BY_COLUMN: Mapping[str, Spellings] = {
    "label": {"entailment": ("entailment", "e", "1"), "contradiction": ("contradiction", "c", "0")},
    "adequate": {"yes": ("yes", "y", "true", "1"), "no": ("no", "n", "false", "0")},
    "error": {error: (error, error[0]) for error in ERRORS},
}
"""The spellings that do not depend on the number of systems."""


@dataclass(frozen=True)
class Sheet:
    """A sheet as it was read.

    Attributes:
        path: the file.
        annotator: whose judgements it holds.
        code: that of the export, which its key has too.
        rows: the known columns, with texts as they were before they were made safe for spreadsheet
            programs. The index counts as these do: the head is row 1.
    """

    path: Path
    annotator: str
    code: str
    rows: pd.DataFrame


def is_language_model(name: str) -> bool:
    """Whether an annotator, or the scorer of a key, is a language model as a judge."""
    return name.startswith(LLM_PREFIX)


# --- writing ---


def csv_bytes(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> bytes:
    """A sheet as the content of a file; a row's missing columns are empty cells.

    The file is in UTF-8 with a byte order mark, every cell is quoted (RFC 4180), and none is a
    formula.
    """
    safe_rows: list[list[str]] = []
    for row in rows:
        cells = [printable_lines(row.get(column, "")) for column in columns]
        safe_rows.append([no_formula(cell) for cell in cells])
    frame = pd.DataFrame(safe_rows, columns=list(columns))
    text = frame.to_csv(index=False, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    return text.encode("utf-8-sig")


# --- reading ---


def read(path: Path, required: Iterable[str] = ()) -> Sheet:
    """Read a sheet as `csv_bytes` wrote it, or as a spreadsheet program saved it again.

    All that an annotator fills in is ASCII: an encoding other than UTF-8 damages the texts alone.

    Args:
        path: the sheet.
        required: columns that it must have beside item, letter, annotator and sheet.

    Raises:
        FigLangError: it is no such sheet, has an item and letter twice, or holds rows of several
            annotators or exports.
    """
    frame = _read_cells(path)
    head = [cell.strip().lower() for cell in frame.iloc[0]]
    _check_head(path, head, [*_REQUIRED_COLUMNS, *required])
    frame = frame.set_axis(head, axis=1)
    # Rows are numbered as in a spreadsheet program: the head, which is left out, is row 1.
    frame = frame.set_axis(frame.index + 1).iloc[1:]

    is_filled = frame.apply(_is_filled).any(axis=1)  # False for a row of blank cells
    columns = [column for column in _KNOWN_COLUMNS if column in head]
    rows = frame[is_filled][columns].apply(_without_safety_quotes)
    rows[_REQUIRED_COLUMNS] = rows[_REQUIRED_COLUMNS].apply(_with_single_spaces)
    for number in rows.index[rows.duplicated(["item", "letter"])]:  # raises at the first one
        raise FigLangError(
            f"{path}, row {number}: an earlier row has the same item and letter: delete one"
        )
    annotator, code = _annotator_and_code(path, rows)
    return Sheet(path, annotator, code, rows)


def _annotator_and_code(path: Path, rows: pd.DataFrame) -> tuple[str, str]:
    """The annotator and the code of the export, which all rows of a sheet must share.

    Raises:
        FigLangError: there are several, or none.
    """
    # The index has the number of the first row of each.
    origins = rows[["annotator", "sheet"]].drop_duplicates()
    if len(origins) != 1 or origins.eq("").any(axis=None):
        raise FigLangError(
            f"{path} has rows of {len(origins)} annotators or exports (first in the rows"
            f" {listing(origins.index)}), must be of one with a name: restore them"
        )
    annotator, code = origins.iloc[0]
    return annotator, code


def _read_cells(path: Path) -> pd.DataFrame:
    """All cells of a CSV file as texts, with the head in the first row; "" for an empty cell."""
    files.check_file(path)
    try:
        return pd.read_csv(
            path,
            # pandas finds out the separator, which its Python engine alone can do.
            sep=None,
            engine="python",
            header=None,
            # Each cell stays as it is: no numbers, and the texts "NA" and "None" are not empty.
            dtype=str,
            keep_default_na=False,
            # Empty lines count, so that rows have the numbers of a spreadsheet program.
            skip_blank_lines=False,
            encoding="utf-8-sig",
            encoding_errors="replace",
        ).fillna("")  # rows that are shorter than the others
    except (ValueError, csv.Error) as error:
        raise FigLangError(
            f"{path} is no CSV file with a head ({error}): save the sheet again as CSV UTF-8;"
            " a comment belongs into one cell, in quotes where it holds a separator"
        ) from error


def _check_head(path: Path, head: Sequence[str], required: Sequence[str]) -> None:
    """Raise a `FigLangError` unless the head has the required columns, and no known one twice."""
    for column in _KNOWN_COLUMNS:
        count = head.count(column)
        is_missing = column in required and count == 0
        if is_missing or count > 1:
            raise FigLangError(
                f"{path}: its first row has {count} columns {column}, must have one:"
                " save the sheet of figlang judge export, with its head, as CSV UTF-8 with"
                " commas, semicolons or tabs"
            )


def _is_filled(cells: pd.Series) -> pd.Series:
    return cells.str.strip().ne("")


def _without_safety_quotes(cells: pd.Series) -> pd.Series:
    """The cells without the quote that keeps a spreadsheet program from running a formula."""
    return cells.str.removeprefix("'")


def _with_single_spaces(cells: pd.Series) -> pd.Series:
    return cells.str.split().str.join(" ")


# --- what an annotator filled in ---


def spellings_by_column(
    system_letters: Sequence[str], *, asks_label: bool = True
) -> dict[str, Spellings]:
    """For each column that an annotator fills in, its values with the cells that mean them.

    Cells are in lower case: ``{"preferred": {"none": ("none", "-"), "A": ("a",), ...}, ...}``.

    Args:
        system_letters: the letter of each system; with several there is a column `preferred`.
        asks_label: whether there is a column `label`.
    """
    spellings = dict(_SPELLINGS_BY_COLUMN)
    if not asks_label:
        del spellings["label"]
    if len(system_letters) > 1:
        preferred: dict[str, tuple[str, ...]] = {NO_PREFERENCE: (NO_PREFERENCE, "-")}
        for letter in system_letters:
            preferred[letter] = (letter.casefold(),)
        spellings["preferred"] = preferred
    return spellings


def read_cell(cell: str, spellings: Spellings) -> str | None:
    """The value that a cell means, whatever its case and spaces; None for an empty cell.

    Args:
        cell: what an annotator wrote: `` Y ``.
        spellings: the values of its column, each with the cells that mean it.

    Raises:
        ValueError: the cell means none of the values.
    """
    text = " ".join(cell.split()).casefold()
    if not text:
        return None
    for value, cells in spellings.items():
        if text in cells:
            return value
    choices = "; ".join(", ".join(cells) for cells in spellings.values())
    raise ValueError(f"{cell[:60]!r} is none of: {choices}")


def read_judgements(sheet: Sheet, spellings_by_column: Mapping[str, Spellings]) -> pd.DataFrame:
    """The values of the cells in some columns, by item and letter; None for an empty cell.

    Args:
        sheet: the filled sheet.
        spellings_by_column: the columns to read, each with its values and the cells that mean them.

    Returns:
        A table of these columns, and ``row`` with the number of the row.

    Raises:
        FigLangError: a cell is not valid, an adequate explanation has an error, or an item has two
            labels or preferences.
    """
    judgements = sheet.rows[["item", "letter"]].assign(row=sheet.rows.index)
    for column, spellings in spellings_by_column.items():
        values: list[str | None] = []
        for number, cell in sheet.rows[column].items():
            try:
                values.append(read_cell(cell, spellings))
            except ValueError as error:
                raise FigLangError(
                    f"{sheet.path}, row {number}, column {column}: {error}"
                ) from error
        judgements[column] = pd.Series(values, index=judgements.index, dtype=object)
    _check_errors(sheet, judgements)
    for column in ("label", "preferred"):
        if column in spellings_by_column:
            _check_one_per_item(sheet, judgements, column)
    return judgements.set_index(["item", "letter"])


def _check_errors(sheet: Sheet, judgements: pd.DataFrame) -> None:
    """Raise a `FigLangError` if an adequate explanation has an error."""
    if "adequate" not in judgements:  # a sheet of pictures
        return
    is_contradictory = judgements["adequate"].eq("yes") & judgements["error"].notna()
    for number in judgements["row"][is_contradictory]:  # raises at the first one
        raise FigLangError(
            f"{sheet.path}, row {number}: an adequate explanation has an error: clear the cell"
            " adequate or error"
        )


def _check_one_per_item(sheet: Sheet, judgements: pd.DataFrame, column: str) -> None:
    """Raise a `FigLangError` if rows of one item hold different values in a column."""
    for item, values in judgements.groupby("item")[column]:
        if values.nunique() > 1:  # empty cells (None) do not count
            raise FigLangError(
                f"{sheet.path}, column {column}: item {item} has"
                f" {listing(values.dropna(), 5, ' and ')}: keep one"
            )
