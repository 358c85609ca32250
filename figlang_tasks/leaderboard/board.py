"""What a leaderboard says, as plain data: runs, and a ranking for each task.

Figures only: no text of a prompt, an output or a row is in it. `data.json` has these objects, and
the page shows them.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import figlang_tasks
from figlang_tasks.core.redaction import redacted
from figlang_tasks.leaderboard.task_board import TaskBoard, task_board
from figlang_tasks.results.provenance import evaluated_at, option_text, parameters
from figlang_tasks.results.results_file import model_name
from figlang_tasks.results.task_run import Run

FORMAT = 1
"""The number of the form of ``data.json``; it rises when a reader must change."""


@dataclass(frozen=True)
class RunFacts:
    """A run on the leaderboard; None for what its results file does not say.

    Attributes:
        run: its folder below that of all runs, by which tables name it.
        model: the name of the model.
        model_class: the model class of the harness: ``figlang_vlm``.
        parameters: how many the model has.
        date: of the evaluation, ``2026-01-02``, in UTC.
        report: the path of its report in the site.
    """

    run: str
    model: str
    model_class: str | None
    parameters: int | None
    date: str | None
    report: str | None


@dataclass(frozen=True)
class Leaderboard:
    """All that a leaderboard says.

    Attributes:
        format: see `FORMAT`.
        generator: ``figlang_tasks leaderboard`` and the version.
        made: when, in UTC.
        runs: those that could be read, in the order of their names.
        tasks: in the order of datasets and names.
        unreadable: the names of runs that could not be read.
    """

    format: int
    generator: str
    made: str
    runs: list[RunFacts]
    tasks: list[TaskBoard]
    unreadable: list[str]


GENERATOR = "figlang_tasks leaderboard"
"""By which ``data.json`` and the page are recognized."""


def build(
    runs: Sequence[Run], unreadable: Sequence[str] = (), reports: Mapping[str, str] | None = None
) -> Leaderboard:
    """Rank runs on each of their tasks.

    Args:
        runs: each with a name of its own.
        unreadable: the names of runs that could not be read.
        reports: the path of the report of a run, by its name; None without reports.

    Raises:
        RunError: a run has a damaged record.
    """
    now = datetime.datetime.now(datetime.timezone.utc)
    task_runs = {task: run.tasks[task] for run in runs for task in run.tasks}

    def dataset_and_name(task: str) -> tuple[str, str]:
        return task_runs[task].data.dataset, task

    return Leaderboard(
        format=FORMAT,
        generator=f"{GENERATOR} {figlang_tasks.__version__}",
        made=f"{now:%Y-%m-%d %H:%M} UTC",
        runs=[_run_facts(run, (reports or {}).get(run.name)) for run in runs],
        tasks=[task_board(task, runs) for task in sorted(task_runs, key=dataset_and_name)],
        unreadable=list(unreadable),
    )


def _run_facts(run: Run, report: str | None) -> RunFacts:
    """The facts about a run that the leaderboard shows."""
    date = evaluated_at(run)
    model_class = option_text(run, "model")
    return RunFacts(
        run=run.name,
        model=redacted(model_name(run.results) or model_class or run.name),
        model_class=model_class or None,
        parameters=parameters(run),
        date=f"{date:%Y-%m-%d}" if date else None,
        report=report,
    )
