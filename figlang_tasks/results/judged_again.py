"""Judges the answers of a saved run again, by the readers of today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from figlang_tasks.core import task_files
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.record import Record
from figlang_tasks.results.task_run import TaskRun, outputs
from figlang_tasks.scoring.explained import text_pair
from figlang_tasks.scoring.given_labels import LABEL_AS_GIVEN
from figlang_tasks.scoring.judging import SAMPLE
from figlang_tasks.scoring.readings import READ_BY, has_unread_words
from figlang_tasks.scoring.records import REPEAT
from figlang_tasks.scoring.task_file import TaskFile

_ADDED_LATER = (READ_BY, "explanation_scores", "asks_for_explanation")
"""Fields of records that something else than the judgement of an answer has written."""


@dataclass(frozen=True)
class JudgedAgain:
    """A task whose answers were judged again.

    Attributes:
        task: with its new samples.
        changed_readings: how many answers have another reading than the saved one.
        not_judged: why the answers could not be judged again; "" if they were.
    """

    task: TaskRun
    changed_readings: int
    not_judged: str = ""


def judge_again(task: TaskRun) -> JudgedAgain:
    """Judge the answers of a saved task by the readers of today; the task itself stays as it is.

    Where the task file or the data of the task is not here, its saved records are kept.

    Raises:
        RunError: the samples are damaged.
    """
    task_file = _task_file_of(task)
    if task_file is None:
        return JudgedAgain(task, 0, "its saved readings are kept: its task file is not here")
    try:
        documents = {document["id"]: document for document in task_file.documents}
    except DataError as error:
        return JudgedAgain(task, 0, f"its saved readings are kept: {error}")
    unknown_ids = [row_id for row_id in task.ids if row_id not in documents]
    if unknown_ids or str(task_file.data_id) != str(task.data):
        return JudgedAgain(
            task,
            0,
            f"its saved readings are kept: it is of {task.data}, and here is {task_file.data_id}",
        )

    prompts: dict[str, str] = {}
    for sample in task.samples:
        if isinstance(sample.get("input"), str):  # lm-eval saves the prompt with its chat template
            prompts[sample[SAMPLE]["id"]] = sample["input"]
    judge = task_file.judge(prompts)
    samples: list[dict[str, Any]] = []
    changed_readings = 0
    for sample in task.samples:
        saved_record: Record = sample[SAMPLE]
        if saved_record.get("rule") == LABEL_AS_GIVEN:  # not read from words
            samples.append(dict(sample))
            continue
        answers = outputs(sample)
        with task.reporting_damage():
            values = judge.judge(documents[saved_record["id"]], answers[:1] or [None])
        record = _with_later_fields(values[SAMPLE].record, saved_record)
        changed_readings += _without_later_fields(record) != _without_later_fields(saved_record)
        samples.append({**sample, **values, SAMPLE: record})
    if _lost_a_score(task.records, [sample[SAMPLE] for sample in samples]):
        # Metrics need the scores of all explanations or of none.
        for sample in samples:
            sample[SAMPLE].pop("explanation_scores", None)
        task = replace(task, scorer=None, signature=None)
    return JudgedAgain(replace(task, samples=tuple(samples)), changed_readings)


def _task_file_of(task: TaskRun) -> TaskFile | None:
    """Our task file of a saved task; None for a user's own task, whose file is not known."""
    if task.task not in task_files.files("lmms_eval"):
        return None
    task_file = TaskFile.read(task.task)
    return task_file if task_file.request == task.request else None


def _with_later_fields(record: dict[str, Any], saved_record: Record) -> dict[str, Any]:
    """A new record with what was added to the saved one, as far as it still holds.

    The reading of a language model holds for an answer that our readers still leave; explanation
    scores hold for the same texts.
    """
    with_fields = dict(record)
    if REPEAT in saved_record:
        with_fields[REPEAT] = saved_record[REPEAT]
    if READ_BY in saved_record and has_unread_words(record):
        with_fields[READ_BY] = saved_record[READ_BY]
    if "asks_for_explanation" in saved_record:
        with_fields["asks_for_explanation"] = saved_record["asks_for_explanation"]
    if "explanation_scores" in saved_record and text_pair(record) == text_pair(saved_record):
        with_fields["explanation_scores"] = saved_record["explanation_scores"]
    return with_fields


def _lost_a_score(saved_records: Sequence[Record], records: Sequence[Record]) -> bool:
    """Whether an explanation had a score, and has another text now."""
    for saved_record, record in zip(saved_records, records, strict=True):
        if "explanation_scores" in saved_record and "explanation_scores" not in record:
            return True
    return False


def _without_later_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a record that the judgement of its answer has written."""
    return {field: content for field, content in record.items() if field not in _ADDED_LATER}
