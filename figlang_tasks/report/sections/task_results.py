"""The results of each task that a report shows, and the names of tasks and datasets."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import Final

from figlang_tasks.core.benchmark import Benchmark, source_of, sources
from figlang_tasks.report.charts import BarGroup, Reference
from figlang_tasks.report.charts.chart import ReferenceKind
from figlang_tasks.results import measures, published
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL, Estimate, Measure, full_name

_REFERENCE_KINDS: Final[Mapping[str, ReferenceKind]] = {"humans": "people", "chance": "chance"}
"""By the kind of setting of a published row; all others are models."""


@dataclass(frozen=True)
class TaskResults:
    """The results of one task in all runs of the report that have it.

    Attributes:
        task: its name.
        runs: the results by the name of the run.
    """

    task: str
    runs: Mapping[str, TaskRun]

    @property
    def first(self) -> TaskRun:
        """The results of the first run, for what all runs share: the data and the kind of task."""
        return next(iter(self.runs.values()))

    @property
    def dataset(self) -> str:
        return self.first.data.dataset

    @property
    def benchmark(self) -> Benchmark:
        return self.first.benchmark

    def overall_metrics(self) -> list[str]:
        """The metrics that any run has a value of over all rows; diagnostics of each run last."""
        metrics: dict[str, None] = {}
        for task_run in self.runs.values():
            metrics.update(dict.fromkeys(_overall_metrics(task_run)))
        return list(metrics)

    def main_metric(self) -> str | None:
        """The metric that stands for the task in charts; None if it is no share of right answers.

        A metric that can be compared between the runs is preferred: all have it, and if it depends
        on explanation scores, one scorer gave them.
        """
        shared = _overall_metrics(self.first)
        for task_run in self.runs.values():
            overall = _overall_metrics(task_run)
            shared = [metric for metric in shared if metric in overall]
        scorers = {task_run.signature or task_run.scorer for task_run in self.runs.values()}
        if self.first.has_explanations and len(scorers) > 1:
            of_explanations = self.first.metrics_of_explanations
            shared = [metric for metric in shared if metric not in of_explanations]

        declared: dict[str, Measure] = {}
        for task_run in self.runs.values():
            declared.update(task_run.measures.by_name)
        metric = measures.headline_metric(shared or self.overall_metrics(), declared)
        if not metric:
            return None
        measure = declared[metric]
        is_share = measure.percent and not measure.is_diagnostic
        return metric if is_share else None

    def scopes(self) -> list[str]:
        """The scopes in which any metric has a value; the one of all rows first."""
        scopes = {OVERALL: None}
        for task_run in self.runs.values():
            for estimates in task_run.estimates.values():
                scopes.update(dict.fromkeys(estimates))
        return list(scopes)

    def bar_group(self, metric: str, scope: str = OVERALL) -> BarGroup:
        """The values of a metric in percent, for a chart, with the published ones."""
        return BarGroup(self.percentages(metric, scope), self.references(metric, scope))

    def percentages(self, metric: str, scope: str = OVERALL) -> dict[str, Estimate]:
        """The value of a metric in percent, by run; runs without one are left out."""
        percentages = {}
        for run, task_run in self.runs.items():
            estimate = task_run.estimates.get(metric, {}).get(scope)
            if estimate is not None:
                percentages[run] = in_percent(estimate)
        return percentages

    def comparable_metrics(self, names: Collection[str]) -> tuple[list[str], str]:
        """The metrics whose published values are comparable with all runs.

        Args:
            names: metrics with their scopes (``f1@60_muse``).

        Returns:
            The names of these metrics, and why others are left out; "" if none is.
        """
        conditions = [task_run.conditions for task_run in self.runs.values()]
        return published.comparable_metrics(self.task, names, conditions)

    def references(self, metric: str, scope: str = OVERALL) -> list[Reference]:
        """The published values of a metric in percent; none unless comparable with all runs."""
        name = full_name(metric, scope)
        comparable, _ = self.comparable_metrics([name])
        references = []
        for row in published.published_rows(self.task, comparable):
            value = row.values[name].value
            if value is not None:  # else a range was published
                kind = _REFERENCE_KINDS.get(row.kind, "model")
                references.append(Reference(row.label, 100 * value, kind))
        return references


def collect_results(runs: Sequence[Run]) -> list[TaskResults]:
    """Group the runs' results by task, benchmark by benchmark, tasks of a dataset by name."""
    runs_by_task: dict[str, dict[str, TaskRun]] = {}
    for run in runs:
        for task, task_run in run.tasks.items():
            runs_by_task.setdefault(task, {})[run.name] = task_run
    results = [TaskResults(task, task_runs) for task, task_runs in runs_by_task.items()]
    datasets = list(sources())
    return sorted(results, key=lambda each: (datasets.index(each.dataset), each.task))


def _overall_metrics(task_run: TaskRun) -> list[str]:
    """The metrics with a value over all rows; diagnostics, which tell how the run went, last."""
    overall = [metric for metric, scopes in task_run.estimates.items() if OVERALL in scopes]
    return sorted(overall, key=lambda metric: task_run.measures.by_name[metric].is_diagnostic)


# --- names and numbers ---


def slug(dataset: str) -> str:
    """A dataset's name as part of an id: lower-case letters, digits and ``-``."""
    return re.sub("[^a-z0-9]+", "-", dataset.lower()).strip("-")


def short_task_names(tasks: Collection[str]) -> dict[str, str]:
    """The names of tasks without the words that all of them begin with, such as ``irfl_``."""
    shared = commonprefix(list(tasks)) if len(tasks) > 1 else ""
    start = shared.rfind("_") + 1
    return {task: task[start:] for task in tasks}


def dataset_name(dataset: str) -> str:
    """The name of a dataset as people read it."""
    return source_of(dataset).title or dataset


def in_percent(estimate: Estimate) -> Estimate:
    """A share and the limits of its interval in percent."""
    if estimate.low is None or estimate.high is None:
        return Estimate(100 * estimate.value)
    return Estimate(100 * estimate.value, 100 * estimate.low, 100 * estimate.high)
