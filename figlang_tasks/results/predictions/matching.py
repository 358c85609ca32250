"""Finds the row of the task that each prediction answers.

Rows are found by one key for the whole file, the first of these that fits: our id, the id of the
dataset itself, the number of the row, or the texts of the row. They are matched by their order only
if the user asks for it. What does not fit is an error, and never guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal, NamedTuple, TypeAlias

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.record import Row
from figlang_tasks.core.text import folded, listing
from figlang_tasks.results.predictions.prediction import Prediction, PredictionFile
from figlang_tasks.results.predictions.row_texts import check_row_numbers, text_columns, text_of

MissingRows: TypeAlias = Literal["refuse", "wrong", "partial"]
"""What becomes of rows without a prediction: the command ends; they count as wrong; or the run has
the other rows alone, and is marked as partial.
"""

ROW_NUMBER = "row number"
"""The key of the number of a row, from 0."""

_EXAMPLES = 3
"""How many rows a message names."""

_OWN_ID_COLUMNS = ("source_id", "codalab_id")
"""Columns of documents with the id that the dataset itself has, where ours is another."""

_PICTURE_COLUMNS = ("image", "picture", "path", "image_path", "img", "file", "filename")
"""Columns of files that may name the picture of a row."""


class MatchedAnswers(NamedTuple):
    """The predictions for one row.

    Attributes:
        row_index: the index of the row among the documents.
        predictions: its predictions, several where each row has several; none for a missing row.
    """

    row_index: int
    predictions: Sequence[Prediction]


@dataclass(frozen=True)
class Matching:
    """Which predictions answer which rows of a task.

    Attributes:
        key: what rows were found by, for people: ``id``, ``row number``.
        answers: in the order of the documents. A row without a prediction is there only if missing
            rows count as wrong.
        answers_per_row: how many answers each row has.
        missing: how many rows have no prediction.
    """

    key: str
    answers: Sequence[MatchedAnswers]
    answers_per_row: int
    missing: int


@dataclass(frozen=True)
class _Key:
    """A way to find the row that a prediction answers.

    Attributes:
        name: for people.
        of_prediction: its value for a prediction; None if the file does not tell.
        of_document: its value for a document and its index; None if the task does not tell.
    """

    name: str
    of_prediction: Callable[[Prediction], object]
    of_document: Callable[[Row, int], object]


def match(
    file: PredictionFile,
    documents: Sequence[Row],
    *,
    task_name: str,
    missing_rows: MissingRows = "refuse",
    in_order: bool = False,
    other_tasks: Callable[[Sequence[str]], Sequence[str]] | None = None,
) -> Matching:
    """Find the rows of a task that the predictions of a file answer.

    Args:
        file: the predictions.
        documents: the rows of the task, without pictures.
        task_name: for messages.
        missing_rows: what becomes of rows without a prediction.
        in_order: whether predictions are in the order of the rows; their counts must be equal.
        other_tasks: gives the names of tasks that have rows with these ids, for the message.

    Raises:
        RunError: predictions are of no row of the task, some rows have more predictions than
            others, or rows have none and `missing_rows` is ``refuse``.
    """
    if in_order:
        return _match_in_order(file, documents, task_name)
    keys = _possible_keys(file, documents)
    if not keys:
        raise RunError(_no_key_message(file, task_name))
    best_match: tuple[_Key, dict[object, int], list[Prediction]] | None = None
    for key in keys:
        index_by_value = _index_by_value(key, documents)
        unknown = [
            prediction
            for prediction in file.predictions
            if key.of_prediction(prediction) not in index_by_value
        ]
        if best_match is None or len(unknown) < len(best_match[2]):
            best_match = (key, index_by_value, unknown)
        if not unknown:
            break
    assert best_match is not None, "there is a key"
    key, index_by_value, unknown = best_match
    if unknown:
        raise RunError(_unknown_message(file, key, unknown, index_by_value, task_name, other_tasks))

    predictions_by_index: dict[int, list[Prediction]] = {}
    for prediction in file.predictions:
        index = index_by_value[key.of_prediction(prediction)]
        predictions_by_index.setdefault(index, []).append(prediction)
    if key.name == ROW_NUMBER:
        check_row_numbers(documents, task_name, predictions_by_index)
    return _matching(file, documents, task_name, key, predictions_by_index, missing_rows)


def _match_in_order(file: PredictionFile, documents: Sequence[Row], task_name: str) -> Matching:
    """The predictions in the order of the rows; a `RunError` if there are more or fewer."""
    if len(file.predictions) != len(documents):
        raise RunError(
            f"{file.path} has {len(file.predictions):,} predictions, and {task_name} has"
            f" {len(documents):,} rows: --in-order needs one for each row"
        )
    index_by_id = {str(document["id"]): index for index, document in enumerate(documents)}
    for index, prediction in enumerate(file.predictions):
        index_of_id = index_by_id.get(str(prediction.id), index)
        if index_of_id != index:
            raise RunError(
                f"{prediction.location}: its id {prediction.id} is that of row {index_of_id} of"
                f" {task_name}, but by --in-order it answers row {index} ({documents[index]['id']}"
                "): leave out --in-order, and rows are found by their ids"
            )
    answers = [
        MatchedAnswers(index, [prediction]) for index, prediction in enumerate(file.predictions)
    ]
    return Matching("order", answers, answers_per_row=1, missing=0)


# --- keys ---


def _possible_keys(file: PredictionFile, documents: Sequence[Row]) -> list[_Key]:
    """The ways to find rows that a file and the documents of a task both have, the best first."""
    keys: list[_Key] = []
    columns = documents[0].keys()
    has_ids = all(prediction.id is not None for prediction in file.predictions)
    if has_ids:
        keys.append(_Key("id", lambda prediction: prediction.id, lambda row, _: row["id"]))
        keys.append(_Key("id", _id_as_whole_number, lambda row, _: row["id"]))
        for column in _OWN_ID_COLUMNS:
            if column in columns:
                keys.append(_own_id_key(column))
    if _has_other_ids(file):
        pass  # Its ids are of rows that the task may not have, whatever their numbers.
    elif all(prediction.row_number is not None for prediction in file.predictions):
        keys.append(
            _Key(ROW_NUMBER, lambda prediction: prediction.row_number, lambda _, index: index)
        )
    elif has_ids and all(_id_as_number(prediction) is not None for prediction in file.predictions):
        keys.append(_Key(ROW_NUMBER, _id_as_number, lambda _, index: index))
    text_key = _text_key(file, documents)
    if text_key is not None:
        keys.append(text_key)
    return keys


def _has_other_ids(file: PredictionFile) -> bool:
    """Whether some ids of a file are no whole numbers, and so cannot be numbers of rows."""
    return any(
        prediction.id is not None
        and _id_as_number(prediction) is None
        and prediction.id != f"id{prediction.row_number}"  # as HELM writes numbers
        for prediction in file.predictions
    )


def _id_as_number(prediction: Prediction) -> int | None:
    """The id of a prediction as a row's number, as harnesses have it; None if it is no number."""
    row_id = _id_as_whole_number(prediction)
    return int(row_id) if row_id.isdecimal() and len(row_id) < 10 else None


