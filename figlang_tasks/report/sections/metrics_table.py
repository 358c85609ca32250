"""Tables of all metrics of a dataset's tasks, by scope, with published values beneath."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from figlang_tasks.core.text import listing
from figlang_tasks.report.sections.layout import Section, Table
from figlang_tasks.report.sections.task_results import TaskResults
from figlang_tasks.results import frame, measures, published_tables, tables
from figlang_tasks.scoring import OVERALL, full_name

if TYPE_CHECKING:
    import pandas as pd


def metrics_section(id_prefix: str, results: Sequence[TaskResults]) -> Section | None:
    """The section with all metrics of one dataset; None if no task has a value over all rows.

    Tasks with the same metrics share a table.

    Args:
        id_prefix: the beginning of the id of the section.
        results: the tasks of the dataset, at least one.
    """
    results_by_metrics: dict[frozenset[str], list[TaskResults]] = {}
    for task_results in results:
        metrics = frozenset(task_results.overall_metrics())
        if metrics:
            results_by_metrics.setdefault(metrics, []).append(task_results)
    if not results_by_metrics:
        return None
    scope_kind = results[0].benchmark.parts.kind
    return Section(
        id=f"{id_prefix}-numbers",
        title="All metrics",
        intro=(
            "Shares are in percent, with 95 % intervals, which are wide where a"
            f" {scope_kind} has few rows."
        ),
        tables=tuple(_metrics_table(group) for group in results_by_metrics.values()),
    )


def _metrics_table(results: Sequence[TaskResults]) -> Table:
    """The table of some tasks: a line for each run, task and scope, then published values.

    Args:
        results: tasks of one dataset that have the same metrics; at least one.
    """
    metrics = results[0].overall_metrics()
    estimates = _estimates(results)
    scopes = list(dict.fromkeys([OVERALL, *estimates["scope"]]))  # all rows first, each once
    # A metric without a value over all rows has no column.
    estimates = estimates[estimates["metric"].isin(metrics)]
    tasks = [task_results.task for task_results in results]
    by = ["run", "task", "scope"]
    measured_cells = tables.wide_table(_sorted(estimates, tasks, scopes), by, metrics)

    notes = [*_scorer_notes(results), *_mean_notes(results), *_scope_notes(results[0], scopes)]
    cells = measured_cells
    for task_results in results:
        published_cells, published_notes = _published_cells(
            task_results, metrics, scopes, measured_cells
        )
        cells = _stacked(cells, published_cells)
        notes += published_notes

    # Columns with the same text in all lines are left out.
    if len(tasks) == 1:
        cells = cells.drop(columns="task")
    if len(scopes) == 1:
        cells = cells.drop(columns="scope")
    # The names of other columns ("run", "task", "scope", "n") stay: an arrow is for metrics alone.
    cells = cells.rename(columns=measures.name_with_arrow)
    cells = cells.rename(columns={"scope": results[0].benchmark.parts.kind})
    declared = results[0].measures_by_name
    tooltips = {measures.name_with_arrow(metric): declared[metric].meaning for metric in metrics}
    return Table(listing(tasks), cells, " ".join(notes), tooltips)


def _estimates(results: Sequence[TaskResults]) -> pd.DataFrame:
    """All estimates of some tasks, a line for each; see `frame.estimates_frame` for the columns."""
    estimates = []
    for task_results in results:
        for run, task_run in task_results.runs.items():
            estimates.append((run, {task_results.task: task_run.estimates}))
    return frame.estimates_frame(estimates)


def _sorted(estimates: pd.DataFrame, tasks: list[str], scopes: list[str]) -> pd.DataFrame:
    """The estimates in the order of `tasks`, those of one task in the order of `scopes`."""
    task_positions = estimates["task"].map(tasks.index)
    scope_positions = estimates["scope"].map(scopes.index)
    # lexsort sorts by its last key first, and keeps the order of runs within a scope.
    sorted_rows = np.lexsort((scope_positions, task_positions))
    return estimates.iloc[sorted_rows]


def _published_cells(
    results: TaskResults,
    metrics: Sequence[str],
    scopes: Collection[str],
    measured_cells: pd.DataFrame,
) -> tuple[pd.DataFrame, list[str]]:
    """The published values of a task as lines of a table, and notes about them.

    Args:
        measured_cells: the lines of the runs, beneath which the published ones are to stand; both
            have the same columns.

    Returns:
        The lines, none if nothing comparable was published; and notes, which say where the values
        are from, or why they are left out.
    """
    task = results.task
    full_names: list[str] = []
    for scope in scopes:
        for metric in metrics:
            full_names.append(full_name(metric, scope))
    comparable = results.comparable_metrics(full_names)
    lines = published_tables.table_lines(task, comparable.names, comparable.release)
    notes = []
    if lines:
        protocol = published_tables.protocol_text(task, comparable.names, comparable.release)
        notes.append(f"Published, not measured here: {protocol}.")
    if comparable.left_out:
        notes.append(f"{task}: {comparable.left_out}.")

    labels_and_figures = [(f"{line.label} (published)", line.figures) for line in lines]
    published_cells = tables.published_table(labels_and_figures, measured_cells)
    scope_texts = [measures.scope_text(line.scope) for line in lines]
    return published_cells.assign(task=task, scope=scope_texts), notes


def _stacked(above: pd.DataFrame, below: pd.DataFrame) -> pd.DataFrame:
    """One table with the lines of two tables that have the same columns."""
    import pandas as pd

    if below.empty:
        return above  # pandas warns if it joins a table without lines
    return pd.concat([above, below])


def _scorer_notes(results: Sequence[TaskResults]) -> list[str]:
    """A note with the scorer of explanations, or that of each run if they differ.

    No note if no run has scores of explanations.
    """
    signatures: dict[str, str] = {}
    for task_results in results:
        for run, task_run in task_results.runs.items():
            if task_run.signature:
                signatures[run] = task_run.signature
    if not signatures:
        return []
    if len(set(signatures.values())) == 1:
        return [f"Explanation scorer: {next(iter(signatures.values()))}."]
    signature_texts = [f"{run}: {signature}" for run, signature in signatures.items()]
    return [f"Explanation scorers: {'; '.join(signature_texts)}."]


def _mean_notes(results: Sequence[TaskResults]) -> list[str]:
    """A note for each task whose values over all rows are means of its scopes' values."""
    notes = []
    for task_results in results:
        if any(measure.averaged for measure in task_results.first.measures.all):
            notes.append(
                f"{task_results.task}: over all rows it is the unweighted mean of the scopes."
            )
    return notes


def _scope_notes(results: TaskResults, scopes: Collection[str]) -> list[str]:
    """The notes of a task's benchmark about these scopes; most scopes have none."""
    notes = []
    for scope, part in results.benchmark.parts.by_scope.items():
        if scope in scopes and part.note:
            notes.append(part.note)
    return notes
