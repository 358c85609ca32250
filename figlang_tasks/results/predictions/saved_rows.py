"""Checks that the samples of a harness answer the rows that a task has today."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.row_files import brief
from figlang_tasks.core.task_files import files
from figlang_tasks.results.predictions.matching import ROW_NUMBER, Matching
from figlang_tasks.results.predictions.prediction import Prediction, PredictionFile
from figlang_tasks.results.predictions.row_texts import check_prompts
from figlang_tasks.scoring.task import Document
from figlang_tasks.scoring.task_file import TaskFile


def check_saved_rows(file: PredictionFile, matching: Matching, task_file: TaskFile) -> list[str]:
    """Sentences about what a file says of its task and its rows; empty if all is as today.

    Raises:
        RunError: the answers are to rows of other data, or to other rows.
    """
    data = str(task_file.data_id)
    other_prompts = 0
    target_of = _target_function(file, task_file)
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
        # Where our record names the data, the row is known, and an older version may have had
        # another form of targets.
        is_known = prediction.data is not None
        if prediction.target is not None and target_of is not None and not is_known:
            _check_target(prediction, document, task_file, target_of)
        if file.task != task_file.name:
            continue  # It has prompts of its own.
        is_same_prompt = prediction.prompt in (None, task_file.prompt(document))
        other_prompts += not is_same_prompt
    if matching.key in (ROW_NUMBER, "order"):
        check_prompts(
            _answered_documents(matching, task_file),
            task_file.documents,
            task_file.name,
            task_file.prompt,
        )
    remarks: list[str] = []
    if file.task != task_file.name and file.task in files("lmms_eval"):
        remarks.append(f"the file is of {file.task}, and is scored as {task_file.name}")
    if other_prompts:
        remarks.append(
            f"{other_prompts:,} of {len(file.predictions):,} answers were given to another prompt"
            f" than {task_file.name} has by default today"
        )
    return remarks


def _answered_documents(
    matching: Matching, task_file: TaskFile
) -> Iterator[tuple[Document, Prediction]]:
    """Each prediction with the document that it answers."""
    for answers in matching.answers:
        for prediction in answers.predictions:
            yield task_file.documents[answers.row_index], prediction


def _target_function(
    file: PredictionFile, task_file: TaskFile
) -> Callable[[Document], object] | None:
    """What gives the target of a row in the form of the file; None if no form of ours is that.

    A task of others may have the label alone for its target, or a form of its own.
    """
    target_of: Callable[[Document], object] = task_file.function("doc_to_target")
    if file.task in files("lmms_eval") or file.task == task_file.name:
        return target_of
    saved_targets = {prediction.target for prediction in file.predictions} - {None}
    if not saved_targets:
        return None
    forms: list[Callable[[Document], object]] = [target_of, lambda document: document.get("label")]
    for form in forms:
        if saved_targets & {str(form(document)) for document in task_file.documents}:
            return form
    return None


def _check_target(
    prediction: Prediction,
    document: Document,
    task_file: TaskFile,
    target_of: Callable[[Document], object],
) -> None:
    """Raise a `RunError` if a sample was saved with another right answer than its row has.

    Samples of ``--predict_only`` have no id, and the number of a row may be that of another split.
    """
    target = str(target_of(document))
    if prediction.target != target:
        raise RunError(
            f"{prediction.location}: its target is {brief(prediction.target)}, but that of row"
            f" {prediction.row_number} of {task_file.name} is {brief(target)}: it was saved for"
            " another row. Give the command the data of that run (FIGLANG_DATA_DIR), or a table"
            " with ids"
        )
