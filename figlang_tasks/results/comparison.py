"""Differences between runs, with paired tests: what ``figlang compare`` and reports show."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from figlang_tasks.metrics import significance
from figlang_tasks.metrics.intervals import DEFAULT_SEED
from figlang_tasks.results import measures
from figlang_tasks.results.comparability import (
    ComparisonError,
    RunsByName,
    check_comparable,
    check_same_scorer,
    find_shared_tasks,
)
from figlang_tasks.results.measures import MetricScope
from figlang_tasks.results.paired_statistics import paired_statistics
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL, Estimate, Measure, flat


@dataclass(frozen=True)
class Difference:
    """A candidate run minus a baseline run, by one metric of one task.

    Attributes:
        task: its name; across tasks the names of both: ``vflute / vflute_blind``.
        name: the metric with its scope: ``f1@0_muse``.
        scope: ``all`` for all rows.
        baseline: the name of the run that was given earlier.
        candidate: the name of the run that was given later.
        baseline_value, candidate_value: on the scale of the metric; the mean over repeats, and
            over several answers to a row.
        difference: the candidate's value minus the baseline's.
        low, high: the 95 % interval of the difference. Like each p, None without a test, or with
            too few rows.
        p_randomization: two-sided; None where a run has repeats.
        p_holm: `p`, adjusted for all tests of the call.
        baseline_rows, candidate_rows: rows of the benchmark in the value; None if unknown, or if
            repeats differ.
        smallest: the smallest true difference that these rows can show
            (`figlang_tasks.metrics.significance.smallest_difference`).
        p_repeats: two-sided, in place of `p_randomization` where a run has repeats.
        baseline_repeats, candidate_repeats: runs of that name; several answers to a row
            (``--repeats``) are one run.
        baseline_sd, candidate_sd: the standard deviation over repeats; None for one run.
    """

    task: str
    name: str
    metric: str
    scope: str
    baseline: str
    candidate: str
    baseline_value: float
    candidate_value: float
    difference: float
    low: float | None = None
    high: float | None = None
    p_randomization: float | None = None
    p_holm: float | None = None
    baseline_rows: int | None = None
    candidate_rows: int | None = None
    smallest: float | None = None
    p_repeats: float | None = None
    baseline_repeats: int = 1
    candidate_repeats: int = 1
    baseline_sd: float | None = None
    candidate_sd: float | None = None

    @property
    def p(self) -> float | None:
        """The two-sided p, before adjustment; None without a test."""
        return self.p_randomization if self.p_repeats is None else self.p_repeats


def compare(
    runs: Sequence[Run],
    metrics: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    overall: bool = False,
    resamples: int = 10_000,
    seed: int = DEFAULT_SEED,
    *,
    every: bool = False,
) -> list[Difference]:
    """Compare every two runs on every task that they share, and test the differences.

    Runs of one task each, on the same data, are compared across tasks too (zero-shot with
    hypothesis only, say).

    Args:
        runs: those of one name are repeats that differ in the seed.
        metrics: with their scope or for all scopes; default the headline metric of each task.
        tasks: default all that two names share.
        overall: leave out all scopes but that of all rows.
        resamples, seed: of the bootstrap, and of approximate randomization.
        every: compare all metrics but diagnostic ones.

    Returns:
        By task and pair of runs, metrics in the order of tables.

    Raises:
        ComparisonError: the runs cannot be compared, or do not have a metric.
        RunError: a run has a damaged record.
    """
    repeats_by_name = Counter(run.name for run in runs)
    if len(repeats_by_name) < 2:
        raise ComparisonError("only one run: give at least two to compare")
    shared_tasks = find_shared_tasks(runs, tasks)
    for task, runs_by_name in shared_tasks.items():
        check_comparable(task, runs_by_name, repeats_by_name)
    _check_known(metrics or (), shared_tasks.values())

    choice = _MetricChoice(metrics, overall, every)
    differences: list[Difference] = []
    for task, runs_by_name in shared_tasks.items():
        differences += _compare_task(task, runs_by_name, choice, resamples, seed)
    return adjust_p_values(differences)


def adjust_p_values(differences: Sequence[Difference]) -> list[Difference]:
    """The differences with `p_holm`: p adjusted by Holm's method for all tests among them."""
    p_values = [difference.p for difference in differences if difference.p is not None]
    adjusted_p_values = iter(significance.holm(p_values))
    adjusted: list[Difference] = []
    for difference in differences:
        if difference.p is None:
            adjusted.append(difference)
        else:
            adjusted.append(replace(difference, p_holm=next(adjusted_p_values)))
    return adjusted


