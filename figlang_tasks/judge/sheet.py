"""Annotation sheets: CSV files that spreadsheet programs open, people fill in, and this reads again.

A sheet has one row for each explanation. Rows of an item (one sample) share its number; within it a letter stands for
the system. `label` and `preferred` are asked once an item: in any of its rows, or in all alike.

A sheet of generated pictures has one row for each picture, and a `category` to fill in; an item is some pictures of one
phrase.
"""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import re
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from figlang_tasks.core.text import no_formula, printable
from figlang_tasks.judge import JudgeError
from figlang_tasks.metrics.files import write_whole

LETTERS = string.ascii_uppercase
ERRORS = ("hallucination", "unsound", "incomplete", "verbose")
"""The paper's taxonomy (section 5): not faithful to the image, against logic or common sense, without the key reason,
too long."""
NO_PREFERENCE = "none"
LLM = "LLM judge "
"""How the annotator's name begins in a sheet that a language model filled in."""

CONTEXT = ("image", "premise")  # one of the two
COLUMNS = (
    *("item", "letter", *CONTEXT, "claim", "reference", "label"),
    *("explanation", "adequate", "error", "preferred", "comment", "annotator", "sheet"),
)
JUDGED = ("label", "adequate", "error", "preferred")
PICTURES = ("item", "letter", "image", "phrase", "definitions", "category", "comment", "annotator", "sheet")
"""The columns of a sheet of pictures."""
_TEXTS = ("premise", "claim", "reference", "explanation", "phrase", "definitions", "comment")
_NEEDED = (  # of each kind
    ("item", "letter", "label", "adequate", "error", "annotator", "sheet"),
    ("item", "letter", "category", "annotator", "sheet"),
)

SPELLINGS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "label": {
        "entailment": ("entailment", "entails", "entail", "e", "1"),
        "contradiction": ("contradiction", "contradicts", "contradict", "c", "0"),
    },
    "adequate": {
        "yes": ("yes", "y", "true", "1", "adequate"),
        "no": ("no", "n", "false", "0", "inadequate"),
    },
    "error": {
        "hallucination": ("hallucination", "hallucinated", "h"),
        "unsound": ("unsound", "unsound reasoning", "u"),
        "incomplete": ("incomplete", "incomplete reasoning", "i"),
        "verbose": ("verbose", "verbosity", "v"),
    },
    "preferred": {NO_PREFERENCE: ("none", "neither", "no preference", "tie", "-")},
}
"""The valid values of a cell, in any case, and their meaning; `preferred` takes the letters of the item too."""

# All but line feed, tab and carriage return; half a surrogate pair has no UTF-8.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_LONGEST = 32_000  # a cell of a spreadsheet holds 32,767 characters
_SEPARATORS = (",", ";", "\t")


@dataclass(frozen=True)
class SheetRow:
    """One row of a sheet.

    Attributes:
        number: as a spreadsheet program counts: the head is row 1.
        cells: by name of column, as they were before they were made safe.
    """

    number: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Sheet:
    """A sheet as it was read: rows that belong to one export and one annotator.

    Attributes:
        path: the file.
        sha256: hex digest of it.
        annotator: who filled it in.
        code: the export that it belongs to.
        columns: as in the file.
        rows: at least one; no item and letter twice.
        exact: whether the texts are as they were written (False for a file that is not UTF-8).
    """

    path: Path
    sha256: str
    annotator: str
    code: str
    columns: tuple[str, ...]
    rows: tuple[SheetRow, ...]
    exact: bool

    @property
    def llm(self) -> bool:
        """Whether a language model filled it in."""
        return self.annotator.startswith(LLM)

    def by_item(self) -> dict[int, dict[str, SheetRow]]:
        """Rows by number of item, then by letter."""
        found: dict[int, dict[str, SheetRow]] = {}
        for row in self.rows:
            found.setdefault(int(row.cells["item"]), {})[row.cells["letter"]] = row
        return found


def cleaned(text: str) -> str:
    """The text of a cell: U+FFFD for characters that move a cursor, change the direction of writing, or have no UTF-8;
    line feeds and tabs stay."""
    return _CONTROL.sub("\ufffd", text)


def safe(text: str) -> str:
    """A cell that no spreadsheet program takes for a formula: such a text, and one that begins with ', gets a ' before.

    `restored` takes it away again. Control characters become U+FFFD, and what no cell can hold is cut off with a note.
    """
    text = cleaned(text)
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]} [cut: {len(text) - _LONGEST} more characters]"
    return no_formula(text)


