"""Finds the columns of a table of predictions by their usual names, and reads its rows."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.files import MEBIBYTE
from figlang_tasks.core.row_files import brief
from figlang_tasks.core.text import did_you_mean, listing
from figlang_tasks.results.predictions.ambiguous_columns import (
    check_answer,
    check_label,
    check_output,
    folded_column,
)
from figlang_tasks.results.predictions.prediction import (
    ColumnNames,
    Content,
    Prediction,
    PredictionFile,
)

Cells: TypeAlias = Mapping[str, object]
"""The cells of a row by column."""

USUAL_NAMES: Final[Mapping[str, Sequence[str]]] = {
    "id": ("id", "sample_id", "question_id", "doc_id"),
    "row number": ("index", "idx", "row"),
    "output": ("output", "prediction", "response", "completion", "model_answer", "answer"),
    "label": ("label", "predicted"),
    "explanation": ("explanation", "rationale"),
    "scores": ("scores",),
}
"""The names under which a column is usually found, in the order in which they are looked for."""

_MOST_ROWS: Final = 1_000_000
"""The limit for a table: a small file may unpack to any number of rows."""

_MOST_CHARACTERS: Final = 16 * MEBIBYTE
"""The limit for an output: no model says as much, and reading it would take a minute."""

_SCORE_OF_CANDIDATE = re.compile(r"score_(\d+)", re.IGNORECASE)
"""A column with the scores of one candidate: ``score_1`` of the first one."""

_WHOLE_NUMBER = re.compile(r"\d{1,9}(?:\.0+)?")
"""A row number, also as a spreadsheet writes one: ``12``, ``12.0``."""


@dataclass(frozen=True)
class _Columns:
    """The columns of a table by their meaning; None where the table has none.

    Attributes:
        scores_of_candidates: the columns with a score each, in the order of the candidates.
    """

    id: str | None
    row_number: str | None
    output: str | None
    label: str | None
    explanation: str | None
    scores: str | None
    scores_of_candidates: Sequence[str]

    @property
    def content(self) -> Content | None:
        """What the predictions of the table are; None if no column has any."""
        if self.output is not None:
            return "words"
        if self.scores is not None or self.scores_of_candidates:
            return "scores"
        if self.label is not None:
            return "labels"
        return None

    def by_meaning(self, content: Content) -> dict[str, str]:
        """The columns that are used, by what they were taken for."""
        scores = self.scores or ", ".join(self.scores_of_candidates)
        used: dict[Content, dict[str, str | None]] = {
            "words": {"output": self.output},
            "scores": {"scores": scores},
            "labels": {"label": self.label, "explanation": self.explanation},
        }
        columns = {"id": self.id, "row number": self.row_number, **used[content]}
        return {meaning: column for meaning, column in columns.items() if column is not None}


def predictions_of_table(
    path: Path, form: str, rows: Iterable[tuple[str, Cells]], names: ColumnNames
) -> PredictionFile:
    """The predictions in the rows of a table.

    Args:
        path: of the file.
        form: what the file is, for people.
        rows: the location of each row, for messages, and its cells.
        names: the columns that the user named.

    Raises:
        RunError: the table has no rows, or no column with predictions, or lacks one that the user
            named; or a cell cannot be read.
    """
    located_rows = list(itertools.islice(rows, _MOST_ROWS + 1))
    if not located_rows:
        raise RunError(f"{path} has no predictions: is it the right file, and whole?")
    if len(located_rows) > _MOST_ROWS:
        raise RunError(f"{path} has more than {_MOST_ROWS:,} rows: is it the right file?")
    # JSON Lines may leave out what is empty, so that later rows may have more columns.
    column_names: dict[str, None] = {}
    for _, cells in located_rows:
        column_names.update(dict.fromkeys(cells))
    columns = _find_columns(path, list(column_names), names)
    content = columns.content
    if content is None:
        raise RunError(_no_predictions_message(path, list(column_names)))

    predictions = [_prediction(location, cells, columns) for location, cells in located_rows]
    return PredictionFile(
        path=path,
        form=form,
        content=content,
        predictions=predictions,
        columns=columns.by_meaning(content),
    )


def may_hold_predictions(column: str, names: ColumnNames) -> bool:
    """Whether a column has a name under which predictions or ids are looked for."""
    is_named = column in (names.id, names.output, names.label, names.explanation)
    name = folded_column(column)
    is_usual = any(name in usual_names for usual_names in USUAL_NAMES.values())
    return is_named or is_usual or _SCORE_OF_CANDIDATE.fullmatch(name) is not None


# --- which column is what ---


def _find_columns(path: Path, column_names: Sequence[str], named: ColumnNames) -> _Columns:
    """The columns of a table: those that the user named, else those with usual names.

    If the user names the label, the table's outputs and scores are not looked for: labels then
    stand for them.

    Raises:
        RunError: a column that the user named is not there, or one may mean two things.
    """
    label_counts = named.label is not None and named.output is None
    output = None if label_counts else _column_of("output", path, column_names, named.output)
    columns = _Columns(
        id=_column_of("id", path, column_names, named.id),
        row_number=_column_of("row number", path, column_names, None),
        output=output,
        label=_column_of("label", path, column_names, named.label),
        explanation=_column_of("explanation", path, column_names, named.explanation),
        scores=None if label_counts else _column_of("scores", path, column_names, None),
        scores_of_candidates=() if label_counts else _columns_of_candidates(path, column_names),
    )
    _check_meanings(path, column_names, named, columns)
    return columns


def _check_meanings(
    path: Path, column_names: Sequence[str], named: ColumnNames, columns: _Columns
) -> None:
    """Raise a `RunError` if a column that is used may mean two things."""
    if columns.output is not None:
        if named.output is None and folded_column(columns.output) == "answer":
            has_scores = columns.scores is not None or bool(columns.scores_of_candidates)
            check_answer(path, column_names, columns.output, has_scores)
        check_output(path, column_names, columns.output, named)
        return
    if named.label is None:
        _check_one_label(path, column_names)
    if columns.content == "labels" and columns.label is not None:
        check_label(path, column_names, columns.label, columns.explanation, named)
    elif named.explanation is not None:
        raise RunError(
            f"{path}: --explanation {named.explanation!r} stands beside a label: name the label"
            " too, with --label COLUMN"
        )


def _check_one_label(path: Path, column_names: Sequence[str]) -> None:
    """Raise a `RunError` if a table may have the right labels beside those of the model."""
    known_names = USUAL_NAMES["label"]
    label_columns = [column for column in column_names if folded_column(column) in known_names]
    if len(label_columns) > 1:
        raise RunError(
            f"{path} has the columns {listing(label_columns)}, and one of them may be the right"
            f" label: name the one of the model, for example --label {label_columns[-1]}"
        )


def _columns_of_candidates(path: Path, column_names: Sequence[str]) -> list[str]:
    """The columns with the score of a candidate each, in the order of the candidates.

    Raises:
        RunError: one between the first and the last is missing, or there twice.
    """
    columns: list[tuple[int, str]] = []
    for column in column_names:
        match = _SCORE_OF_CANDIDATE.fullmatch(folded_column(column))
        if match is not None:
            columns.append((int(match[1]), column))
    columns.sort()
    numbers = [number for number, _ in columns]
    if columns and numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        raise RunError(
            f"{path} has the columns {listing([column for _, column in columns], 20)}: there must"
            " be one for each candidate, numbered from 1 without a gap"
        )
    return [column for _, column in columns]


def _column_of(
    meaning: str, path: Path, column_names: Sequence[str], named: str | None
) -> str | None:
    """The column with a meaning; None if no column has one of its usual names.

    Raises:
        RunError: there is no column of the name that the user gave; or two columns have the same
            usual name but for capitals and spaces.
    """
    if named is not None:
        if named not in column_names:
            hint = did_you_mean(named, column_names)
            raise RunError(
                f"{path} has no column {named!r}{hint}; it has: {listing(column_names, 20)}"
            )
        return named
    for name in USUAL_NAMES[meaning]:
        columns = [column for column in column_names if folded_column(column) == name]
        if len(columns) > 1:
            raise RunError(
                f"{path} has the columns {listing(map(repr, columns))}, which all may be the"
                f" {meaning}: rename or remove the others"
            )
        if columns:
            return columns[0]
    return None


def _no_predictions_message(path: Path, column_names: Sequence[str]) -> str:
    """The message for a table without predictions."""
    hint = ""
    for separator, name in ((";", "semicolons"), ("\t", "tabs"), (",", "commas")):
        if len(column_names) == 1 and separator in column_names[0]:
            hint = f" Its cells are separated by {name}: save it with commas, or with tabs as .tsv."
            break
    return (
        f"{path} has no column with predictions; it has: {listing(column_names, 20)}.{hint} Outputs"
        f" are looked for under {', '.join(USUAL_NAMES['output'])}, labels under"
        f" {', '.join(USUAL_NAMES['label'])}, scores of candidates under scores or score_1,"
        " score_2, ...: name your column with --output, or --label"
    )


# --- one row ---


def _prediction(location: str, cells: Cells, columns: _Columns) -> Prediction:
    """The prediction in a row of a table."""
    used_columns = {
        columns.id,
        columns.row_number,
        columns.output,
        columns.scores,
        *columns.scores_of_candidates,
    }
    texts: dict[str, str] = {}
    for column, cell in cells.items():
        if isinstance(cell, str) and column not in used_columns:
            texts[column] = cell
    return Prediction(
        location=location,
        id=_id(cells, columns.id),
        row_number=_row_number(cells, columns.row_number),
        texts=texts,
        output=_text(location, cells, columns.output),
        label=_text(location, cells, columns.label),
        explanation=_text(location, cells, columns.explanation),
        scores=_scores(location, cells, columns),
    )


def _is_missing(cell: object) -> bool:
    """Whether a cell is empty as pandas, Excel or JSON have it; "" is a text, and not missing."""
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _id(cells: Cells, column: str | None) -> str | None:
    """The id in a row as a text; a whole number as spreadsheets have it, 12.0, is ``12``.

    None if the cell is empty.
    """
    if column is None:
        return None
    cell = cells.get(column)
    if _is_missing(cell):
        return None
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip() or None


def _row_number(cells: Cells, column: str | None) -> int | None:
    """The number of the benchmark's row that is answered; None if the table has no such column."""
    if column is None:
        return None
    text = str(cells.get(column)).strip()
    if _WHOLE_NUMBER.fullmatch(text) is None:
        return None
    return int(float(text))