# --- which metrics are compared ---


@dataclass(frozen=True)
class _MetricChoice:
    """Which metrics the user wants to compare; the arguments are those of `compare`."""

    metrics: Sequence[str] | None
    overall: bool
    every: bool

    def includes(self, metric_scope: MetricScope, measure: Measure, headline: str) -> bool:
        """Whether to compare a metric in a scope; `headline` is the headline metric of its task."""
        if self.metrics is not None and metric_scope.name in self.metrics:
            return True
        # Scopes that repeat one measurement (folds, wordings) are compared only if they are named.
        if metric_scope.scope != OVERALL and (self.overall or measure.averaged):
            return False
        if self.metrics is not None:
            return metric_scope.metric in self.metrics
        if self.every:
            return not measure.is_diagnostic
        return metric_scope.name == headline


def _check_known(metrics: Iterable[str], shared_tasks: Iterable[RunsByName]) -> None:
    """Raise a `ComparisonError` for the first metric that no run has."""
    known_names: set[str] = set()
    for runs_by_name in shared_tasks:
        for runs in runs_by_name.values():
            for run in runs:
                for metric_scope in _finite_estimates(run):
                    known_names.update([metric_scope.metric, metric_scope.name])
    for metric in metrics:
        if metric not in known_names:
            raise ComparisonError(
                f"no metric {metric!r} in these runs; there are: {', '.join(sorted(known_names))}"
            )


def _finite_estimates(run: TaskRun) -> dict[MetricScope, Estimate]:
    """The estimates of a run whose value is a number, by metric and scope."""
    estimates: dict[MetricScope, Estimate] = {}
    for metric, scope, estimate in flat(run.estimates):
        if np.isfinite(estimate.value):
            estimates[MetricScope(metric, scope)] = estimate
    return estimates


def _declared_measures(runs_by_name: RunsByName) -> dict[str, Measure]:
    """The measures of the runs by name, in the order of tables."""
    measures_by_name: dict[str, Measure] = {}
    for runs in runs_by_name.values():
        for run in runs:
            measures_by_name.update(run.measures.by_name)
    return measures_by_name


def _in_table_order(
    metric_scopes: Iterable[MetricScope], measures_by_name: Mapping[str, Measure]
) -> list[MetricScope]:
    """Metrics as their benchmark declares them; scopes of each in the order of the estimates."""
    unique = list(dict.fromkeys(metric_scopes))
    metrics = list(measures_by_name)
    scopes = list(dict.fromkeys(metric_scope.scope for metric_scope in unique))

    def rank(metric_scope: MetricScope) -> tuple[int, int]:
        return metrics.index(metric_scope.metric), scopes.index(metric_scope.scope)

    return sorted(unique, key=rank)


# --- one task ---


@dataclass(frozen=True)
class _Repeats:
    """What the repeats of a run have for one metric in one scope; a single run is one repeat."""

    name: str
    estimates: Sequence[Estimate]

    @property
    def values(self) -> list[float]:
        return [estimate.value for estimate in self.estimates]

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    @property
    def standard_deviation(self) -> float | None:
        """The sample standard deviation over repeats; None for a single run."""
        if len(self.estimates) == 1:
            return None
        return float(np.std(self.values, ddof=1))

    @property
    def rows(self) -> int | None:
        """Rows that the value is taken over; None if unknown, or if repeats differ."""
        rows = self.estimates[0].rows
        if any(estimate.rows != rows for estimate in self.estimates):
            return None
        return rows


