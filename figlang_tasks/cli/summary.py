"""Short tables of our tasks' results for the screen: shares in percent, with their intervals."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from figlang_tasks.cli import next_report_line
from figlang_tasks.cli.finished_task import FinishedTask, metrics_to_show, read_finished_task
from figlang_tasks.cli.placement import placement_line, result_line
from figlang_tasks.results import frame, measures, published, published_tables, results_file, tables
from figlang_tasks.scoring import OVERALL
from figlang_tasks.scoring.output_warnings import has_unread_texts, read_command, unread_warning

if TYPE_CHECKING:
    import pandas as pd

_PublishedRow: TypeAlias = tuple[str, Mapping[str, published.PublishedFigure]]
"""A published row of a table: its label, and its figures by metric, without the scope."""

_MOST_COLUMNS = 6
"""A wider table of a group shows the main metrics of its tasks alone."""

_ROWS_OF_A_LIMIT = (
    "rows in the order of the task, not a random sample. They may all be of one source: do not take"
    " these scores for those of the whole task"
)
"""What a run with a limit has evaluated."""


def summary_table(results: Mapping[str, Any]) -> str:
    """Markdown tables of our tasks in results, each with its explanations below; "" without any.

    A group of tasks has one table, with a line for each task. So have tasks that read the same
    dataset. A task alone has a line for each scope, and what was published beneath.

    Args:
        results: as the harness returns them, or the content of a results file.

    Returns:
        Paragraphs with blank lines between them.
    """
    tasks: dict[str, FinishedTask] = {}
    for name, estimates in results_file.reported_estimates(results).items():
        tasks[name] = read_finished_task(results, name, estimates)
    model = results_file.model_name(results)

    paragraphs: list[str] = []
    for title, names in _tasks_by_table(results, tasks).items():
        members = [tasks[name] for name in names]
        if len(members) == 1:
            paragraphs += _paragraphs_of_task(members[0], model)
        else:
            paragraphs += _paragraphs_of_group(title, members)
    limits = {results_file.limit_text(results, name) for name in tasks} - {""}
    for limit in limits:  # A run has one limit.
        paragraphs.append(f"{limit}: {_ROWS_OF_A_LIMIT}")
    return "\n\n".join(paragraphs)


def is_ours(results: Mapping[str, Any], name: str) -> bool:
    """Whether a name in results is that of one of our tasks, or of a group of our tasks alone."""
    members = results.get("group_subtasks", {}).get(name)
    if members:
        return all(is_ours(results, member) for member in members)
    return results_file.measured_metadata(results, name) is not None


def next_commands(results: Iterable[Mapping[str, Any]], folder: Path) -> str:
    """Lines with the commands to type after a run: ``next: figlang report ...``.

    Args:
        results: those of the run, as the harness returns them, or the contents of results files.
        folder: where its samples were saved.
    """
    commands = next_report_line(folder)
    if any(_leaves_answers_to_read(content) for content in results):
        command = read_command(str(folder))
        commands += f"\nto have a language model read what is left: {command}"
    return commands


def _leaves_answers_to_read(results: Mapping[str, Any]) -> bool:
    """Whether a task left so many answers in words that a language model should read them."""
    for name in results["results"]:
        metadata = results_file.measured_metadata(results, name) or {}  # {} for tasks of others
        counts_of_answers = metadata.get("readings")
        has_many_unread = bool(unread_warning(counts_of_answers))
        can_be_read = has_unread_texts(counts_of_answers) and metadata.get("offers_choice")
        if has_many_unread and can_be_read:
            return True
    return False


def _tasks_by_table(results: Mapping[str, Any], our_tasks: Collection[str]) -> dict[str, list[str]]:
    """The names of our tasks in each table, by its title: a group, or the dataset of single tasks.

    Args:
        results: those that the tasks are in.
        our_tasks: the names of our tasks, in order.
    """
    # The harness also lists each task that is in no group, with no members:
    # {"irfl": ["irfl_grid", "irfl_match"], "vflute": []}.
    members_by_group: dict[str, Sequence[str]] = results.get("group_subtasks", {})
    grouped_tasks: set[str] = set()
    for members in members_by_group.values():
        grouped_tasks.update(members)

    tasks_by_title: dict[str, list[str]] = {}
    for name in dict.fromkeys([*members_by_group, *our_tasks]):
        our_members = [member for member in members_by_group.get(name, ()) if member in our_tasks]
        if our_members:  # a group with tasks of ours
            tasks_by_title[name] = our_members
        elif name in our_tasks and name not in grouped_tasks:  # else it needs no table of its own
            request = results["configs"][name].get("dataset_name") or name
            dataset = str(request).partition(",")[0]  # DATASET,KEY=VALUE,...
            tasks_by_title.setdefault(dataset, []).append(name)
    return tasks_by_title


# --- a task alone ---


def _paragraphs_of_task(task: FinishedTask, model: str) -> list[str]:
    """The table of a task, and paragraphs that a reader needs to compare its values.

    Args:
        task: the task.
        model: the name of the model; "" if the results have none.
    """
    paragraphs = [_table_of_task(task)]
    if measures.scopes_overlap(task.estimates):
        paragraphs.append("scopes overlap: a row counts in each that it belongs to")
    if task.conditions.scorer:
        paragraphs.append(f"explanation scorer: {task.conditions.scorer}")
    comparable = task.comparable_metrics
    protocol = published_tables.protocol_text(task.name, comparable.names, comparable.release)
    if protocol:
        paragraphs.append(f"published, not measured here: {protocol}")
    if comparable.left_out:
        paragraphs.append(comparable.left_out)
    lines = [placement_line(task), result_line(task, model)]
    paragraphs.append("\n".join(filter(None, lines)))  # Each line may be "", and so may this.
    if task.unread_warning:
        paragraphs.append(f"{task.name}: {task.unread_warning}")
    return [paragraph for paragraph in paragraphs if paragraph]


def _table_of_task(task: FinishedTask) -> str:
    """A Markdown table of a task: a line for each scope, all rows first, then published figures."""
    import pandas as pd

    published_rows = _published_rows(task)
    columns = _columns_of_task(task, published_rows)

    estimates_by_task = {task.name: task.estimates}
    unnamed_run = ""  # No column of the table names the run.
    estimates = frame.estimates_frame([(unnamed_run, estimates_by_task)])
    is_shown = estimates["metric"].isin(columns)
    is_overall = estimates["scope"] == OVERALL
    ordered_estimates = pd.concat(
        [estimates[is_shown & is_overall], estimates[is_shown & ~is_overall]]
    )
    table = tables.wide_table(ordered_estimates, ["scope"], columns)
    if published_rows:
        separating_row = {**dict.fromkeys(table.columns, ""), "scope": "published:"}
        published_table = tables.published_table(published_rows, table)
        table = pd.concat([table, pd.DataFrame([separating_row]), published_table])
    return _markdown(task.name, table)


def _published_rows(task: FinishedTask) -> list[_PublishedRow]:
    """The published rows below the table of a task, with figures that are comparable alone."""
    comparable = task.comparable_metrics
    lines = published_tables.table_lines(task.name, comparable.names, comparable.release)
    rows: list[_PublishedRow] = []
    for label, scope, figures in lines:
        if scope != OVERALL:
            label = f"{label}: {measures.scope_text(scope)}"
        rows.append((label, figures))
    return rows


def _columns_of_task(task: FinishedTask, published_rows: Sequence[_PublishedRow]) -> list[str]:
    """The metrics in the table of a task, in order: those to show, and those with a figure.

    Args:
        task: the task.
        published_rows: those below its table.
    """
    # If no metric is to be shown, all are: a table has some column.
    columns = set(metrics_to_show(task.estimates) or task.estimates)
    for _, figures in published_rows:
        columns.update(figures)
    # Only figures of metrics that the run has are comparable, so none is lost here.
    return [metric for metric in task.estimates if metric in columns]


# --- a group of tasks ---


def _paragraphs_of_group(title: str, tasks: Sequence[FinishedTask]) -> list[str]:
    """The table of a group, and paragraphs that a reader needs to compare its tasks.

    Args:
        title: the name of the group, or of the dataset that the tasks share.
        tasks: two or more.
    """
    paragraphs = [_table_of_group(title, tasks)]
    for scorer in dict.fromkeys(task.conditions.scorer for task in tasks):
        if scorer:
            paragraphs.append(f"explanation scorer: {scorer}")
    placements = [placement_line(task) for task in tasks]
    if any(placements):
        paragraphs.append("\n".join(filter(None, placements)))
    for task in tasks:
        if task.unread_warning:
            paragraphs.append(f"{task.name}: {task.unread_warning}")
    return paragraphs


def _table_of_group(title: str, tasks: Sequence[FinishedTask]) -> str:
    """A Markdown table of a group: a line for each task, with its values over all rows."""
    estimates_by_task = {}
    for task in tasks:
        # The title stands above, so the table has ``grid`` for ``irfl_grid``.
        short_name = task.name.removeprefix(f"{title}_")
        estimates_by_task[short_name] = task.estimates
    unnamed_run = ""  # No column of the table names the run.
    estimates = frame.estimates_frame([(unnamed_run, estimates_by_task)])
    columns = _columns_of_group(tasks)
    is_shown = (estimates["scope"] == OVERALL) & estimates["metric"].isin(columns)
    return _markdown(title, tables.wide_table(estimates[is_shown], ["task"], columns))


def _columns_of_group(tasks: Sequence[FinishedTask]) -> list[str]:
    """The metrics to show in the table of a group that have a value over all rows, in order.

    They are those of `metrics_to_show` in any of the tasks. If there are more than `_MOST_COLUMNS`,
    only the main metrics of the tasks and the diagnostic ones are left.
    """
    metrics_to_show_in_any: set[str] = set()
    overall_metrics: dict[str, None] = {}  # a set that keeps its order
    for task in tasks:
        metrics_to_show_in_any.update(metrics_to_show(task.estimates))
        overall_metrics.update(dict.fromkeys(task.overall_metrics))
    columns = [metric for metric in overall_metrics if metric in metrics_to_show_in_any]

    # Diagnostic metrics are here only if they found a fault, so they stay, and are not counted.
    diagnostics = {metric for metric in columns if measures.measure_of(metric).is_diagnostic}
    if len(columns) - len(diagnostics) <= _MOST_COLUMNS:
        return columns
    main_metrics = {measures.headline_metric(task.overall_metrics) for task in tasks}
    kept_metrics = main_metrics | diagnostics
    return [metric for metric in columns if metric in kept_metrics]


def _markdown(title: str, table: pd.DataFrame) -> str:
    """A table in Markdown, its title in the first cell, and arrows at the names of metrics."""
    titled = table.rename(columns={table.columns[0]: title})
    # This leaves the title and ``n`` as they are, since they are no metrics.
    return tables.markdown(titled.rename(columns=measures.name_with_arrow))
