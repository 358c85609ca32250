"""Judges the predictions of a file as a run would: a record for each answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from figlang_tasks.core import score_requests
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.record import Row
from figlang_tasks.results.predictions.matching import Matching
from figlang_tasks.results.predictions.prediction import Prediction, PredictionFile
from figlang_tasks.scoring.judging import SAMPLE, AnswerJudge
from figlang_tasks.scoring.records import REPEAT
from figlang_tasks.scoring.task import MetricValues
from figlang_tasks.scoring.task_file import TaskFile

Sample: TypeAlias = dict[str, Any]
"""A line of a samples file, as the harness writes it."""

_NO_PREDICTION = Prediction(location="no line")
"""Stands for the answer to a row that has none."""


def judge_predictions(
    file: PredictionFile, matching: Matching, task_file: TaskFile
) -> list[Sample]:
    """The samples of a run with these predictions, in the order of the task's rows.

    Args:
        file: the predictions.
        matching: which rows they answer.
        task_file: the task.

    Raises:
        RunError: the task cannot be answered by what the file has, or a label or a score is not one
            of the task.
    """
    _check_content(file, task_file)
    prompts: dict[str, str] = {}
    for answers in matching.answers:
        for prediction in answers.predictions:
            if prediction.prompt is not None:
                prompts[task_file.documents[answers.row_index]["id"]] = prediction.prompt
    judge = task_file.judge(prompts)
    target_of = task_file.function("doc_to_target")

    samples: list[Sample] = []
    for answers in matching.answers:
        document = task_file.documents[answers.row_index]
        predictions = answers.predictions or [_NO_PREDICTION] * matching.answers_per_row
        for number, prediction in enumerate(predictions, start=1):
            values = _judge(prediction, file, document, task_file, judge)
            record = values[SAMPLE].record
            if matching.answers_per_row > 1:
                record[REPEAT] = number
            samples.append(
                {
                    "doc_id": answers.row_index,
                    "target": str(target_of(document)),
                    "filtered_resps": [values[SAMPLE].output],
                    **values,
                    SAMPLE: record,
                }
            )
            if prediction.prompt is not None:
                samples[-1]["input"] = prediction.prompt
    return samples


def _check_content(file: PredictionFile, task_file: TaskFile) -> None:
    """Raise a `RunError` if a task cannot be answered by what the predictions are."""
    kind = task_file.kind
    if file.content == "scores" and kind.record_of_scores is None:
        raise RunError(
            f"{file.path} has scores of candidates, but {task_file.name} is answered in words: name"
            " the column of the outputs with --output"
        )
    if file.content == "labels" and kind.record_of_label is None:
        raise RunError(
            f"{file.path} has labels, but {task_file.name} is answered in words: if the column"
            f" {file.columns.get('label')} holds what the model said, name it with --output"
        )


def _judge(
    prediction: Prediction,
    file: PredictionFile,
    document: Row,
    task_file: TaskFile,
    judge: AnswerJudge,
) -> MetricValues:
    """The numbers of the metrics for a prediction, and its `JudgedAnswer`."""
    if file.content == "labels":
        try:
            return judge.take_label(document, prediction.label, prediction.explanation)
        except ValueError as error:
            raise RunError(f"{prediction.location}: {error}") from error
    if file.content == "scores" and prediction.scores is not None:
        output: str | None = _output_of_scores(prediction, document, task_file)
    else:
        output = prediction.output
    if output is not None and task_file.kind.picture_location is not None:
        output = _picture_path(prediction, output, task_file, file.path.parent)
    if output is not None and task_file.has_two_rounds:
        _check_rounds(prediction, output, task_file)
    return judge.judge(document, [output])


def _output_of_scores(prediction: Prediction, document: Row, task_file: TaskFile) -> str:
    """The scores of a prediction as a scoring model writes them.

    Raises:
        RunError: there are more or fewer than candidates.
    """
    scores = prediction.scores or []
    candidates = len(document[task_file.kind.candidates])
    if len(scores) != candidates:
        raise RunError(
            f"{prediction.location}: {len(scores)} scores, but row {document['id']} of"
            f" {task_file.name} has {candidates} candidates: `figlang score --task"
            f" {task_file.name} --columns` says in which order"
        )
    return score_requests.answer(scores)


def _picture_path(prediction: Prediction, output: str, task_file: TaskFile, folder: Path) -> str:
    """The path of the picture that an output names; it must lie below the folder of the file.

    A file of predictions must not make us open other files of this machine. An output that names
    no picture counts as none: "".

    Raises:
        RunError: the picture lies elsewhere.
    """
    assert task_file.kind.picture_location is not None, "its outputs are words"
    location = task_file.kind.picture_location(output)
    if not location:
        return ""
    try:
        path = (folder / location).resolve()
    except (OSError, ValueError):  # These are words, and no path of any file system.
        return ""
    if not path.is_relative_to(folder.resolve()):
        raise RunError(
            f"{prediction.location}: the picture {location} does not lie below {folder}: put the"
            " pictures there, and write their paths from there"
        )
    return str(path)


def _check_rounds(prediction: Prediction, output: str, task_file: TaskFile) -> None:
    """Raise a `RunError` unless an output has the answers of both rounds, as runs save them."""
    if output.lstrip().startswith("{"):
        return
    raise RunError(
        f"{prediction.location}: {task_file.name} asks twice, and an output must be a JSON object"
        ' of both answers, {"scene_graph": "...", "answer": "..."}'
    )
