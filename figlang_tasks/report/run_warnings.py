"""Warnings that stand above the numbers of a run, in reports and in ``figlang compare``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from figlang_tasks.core.text import listing
from figlang_tasks.results.task_run import Run, TaskRun


def run_warnings(run: Run, tasks: Collection[str] = (), run_path: str | None = None) -> list[str]:
    """Warnings about a run for readers of its numbers: sentences without a full stop at the end.

    Args:
        tasks: the tasks to warn about; all tasks if the run has none of them, or none is given.
        run_path: what stands for the run in the commands that a warning recommends; None: its path.
    """
    warnings = [f"{run.name}: {sentence}" for sentence in run.missing]
    if run.partial:
        warnings.append(f"{run.name} was cut short: {run.partial}")
    chosen_tasks = [run.tasks[task] for task in tasks if task in run.tasks]
    for task in chosen_tasks or run.tasks.values():
        for warning in _task_warnings(task, run_path or str(run.path)):
            warnings.append(f"{run.name}, {task.task}: {warning}")
    return warnings


def _task_warnings(task: TaskRun, run_path: str) -> list[str]:
    """Warnings about the outputs of a task, without the names of run and task.

    Args:
        run_path: what stands for the run in the commands that a warning recommends.
    """
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
    """The warning that a task's results file and samples have different numbers.

    Args:
        contradictions: what differs: ``acc 0.9 (its samples: 0.5)``; at least one.
    """
    question = "are these files of two runs, or was one changed? The samples are used"
    return f"{run.name}, results of {task.task}: {listing(contradictions)}: {question}"
