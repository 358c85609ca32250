"""Whether a run was evaluated as a leaderboard asks: by the task of today and the right scorer."""

from __future__ import annotations

from collections.abc import Mapping

from figlang_tasks.core import task_files
from figlang_tasks.results.comparability import ComparisonError
from figlang_tasks.results.paired_statistics import answers_per_row
from figlang_tasks.results.task_run import TaskRun

UNEVEN_ANSWERS = "some rows have fewer answers than others"
"""Why a run cannot be compared for which `has_even_answers` is False."""


def has_current_version(task_run: TaskRun) -> bool:
    """Whether the scores of a run are comparable with those of its task today.

    The main number of the versions must be equal: 2 of ``2-1``.
    """
    if task_run.version is None:
        return False
    main_number = task_run.version.partition("-")[0]
    return main_number == task_run.benchmark.version.partition("-")[0]


def has_released_rows(task_run: TaskRun) -> bool:
    """Whether a run has as many rows as a release of the data; True if their number is unknown."""
    rows_of_release = task_run.benchmark.rows(task_run.request)
    if rows_of_release is None or task_run.rows in task_run.benchmark.releases:
        return True
    return task_run.rows == rows_of_release


def expected_scorer(task_run: TaskRun) -> str | None:
    """The scorer that the task's own file names, else the paper's; None without explanations."""
    if not task_run.has_explanations:
        return None
    file = task_files.files("lmms_eval").get(task_run.task)
    options_by_model: Mapping[str, Mapping[str, object]] = {}
    if file is not None:
        options_by_model = task_files.read(file).get("lmms_eval_specific_kwargs") or {}
    scorer_of_file = (options_by_model.get("default") or {}).get("scorer")
    # The request of a task may name one too, and the records then have it.
    scorer = scorer_of_file or task_run.records[0].get("scorer") or task_run.benchmark.scorer
    return None if scorer is None else str(scorer)


def has_expected_scorer(task_run: TaskRun) -> bool:
    """Whether the explanations of a run, if there are any, were scored by `expected_scorer`."""
    return not task_run.has_explanations or task_run.scorer == expected_scorer(task_run)


def has_even_answers(task_run: TaskRun) -> bool:
    """Whether a run has equally many answers to each row, as tests need it (``--repeats``)."""
    try:
        answers_per_row(task_run.task, "run", task_run)
    except ComparisonError:
        return False
    return True
