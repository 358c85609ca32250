"""Checks that the samples of a harness answer the rows that a task has today."""

from __future__ import annotations

from collections.abc import Iterator

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.row_files import brief
from figlang_tasks.results.predictions.matching import Matching
from figlang_tasks.results.predictions.prediction import Prediction, PredictionFile
from figlang_tasks.scoring.task import Document
from figlang_tasks.scoring.task_file import TaskFile


def check_saved_rows(file: PredictionFile, matching: Matching, task_file: TaskFile) -> list[str]:
    """Sentences about what harness samples say of their rows; empty if all is as today.

    Other files say nothing of their rows, and pass.

    Raises:
        RunError: the samples were saved for rows of other data, or for another row.
    """
    data = str(task_file.data_id)
    other_prompts = 0
    for document, prediction in _answered_documents(matching, task_file):
        if prediction.data is not None and prediction.data != data:
            raise RunError(
                f"{prediction.location}: this answer is to {prediction.data}, but {task_file.name}"
                f" has {data} here, whose rows may differ. Give the command the data of that run"
                " (FIGLANG_DATA_DIR)"
            )
        if prediction.data is not None and prediction.id != document["id"]:
            # Our record names the row; its number in another task is that of another row.
            raise RunError(
                f"{prediction.location}: this answer is to row {brief(prediction.id)}, but row"
                f" {prediction.row_number} of {task_file.name} is {document['id']}: name the task"
                " of that run with --task"
            )
        if file.task != task_file.name:
            continue  # A task of others has targets and prompts of its own.
        if prediction.id is None and prediction.target is not None:
            _check_target(prediction, document, task_file)
        is_same_prompt = prediction.prompt in (None, task_file.prompt(document))
        other_prompts += not is_same_prompt
    if not other_prompts:
        return []
    return [
        f"{other_prompts:,} of {len(file.predictions):,} answers were given to another prompt than"
        f" {task_file.name} has by default today"
    ]


def _answered_documents(
    matching: Matching, task_file: TaskFile
) -> Iterator[tuple[Document, Prediction]]:
    """Each prediction with the document that it answers."""
    for answers in matching.answers:
        for prediction in answers.predictions:
            yield task_file.documents[answers.row_index], prediction


def _check_target(prediction: Prediction, document: Document, task_file: TaskFile) -> None:
    """Raise a `RunError` if a sample was saved with another right answer than its row has.

    Samples of ``--predict_only`` have no id, and the number of a row may be that of another split.
    """
    target = str(task_file.function("doc_to_target")(document))
    if prediction.target != target:
        raise RunError(
            f"{prediction.location}: its target is {brief(prediction.target)}, but that of row"
            f" {prediction.row_number} of {task_file.name} is {brief(target)}: it was saved for"
            " another row. Give the command the data of that run (FIGLANG_DATA_DIR), or a table"
            " with ids"
        )