def restored(cell: str) -> str:
    """The text of a cell that `safe` made."""
    return cell.removeprefix("'")


def content_of(columns: Sequence[str], rows: Iterable[Mapping[str, str]], separator: str = ",") -> bytes:
    """A sheet's bytes: UTF-8 with a byte order mark, every cell quoted (RFC 4180).

    Args:
        columns: some of :data:`COLUMNS`, or :data:`PICTURES`.
        rows: cells by column.
        separator: ``,``, or ``;`` for spreadsheet programs whose list separator that is.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=separator, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([safe(row.get(column, "")) for column in columns] for row in rows)
    return codecs.BOM_UTF8 + text.getvalue().encode("utf-8")


def write_sheet(path: Path, content: bytes) -> None:
    """Write a file whole or not at all.

    Raises:
        JudgeError: it cannot be written.
    """
    try:
        write_whole(path, content)
    except OSError as error:
        raise JudgeError(f"{path} cannot be written: {error.strerror}") from error


# --- reading ---------------------------------------------------------------------------------------------------------


def read(path: Path) -> Sheet:
    """Read a sheet as `content_of` wrote it, or as a spreadsheet program saved it again.

    Comma, semicolon or tab between cells (the first row tells, or a line ``sep=;`` before it); UTF-8 with or without
    byte order mark, UTF-16 with one, or another encoding that holds ASCII; any line ends; rows in any order; empty
    rows, further columns and the case of the head do not matter.

    Raises:
        JudgeError: it is not readable, lacks a column, a row's item or letter is not what it should be or is there
            twice, or the rows are of several annotators or exports. Names file and row.
    """
    try:
        content = path.read_bytes()
        text, exact = _decoded(content)
    except OSError as error:
        raise JudgeError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise JudgeError(f"{path} is damaged UTF-16: save it again as CSV UTF-8") from error
    columns, records = _records(path, text)
    rows: list[SheetRow] = []
    for number, record in enumerate(records, start=2):
        if any(cell.strip() for cell in record):
            if any(cell.strip() for cell in record[len(columns) :]):
                raise JudgeError(
                    f"{path}, row {number}: {len(record)} cells under {len(columns)} columns: does a comment contain a "
                    "separator without quotes? Put the comment into one cell"
                )
            cells = dict(zip(columns, map(restored, record), strict=False))
            rows.append(SheetRow(number, {name: _trimmed(name, cells.get(name, "")) for name in columns}))
    if not rows:
        raise JudgeError(f"{path} has no rows: export the sheet again with figlang judge export")
    _check_places(path, rows)
    digest = hashlib.sha256(content).hexdigest()
    return Sheet(path, digest, _one(path, rows, "annotator"), _one(path, rows, "sheet"), columns, tuple(rows), exact)


def _decoded(content: bytes) -> tuple[str, bool]:
    """Text, and whether it is what was written."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16"), True
    try:
        return content.decode("utf-8-sig"), True
    except UnicodeDecodeError:
        # "CSV" of Excel on Windows is of the machine's code page. What is judged stands there in ASCII.
        return content.removeprefix(codecs.BOM_UTF8).decode("latin-1"), False


def _records(path: Path, text: str) -> tuple[tuple[str, ...], list[list[str]]]:
    """The head, and the cells of every row below it."""
    named = re.match(r'"?sep=(.)"?\r?\n', text)
    body = text[named.end() if named else 0 :]
    found: tuple[str, ...] = ()
    try:
        for separator in (named[1],) if named else _SEPARATORS:
            rows = csv.reader(io.StringIO(body, newline=""), delimiter=separator)
            columns = tuple(cell.strip().lower() for cell in next(rows, []))
            while columns and not columns[-1]:  # columns that a spreadsheet program added
                columns = columns[:-1]
            if any(set(needed) <= set(columns) for needed in _NEEDED):
                if twice := [column for column in (*COLUMNS, *PICTURES) if columns.count(column) > 1]:
                    raise JudgeError(f"{path}: the column {twice[0]} occurs twice: delete one")
                return columns, list(rows)
            found = max(found, columns, key=len)
    except csv.Error as error:
        raise JudgeError(f"{path} is not a CSV file ({error}): save the sheet again as CSV UTF-8") from error
    lacks = ", ".join(column for column in _NEEDED["category" in found] if column not in found)
    raise JudgeError(
        f"{path}: its first row lacks the columns {lacks}: save the sheet of figlang judge export, with its head, as "
        f"CSV UTF-8 with commas, semicolons or tabs"
    )


