"""Which metrics of some runs are compared, and in which scopes."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from figlang_tasks.core.text import did_you_mean
from figlang_tasks.results import measures
from figlang_tasks.results.comparability import ComparisonError, RunsByName
from figlang_tasks.results.measures import MetricScope
from figlang_tasks.results.task_run import TaskRun
from figlang_tasks.scoring import OVERALL, Estimate, Measure, flat


@dataclass(frozen=True)
class MetricChoice:
    """Which metrics the user wants to compare.

    Attributes:
        requested_names: with a scope (``f1@60_muse``) or without (``f1@60``: in all its scopes);
            None if the user named none.
        only_overall: leave out all scopes but that of all rows; one that the user named stays.
        all_metrics: without names, take all metrics but diagnostic ones; if False, the headline
            metric over all rows.
    """

    requested_names: Sequence[str] | None
    only_overall: bool
    all_metrics: bool

    def includes(self, metric_scope: MetricScope, measure: Measure, headline: str) -> bool:
        """Whether to compare a metric in a scope; a full name of the user's overrides the rest.

        Else scopes that the user excluded, or that repeat one measurement, are left out. Of what is
        left, the metrics that the user named are compared; without names all but diagnostic ones
        (`all_metrics`), or the headline metric over all rows.

        Args:
            measure: the declaration of the metric.
            headline: the name of the headline metric of the task.
        """
        names = self.requested_names
        # `name` is the full name: ``f1@60_muse``, and ``f1@60`` over all rows.
        if names is not None and metric_scope.name in names:
            return True
        if metric_scope.scope != OVERALL:
            if self.only_overall:
                return False
            if measure.averaged:  # Scopes that repeat one measurement (folds, wordings).
                return False

        if names is not None:
            # ``f1@60`` takes all scopes that are left.
            return metric_scope.metric in names
        if self.all_metrics:
            return not measure.is_diagnostic
        # a name without a scope: over all rows alone
        return metric_scope.name == headline


def check_known_metrics(metrics: Iterable[str], shared_tasks: Iterable[RunsByName]) -> None:
    """Raise a `ComparisonError` for the first metric that no run has."""
    known_names: set[str] = set()
    benchmarks: set[str] = set()
    for runs_by_name in shared_tasks:
        for run in all_runs(runs_by_name):
            benchmarks.add(run.benchmark.name)
            for metric_scope in finite_estimates(run):
                known_names.update([metric_scope.metric, metric_scope.name])
    for metric in metrics:
        if metric not in known_names:
            hint = did_you_mean(metric, known_names)
            commands = [f"`figlang tasks {name} --metrics`" for name in sorted(benchmarks)]
            verb = "lists" if len(commands) == 1 else "list"
            raise ComparisonError(
                f"no metric {metric!r} in these runs{hint}; {' and '.join(commands)} {verb} all"
            )


def all_runs(runs_by_name: RunsByName) -> list[TaskRun]:
    """The runs of all names, repeats among them."""
    return list(itertools.chain.from_iterable(runs_by_name.values()))


def finite_estimates(run: TaskRun) -> dict[MetricScope, Estimate]:
    """The estimates of a run by metric and scope, without those whose computation failed (NaN)."""
    estimates: dict[MetricScope, Estimate] = {}
    for metric, scope, estimate in flat(run.estimates):
        if np.isfinite(estimate.value):
            estimates[MetricScope(metric, scope)] = estimate
    return estimates


def declared_measures(runs: Iterable[TaskRun]) -> dict[str, Measure]:
    """The measures of any run by name, in the order of tables."""
    measures_by_name: dict[str, Measure] = {}
    for run in runs:
        measures_by_name.update(run.measures.by_name)
    return measures_by_name


def _in_table_order(
    metric_scopes: Collection[MetricScope], measures_by_name: Mapping[str, Measure]
) -> list[MetricScope]:
    """The same metrics and scopes: metrics in the order of `measures_by_name`, then by scope.

    The scopes of every metric have the order in which `metric_scopes` first names them.
    """
    metrics = list(measures_by_name)
    scopes = list(dict.fromkeys(metric_scope.scope for metric_scope in metric_scopes))

    def position(metric_scope: MetricScope) -> tuple[int, int]:
        return metrics.index(metric_scope.metric), scopes.index(metric_scope.scope)

    return sorted(metric_scopes, key=position)


def choose_metrics(
    estimates_of_runs: Iterable[Sequence[Mapping[MetricScope, Estimate]]],
    measures_by_name: Mapping[str, Measure],
    choice: MetricChoice,
) -> list[MetricScope]:
    """The metrics and scopes that the user chose and any run has, in the order of tables.

    Args:
        estimates_of_runs: for each run, the estimates of each of its repeats.
    """
    metric_scopes: dict[MetricScope, None] = {}  # a set that keeps its order
    for estimates_of_repeats in estimates_of_runs:
        for estimates in estimates_of_repeats:
            metric_scopes.update(dict.fromkeys(estimates))
    ordered = _in_table_order(metric_scopes, measures_by_name)

    overall_metrics = [metric for metric, scope in ordered if scope == OVERALL]
    headline = measures.headline_metric(overall_metrics, measures_by_name)
    chosen: list[MetricScope] = []
    for metric_scope in ordered:
        measure = measures_by_name[metric_scope.metric]
        if choice.includes(metric_scope, measure, headline):
            chosen.append(metric_scope)
    return chosen