def _id_as_whole_number(prediction: Prediction) -> str:
    """The id of a prediction; ``12`` for ``12.0``, as spreadsheets write whole numbers."""
    return str(prediction.id).removesuffix(".0")


def _own_id_key(column: str) -> _Key:
    """Rows by the id that the dataset itself has, in a column of the documents."""
    return _Key(
        "the dataset's own id",
        _id_as_whole_number,
        lambda row, _: None if row.get(column) is None else str(row[column]),
    )


def _text_key(file: PredictionFile, documents: Sequence[Row]) -> _Key | None:
    """Rows by the texts that both the file and the documents have, and by the picture's name.

    None if the file has none of them.
    """
    shared_columns: list[str] = []
    for column in text_columns(documents):
        if all(column in prediction.texts for prediction in file.predictions):
            shared_columns.append(column)
    picture_column = None
    if "image" in documents[0] and isinstance(documents[0]["image"], str):
        for column in _PICTURE_COLUMNS:
            if all(column in prediction.texts for prediction in file.predictions):
                picture_column = column
                break
    if not shared_columns and picture_column is None:
        return None

    def of_prediction(prediction: Prediction) -> object:
        texts = [folded(prediction.texts[column]) for column in shared_columns]
        if picture_column is not None:
            texts.append(_file_name(prediction.texts[picture_column]))
        return tuple(texts)

    def of_document(row: Row, index: int) -> object:
        texts = [folded(text_of(row, column)) for column in shared_columns]
        if picture_column is not None:
            texts.append(_file_name(row["image"]))
        return tuple(texts)

    names = [*shared_columns, *([picture_column] if picture_column else [])]
    return _Key(f"the texts {', '.join(names)}", of_prediction, of_document)


def _file_name(path: str) -> str:
    """The name of a file without its folders, in either way of writing them."""
    return PurePosixPath(path.replace("\\", "/")).name


def _index_by_value(key: _Key, documents: Sequence[Row]) -> dict[object, int]:
    """The index of each document by the value of a key; values that several have are left out."""
    values: list[object] = []
    for index, document in enumerate(documents):
        values.append(key.of_document(document, index))
    counts = Counter(values)
    index_by_value: dict[object, int] = {}
    for index, value in enumerate(values):
        if value is not None and counts[value] == 1:
            index_by_value[value] = index
    return index_by_value


# --- what does not fit ---