def _compare_task(
    task: str, runs_by_name: RunsByName, choice: _MetricChoice, resamples: int, seed: int
) -> list[Difference]:
    """The differences of every two runs on one task, by each metric that is chosen."""
    measures_by_name = _declared_measures(runs_by_name)
    estimates_by_name: dict[str, list[dict[MetricScope, Estimate]]] = {}
    for name, runs in runs_by_name.items():
        estimates_by_name[name] = [_finite_estimates(run) for run in runs]
    chosen_metrics = _chosen_metrics(estimates_by_name.values(), measures_by_name, choice)
    if _need_explanation_scores(chosen_metrics, runs_by_name):
        check_same_scorer(task, runs_by_name)

    tested_metrics = [
        metric_scope
        for metric_scope in chosen_metrics
        if not measures_by_name[metric_scope.metric].is_diagnostic
    ]
    statistics = paired_statistics(task, runs_by_name, tested_metrics)
    tests = significance.compare_any(statistics, resamples, seed)

    differences: list[Difference] = []
    names = list(enumerate(runs_by_name))
    for (i, baseline_name), (j, candidate_name) in itertools.combinations(names, 2):
        for metric_scope in chosen_metrics:
            baseline = _repeats(baseline_name, estimates_by_name[baseline_name], metric_scope)
            candidate = _repeats(candidate_name, estimates_by_name[candidate_name], metric_scope)
            if baseline is not None and candidate is not None:
                test = tests[i, j].get(metric_scope.name)
                differences.append(_difference(task, metric_scope, baseline, candidate, test))
    return differences


def _chosen_metrics(
    estimates_by_run: Iterable[Sequence[Mapping[MetricScope, Estimate]]],
    measures_by_name: Mapping[str, Measure],
    choice: _MetricChoice,
) -> list[MetricScope]:
    """The metrics with scope that any run has and the user chose, in the order of tables."""
    metric_scopes: list[MetricScope] = []
    for estimates_of_repeats in estimates_by_run:
        for estimates in estimates_of_repeats:
            metric_scopes += estimates
    ordered_metrics = _in_table_order(metric_scopes, measures_by_name)

    overall_metrics = [metric for metric, scope in ordered_metrics if scope == OVERALL]
    headline = measures.headline_metric(overall_metrics, measures_by_name)
    return [
        metric_scope
        for metric_scope in ordered_metrics
        if choice.includes(metric_scope, measures_by_name[metric_scope.metric], headline)
    ]


def _need_explanation_scores(
    metric_scopes: Iterable[MetricScope], runs_by_name: RunsByName
) -> bool:
    """Whether the value of any of the metrics depends on explanation scores."""
    metrics_of_explanations: set[str] = set()
    for runs in runs_by_name.values():
        for run in runs:
            metrics_of_explanations.update(run.metrics_of_explanations)
    return any(metric in metrics_of_explanations for metric, _ in metric_scopes)


def _repeats(
    name: str, repeats: Sequence[Mapping[MetricScope, Estimate]], metric_scope: MetricScope
) -> _Repeats | None:
    """The estimates of all repeats for a metric; None if one of them has none."""
    estimates: list[Estimate] = []
    for estimates_of_repeat in repeats:
        if metric_scope not in estimates_of_repeat:
            return None
        estimates.append(estimates_of_repeat[metric_scope])
    return _Repeats(name, estimates)


def _difference(
    task: str,
    metric_scope: MetricScope,
    baseline: _Repeats,
    candidate: _Repeats,
    test: significance.Comparison | None,
) -> Difference:
    """The difference of two runs by one metric, with the numbers of its test if there is one."""
    difference = Difference(
        task=task,
        name=metric_scope.name,
        metric=metric_scope.metric,
        scope=metric_scope.scope,
        baseline=baseline.name,
        candidate=candidate.name,
        baseline_value=baseline.mean,
        candidate_value=candidate.mean,
        difference=candidate.mean - baseline.mean,
        baseline_rows=baseline.rows,
        candidate_rows=candidate.rows,
        baseline_repeats=len(baseline.estimates),
        candidate_repeats=len(candidate.estimates),
        baseline_sd=baseline.standard_deviation,
        candidate_sd=candidate.standard_deviation,
    )
    if test is None:
        return difference
    return replace(
        difference,
        low=_none_for_nan(test.low),
        high=_none_for_nan(test.high),
        p_randomization=_none_for_nan(test.p_randomization),
        p_repeats=_none_for_nan(test.p_repeats),
        smallest=_none_for_nan(test.smallest),
    )


def _none_for_nan(number: float) -> float | None:
    return None if np.isnan(number) else number
