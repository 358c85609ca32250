"""All tasks and runs in one picture, and what to know about the runs before their numbers are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from figlang_tasks.report import charts
from figlang_tasks.report.charts import Chart, Row
from figlang_tasks.report.sections.bars import told_references
from figlang_tasks.report.sections.layout import Cell, Section, Table
from figlang_tasks.report.sections.results import (
    Results,
    dataset_name,
    headline,
    listed,
    metric_name,
    percent,
    references,
    short_names,
)
from figlang_tasks.results import runs as finished
from figlang_tasks.results.comparison import Difference
from figlang_tasks.results.runs import Run
from figlang_tasks.results.verdict import verdicts

_MOST_OPEN = 12  # sentences that a page shows unasked


def verdict_section(differences: Sequence[Difference]) -> Section | None:
    """Which of every two runs is better on each task; many sentences are folded.

    Args:
        differences: all that the report shows.
    """
    found = verdicts(differences)
    if not found:
        return None
    folded = Table(f"{len(found)} verdicts", (Cell("verdict"),), tuple((Cell(sentence),) for sentence in found))
    if len(found) > _MOST_OPEN:
        return Section("overview-verdicts", "Which run is better", "", tables=(folded,))
    return Section("overview-verdicts", "Which run is better", "", lines=tuple(found))


def overview(runs: Sequence[Run], results: Results, published: bool) -> Section | None:
    """The main metric of each task, and notes on the runs.

    Args:
        runs: all of the report.
        results: of the tasks to show.
        published: whether to show what was published.
    """
    rows = {task: row for task in results if (row := _row(task, results, published)) is not None}
    notes = _notes(runs)
    if without := [task for task in results if task not in rows]:
        notes.append(f"Not in this picture, since they have no share to show: {', '.join(without)}.")
    if not rows and not notes:
        return None
    intro = "The main metric of each task, with its 95 % interval. The sections below have all others."
    return Section("overview-tasks", "All tasks", intro, charts=_charts(rows, results), notes=tuple(notes))


def _row(task: str, results: Results, published: bool) -> Row | None:
    of_task = results[task]
    if (metric := headline(of_task)) is None:
        return None
    values = {of.run: percent(value) for of in of_task if (value := of.estimate(metric)) is not None}
    beside = references(task, of_task, metric) if published else []
    return Row(task, task, metric_name(metric), values, beside)


def _charts(rows: dict[str, Row], results: Results) -> tuple[Chart, ...]:
    groups: dict[str, list[Row]] = {}
    for dataset in dict.fromkeys(results[task][0].of.dataset for task in rows):
        own = [row for task, row in rows.items() if results[task][0].of.dataset == dataset]
        short = short_names([row.task for row in own])
        groups[dataset_name(dataset)] = [replace(row, label=short[row.task]) for row in own]
    if not groups:
        return ()
    told = " ".join(
        f"{row.task}, {row.metric}: {listed({run: found.value for run, found in row.values.items()})}"
        f"{told_references(row.references)}."
        for row in rows.values()
    )
    return (
        charts.overview(
            "overview-all",
            "The main metric of each task",
            f"A mark with its 95 % interval for each task and run, in percent. {told}",
            groups,
            label="percent",
            order=next(iter(results.values()))[0].runs,
        ),
    )


def _notes(runs: Sequence[Run]) -> list[str]:
    """What to know about the runs before their numbers are read."""
    notes = [f"{caveat}." for run in runs for caveat in finished.caveats(run)]
    every = [(run.name, of) for run in runs for of in run.tasks.values()]
    if without := sorted({name for name, of in every if not of.reported}):
        notes.append(f"{', '.join(without)}: no reported metrics; values are from the samples.")
    for name, of in every:
        if unknown := [metric for metric in of.reported if metric not in of.measures.by_name]:
            notes.append(f"{name}, {of.task}: not shown, since this version does not know it: {', '.join(unknown)}.")
    return notes
