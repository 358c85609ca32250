"""Differences between every two runs, with their tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, fields, replace
from itertools import combinations

from loguru import logger

from figlang_tasks.core.text import csv_text, printable
from figlang_tasks.report.charts import Chart, difference_row, forest_plot
from figlang_tasks.report.charts.figure import wrap
from figlang_tasks.report.charts.forest import MINUS
from figlang_tasks.report.charts.rows import Row
from figlang_tasks.report.difference import p_text
from figlang_tasks.report.sections.layout import Section
from figlang_tasks.report.sections.task_results import (
    TaskResults,
    dataset_name,
    in_percent,
    short_task_names,
    slug,
)
from figlang_tasks.results import comparison, measures
from figlang_tasks.results.comparability import ComparisonError
from figlang_tasks.results.comparison import Difference
from figlang_tasks.results.groups import ALPHA, count_tests, significance
from figlang_tasks.results.task_run import Run

_LABEL_WIDTH = 28  # characters


def compare_pairs(runs: Sequence[Run], tasks: Sequence[str]) -> tuple[list[Difference], list[str]]:
    """Compare every two runs on every task that they share, and say which pairs cannot be compared.

    They are compared by the headline metric of the task, over all rows.

    Args:
        tasks: the names of the tasks; a run may lack some of them.

    Returns:
        The differences, with p adjusted for all of them by Holm's method; and a sentence for each
        task and pair of runs that cannot be compared.
    """
    differences: list[Difference] = []
    failures: list[str] = []
    for task in tasks:
        task_runs = [_only_task(run, task) for run in runs if task in run.tasks]
        # Repeats share a name, and are compared as one. The names keep the order of the runs.
        distinct_names = dict.fromkeys(run.name for run in task_runs)
        if len(distinct_names) < 2:
            continue
        try:
            # `compare` takes the headline metric if no metrics are named.
            differences += comparison.compare(task_runs)
        except ComparisonError:
            # Some pair cannot be compared, but others may: each pair is tried alone.
            for pair in combinations(distinct_names, 2):
                runs_of_pair = [run for run in task_runs if run.name in pair]
                try:
                    differences += comparison.compare(runs_of_pair)
                except ComparisonError as error:
                    failures.append(f"Not compared: {error}.")
    if failures:
        logger.warning(
            f"figlang_tasks: the report lacks comparisons ({len(failures)})."
            f" {printable(failures[0])}"
        )
    return comparison.adjust_p_values(differences), failures


def _only_task(run: Run, task: str) -> Run:
    """The run with one of its tasks, under the name that the user gave, if any.

    Runs to which the user gave one name are repeats, while their own names differ.
    """
    return replace(run, name=run.given_name or run.name, tasks={task: run.tasks[task]})


def difference_section(
    results: Sequence[TaskResults], differences: Sequence[Difference], failures: Sequence[str]
) -> Section | None:
    """The section with a chart of differences for each dataset; None if there is nothing to say.

    Args:
        results: all tasks of the report, which say the dataset of each and the order of charts.
        failures: a sentence for each pair of runs that cannot be compared.
    """
    dataset_by_task: dict[str, str] = {}
    for task_results in results:
        dataset_by_task[task_results.task] = task_results.dataset
    differences_by_dataset: dict[str, list[Difference]] = {}
    for difference in differences:
        dataset = dataset_by_task[difference.task]
        differences_by_dataset.setdefault(dataset, []).append(difference)
    if not differences and not failures:
        return None

    charts = []
    for dataset in dict.fromkeys(dataset_by_task.values()):
        if dataset in differences_by_dataset:
            charts.append(_forest_plot(dataset, differences_by_dataset[dataset]))
    return Section(
        id="differences-pairs",
        title="Every two runs",
        intro=_intro(differences),
        charts=tuple(charts),
        notes=tuple(failures),
    )


def _intro(differences: Sequence[Difference]) -> str:
    """Explain how the differences were tested, and how to read the charts."""
    tests = count_tests(differences)
    tests_text = "1 test" if tests == 1 else f"{tests} tests"
    intro = (
        "Differences in points with their 95 % intervals (paired bootstrap). p is that of"
        " approximate randomization (two-sided, 10,000 swaps) after Holm's correction for the"
        f" {tests_text} shown here. Filled and bold: p < {ALPHA:.2f}, blue if better, orange if"
        " worse."
    )
    if any(difference.p_repeats is not None for difference in differences):
        intro += (
            " Runs of one name are repeats: t over rows and seeds, and a hierarchical bootstrap."
        )
    return intro


def _forest_plot(dataset: str, differences: Sequence[Difference]) -> Chart:
    """A chart of the differences on one dataset, which has one task or several.

    For two runs it has a row for each metric; for more runs a panel for each metric, with a row
    for each pair of runs.
    """
    pairs: set[tuple[str, str]] = set()
    tasks: set[str] = set()
    for difference in differences:
        pairs.add(difference.pair)
        tasks.add(difference.task)
    task_names = short_task_names(tasks)
    panels: dict[str, list[Row]] = {}
    for difference in differences:
        metric = f"{task_names[difference.task]} {difference.metric}"
        if len(pairs) == 1:
            panels.setdefault("", []).append(_row(difference, wrap(metric, _LABEL_WIDTH)))
        else:
            candidate = wrap(difference.candidate, _LABEL_WIDTH)
            baseline = wrap(difference.baseline, _LABEL_WIDTH)
            label = f"{candidate} {MINUS} {baseline}"
            panels.setdefault(metric, []).append(_row(difference, label))

    runs_text = "every two runs"
    if len(pairs) == 1:
        runs_text = f"{differences[0].candidate} against {differences[0].baseline}"
    title = f"{dataset_name(dataset)}: {runs_text}"
    header = [field.name for field in fields(Difference)]
    csv = csv_text(header, map(astuple, differences))
    return forest_plot(f"differences-{slug(dataset)}", title, panels, csv)


def _row(difference: Difference, label: str) -> Row:
    """The row of a difference in the forest plot, with its adjusted p.

    Shares are in percentage points, other metrics on their own scale.
    """
    estimate = difference.estimate
    if measures.measure_of(difference.metric).percent:
        estimate = in_percent(estimate)
    test_text = "no test"
    if difference.p_holm is not None:
        test_text = f"p {p_text(difference.p_holm)}"
    return difference_row(label, estimate, test_text, significance(difference))
