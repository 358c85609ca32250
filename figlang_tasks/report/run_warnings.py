"""Warnings that stand above the numbers of a run, in reports and in ``figlang compare``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from figlang_tasks.core.text import listing
from figlang_tasks.results.task_run import Run, TaskRun


def run_warnings(run: Run, tasks: Collection[str] = (), run_path: str | None = None) -> list[str]:
    """Collect the warnings for readers of a run's numbers, without a full stop at the end.

    Args:
        tasks: the tasks that matter; all tasks if the run has none of them.
        run_path: the run in the commands that a warning recommends; by default its own path.
    """
    warnings = [f"{run.name}: {sentence}" for sentence in run.missing]
    if run.partial:
        warnings.append(f"{run.name} was cut short: {run.partial}")
    relevant = [run.tasks[task] for task in tasks if task in run.tasks]
    for task in relevant or run.tasks.values():
        for warning in _task_warnings(task, run_path or str(run.path)):
            warnings.append(f"{run.name}, {task.task}: {warning}")
    return warnings


def _task_warnings(task: TaskRun, run_path: str) -> list[str]:
    """Collect the warnings about a task: missing answers, unread outputs, sampled answers."""
    warnings = []
    if task.unanswered:
        warnings.append(
            f"{task.unanswered} of {len(task.samples)} rows have no answer and count as wrong"
        )
    warnings += task.warnings(run_path)
    if task.sampling:
        warnings.append(f"answers were sampled ({task.sampling}); another run gives other answers")
    return warnings


def contradiction_warnings(task_runs: Iterable[tuple[Run, TaskRun]]) -> list[str]:
    """A warning for each task whose results file and samples have different numbers."""
    warnings = []
    for run, task in task_runs:
        if task.contradictions:
            warnings.append(contradiction_warning(run, task, task.contradictions))
    return warnings


def contradiction_warning(run: Run, task: TaskRun, contradictions: Sequence[str]) -> str:
    """Warn that the results file of a task says what its samples do not: `contradictions`."""
    question = "are these files of two runs, or was one changed? The samples are used"
    return f"{run.name}, results of {task.task}: {listing(contradictions)}: {question}"