def _trimmed(column: str, text: str) -> str:
    return text if column in _TEXTS else text.strip()


def _check_places(path: Path, rows: Sequence[SheetRow]) -> None:
    seen: dict[tuple[int, str], int] = {}
    for row in rows:
        item, letter = row.cells["item"], row.cells["letter"]
        if not re.fullmatch("[0-9]{1,9}", item) or letter not in tuple(LETTERS):
            raise JudgeError(
                f"{path}, row {row.number}: item {printable(item)!r} and letter {printable(letter)!r}: must be as they "
                f"were exported, a number and one of A to Z"
            )
        first = seen.setdefault((int(item), letter), row.number)
        if first != row.number:
            raise JudgeError(f"{path}: rows {first} and {row.number} both hold item {item} {letter}: delete one")


def _one(path: Path, rows: Sequence[SheetRow], column: str) -> str:
    first = rows[0].cells[column]
    for row in rows:
        if not row.cells[column]:
            raise JudgeError(f"{path}, row {row.number}, column {column}: empty, must be as it was exported")
        if row.cells[column] != first:
            raise JudgeError(
                f"{path}, row {row.number}, column {column}: {printable(row.cells[column])}, but {printable(first)} in "
                f"row {rows[0].number}: a sheet must be of one export and one annotator"
            )
    return " ".join(printable(first).split())


def meaning(column: str, cell: str, letters: Iterable[str] = ()) -> str | None:
    """The meaning of a judgement; None for an empty cell.

    Args:
        column: one of :data:`JUDGED`.
        cell: its content; case and white space around it do not matter.
        letters: those of the item, for `preferred`.

    Raises:
        ValueError: it is none of the accepted spellings; the message lists them.
    """
    spellings = dict(SPELLINGS[column])
    if column == "preferred":
        spellings |= {letter: (letter.casefold(),) for letter in letters}
    return spelled(cell, spellings)


def spelled(cell: str, spellings: Mapping[str, Sequence[str]]) -> str | None:
    """The value that a cell means, as `meaning`, by the cells that mean each."""
    text = " ".join(cell.split()).casefold()
    if not text:
        return None
    for value, accepted in spellings.items():
        if text in accepted:
            return value
    choices = "; ".join(", ".join(accepted) for accepted in spellings.values())
    raise ValueError(f"{printable(cell)[:60]!r} is none of: {choices}")


@dataclass(frozen=True)
class Judged:
    """The judgements of one annotator about one item; None without a judgement.

    Attributes:
        label: ``entailment`` or ``contradiction``.
        preferred: a letter, or :data:`NO_PREFERENCE`.
        adequate: ``yes`` or ``no``, by letter.
        error: one of :data:`ERRORS`, by letter.
    """

    label: str | None
    preferred: str | None
    adequate: Mapping[str, str | None]
    error: Mapping[str, str | None]


def judged(sheet: Sheet) -> dict[int, Judged]:
    """The judgements of a sheet, by number of item.

    Raises:
        JudgeError: a cell is none of the accepted spellings, rows of an item contradict each other, or an adequate
            explanation has an error. Names file, row and column.
    """
    found = {}
    letters = sorted({row.cells["letter"] for row in sheet.rows})
    for item, rows in sheet.by_item().items():
        values: dict[str, dict[str, str | None]] = {column: {} for column in JUDGED}
        for letter, row in rows.items():
            for column in JUDGED:
                try:
                    values[column][letter] = meaning(column, row.cells.get(column, ""), letters)
                except ValueError as error:
                    raise JudgeError(f"{sheet.path}, row {row.number}, column {column}: {error}") from error
            if values["adequate"][letter] == "yes" and values["error"][letter]:
                raise JudgeError(
                    f"{sheet.path}, row {row.number}, column error: {values['error'][letter]}, but the explanation is "
                    f"adequate: clear one of the two"
                )
        found[item] = Judged(
            label=_once(sheet, rows, "label", values["label"]),
            preferred=_once(sheet, rows, "preferred", values["preferred"]),
            adequate=values["adequate"],
            error=values["error"],
        )
    return found


def _once(sheet: Sheet, rows: Mapping[str, SheetRow], column: str, values: Mapping[str, str | None]) -> str | None:
    said = {letter: value for letter, value in values.items() if value is not None}
    if len(set(said.values())) > 1:
        where = ", ".join(f"{value} in row {rows[letter].number}" for letter, value in said.items())
        raise JudgeError(f"{sheet.path}, column {column}: {where}, of the same item: keep one")
    return next(iter(said.values()), None)