def _text(location: str, cells: Cells, column: str | None) -> str | None:
    """The text in a cell; None if the table has no such column, or the cell is missing.

    Raises:
        RunError: the cell holds a list or an object, or is longer than any output.
    """
    if column is None:
        return None
    cell = cells.get(column)
    if _is_missing(cell):
        return None
    if isinstance(cell, list) and len(cell) == 1:  # harnesses have a list of all answers
        cell = cell[0]
    if isinstance(cell, list | dict | bytes):
        raise RunError(f"{location}: {column} is {brief(cell)}, must be a text")
    if isinstance(cell, str) and len(cell) > _MOST_CHARACTERS:
        raise RunError(
            f"{location}: {column} has {len(cell):,} characters, and at most {_MOST_CHARACTERS:,}"
            " are read: is it one output?"
        )
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def _scores(location: str, cells: Cells, columns: _Columns) -> list[float] | None:
    """The scores of the candidates in a row; None if the table has none.

    Raises:
        RunError: they are no numbers, or not all of them are there.
    """
    if columns.scores is not None:
        written = cells.get(columns.scores)
        scores = _read_json(written) if isinstance(written, str) else written
        if isinstance(scores, int | float):  # of the only candidate
            scores = [scores]
    elif columns.scores_of_candidates:
        written = [cells.get(column) for column in columns.scores_of_candidates]
        scores = [_read_json(cell) if isinstance(cell, str) else cell for cell in written]
    else:
        return None
    if not isinstance(scores, list) or not all(map(_is_finite_number, scores)):
        raise RunError(
            f"{location}: scores are {brief(written)}, must be a JSON list of a number for each"
            " candidate, in the order of the candidates"
        )
    return [float(score) for score in scores]


def _read_json(text: str) -> object:
    """The value that a text is in JSON; the text itself if it is none."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _is_finite_number(value: object) -> bool:
    """Whether a value is a number that a float holds; True and False are none."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer with hundreds of digits
        return False
