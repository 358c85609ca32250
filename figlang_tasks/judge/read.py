"""``figlang judge read``: a language model reads the answers that a run left unread.

`figlang_tasks.judge.asking` asks it, and `write` writes a new run with its readings beside ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

from figlang_tasks.core.prompting import template_hash
from figlang_tasks.judge.kept_answers import KeptAnswer, KeptAnswers
from figlang_tasks.judge.unread import (
    PROMPT,
    ReadableTask,
    UnreadAnswer,
    UnreadAnswers,
    read_option,
)
from figlang_tasks.results.task_run import TaskRun
from figlang_tasks.results.writing import ChangedTask, write_run
from figlang_tasks.scoring import OVERALL, Estimate, Estimates, Measures, evaluate
from figlang_tasks.scoring.read_by_model import (
    SUFFIX,
    Reading,
    ReadingStatus,
    headline_measure,
    read_by_model,
)
from figlang_tasks.scoring.readings import READ_BY


@dataclass(frozen=True)
class TaskReading:
    """What a model has read in the answers of a task.

    Attributes:
        unread: how many answers were left unread.
        counts: how many of them have each status of the model's reading, by status.
        truncated: how many of these readings ended at the limit of tokens without an option.
        metric: the headline metric.
        estimate: its value by our own readings.
        estimate_by_model: its value with the model's readings.
    """

    unread: int
    counts: Mapping[str, int]
    truncated: int
    metric: str
    estimate: Estimate
    estimate_by_model: Estimate


def write(unread: UnreadAnswers, kept_answers: KeptAnswers, folder: Path) -> dict[str, TaskReading]:
    """Write the run with the model's readings beside ours; return what was read, by task.

    Args:
        unread: the run and its unread answers.
        kept_answers: the model's answers, also to questions of earlier calls. A question without
            one has the status ``failed``.
        folder: where the run is written.
    """
    changed: dict[str, ChangedTask] = {}
    readings: dict[str, TaskReading] = {}
    for name, readable in unread.tasks.items():
        changed[name], readings[name] = _with_readings(readable, unread.model, kept_answers)
    write_run(unread.run, changed, folder)
    return readings


def _with_readings(
    readable: ReadableTask, model: str, kept_answers: KeptAnswers
) -> tuple[ChangedTask, TaskReading]:
    """Add to a task how a language model reads the answers that the rules could not read.

    Its replies are kept already. The run's own values stay; new ones have names that end in
    `SUFFIX`.

    Returns:
        The changed task, and a summary of the readings.
    """
    task = readable.task
    readings: dict[int, Reading] = {}  # by the position of the sample
    served_by: set[str] = set()  # the names that the server gives the model
    truncated = 0
    for unread in readable.unread:
        answer = kept_answers.get_latest(unread.key)
        reading = _reading_of(readable, unread, model, answer)
        readings[unread.index] = reading
        if answer is None:  # its request failed
            continue
        served_by.add(answer.served_by)
        if answer.is_truncated and reading["status"] == "unreadable":
            truncated += 1

    task_with_readings = _add_readings(task, readings)
    estimates = _estimates(task, task_with_readings)
    metric = estimates.headline
    summary = TaskReading(
        unread=len(readings),
        counts=_count_statuses(readings.values()),
        truncated=truncated,
        metric=metric,
        estimate=estimates.all[metric][OVERALL],
        estimate_by_model=estimates.all[f"{metric}{SUFFIX}"][OVERALL],
    )
    metadata = {
        "model": model,
        "served_by": sorted(served_by),
        "prompt": template_hash(PROMPT),
        "metric": metric,
        "unread": summary.unread,
        **summary.counts,
    }
    changed_task = ChangedTask(
        task=replace(task_with_readings, reported=estimates.all),  # the run's and the new ones
        new_values=estimates.new,  # only these are added to the harness's own table
        metadata={"read_by_model": metadata},
    )
    return changed_task, summary


def _count_statuses(readings: Iterable[Reading]) -> dict[str, int]:
    """How many readings have each status, by status; 0 for those that none has."""
    counts = Counter(reading["status"] for reading in readings)
    return {status: counts[status] for status in get_args(ReadingStatus)}


def _add_readings(task: TaskRun, readings: Mapping[int, Reading]) -> TaskRun:
    """A copy of a task whose records hold the model's readings under `READ_BY`.

    Every record has this field; it is None where the model has read nothing.

    Args:
        task: the task.
        readings: by the position of the sample in the samples file, from 0.
    """
    samples: list[dict[str, Any]] = []
    for index, sample in enumerate(task.samples):
        record = {**sample["sample"], READ_BY: readings.get(index)}
        samples.append({**sample, "sample": record})
    return replace(task, samples=tuple(samples))


def _reading_of(
    readable: ReadableTask, unread: UnreadAnswer, model: str, answer: KeptAnswer | None
) -> Reading:
    """What the model read in an unread answer, as a record keeps it (`Reading`).

    Its `fields` are those that the record would have if our readers had read the same label. They
    are empty, and the value is None, unless the model named an option.

    Args:
        readable: the task.
        unread: the answer that was left unread.
        model: the name of the model.
        answer: what the model said about it; None if the request failed.
    """
    if answer is None:
        return Reading(model=model, status="failed", value=None, fields={})
    status, label = read_option(answer.text, unread.labels)
    if label is None:
        return Reading(model=model, status=status, value=None, fields={})
    record = readable.task.records[unread.index]
    fields = {**readable.choice.fields(record, label), "status": "read", "rule": READ_BY}
    return Reading(model=model, status=status, value=label, fields=fields)


class _TaskEstimates(NamedTuple):
    """The estimates of a task that a model has read.

    Attributes:
        headline: the name of the headline metric.
        all: every estimate of the task by metric. Right behind the headline metric stands the same
            metric with the model's readings, whose name ends in `SUFFIX`.
        new: those of `all` that the run does not report.
    """

    headline: str
    all: Estimates
    new: Estimates


def _estimates(task: TaskRun, task_with_readings: TaskRun) -> _TaskEstimates:
    """All estimates of a task that a model has read, and which of them are new.

    Estimates that the run reports stay as they are. A run that reports none gets all that its
    records give.

    Args:
        task: the task of the run.
        task_with_readings: the same task with the model's readings.
    """
    with task.reporting_damage():
        headline = headline_measure(task.measures, task.records)
    assert headline is not None  # else the task is left out
    measures_by_model = Measures.of(read_by_model(headline), row_of=task.measures.row_of)
    new_estimates: Estimates
    with task_with_readings.reporting_damage():
        new_estimates = evaluate(task_with_readings.records, measures_by_model)
    our_estimates = task.reported
    if headline.name not in our_estimates:  # the run reports no scores
        with task.reporting_damage():
            our_estimates = evaluate(task.records, task.measures.recomputable)
        new_estimates = {**our_estimates, **new_estimates}  # so ours are new to the run as well

    name_by_model = f"{headline.name}{SUFFIX}"
    estimates: dict[str, Mapping[str, Estimate]] = {}
    for metric, estimates_by_scope in our_estimates.items():
        estimates[metric] = estimates_by_scope
        if metric == headline.name:
            estimates[name_by_model] = new_estimates[name_by_model]
    return _TaskEstimates(headline.name, all=estimates, new=new_estimates)
