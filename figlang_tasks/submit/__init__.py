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
        expected_rows: how many rows must have been answered; None if unknown, in which case their
            number is not checked.

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
    answered_rows = len(set(task.ids))
    if answers != answered_rows:
        raise SubmissionError(
            f"{task.path}: {answers} answers to {answered_rows} rows: evaluate without --repeats"
        )
    if task.partial:
        raise SubmissionError(
            f"{task.path}: the run was cut short ({task.partial}): evaluate again without it"
        )
    # The results file says whether a run is partial; without it, only the number of rows does.
    if expected_rows is not None and task.rows != expected_rows:
        raise SubmissionError(
            f"{task.path}: {task.rows} of the {expected_rows} rows of {task.data.part}: evaluate"
            " all rows"
        )
    task.check_consistent()


def check_whole(run: Run) -> None:
    """Raise a `SubmissionError` unless all tasks of a run have all rows and a results file."""
    for task in run.tasks.values():
        # Nobody knows how many rows of the user's own there should be.
        expected_rows = None
        if not task.has_user_rows:
            expected_rows = source_of(task.data.dataset).splits.get(task.data.part)
        check_answers(task, expected_rows)
        has_results_file = bool(task.config)  # the entry of the task in that file
        if not has_results_file:
            raise SubmissionError(
                f"{task.path}: no metrics: the results file of the run is not next to it"
            )


def single_task(run: Run, description: str, can_be_submitted: Callable[[TaskRun], bool]) -> TaskRun:
    """The one task of a run that can be submitted; an error if there is none, or several.

    Args:
        description: what the task is, for messages: ``flute_codalab``.
        can_be_submitted: whether a task is one that the submission takes.

    Raises:
        SubmissionError: no task of the run, or more than one, can be submitted.
    """
    submittable = {name: task for name, task in run.tasks.items() if can_be_submitted(task)}
    if len(submittable) == 1:
        return next(iter(submittable.values()))
    if submittable:
        raise SubmissionError(
            f"{run.path} holds {len(submittable)} runs of {description}: give the samples file of"
            f" one of {listing(submittable)}"
        )
    present = listing(sorted({task.data.name for task in run.tasks.values()}))
    raise SubmissionError(
        f"{run.path} has samples of {present}, not of {description}: give a run of that task"
    )


def tasks_by_name(runs: Sequence[Run]) -> dict[str, TaskRun]:
    """The tasks of all runs of a model by name; a `SubmissionError` if two runs have one task."""
    named_tasks: list[tuple[str, TaskRun]] = []
    for run in runs:
        named_tasks += run.tasks.items()
    return unique_tasks(named_tasks)


def unique_tasks(named_tasks: Iterable[tuple[str, TaskRun]]) -> dict[str, TaskRun]:
    """The tasks as a dictionary by name; a `SubmissionError` if two have the same name.

    Args:
        named_tasks: each task with a name, which need not be its own (the part of the data, say).
    """
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
    """A value of a task.

    Attributes:
        name: the full name of the metric, with the scope: ``f1@0_muse``.
        measure: the metric.
        estimate: the value with its interval.
        scope: ``muse``; ``all`` for all rows.
    """

    name: str
    measure: Measure
    estimate: Estimate
    scope: str


def reported_values(task: TaskRun, all_scopes: bool = False) -> Iterator[ReportedValue]:
    """Yield the finite values of a task in its main scopes, or in all, in the order of tables.

    A metric that failed has no finite value. The main scopes are all rows, and the scopes of the
    paper's main table.

    Args:
        all_scopes: whether to yield the values in every scope.

    Raises:
        SubmissionError: a value is out of its bounds or its interval.
    """
    main_scopes = (OVERALL, *task.benchmark.parts.in_short)
    for measure in task.measures.all:
        for scope, estimate in task.estimates.get(measure.name, {}).items():
            is_shown = all_scopes or scope in main_scopes
            if is_shown and math.isfinite(estimate.value):
                name = full_name(measure.name, scope)
                _check_possible(task, name, measure, estimate)
                yield ReportedValue(name, measure, estimate, scope)


def _check_possible(task: TaskRun, name: str, measure: Measure, estimate: Estimate) -> None:
    """Raise a `SubmissionError` if a value is out of its bounds or its interval.

    Args:
        name: the full name of the metric, for the message.
    """
    if not is_possible(measure, estimate):
        low, high = measure.bounds
        raise SubmissionError(
            f"{task.path}: {name} is {estimate.value:g} ({estimate.low} to {estimate.high}), must"
            f" be {low:g} to {high:g} and in its interval: restore what the harness wrote, or"
            " evaluate again"
        )


def hub_source(task: TaskRun) -> tuple[str | None, str | None]:
    """The dataset repository on the hub that a task's rows are from, and its commit; each or None.

    The repository is None if the rows are from elsewhere or the user's own; the commit is None if
    it is not known.
    """
    source = source_of(task.data.dataset)
    revision = (
        task.data.revision
        or task.records[0].get("revision")  # the same in all rows
        or source.revision  # a dataset that is read at one commit alone: rows do not name it
        or ""  # no commit is known
    )
    # Rows that are not from the hub have a word as their revision, such as "local".
    is_commit = re.fullmatch("[0-9a-f]{40}", revision) is not None
    commit = revision if is_commit else None
    repository = None if task.has_user_rows else source.repository
    return repository, commit


# --- texts and files ---


def brief(text: object) -> str:
    """Text from outside for a message: one line of at most 80 characters, none of control."""
    return printable(text, limit=80)


def utf8_text(text: str) -> str:
    """A text that every reader of UTF-8 accepts: half surrogate pairs and NUL become U+FFFD."""
    return whole_characters(text.replace("\0", "\N{REPLACEMENT CHARACTER}"))


def zip_files(contents: Mapping[str, bytes]) -> bytes:
    """The bytes of a zip of files, given by name; the same files always give the same bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in contents.items():
            # ZipInfo has a fixed date; for a mere name, writestr would add the present time.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return file.getvalue()
