"""``figlang runs``: the saved runs below a folder, with the main metric of each task."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import TypedDict

import typer

from figlang_tasks.cli import say, say_json, warn
from figlang_tasks.cli.options import AsJson, FolderOfRuns
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.text import markdown_table
from figlang_tasks.report.run_warnings import contradiction_warning
from figlang_tasks.results import measures
from figlang_tasks.results.files import find_runs
from figlang_tasks.results.provenance import evaluated_at, option_text
from figlang_tasks.results.runs import read
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL, Estimate, Estimates

# The functional form allows the key "class".
ListedTask = TypedDict(
    "ListedTask",
    {
        "path": str,
        "class": str,
        "model": str,
        "task": str,
        "metric": str | None,
        "value": float | None,
        "low": float | None,
        "high": float | None,
        "text": str,
        "rows": int,
        "date": str | None,
        "complete": bool | None,
        "partial": str | None,
    },
)
"""A task of a run, as ``--json`` prints it.

``text`` is the value with its interval. ``complete`` is None without a results file. ``partial``
says why a run is not complete. What is not known is None.
"""

_HEAD = ("run", "model", "task", "metric", "value", "rows", "date (UTC)", "complete")


def runs(
    folder: FolderOfRuns,
    as_json: AsJson = False,
) -> None:
    """List the runs below a folder, with their main metrics.

    A line is a task of a run, with its main metric and the 95 % interval. The last column says
    whether all rows were evaluated, else how the run was limited (--limit). A run that cannot be
    read is named with the reason below the table.
    """
    listed_tasks: list[ListedTask] = []
    reason_by_unreadable_run: dict[str, str] = {}
    for path in find_runs(folder):
        try:
            listed_tasks += _list_tasks(path)
        except RunError as error:
            reason_by_unreadable_run[str(path)] = str(error)

    if as_json:
        say_json({"runs": listed_tasks, "unreadable": reason_by_unreadable_run})
    elif listed_tasks:
        say(markdown_table([_HEAD, *(_cells(listed) for listed in listed_tasks)]))
    for run, reason in reason_by_unreadable_run.items():
        # The advice to score a run names its folder.
        advice = f"figlang score {shlex.quote(str(Path(run).parent))} "
        names_run = run in reason or advice in reason
        warn(reason if names_run else f"{run}: {reason}")
    if reason_by_unreadable_run:
        raise typer.Exit(1)
    if not listed_tasks:
        raise RunError(f"no run in {folder}: evaluate with --output_path and --log_samples")


def _list_tasks(path: Path) -> Iterator[ListedTask]:
    """Yield the tasks of a run with their main metrics.

    Args:
        path: of the run's files, as `find_runs` gives it.

    Raises:
        RunError: the run cannot be read.
    """
    run = read(str(path))
    date = evaluated_at(run)
    has_results_file = bool(run.results)
    for task in run.tasks.values():
        metric, estimate = _main_estimate(path, run, task)
        yield {
            "path": str(path),
            "class": option_text(run, "model"),
            "model": run.name,
            "task": task.task,
            "metric": metric or None,
            "value": estimate.value if estimate else None,
            "low": estimate.low if estimate else None,
            "high": estimate.high if estimate else None,
            "text": measures.estimate_text(metric, estimate) if estimate else "",
            "rows": task.rows,
            "date": f"{date:%Y-%m-%d %H:%M}" if date else None,
            "complete": task.partial is None if has_results_file else None,
            "partial": task.partial,
        }


def _main_estimate(path: Path, run: Run, task: TaskRun) -> tuple[str, Estimate | None]:
    """The main metric of a task with its value over all rows; "" and None without one.

    They are those of the results file. If its estimates differ from those of the samples, they are
    those of the samples, with a warning. Of the intervals only that of the main metric is compared.
    Those of all would take seconds.

    Args:
        path: of the run's files, for the warning.
        run: the run.
        task: one of its tasks.
    """
    # Without a results file there are only those of the samples.
    estimates = task.reported_estimates or task.estimates
    metric = _main_metric(task, estimates)
    contradictions = task.contradictions_with_intervals_of([metric])
    if contradictions:
        warn(f"{path}: {contradiction_warning(run, task, contradictions)}")
        estimates = task.estimates
        metric = _main_metric(task, estimates)
    return metric, estimates[metric][OVERALL] if metric else None


def _main_metric(task: TaskRun, estimates: Estimates) -> str:
    """The metric that stands for a task; "" if none has a value over all rows."""
    metrics_with_value = []
    for metric, estimate_by_scope in estimates.items():
        if OVERALL in estimate_by_scope and isfinite(estimate_by_scope[OVERALL].value):
            metrics_with_value.append(metric)
    return measures.headline_metric(metrics_with_value, measures_by_name=task.measures.by_name)


def _cells(listed: ListedTask) -> list[str]:
    """The texts of a listed task in the table, in the order of `_HEAD`."""
    # A model without a name of its own is named like its class, and then stands there once.
    class_and_model = dict.fromkeys([listed["class"], listed["model"]])
    value_text = listed["text"]
    if listed["complete"] is None:
        complete = "unknown: no results file"
    elif listed["complete"]:
        complete = "yes"
    else:
        complete = f"no: {listed['partial']}"
    return [
        str(Path(listed["path"]).parent),
        " ".join(filter(None, class_and_model)),  # Each of the two may be "".
        listed["task"],
        listed["metric"] or "",
        value_text,
        str(listed["rows"]),
        listed["date"] or "",
        complete,
    ]
