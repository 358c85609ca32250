"""Annotation sheets: CSV files that spreadsheet programs open, people fill in, and this reads
again.

A sheet has one row for each explanation. Rows of an item (one sample) share its number; within it a
letter stands for the system. `label` and `preferred` are asked once an item: in any of its rows, or
in all alike.

A sheet of generated pictures has one row for each picture, and a `category` to fill in; an item is
some pictures of one phrase.
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
from figlang_tasks.core.text import listing, no_formula, printable_lines

LETTERS = string.ascii_uppercase
ERRORS = ("hallucination", "unsound", "incomplete", "verbose")
"""The paper's taxonomy (section 5): not faithful to the image, against logic or common sense,
without the key reason, too long."""
NO_PREFERENCE = "none"
LLM = "LLM judge "
"""How the annotator's name begins in a sheet that a language model filled in."""

Accepted: TypeAlias = Mapping[str, Sequence[str]]
"""The values of a cell, and how each may be written, in lower case."""

COLUMNS: tuple[str, ...] = (
    *("item", "letter", "image", "premise", "claim", "reference", "label"),  # image or premise
    *("explanation", "adequate", "error", "preferred", "comment", "annotator", "sheet"),
)
JUDGED = ("label", "adequate", "error", "preferred")
PICTURES = (
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
_PLACE = ["item", "letter", "annotator", "sheet"]

SPELLINGS: Mapping[str, Accepted] = {
    "label": {"entailment": ("entailment", "e", "1"), "contradiction": ("contradiction", "c", "0")},
    "adequate": {"yes": ("yes", "y", "true", "1"), "no": ("no", "n", "false", "0")},
    "error": {error: (error, error[0]) for error in ERRORS},
}


@dataclass(frozen=True)
class Sheet:
    """A sheet as it was read: the rows of one annotator, of the export `code`.

    `rows` has the known columns, as they were before they were made safe. The index counts as a
    spreadsheet program does: the head is row 1.
    """

    path: Path
    annotator: str
    code: str
    rows: pd.DataFrame


def content_of(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> bytes:
    """A sheet's bytes: UTF-8 with a byte order mark, every cell quoted (RFC 4180), none a
    formula.
    """
    cells = [
        [no_formula(printable_lines(row.get(column, ""))) for column in columns] for row in rows
    ]
    frame = pd.DataFrame(cells, columns=list(columns))
    return frame.to_csv(index=False, quoting=csv.QUOTE_ALL, lineterminator="\r\n").encode(
        "utf-8-sig"
    )


# --- reading ---


def read(path: Path, required: Iterable[str] = ()) -> Sheet:
    """A sheet with the `required` columns, as `content_of` wrote it, or as a spreadsheet program
    saved it again.

    What is judged is ASCII: an encoding other than UTF-8 damages the texts alone.
    """
    files.check_file(path)
    try:
        frame = pd.read_csv(
            path,
            sep=None,
            engine="python",
            header=None,
            dtype=str,
            keep_default_na=False,
            skip_blank_lines=False,
            encoding="utf-8-sig",
            encoding_errors="replace",
        ).fillna("")
    except (ValueError, csv.Error) as error:
        raise FigLangError(
            f"{path} is no CSV file with a head ({error}): save the sheet again as CSV UTF-8; a"
            " comment belongs into one cell, in quotes where it holds a separator"
        ) from error
    head = [cell.strip().lower() for cell in frame.iloc[0]]
    known = dict.fromkeys([*COLUMNS, *PICTURES])
    for column in known:
        if head.count(column) > 1 or (column not in head and column in (*_PLACE, *required)):
            raise FigLangError(
                f"{path}: its first row has {head.count(column)} columns {column}, must have one:"
                " save the sheet of figlang judge export, with its head, as CSV UTF-8 with commas,"
                " semicolons or tabs"
            )
    frame = frame.set_axis(head, axis=1).set_axis(frame.index + 1).iloc[1:]
    frame = frame[frame.apply(lambda cells: cells.str.strip().ne("")).any(axis=1)]
    rows = frame[[column for column in known if column in head]].apply(
        lambda cells: cells.str.removeprefix("'")
    )
    rows[_PLACE] = rows[_PLACE].apply(lambda cells: cells.str.split().str.join(" "))
    for number in rows.index[rows.duplicated(["item", "letter"])]:
        raise FigLangError(
            f"{path}, row {number}: an earlier row has the same item and letter: delete one"
        )
    origins = rows[["annotator", "sheet"]].drop_duplicates()
    if len(origins) != 1 or origins.eq("").any(axis=None):
        raise FigLangError(
            f"{path} has rows of {len(origins)} annotators or exports (first in the rows"
            f" {listing(origins.index)}), must be of one with a name: restore them"
        )
    annotator, code = origins.iloc[0]
    return Sheet(path, annotator, code, rows)


def accepted(letters: Sequence[str]) -> dict[str, Accepted]:
    """The valid cells of each column that is judged; `preferred` is one where there are several
    letters.
    """
    preferred = {
        NO_PREFERENCE: (NO_PREFERENCE, "-"),
        **{letter: (letter.casefold(),) for letter in letters},
    }
    return {**SPELLINGS, **({"preferred": preferred} if len(letters) > 1 else {})}


def spelled(cell: str, values: Accepted) -> str | None:
    """The value that a cell means; None for an empty cell. Case and white space around it do not
    matter.
    """
    text = " ".join(cell.split()).casefold()
    if not text:
        return None
    for value, cells in values.items():
        if text in cells:
            return value
    choices = "; ".join(", ".join(cells) for cells in values.values())
    raise ValueError(f"{cell[:60]!r} is none of: {choices}")


def meanings(sheet: Sheet, columns: Mapping[str, Accepted]) -> pd.DataFrame:
    """What the cells of some columns mean, by item and letter, and the number of the `row`; None
    for an empty cell.
    """
    found = sheet.rows[["item", "letter"]].assign(row=sheet.rows.index)
    for column, values in columns.items():
        said = []
        for number, cell in sheet.rows[column].items():
            try:
                said.append(spelled(cell, values))
            except ValueError as error:
                raise FigLangError(
                    f"{sheet.path}, row {number}, column {column}: {error}"
                ) from error
        found[column] = pd.Series(said, index=found.index, dtype=object)
    if "adequate" in columns:
        for number in found["row"][found["adequate"].eq("yes") & found["error"].notna()]:
            raise FigLangError(
                f"{sheet.path}, row {number}: an adequate explanation has an error: clear the cell"
                " adequate or error"
            )
    for column in [each for each in ("label", "preferred") if each in columns]:
        for item, values in found.groupby("item")[column]:
            if values.nunique() > 1:
                raise FigLangError(
                    f"{sheet.path}, column {column}: item {item} has"
                    f" {listing(values.dropna(), 5, ' and ')}: keep one"
                )
    return found.set_index(["item", "letter"])
