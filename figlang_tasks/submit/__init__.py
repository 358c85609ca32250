"""Files for leaderboards, registries and model cards, made of finished runs."""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import listing, printable, whole_characters
from figlang_tasks.results.contradictions import is_possible
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL, Estimate, Measure, full_name


class SubmissionError(FigLangError):
    """No valid submission can be made; the message names file and rows, and what to do."""


# --- which runs can be submitted ---


def check_answers(task: TaskRun, expected_rows: int | None = None) -> None:
    """Raise an error unless the answers of a task can be submitted.

    Args:
        expected_rows: how many rows were to be answered; None if unknown.

    Raises:
        SubmissionError: answers are missing, repeated or drawn at random.
        RunError: the samples contradict the results file.
    """
    if task.sampling:
        raise SubmissionError(
            f"{task.path}: answers were sampled ({task.sampling}), so another run gives other"
            " answers. Evaluate again with the task's own settings, or --gen_kwargs"
            " do_sample=False,temperature=0"
        )
    answers = len(task.samples)
    if task.unanswered:
        raise SubmissionError(
            f"{task.path}: {task.unanswered} of {answers} rows got no answer (requests failed, or"
            " --max_tokens was spent): evaluate again; with --use_cache FOLDER only these are"
            " asked again"
        )
    documents = len(set(task.ids))
    if answers != documents:
        raise SubmissionError(
            f"{task.path}: {answers} answers to {documents} rows: evaluate without --repeats"
        )
    if task.partial:
        raise SubmissionError(
            f"{task.path}: the run was cut short ({task.partial}): evaluate again without it"
        )
    # Without a results file nothing else says that rows are missing.
    if expected_rows is not None and task.rows != expected_rows:
        raise SubmissionError(
            f"{task.path}: {task.rows} of the {expected_rows} rows of {task.data.part}: evaluate"
            " all rows"
        )
    task.check_consistent()


def check_whole(run: Run) -> None:
    """Raise an error unless all tasks of a run have all rows and reported metrics."""
    for task in run.tasks.values():
        expected_rows = None
        if not task.has_user_rows:
            expected_rows = source_of(task.data.dataset).splits.get(task.data.part)
        check_answers(task, expected_rows)
        if not task.config:
            raise SubmissionError(
                f"{task.path}: no metrics: the results file of the run is not next to it"
            )


def single_task(run: Run, description: str, is_wanted: Callable[[TaskRun], bool]) -> TaskRun:
    """Find the one task of a run that can be submitted; an error if there are none or several.

    Args:
        description: what the task is, for messages.
        is_wanted: whether a task is one that can be submitted.
    """
    tasks = {name: task for name, task in run.tasks.items() if is_wanted(task)}
    if len(tasks) == 1:
        return next(iter(tasks.values()))
    if tasks:
        raise SubmissionError(
            f"{run.path} holds {len(tasks)} runs of {description}: give the samples file of one of"
            f" {listing(tasks)}"
        )
    present = listing(sorted({task.data.name for task in run.tasks.values()}))
    raise SubmissionError(
        f"{run.path} has samples of {present}, not of {description}: give a run of that task"
    )


def tasks_by_name(runs: Sequence[Run]) -> dict[str, TaskRun]:
    """The tasks of all runs of one model by name; an error if two runs have the same."""
    named_tasks: list[tuple[str, TaskRun]] = []
    for run in runs:
        named_tasks += run.tasks.items()
    return unique_tasks(named_tasks)


def unique_tasks(named_tasks: Iterable[tuple[str, TaskRun]]) -> dict[str, TaskRun]:
    """Make a dictionary of tasks by name; an error if two tasks share a name."""
    tasks: dict[str, TaskRun] = {}
    for name, task in named_tasks:
        earlier = tasks.setdefault(name, task)
        if earlier is not task:
            raise SubmissionError(
                f"{name} is in {earlier.path} and in {task.path}: give one of the two"
            )
    return tasks


# --- what is submitted ---


class ReportedValue(NamedTuple):
    """A value of a task, with the full name of its metric (``f1@0_muse``)."""

    name: str
    measure: Measure
    estimate: Estimate


def reported_values(task: TaskRun, all_scopes: bool = False) -> Iterator[ReportedValue]:
    """Yield the values of a task in the order of tables; metrics that failed have none.

    Args:
        all_scopes: whether scopes are included that the paper's main table does not show.
    """
    main_scopes = (OVERALL, *task.benchmark.parts.in_short)
    for measure in task.measures.all:
        for scope, estimate in task.estimates.get(measure.name, {}).items():
            is_shown = all_scopes or scope in main_scopes
            if is_shown and math.isfinite(estimate.value):
                name = full_name(measure.name, scope)
                _check_possible(task, name, measure, estimate)
                yield ReportedValue(name, measure, estimate)


def _check_possible(task: TaskRun, name: str, measure: Measure, estimate: Estimate) -> None:
    """Raise an error if a value is out of its bounds or its interval."""
    if not is_possible(measure, estimate):
        low, high = measure.bounds
        raise SubmissionError(
            f"{task.path}: {name} is {estimate.value:g} ({estimate.low} to {estimate.high}), must"
            f" be {low:g} to {high:g} and in its interval: restore what the harness wrote, or"
            " evaluate again"
        )


def hub_source(task: TaskRun) -> tuple[str | None, str | None]:
    """The dataset repository on the hub that a task's rows are from, and its commit.

    Either is None where there is none, or where the samples do not say.
    """
    source = source_of(task.data.dataset)
    # Rows of a dataset that is read at one commit alone do not say where they came from.
    revision = task.data.revision or task.records[0].get("revision") or source.revision or ""
    is_commit = re.fullmatch("[0-9a-f]{40}", revision) is not None
    repository = None if task.has_user_rows else source.repository
    return repository, revision if is_commit else None


# --- texts and files ---


def brief(text: object) -> str:
    """Foreign text for a message: one line without control characters, at most 80 characters."""
    return printable(text, limit=80)


def utf8_text(text: str) -> str:
    """A text that every reader of UTF-8 takes: half surrogate pairs and NUL become U+FFFD."""
    return whole_characters(text.replace("\0", "\N{REPLACEMENT CHARACTER}"))


def zip_files(contents: Mapping[str, bytes]) -> bytes:
    """Zip files, given by name; the same files give the same bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in contents.items():
            # Without the date that writestr would add to a name
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return file.getvalue()
