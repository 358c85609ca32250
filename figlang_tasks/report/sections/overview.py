"""The overview: verdicts, the main metric of each task, and warnings about the runs."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.core.text import listing
from figlang_tasks.report.buckets import TaskBuckets
from figlang_tasks.report.charts import Chart, IntervalGroup, interval_chart
from figlang_tasks.report.picture_gain import PictureGain
from figlang_tasks.report.run_warnings import run_warnings
from figlang_tasks.report.sections.layout import BucketTable, Section
from figlang_tasks.report.sections.task_results import (
    TaskResults,
    dataset_name,
    short_task_names,
)
from figlang_tasks.report.verdict import verdicts
from figlang_tasks.results.comparison import Difference
from figlang_tasks.results.task_run import Run


def overview_section(
    runs: Sequence[Run],
    results: Sequence[TaskResults],
    differences: Sequence[Difference],
    buckets: Sequence[TaskBuckets] = (),
    picture_gains: Sequence[PictureGain] = (),
) -> Section:
    """The first section of a report: verdicts, a chart of main metrics, and warnings.

    Args:
        results: all tasks of the report.
        differences: those of every two runs, by the headline metric of each task.
        buckets: those of the tasks of two runs.
        picture_gains: what the pictures add, for runs that have a blind one.
    """
    chart = _main_metrics_chart(results, [run.name for run in runs])
    return Section(
        id="overview-tasks",
        title="Overview",
        verdicts=tuple(verdicts(differences)),
        picture_gains=tuple(gain.sentence for gain in picture_gains),
        buckets=_bucket_table(runs, buckets) if buckets else None,
        charts=() if chart is None else (chart,),
        notes=tuple(_warnings(runs)),
    )


def _bucket_table(runs: Sequence[Run], buckets: Sequence[TaskBuckets]) -> BucketTable:
    """The table of how many rows two runs answer alike or differently, with its explanation.

    Args:
        runs: the two runs.
        buckets: those of one task or more.
    """
    baseline, candidate = (run.name for run in runs)
    tasks_by_meaning: dict[str, list[str]] = {}
    for task_buckets in buckets:
        tasks_by_meaning.setdefault(task_buckets.right, []).append(task_buckets.task)
    meanings = list(tasks_by_meaning)
    if len(tasks_by_meaning) > 1:
        meanings = [f"in {listing(tasks)} {text}" for text, tasks in tasks_by_meaning.items()]
    note = (
        f"Fixed: {candidate} is right where {baseline} is wrong. Broken: the other way round."
        f" Right is {'; '.join(meanings)}. An answer that was not read is not right."
    )
    return BucketTable(f"Rows, from {baseline} to {candidate}", tuple(buckets), note)


def _main_metrics_chart(results: Sequence[TaskResults], run_names: Sequence[str]) -> Chart | None:
    """A chart of each task's main metric, a panel for each dataset; None without a metric.

    A task whose main metric is not a share of right answers is left out: the scale is percent.
    """
    tasks_by_dataset: dict[str, list[str]] = {}
    for task_results in results:
        tasks_by_dataset.setdefault(task_results.dataset, []).append(task_results.task)

    panels: dict[str, dict[str, IntervalGroup]] = {}
    for task_results in results:
        metric = task_results.main_metric()
        if metric is None:
            continue
        task_names = short_task_names(tasks_by_dataset[task_results.dataset])
        category = f"{task_names[task_results.task]} {metric}"
        panel = dataset_name(task_results.dataset)
        panels.setdefault(panel, {})[category] = task_results.interval_group(metric)
    if not panels:
        return None
    return interval_chart(
        "overview-all",
        "The main metric of each task",
        panels,
        axis_label="percent, with 95 % intervals",
        run_order=run_names,
        full_width=True,
    )


def _warnings(runs: Sequence[Run]) -> list[str]:
    """Sentences about what to know of the runs before their numbers are read."""
    # A page that others read must not show paths of this machine.
    warnings = [f"{warning}." for warning in run_warnings(runs, hides_paths=True)]
    unreported_runs = []
    for run in runs:
        if not all(task_run.reported for task_run in run.tasks.values()):
            unreported_runs.append(run.name)
    if unreported_runs:
        warnings.append(
            f"{', '.join(unreported_runs)}: no reported metrics; values are from the samples."
        )
    return warnings
