"""``figlang runs``: the saved runs below a folder, with the number that stands for each task."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from figlang_tasks.cli import say, say_json, warn
from figlang_tasks.cli.options import AsJson
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.text import table
from figlang_tasks.report.verdict import contradiction
from figlang_tasks.results import measures
from figlang_tasks.results.files import find_runs
from figlang_tasks.results.provenance import evaluated_at, option_text
from figlang_tasks.results.runs import read
from figlang_tasks.results.task_run import TaskRun
from figlang_tasks.scoring import OVERALL, Estimates


def runs(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="Runs are looked for in it and below.",
            exists=True,
            file_okay=False,
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """List the runs below a folder, with their main metrics.

    A line is a task of a run, with its main metric and the 95 % interval. The last column says
    whether all rows were evaluated, else how the run was cut short (--limit). A run that cannot be
    read is named with the reason below the table.
    """
    lines: list[dict[str, Any]] = []
    unreadable: dict[str, str] = {}
    for path in find_runs(folder):
        try:
            lines += _lines(path)
        except RunError as error:
            unreadable[str(path)] = str(error)
    if as_json:
        say_json({"runs": lines, "unreadable": unreadable})
    elif lines:
        head = ["run", "model", "task", "metric", "value", "rows", "date (UTC)", "complete"]
        say(table([head, *(_cells(line) for line in lines)]))
    for path_, message in unreadable.items():
        warn(f"{path_}: {message}")
    if not lines and not unreadable:
        raise RunError(f"no run in {folder}: evaluate with --output_path and --log_samples")
    if unreadable:
        raise typer.Exit(1)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """A line for each task of a run."""
    run = read(str(path))
    date = evaluated_at(run)
    for task in run.tasks.values():
        estimates = task.reported_estimates or task.estimates
        metric = _headline(task, estimates)
        # The intervals of all metrics would take seconds for each task; what is shown is compared
        # whole.
        contradictions = task.contradictions_of([metric])
        if contradictions:
            warn(f"{path}: {contradiction(run, task, contradictions)}")
            estimates = task.estimates
            metric = _headline(task, estimates)
        estimate = estimates[metric][OVERALL] if metric else None
        yield {
            "path": str(path),
            "class": option_text(run, "model"),
            "model": run.name,
            "task": task.task,
            "metric": metric or None,
            "value": estimate and estimate.value,
            "low": estimate and estimate.low,
            "high": estimate and estimate.high,
            "text": measures.estimate_text(metric, estimate) if estimate else "",
            "rows": task.rows,
            "date": f"{date:%Y-%m-%d %H:%M}" if date else None,
            "complete": not task.partial if run.results else None,
            "cut": task.partial,
        }


def _headline(task: TaskRun, estimates: Estimates) -> str:
    """The metric that stands for a task; "" if none has a value of all rows."""
    known: list[str] = []
    for name, scopes in estimates.items():
        if OVERALL in scopes and isfinite(scopes[OVERALL].value):
            known.append(name)
    return measures.headline_metric(known, task.measures.by_name)


def _cells(line: dict[str, Any]) -> list[str]:
    state = {True: "yes", False: f"no: {line['cut']}", None: "unknown: no results file"}[
        line["complete"]
    ]
    model = " ".join(dict.fromkeys(filter(None, (line["class"], line["model"]))))
    shown = [line[key] for key in ("task", "metric", "text", "rows", "date")]
    return [
        str(Path(line["path"]).parent),
        model,
        *("" if cell is None else str(cell) for cell in shown),
        state,
    ]
