"""Checks by the texts of rows that predictions were given the right row numbers.

A file may count from 1, or have the rows of another split, or HELM's training instances first.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.record import Row
from figlang_tasks.core.row_files import brief
from figlang_tasks.core.text import folded
from figlang_tasks.results.predictions.prediction import Prediction

_NEVER_SHOWN = frozenset(
    ("id", "data", "dataset", "request", "label", "explanation", "answer", "image", "row", "unit")
)
"""Columns of documents that do not tell rows apart, or tell the right answer."""

_MOST_UNCLEAR_PROMPTS = 3
"""How many prompts without a text of any row are looked at before they are taken to have none."""


def text_columns(documents: Sequence[Row]) -> list[str]:
    """The columns of the documents with texts that tell rows apart, the claim for example."""
    columns: list[str] = []
    for column, text in documents[0].items():
        if isinstance(text, str) and column not in _NEVER_SHOWN:
            texts = {text_of(document, column) for document in documents}
            if len(texts) > 1 or len(documents) == 1:
                columns.append(column)
    return columns


def text_of(document: Row, column: str) -> str:
    """The text of a document in a column; "" if it has none there."""
    text = document.get(column)
    return "" if text is None else str(text)


def check_row_numbers(
    documents: Sequence[Row],
    task_name: str,
    predictions_by_index: Mapping[int, Sequence[Prediction]],
) -> None:
    """Raise a `RunError` if rows that were found by their numbers have other texts in the file.

    Args:
        documents: the rows of the task.
        task_name: for the message.
        predictions_by_index: the predictions of each row, by its index among the documents.
    """
    columns = text_columns(documents)
    unclear_prompts = 0
    for index, predictions in predictions_by_index.items():
        for prediction in predictions:
            _check_columns(prediction, documents[index], index, columns, task_name)
        prompt = predictions[0].prompt
        if prompt is None or unclear_prompts == _MOST_UNCLEAR_PROMPTS:
            continue
        if not _is_shown(documents[index], folded(prompt), columns):
            unclear_prompts += 1
            _check_other_rows(predictions[0], documents, index, columns, task_name)


def _check_columns(
    prediction: Prediction, document: Row, index: int, columns: Sequence[str], task_name: str
) -> None:
    """Raise a `RunError` if a column of the file does not have the text of the row in it."""
    for column in columns:
        text = prediction.texts.get(column)
        # The column of a file may have more, a question with all options say.
        if text is not None and folded(text_of(document, column)) not in folded(text):
            raise RunError(
                f"{prediction.location}: row {index} of {task_name} has the {column}"
                f" {brief(text_of(document, column))}, but the file has {brief(text)} there: rows"
                " are counted from 0; or name a column with ids (--id)"
            )


def _check_other_rows(
    prediction: Prediction,
    documents: Sequence[Row],
    index: int,
    columns: Sequence[str],
    task_name: str,
) -> None:
    """Raise a `RunError` if a prompt without the texts of its row has those of another one."""
    prompt = folded(str(prediction.prompt))
    for other_index, document in enumerate(documents):
        if _is_shown(document, prompt, columns):
            raise RunError(
                f"{prediction.location}: the prompt of row {index} of {task_name} has the texts of"
                f" row {other_index} ({document['id']}): the numbers of rows in the file are of"
                " other rows, or do not count from 0; give ids in place of numbers"
            )


def _is_shown(document: Row, folded_prompt: str, columns: Sequence[str]) -> bool:
    """Whether a prompt has the longest text of a row."""
    texts = [text_of(document, column) for column in columns]
    longest_text = folded(max(texts, key=len, default=""))
    return bool(longest_text) and longest_text in folded_prompt


def check_prompts(
    answered_documents: Iterable[tuple[Row, Prediction]],
    documents: Sequence[Row],
    task_name: str,
    prompt_of: Callable[[Row], str],
) -> None:
    """Raise a `RunError` if a prompt in the file does not show the texts of its row.

    Only texts count that the task's own prompt shows; a task of pictures alone may show none.

    Args:
        answered_documents: each prediction with the document that it was taken to answer.
        documents: the rows of the task.
        task_name: for the message.
        prompt_of: gives the prompt of the task for a document.
    """
    columns = text_columns(documents)
    with_prompt = 0
    locations: list[str] = []
    for document, prediction in answered_documents:
        if not prediction.prompt:
            continue
        with_prompt += 1
        own_prompt = _without_escapes(prompt_of(document))
        texts = [_without_escapes(text_of(document, column)) for column in columns]
        longest_text = max((text for text in texts if text in own_prompt), key=len, default="")
        if longest_text not in _without_escapes(prediction.prompt):
            locations.append(prediction.location)
    if locations:
        raise RunError(
            f"{locations[0]}: the prompt does not have the texts of its row of {task_name}, and so"
            f" it is with {len(locations):,} of {with_prompt:,} prompts: the file is of another"
            " split or of another task. Name that task with --task, or give a table with ids"
        )


def _without_escapes(text: str) -> str:
    """A text in the form that is compared, also of chat turns that were saved as JSON."""
    if text.startswith(("[", "{")):
        with suppress(ValueError, RecursionError):  # It may only begin like JSON.
            text = json.dumps(json.loads(text), ensure_ascii=False)
    for escape in ("\\n", "\\t", "\\r"):
        text = text.replace(escape, " ")
    return folded(text.replace("\\", ""))