def _no_key_message(file: PredictionFile, task_name: str) -> str:
    """The message for a file in which nothing tells which rows all predictions answer."""
    columns_without_value: dict[str, list[str]] = {"id": [], "row number": []}
    for prediction in file.predictions:
        if prediction.id is None:
            columns_without_value["id"].append(prediction.location)
        if prediction.row_number is None:
            columns_without_value["row number"].append(prediction.location)
    for meaning, locations in columns_without_value.items():
        if meaning in file.columns:
            return (
                f"{file.path}: {len(locations):,} of {len(file.predictions):,} predictions have no"
                f" {meaning} in the column {file.columns[meaning]}:"
                f" {listing(locations, _EXAMPLES)}. Add it, or remove these lines; row numbers are"
                " whole numbers from 0"
            )
    return (
        f"{file.path} does not say which rows it answers: it has no id, no row number and no text"
        f" of the rows. Name the column with --id, see `figlang score --task {task_name}"
        " --columns`; or give --in-order if it has one line for each row, in their order"
    )


def _unknown_message(
    file: PredictionFile,
    key: _Key,
    unknown: Sequence[Prediction],
    index_by_value: Mapping[object, int],
    task_name: str,
    other_tasks: Callable[[Sequence[str]], Sequence[str]] | None,
) -> str:
    """The message for predictions of rows that the task does not have."""
    values = [key.of_prediction(prediction) for prediction in unknown]
    message = (
        f"{file.path}: {len(unknown):,} of {len(file.predictions):,} predictions are of no row of"
        f" {task_name}, by {key.name}: {listing(values, _EXAMPLES)}."
        f" Its rows are called {listing(index_by_value, _EXAMPLES)}"
    )
    if key.name == ROW_NUMBER:
        message += " (rows are counted from 0)"
    ids = [prediction.id for prediction in file.predictions if prediction.id is not None]
    fitting_tasks = other_tasks(ids) if other_tasks is not None and ids else []
    if fitting_tasks:
        return f"{message}. The ids are those of {listing(fitting_tasks)}: name it with --task"
    return (
        f"{message}. `figlang score --task {task_name} --columns` prints the form of ids; name"
        " another column with --id"
    )


def _matching(
    file: PredictionFile,
    documents: Sequence[Row],
    task_name: str,
    key: _Key,
    predictions_by_index: Mapping[int, Sequence[Prediction]],
    missing_rows: MissingRows,
) -> Matching:
    """The matching of predictions whose rows are known, after a check of their numbers.

    Raises:
        RunError: some rows have more predictions than others, or rows have none.
    """
    counts = {len(predictions) for predictions in predictions_by_index.values()}
    if len(counts) > 1:
        doubles = [index for index, found in predictions_by_index.items() if len(found) > 1]
        examples = []
        for index in doubles[:_EXAMPLES]:
            locations = [prediction.location for prediction in predictions_by_index[index]]
            examples.append(f"{documents[index]['id']} ({listing(locations, _EXAMPLES)})")
        raise RunError(
            f"{file.path}: {len(doubles):,} rows have several predictions, others one:"
            f" {'; '.join(examples)}. Leave one of each; several answers to a row count as repeats"
            " only if every row has as many"
        )
    if counts != {1} and _are_copies(predictions_by_index.values()):
        raise RunError(
            f"{file.path}: each row has {counts.pop()} predictions, and those of each row are all"
            " equal: was the file written twice? Leave one of each"
        )
    missing_ids = [
        document["id"]
        for index, document in enumerate(documents)
        if index not in predictions_by_index
    ]
    if missing_ids and missing_rows == "refuse":
        raise RunError(
            f"{file.path}: {len(missing_ids):,} of {len(documents):,} rows of {task_name} have no"
            f" prediction: {listing(missing_ids, _EXAMPLES)}. Add them; or give --missing wrong"
            " (they count as wrong), or --partial (the others alone are scored, and the run is"
            " marked)"
        )
    answers: list[MatchedAnswers] = []
    for index in range(len(documents)):
        if index in predictions_by_index or missing_rows == "wrong":
            answers.append(MatchedAnswers(index, predictions_by_index.get(index, ())))
    return Matching(key.name, answers, answers_per_row=counts.pop(), missing=len(missing_ids))


def _are_copies(predictions_of_rows: Iterable[Sequence[Prediction]]) -> bool:
    """Whether the predictions of each row are the same answer in several places of the file.

    A harness writes the answers of ``--repeats`` into one line. They may well be equal.
    """
    for predictions in predictions_of_rows:
        if len({prediction.location for prediction in predictions}) == 1:
            return False
        first = _content(predictions[0])
        if any(_content(prediction) != first for prediction in predictions):
            return False
    return True


def _content(prediction: Prediction) -> tuple[object, ...]:
    """What a prediction says of its row."""
    return (prediction.output, prediction.label, prediction.explanation, prediction.scores)
