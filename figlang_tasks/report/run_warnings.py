"""Warnings that stand above the numbers of a run, in reports and in ``figlang compare``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from figlang_tasks.core.text import listing
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring.output_warnings import OutputWarning

_MOST_PLACES = 3
"""How many runs and tasks a warning names that is about several."""


class _RunWarning(NamedTuple):
    """A warning about a run or one of its tasks.

    Attributes:
        kind: what is the matter, without names and numbers.
        place: the run, and the task if it is about one: ``base, vflute``.
        extent: how much of it is concerned: ``3 of 723``, or a reason: ``limit 8``.
        text: the whole warning, with the place.
        remedy: what may help, in words for any run; "" for nothing.
    """

    kind: str
    place: str
    extent: str
    text: str
    remedy: str = ""


def run_warnings(
    runs: Sequence[Run], tasks: Collection[str] = (), hides_paths: bool = False
) -> list[str]:
    """Warnings about runs for readers of their numbers, a line for each kind.

    A warning about one task of one run stands there whole. Where several are of a kind, a line
    says what is the matter, and names how many and the first of them. Sentences have no full stop
    at the end.

    Args:
        tasks: the tasks to warn about; all tasks of a run that has none of them.
        hides_paths: whether ``RUN`` stands for absolute paths in commands that warnings recommend.
    """
    warnings_by_kind: dict[str, list[_RunWarning]] = {}
    for run in runs:
        for warning in _warnings_of_run(run, tasks, hides_paths):
            warnings_by_kind.setdefault(warning.kind, []).append(warning)
    return [_line_of_kind(warnings) for warnings in warnings_by_kind.values()]


def _line_of_kind(warnings: Sequence[_RunWarning]) -> str:
    """One line for all warnings of a kind: ``Empty answers (5 results): base, vflute (3 of 8)``."""
    first = warnings[0]
    if len(warnings) == 1:
        return first.text
    places = [f"{warning.place} ({warning.extent})" for warning in warnings]
    line = f"{first.kind} ({len(places)} results): {listing(places, _MOST_PLACES, '; ')}"
    return f"{line}. {first.remedy}" if first.remedy else line


def _warnings_of_run(run: Run, tasks: Collection[str], hides_paths: bool) -> list[_RunWarning]:
    """The warnings about a run and its tasks; the arguments are those of `run_warnings`."""
    warnings = []
    for sentence in run.missing:  # Each names its own files, and so is a kind of its own.
        warnings.append(_RunWarning(sentence, run.name, "", f"{run.name}: {sentence}"))
    if run.partial:
        text = f"{run.name} was cut short: {run.partial}"
        warnings.append(_RunWarning("Cut short", run.name, run.partial, text))
    run_path = "RUN" if hides_paths and run.path.is_absolute() else str(run.path)
    chosen_tasks = [run.tasks[task] for task in tasks if task in run.tasks]
    for task in chosen_tasks or run.tasks.values():
        place = f"{run.name}, {task.task}"
        for warning in _task_warnings(task, run_path):
            kind, extent, text, remedy = warning
            warnings.append(_RunWarning(kind, place, extent, f"{place}: {text}", remedy))
    return warnings


def _task_warnings(task: TaskRun, run_path: str) -> list[OutputWarning]:
    """Warnings about the outputs of a task, without the names of run and task.

    Args:
        run_path: what stands for the run in the commands that a warning recommends.
    """
    warnings = []
    if task.unanswered:
        count = f"{task.unanswered} of {len(task.samples)}"
        text = f"{count} rows have no answer and count as wrong"
        warnings.append(OutputWarning("Rows without an answer count as wrong", count, text))
    warnings += task.warnings(run_path)
    if task.sampling:
        text = f"answers were sampled ({task.sampling}); another run gives other answers"
        kind = "Answers were sampled; another run gives other answers"
        warnings.append(OutputWarning(kind, task.sampling, text))
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
