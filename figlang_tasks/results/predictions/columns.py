"""Finds the columns of a table of predictions by their usual names, and reads its rows."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.row_files import brief
from figlang_tasks.core.text import did_you_mean, listing
from figlang_tasks.results.predictions.prediction import (
    ColumnNames,
    Content,
    Prediction,
    PredictionFile,
)
from figlang_tasks.scoring.task_file import TaskFile

Cells: TypeAlias = Mapping[str, object]
"""The cells of a row by column."""

_USUAL_NAMES: Final[Mapping[str, Sequence[str]]] = {
    "id": ("id", "sample_id", "question_id", "doc_id"),
    "row number": ("index", "idx", "row"),
    "output": ("output", "prediction", "response", "completion", "model_answer", "answer"),
    "label": ("label", "predicted"),
    "explanation": ("explanation", "rationale"),
    "scores": ("scores",),
}
"""The names under which a column is usually found, in the order in which they are looked for."""

_SCORE_OF_CANDIDATE = re.compile(r"score_(\d+)", re.IGNORECASE)
"""A column with the scores of one candidate: ``score_1`` of the first one."""

_COLUMNS_OF_QUESTIONS = frozenset(("index", "question", "answer"))
"""The columns of VLMEvalKit's table of a dataset, in which `answer` is the right answer."""

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
    located_rows = list(rows)
    if not located_rows:
        raise RunError(f"{path} has no predictions: is it the right file, and whole?")
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


def columns_text(task_file: TaskFile) -> str:
    """What a file of predictions for a task must hold, with three ids: ``--columns``."""
    ids = [document["id"] for document in task_file.documents]
    examples = "\n".join(f"  {row_id}" for row_id in ids[:3])
    id_names = ", ".join(_USUAL_NAMES["id"])
    number_names = ", ".join(_USUAL_NAMES["row number"])
    output_names = ", ".join(_USUAL_NAMES["output"])
    paragraphs = [
        f"{task_file.name}: {len(ids):,} rows; a prediction for each",
        f"which row ({id_names}): an id such as\n{examples}",
        f"or its number, from 0 ({number_names})",
        f"what the model said ({output_names}): its whole output",
    ]
    kind = task_file.kind
    if kind.record_of_label is not None:
        paragraphs.append(
            f"or in its place a label ({', '.join(_USUAL_NAMES['label'])}), and its explanation"
            f" ({', '.join(_USUAL_NAMES['explanation'])}): both are taken as they are"
        )
    if kind.record_of_scores is not None:
        candidates = task_file.documents[0][kind.candidates]
        names = "\n".join(f"  {brief(candidate)}" for candidate in candidates)
        paragraphs.append(
            "or in its place scores: a JSON list with a number for each candidate (or score_1,"
            f" score_2, ...), in this order for the first row:\n{names}"
        )
    if kind.picture_location is not None:
        paragraphs.append("an output is the path of a picture, from the folder of the file")
    if task_file.has_two_rounds:
        paragraphs.append('an output is {"scene_graph": "...", "answer": "..."}')
    return "\n\n".join(paragraphs)


# --- which column is what ---


def _find_columns(path: Path, column_names: Sequence[str], named: ColumnNames) -> _Columns:
    """The columns of a table: those that the user named, else those with usual names.

    If the user names the label, the table's outputs are not looked for: labels then stand for
    words.
    """
    output = _column_of("output", path, column_names, named.output)
    if output == "answer" and named.output is None:
        _check_is_output(path, column_names)
    if named.label is not None and named.output is None:
        output = None
    candidate_columns: dict[int, str] = {}
    for column in column_names:
        match = _SCORE_OF_CANDIDATE.fullmatch(column)
        if match is not None:
            candidate_columns[int(match[1])] = column
    return _Columns(
        id=_column_of("id", path, column_names, named.id),
        row_number=_column_of("row number", path, column_names, None),
        output=output,
        label=_column_of("label", path, column_names, named.label),
        explanation=_column_of("explanation", path, column_names, named.explanation),
        scores=_column_of("scores", path, column_names, None),
        scores_of_candidates=[candidate_columns[number] for number in sorted(candidate_columns)],
    )


def _column_of(
    meaning: str, path: Path, column_names: Sequence[str], named: str | None
) -> str | None:
    """The column with a meaning; None if no column has one of its usual names.

    Raises:
        RunError: there is no column of the name that the user gave.
    """
    if named is not None:
        if named not in column_names:
            hint = did_you_mean(named, column_names)
            raise RunError(
                f"{path} has no column {named!r}{hint}; it has: {listing(column_names, 20)}"
            )
        return named
    column_by_lower_name: dict[str, str] = {}
    for column in column_names:
        column_by_lower_name.setdefault(column.strip().lower(), column)
    for name in _USUAL_NAMES[meaning]:
        if name in column_by_lower_name:
            return column_by_lower_name[name]
    return None


def _check_is_output(path: Path, column_names: Sequence[str]) -> None:
    """Raise a `RunError` if the column `answer` seems to have the right answers."""
    if set(column_names) >= _COLUMNS_OF_QUESTIONS:
        raise RunError(
            f"{path} has index, question and answer, and no prediction: in sheets of VLMEvalKit,"
            " answer is the right answer. Give the sheet of the results; or, if a model said what"
            " stands there, add --output answer"
        )


def _no_predictions_message(path: Path, column_names: Sequence[str]) -> str:
    """The message for a table without predictions."""
    return (
        f"{path} has no column with predictions; it has: {listing(column_names, 20)}. Outputs are"
        f" looked for under {', '.join(_USUAL_NAMES['output'])}, labels under"
        f" {', '.join(_USUAL_NAMES['label'])}, scores of candidates under scores or score_1,"
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
        row_number=_row_number(location, cells, columns.row_number),
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
    """The id in a row as a text; a whole number as spreadsheets have it, 12.0, is ``12``."""
    if column is None:
        return None
    cell = cells.get(column)
    if _is_missing(cell):
        return None
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def _row_number(location: str, cells: Cells, column: str | None) -> int | None:
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
        RunError: the cell holds a list or an object.
    """
    if column is None:
        return None
    cell = cells.get(column)
    if _is_missing(cell):
        return None
    if isinstance(cell, list) and len(cell) == 1:  # harnesses have a list of all answers
        cell = cell[0]
    if isinstance(cell, list | dict):
        raise RunError(f"{location}: {column} is {brief(cell)}, must be a text")
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
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
