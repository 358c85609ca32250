"""Tables of all metrics of a dataset's tasks, by scope, with published values beneath."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from figlang_tasks.core.text import listing
from figlang_tasks.report.sections.layout import Section, Table
from figlang_tasks.report.sections.task_results import TaskResults
from figlang_tasks.results import frame, measures, published, tables
from figlang_tasks.scoring import OVERALL, full_name

if TYPE_CHECKING:
    import pandas as pd


def metrics_section(prefix: str, results: Sequence[TaskResults]) -> Section | None:
    """Make the tables of all metrics of a dataset; tasks with the same metrics share a table.

    None if no task has a value over all rows.
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
        id=f"{prefix}-numbers",
        title="All metrics",
        intro=(
            "Shares are in percent, with 95 % intervals, which are wide where a"
            f" {scope_kind} has few rows."
        ),
        tables=tuple(_metrics_table(group) for group in results_by_metrics.values()),
    )


def _metrics_table(results: Sequence[TaskResults]) -> Table:
    """Make the table of tasks with the same metrics: a line for each run, task and scope."""
    metrics = results[0].overall_metrics()
    numbers = _numbers(results)
    scopes = list(dict.fromkeys([OVERALL, *numbers["scope"]]))
    numbers = numbers[numbers["metric"].isin(metrics)]
    tasks = [task_results.task for task_results in results]
    cells = tables.wide_table(_sorted(numbers, tasks, scopes), ["run", "task", "scope"], metrics)

    notes = [*_scorer_notes(results), *_mean_notes(results), *_scope_notes(results[0], scopes)]
    for task_results in results:
        published_cells, published_notes = _published_lines(task_results, metrics, scopes, cells)
        cells = _stacked(cells, published_cells)
        notes += published_notes

    benchmark = results[0].benchmark
    if len(tasks) == 1:
        cells = cells.drop(columns="task")
    if len(scopes) == 1:
        cells = cells.drop(columns="scope")
    cells = cells.rename(columns=measures.name_with_arrow)
    cells = cells.rename(columns={"scope": benchmark.parts.kind})
    declared = results[0].first.measures.by_name
    tooltips = {measures.name_with_arrow(metric): declared[metric].meaning for metric in metrics}
    return Table(listing(tasks), cells, " ".join(notes), tooltips)


def _numbers(results: Sequence[TaskResults]) -> pd.DataFrame:
    """All estimates of some tasks, a line for each; see `frame.estimates_frame` for the columns."""
    estimates = []
    for task_results in results:
        for run, task_run in task_results.runs.items():
            estimates.append((run, {task_results.task: task_run.estimates}))
    return frame.estimates_frame(estimates)


def _sorted(numbers: pd.DataFrame, tasks: list[str], scopes: list[str]) -> pd.DataFrame:
    """The numbers in the order of `tasks`, those of one task in the order of `scopes`."""
    task_positions = numbers["task"].map(tasks.index)
    scope_positions = numbers["scope"].map(scopes.index)
    sorted_rows = np.lexsort((scope_positions, task_positions))  # by the last key first; stable
    return numbers.iloc[sorted_rows]


def _published_lines(
    results: TaskResults, metrics: Sequence[str], scopes: Collection[str], cells: pd.DataFrame
) -> tuple[pd.DataFrame, list[str]]:
    """Make the table lines of a task's published values, and notes about them.

    Args:
        cells: the table that the values are to stand beneath.

    Returns:
        Lines with the columns of `cells`, none if nothing comparable was published. The notes say
        where the values are from, or why they are left out.
    """
    task = results.task
    names: list[str] = []
    for scope in scopes:
        names += [full_name(metric, scope) for metric in metrics]
    comparable, reason = results.comparable_metrics(names)
    lines = published.table_lines(task, comparable)
    notes = []
    if lines:
        protocol = published.protocol_text(task, comparable)
        notes.append(f"Published, not measured here: {protocol}.")
    if reason:
        notes.append(f"{task}: {reason}.")

    figures_by_label = [(f"{label} (published)", figures) for label, _, figures in lines]
    published_cells = tables.published_table(figures_by_label, cells)
    scope_texts = [measures.scope_text(scope) for _, scope, _ in lines]
    return published_cells.assign(task=task, scope=scope_texts), notes


def _stacked(cells: pd.DataFrame, lines: pd.DataFrame) -> pd.DataFrame:
    """A table with more lines beneath; pandas would warn if there were none."""
    import pandas as pd

    if lines.empty:
        return cells
    return pd.concat([cells, lines])


def _scorer_notes(results: Sequence[TaskResults]) -> list[str]:
    """Name the scorers of explanations in a note, by run if they differ; none without scores."""
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
    """Make a note for each task whose values over all rows are means over its scopes."""
    notes = []
    for task_results in results:
        if any(measure.averaged for measure in task_results.first.measures.all):
            notes.append(f"{task_results.task}: of all rows the unweighted mean of the parts.")
    return notes


def _scope_notes(results: TaskResults, scopes: Collection[str]) -> list[str]:
    """Collect what the benchmark notes about these scopes."""
    notes = []
    for scope, part in results.benchmark.parts.of.items():
        if scope in scopes and part.note:
            notes.append(part.note)
    return notes
