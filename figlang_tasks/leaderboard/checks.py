"""The check of a run that somebody wants to add to a leaderboard."""

from __future__ import annotations

from figlang_tasks.core.redaction import redacted, without_secrets
from figlang_tasks.core.text import listing
from figlang_tasks.leaderboard.conditions import (
    UNEVEN_ANSWERS,
    expected_scorer,
    has_current_version,
    has_even_answers,
    has_expected_scorer,
    has_released_rows,
)
from figlang_tasks.results.results_file import model_name
from figlang_tasks.results.task_run import Run, TaskRun


def faults_of_run(run: Run) -> list[str]:
    """What keeps a run from a leaderboard, in sentences without a full stop; [] for a good run.

    Raises:
        RunError: the run has a damaged record.
    """
    faults = list(run.missing)
    if not run.results:
        faults.append("there is no results file: add the one that the harness wrote")
    elif not model_name(run.results):
        faults.append(
            "the results file names no model: evaluate with --model_args pretrained=MODEL"
        )
    if redacted(run.results) != run.results:
        faults.append(
            "the results file has what looks like a key, a token or a password: put [REDACTED] in"
            " its place, and revoke it"
        )
    for task_run in run.tasks.values():
        for fault in _faults_of_task(task_run, has_results_file=bool(run.results)):
            faults.append(f"{task_run.task}: {fault}")
    return faults


def _faults_of_task(task_run: TaskRun, has_results_file: bool) -> list[str]:
    """What keeps one task of a run from a leaderboard.

    Args:
        has_results_file: without one, what only it can say is not checked.
    """
    faults = []
    if task_run.contradictions:
        faults.append(
            f"the results file contradicts the samples: {listing(task_run.contradictions)}. Restore"
            " what the harness wrote"
        )
    faults += _faults_of_rows(task_run)
    if has_results_file and not has_current_version(task_run):
        faults.append(
            f"task version {task_run.version or 'unknown'}, and today it is"
            f" {task_run.benchmark.version}: read the outputs again with figlang score"
        )
    if not has_expected_scorer(task_run):
        scorer = expected_scorer(task_run)
        faults.append(
            f"explanations are scored by {task_run.scorer or 'no scorer'}, the task asks for"
            f" {scorer}: figlang score RUN --scorer {scorer}"
        )
    lines_with_secrets = _lines_with_secrets(task_run)
    if lines_with_secrets:
        faults.append(
            f"{task_run.path.name} has what looks like a key or a token in line"
            f" {listing(lines_with_secrets)}: put [REDACTED] in its place, and revoke it"
        )
    return faults


def _lines_with_secrets(task_run: TaskRun) -> list[int]:
    """The numbers of the lines of a samples file with what looks like a key or a token."""
    return [
        number
        for number, sample in enumerate(task_run.samples, start=1)
        if without_secrets(sample) != sample
    ]


def _faults_of_rows(task_run: TaskRun) -> list[str]:
    """Which rows are missing, without an answer, or not those of the release."""
    faults = []
    if task_run.partial:
        faults.append(f"only a part of the rows ({task_run.partial}): evaluate all")
    if task_run.has_user_rows:
        faults.append("the rows are your own: evaluate those of the release")
    if task_run.partial is None and not has_released_rows(task_run):
        released_rows = task_run.benchmark.rows(task_run.request)
        faults.append(f"{task_run.rows} rows, and the release has {released_rows}: evaluate all")
    if not has_even_answers(task_run):
        faults.append(f"{UNEVEN_ANSWERS}: restore the file that the harness wrote")
    if task_run.unanswered:
        faults.append(
            f"{task_run.unanswered} of {len(task_run.samples)} rows have no answer, because the"
            " model failed: evaluate again"
        )
    return faults
