"""The results of each task that a report shows, and the names of tasks and datasets."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os.path import commonprefix
from typing import Final

from figlang_tasks.core.benchmark import Benchmark, source_of, sources
from figlang_tasks.report.charts import IntervalGroup, Reference
from figlang_tasks.report.charts.chart import ReferenceKind
from figlang_tasks.results import measures, published, published_tables
from figlang_tasks.results.metric_choice import declared_measures
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

    @cached_property
    def _conditions(self) -> list[published.RunConditions]:
        """What decides whether published values are comparable with each run; it takes time."""
        return [task_run.conditions for task_run in self.runs.values()]

    @property
    def measures_by_name(self) -> dict[str, Measure]:
        """The measures of any run; a run may have one more, of answers that a model has read."""
        return declared_measures(self.runs.values())

    def overall_metrics(self) -> list[str]:
        """The metrics that any run has a value of over all rows; diagnostics of each run last."""
        metrics: dict[str, None] = {}  # a set that keeps its order
        for task_run in self.runs.values():
            metrics.update(dict.fromkeys(_overall_metrics(task_run)))
        return list(metrics)

    def main_metric(self) -> str | None:
        """The metric that stands for the task in charts; None if it is no share of right answers.

        A metric that can be compared between the runs is preferred.
        """
        candidates = self._shared_metrics() or self.overall_metrics()
        measures_by_name = self.measures_by_name
        metric = measures.headline_metric(candidates, measures_by_name)
        if not metric:  # no run has a value over all rows
            return None
        measure = measures_by_name[metric]
        is_share = measure.percent and not measure.is_diagnostic
        return metric if is_share else None

    def _shared_metrics(self) -> list[str]:
        """The metrics over all rows that can be compared between the runs.

        All runs have them, and if they depend on explanation scores, one scorer gave all scores.
        """
        metrics_of_runs = [_overall_metrics(task_run) for task_run in self.runs.values()]
        shared_metrics: list[str] = []
        for metric in metrics_of_runs[0]:
            if all(metric in run_metrics for run_metrics in metrics_of_runs):
                shared_metrics.append(metric)
        # A run may name its scorer without the signature, which has the versions.
        scorers = {task_run.signature or task_run.scorer for task_run in self.runs.values()}
        if self.first.has_explanations and len(scorers) > 1:
            scored_metrics = self.first.metrics_of_explanations
            shared_metrics = [metric for metric in shared_metrics if metric not in scored_metrics]
        return shared_metrics

    def scopes(self) -> list[str]:
        """The scopes in which any metric has a value; the one of all rows first."""
        scopes = {OVERALL: None}
        for task_run in self.runs.values():
            for estimates in task_run.estimates.values():
                scopes.update(dict.fromkeys(estimates))
        return list(scopes)

    def interval_group(self, metric: str, scope: str = OVERALL) -> IntervalGroup:
        """The values of a metric for a chart: those of the runs, and published ones; in percent."""
        return IntervalGroup(self.percentages(metric, scope), self.references(metric, scope))

    def percentages(self, metric: str, scope: str = OVERALL) -> dict[str, Estimate]:
        """The value of a metric in percent, by the name of each run that has one."""
        percentages = {}
        for run, task_run in self.runs.items():
            estimate = task_run.estimates.get(metric, {}).get(scope)
            if estimate is not None:
                percentages[run] = in_percent(estimate)
        return percentages

    def comparable_metrics(self, full_names: Collection[str]) -> published.ComparableMetrics:
        """Which of some metrics have published values that are comparable with all runs.

        The result also says why the values of the others are left out.

        Args:
            full_names: metrics with their scopes (``f1@60_muse``).
        """
        return published.comparable_metrics(self.task, full_names, self._conditions)

    def references(self, metric: str, scope: str = OVERALL) -> list[Reference]:
        """The published values of a metric in percent; none if not comparable with all runs."""
        name = full_name(metric, scope)
        # The table of metrics says why others are not comparable.
        comparable = self.comparable_metrics([name])
        references = []
        for row in published_tables.published_rows(self.task, comparable.names, comparable.release):
            value = row.values[name].value
            if value is not None:  # None if only a range was published
                kind = _REFERENCE_KINDS.get(row.kind, "model")
                references.append(Reference(row.label, 100 * value, kind))
        return references


def collect_results(runs: Sequence[Run]) -> list[TaskResults]:
    """The results of every task of some runs, in the order of `sources` and of task names."""
    runs_by_task: dict[str, dict[str, TaskRun]] = {}
    for run in runs:
        for task, task_run in run.tasks.items():
            runs_by_task.setdefault(task, {})[run.name] = task_run
    results = [TaskResults(task, task_runs) for task, task_runs in runs_by_task.items()]
    datasets = list(sources())

    def position(task_results: TaskResults) -> tuple[int, str]:
        return datasets.index(task_results.dataset), task_results.task

    return sorted(results, key=position)


def _overall_metrics(task_run: TaskRun) -> list[str]:
    """The metrics of a run with a value over all rows; diagnostics (how the run went) last."""
    overall = [metric for metric, scopes in task_run.estimates.items() if OVERALL in scopes]
    # False sorts before True, and the order stays otherwise.
    return sorted(overall, key=lambda metric: task_run.measures.by_name[metric].is_diagnostic)


# --- names and numbers ---


def slug(dataset: str) -> str:
    """A dataset's name as part of an id: lower-case letters, digits and ``-``."""
    return re.sub("[^a-z0-9]+", "-", dataset.lower()).strip("-")


def short_task_names(tasks: Collection[str]) -> dict[str, str]:
    """A short name for each task: without the words that all begin with, such as ``irfl_``."""
    # The names are no paths: their first characters are compared.
    shared = commonprefix(list(tasks)) if len(tasks) > 1 else ""  # noqa: RUF071
    start = shared.rfind("_") + 1  # after the last whole word that they share
    return {task: task[start:] for task in tasks}


def dataset_name(dataset: str) -> str:
    """The name of a dataset as people read it."""
    return source_of(dataset).title or dataset


def in_percent(estimate: Estimate) -> Estimate:
    """An estimate of a share, 0 to 1, in percent, with its interval if it has one."""
    limits = estimate.limits
    if limits is None:
        return Estimate(100 * estimate.value)
    return Estimate(100 * estimate.value, 100 * limits.low, 100 * limits.high)
