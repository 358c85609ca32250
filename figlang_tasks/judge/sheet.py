"""Annotation sheets: CSV files that spreadsheet programs open, people fill in, and this reads again.

A sheet has one row for each explanation. Rows of an item (one sample) share its number; within it a letter stands for
the system. `label` and `preferred` are asked once an item: in any of its rows, or in all alike.

A sheet of generated pictures has one row for each picture, and a `category` to fill in; an item is some pictures of one
phrase.
"""

from __future__ import annotations

import csv
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import listing, no_formula, printable, printable_lines

LETTERS = string.ascii_uppercase
ERRORS = ("hallucination", "unsound", "incomplete", "verbose")
"""The paper's taxonomy (section 5): not faithful to the image, against logic or common sense, without the key reason,
too long."""
NO_PREFERENCE = "none"
LLM = "LLM judge "
"""How the annotator's name begins in a sheet that a language model filled in."""

COLUMNS: tuple[str, ...] = (
    *("item", "letter", "image", "premise", "claim", "reference", "label"),  # image or premise
    *("explanation", "adequate", "error", "preferred", "comment", "annotator", "sheet"),
)
JUDGED = ("label", "adequate", "error", "preferred")
PICTURES = ("item", "letter", "image", "phrase", "definitions", "category", "comment", "annotator", "sheet")
_PLACE = ["item", "letter", "annotator", "sheet"]

SPELLINGS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "label": {"entailment": ("entailment", "e", "1"), "contradiction": ("contradiction", "c", "0")},
    "adequate": {"yes": ("yes", "y", "true", "1"), "no": ("no", "n", "false", "0")},
    "error": {error: (error, error[0]) for error in ERRORS},
    "preferred": {NO_PREFERENCE: (NO_PREFERENCE, "-")},
}
"""The valid values of a cell, in any case, and their meaning; `preferred` takes the letters of the item too."""


@dataclass(frozen=True)
class Sheet:
    """A sheet as it was read: the rows of one annotator, of the export `code`.

    `rows` has the known columns, as they were before they were made safe. The index counts as a spreadsheet program
    does: the head is row 1.
    """

    path: Path
    annotator: str
    code: str
    rows: pd.DataFrame


def content_of(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> bytes:
    """A sheet's bytes: UTF-8 with a byte order mark, every cell quoted (RFC 4180), none a formula."""
    cells = [[no_formula(printable_lines(row.get(column, ""))) for column in columns] for row in rows]
    frame = pd.DataFrame(cells, columns=list(columns))
    return frame.to_csv(index=False, quoting=csv.QUOTE_ALL, lineterminator="\r\n").encode("utf-8-sig")


# --- reading ---


def read(path: Path) -> Sheet:
    """A sheet as `content_of` wrote it, or as a spreadsheet program saved it again.

    What is judged is ASCII: an encoding other than UTF-8 damages the texts alone.
    """
    try:
        frame = pd.read_csv(
            path,
            sep=None,
            engine="python",
            header=None,
            dtype=str,
            keep_default_na=False,
            skip_blank_lines=False,
            compression=None,
            encoding="utf-8-sig",
            encoding_errors="replace",
        ).fillna("")
    except (ValueError, csv.Error) as error:
        raise FigLangError(
            f"{path} is no CSV file with a head ({error}): save the sheet again as CSV UTF-8; a comment belongs into "
            "one cell, in quotes where it holds a separator"
        ) from error
    head = [cell.strip().lower() for cell in frame.iloc[0]]
    known, judged = COLUMNS, ["label", "adequate", "error"]
    if "category" in head and "adequate" not in head:
        known, judged = PICTURES, ["category"]
    if lacks := [column for column in (*_PLACE, *judged) if column not in head]:
        raise FigLangError(
            f"{path}: its first row lacks the columns {', '.join(lacks)}: save the sheet of figlang judge export, with "
            "its head, as CSV UTF-8 with commas, semicolons or tabs"
        )
    if twice := [column for column in known if head.count(column) > 1]:
        raise FigLangError(f"{path}: the column {twice[0]} occurs twice: delete one")
    frame = frame.set_axis(head, axis=1).set_axis(frame.index + 1).iloc[1:]
    frame = frame[frame.apply(lambda cells: cells.str.strip().ne("")).any(axis=1)]
    if frame.empty:
        raise FigLangError(f"{path} has no rows: export the sheet again with figlang judge export")
    rows = frame[[column for column in known if column in head]].apply(lambda cells: cells.str.removeprefix("'"))
    rows[_PLACE] = rows[_PLACE].apply(lambda cells: cells.str.strip())
    for _, same in rows[rows.duplicated(["item", "letter"], keep=False)].groupby(["item", "letter"]):
        raise FigLangError(f"{path}: rows {listing(same.index, 5, ' and ')} hold the same item and letter: delete one")
    for column in ("annotator", "sheet"):
        first = rows[column].iloc[0]
        for number, cell in rows[column].items():
            if cell != first or not cell:
                raise FigLangError(
                    f"{path}, row {number}, column {column}: {printable(cell)!r}, but {printable(first)!r} in row "
                    f"{rows.index[0]}: a sheet must be of one export and one annotator"
                )
    annotator, code = (" ".join(printable(rows[column].iloc[0]).split()) for column in ("annotator", "sheet"))
    return Sheet(path, annotator, code, rows)


def spellings(letters: Iterable[str]) -> dict[str, Mapping[str, Sequence[str]]]:
    """:data:`SPELLINGS`, with the letters of an item for `preferred`."""
    preferred = {**SPELLINGS["preferred"], **{letter: (letter.casefold(),) for letter in letters}}
    return {**SPELLINGS, "preferred": preferred}


def spelled(cell: str, accepted: Mapping[str, Sequence[str]]) -> str | None:
    """The value that a cell means; None for an empty cell. Case and white space around it do not matter."""
    text = " ".join(cell.split()).casefold()
    if not text:
        return None
    for value, cells in accepted.items():
        if text in cells:
            return value
    choices = "; ".join(", ".join(cells) for cells in accepted.values())
    raise ValueError(f"{printable(cell)[:60]!r} is none of: {choices}")


def meanings(sheet: Sheet, accepted: Mapping[str, Mapping[str, Sequence[str]]]) -> pd.DataFrame:
    """What the cells of some columns mean, by item and letter, and the number of the `row`; None for an empty cell."""
    rows = sheet.rows
    found = rows[["item", "letter"]].assign(row=rows.index)
    for column, values in accepted.items():
        said = []
        for number, cell in rows[column].items() if column in rows else ():
            try:
                said.append(spelled(cell, values))
            except ValueError as error:
                raise FigLangError(f"{sheet.path}, row {number}, column {column}: {error}") from error
        found[column] = pd.Series(said or None, index=rows.index, dtype=object)
    return found.set_index(["item", "letter"])


def judged(sheet: Sheet) -> pd.DataFrame:
    """The judgements of a sheet of explanations, as `meanings`."""
    found = meanings(sheet, spellings(sheet.rows["letter"]))
    for _, row in found[found["adequate"].eq("yes") & found["error"].notna()].iterrows():
        raise FigLangError(
            f"{sheet.path}, row {row['row']}, column error: {row['error']}, but the explanation is adequate: clear one "
            "of the two"
        )
    for column in ("label", "preferred"):
        for _, rows in found.dropna(subset=column).groupby(level="item"):
            if rows[column].nunique() > 1:
                where = ", ".join(f"{value} in row {row}" for value, row in zip(rows[column], rows["row"], strict=True))
                raise FigLangError(f"{sheet.path}, column {column}: {where}, of the same item: keep one")
    return found
