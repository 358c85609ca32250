"""Differences between runs, with paired tests: what ``figlang compare`` and reports show."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from figlang_tasks.core.text import printable
from figlang_tasks.metrics import significance
from figlang_tasks.metrics.intervals import DEFAULT_SEED
from figlang_tasks.results.comparability import (
    ComparisonError,
    RunsByName,
    check_comparable,
    check_same_rows,
    check_same_scorer,
    check_same_version,
    find_shared_tasks,
)
from figlang_tasks.results.measures import MetricScope
from figlang_tasks.results.metric_choice import (
    MetricChoice,
    all_runs,
    check_known_metrics,
    choose_metrics,
    declared_measures,
    finite_estimates,
)
from figlang_tasks.results.paired_statistics import paired_statistics
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring import Estimate


@dataclass(frozen=True)
class Difference:
    """A candidate run minus a baseline run, by one metric of one task.

    Attributes:
        task: its name; across tasks the names of both: ``vflute / vflute_blind``.
        name: the metric with its scope: ``f1@0_muse``; the metric alone for all rows.
        metric: the metric without its scope: ``f1@0``.
        scope: ``muse``; ``all`` for all rows.
        baseline: the name of the run that was given earlier.
        candidate: the name of the run that was given later.
        baseline_value, candidate_value: on the scale of the metric; the mean over repeats, and
            over several answers to a row.
        difference: the candidate's value minus the baseline's.
        low, high: the 95 % interval of the difference. Like each p, None without a test
            (diagnostic metrics, METEOR, FID), or with too few rows.
        p_randomization: two-sided; None if a run has repeats.
        p_holm: `p`, adjusted for all tests of the call.
        baseline_rows, candidate_rows: rows of the benchmark in the value; None if unknown, or if
            repeats differ.
        smallest_detectable: the smallest true difference that these rows can show, with 80 %
            power (`figlang_tasks.metrics.significance.smallest_difference`); None without a test,
            or if the runs differ in too few units.
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
    smallest_detectable: float | None = None
    p_repeats: float | None = None
    baseline_repeats: int = 1
    candidate_repeats: int = 1
    baseline_sd: float | None = None
    candidate_sd: float | None = None

    @property
    def pair(self) -> tuple[str, str]:
        """The names of the runs: baseline, candidate."""
        return self.baseline, self.candidate

    @property
    def estimate(self) -> Estimate:
        """The difference with its interval, as an `Estimate`."""
        return Estimate(self.difference, self.low, self.high)

    @property
    def p(self) -> float | None:
        """The two-sided p, before adjustment; None without a test."""
        return self.p_randomization if self.p_repeats is None else self.p_repeats


def compare(
    runs: Sequence[Run],
    metrics: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    *,
    only_overall: bool = False,
    all_metrics: bool = False,
    resamples: int = 10_000,
    seed: int = DEFAULT_SEED,
) -> list[Difference]:
    """Compare every two runs on every task that they share, and test the differences.

    Runs of one task each, on the same data, are compared across tasks too (zero-shot with
    hypothesis only, say).

    Args:
        runs: those of one name are repeats that differ in the seed.
        metrics: names with a scope (``f1@60_muse``), or without one for all scopes (``f1@60``);
            default the headline metric of each task.
        tasks: default all that two names share.
        only_overall: leave out all scopes but that of all rows, and those named in `metrics`.
        all_metrics: compare all metrics but diagnostic ones; ignored with `metrics`.
        resamples, seed: of the bootstrap, and of approximate randomization.

    Returns:
        The differences, ordered by task, then by pair of runs, then as in tables of metrics.

    Raises:
        ComparisonError: the runs cannot be compared, or do not have a metric.
        RunError: a run has a damaged record.
    """
    run_count_by_name = Counter(run.name for run in runs)
    if len(run_count_by_name) < 2:
        raise ComparisonError(_too_few_names_message(runs))
    shared_tasks = find_shared_tasks(runs, tasks)
    for task, runs_by_name in shared_tasks.items():
        check_comparable(task, runs_by_name, run_count_by_name)
    check_known_metrics(metrics or (), shared_tasks.values())

    choice = MetricChoice(metrics, only_overall, all_metrics)
    differences: list[Difference] = []
    for task, runs_by_name in shared_tasks.items():
        differences += _compare_task(task, runs_by_name, choice, resamples, seed)
    return adjust_p_values(differences)


def headline_difference(
    task: str, runs_by_name: RunsByName, resamples: int = 10_000, seed: int = DEFAULT_SEED
) -> Difference | None:
    """The difference of two runs by the headline metric over all rows; None without a value.

    It warns of nothing, unlike `compare`.

    Args:
        task: its name; across tasks the names of both.
        runs_by_name: the results of the two runs, the baseline first.
        resamples, seed: as for `compare`.

    Raises:
        ComparisonError: the runs cannot be compared.
    """
    (baseline_name, baseline_runs), (candidate_name, candidate_runs) = runs_by_name.items()
    first = baseline_runs[0]
    for run in (*baseline_runs, *candidate_runs):
        check_same_rows(task, baseline_name, first, candidate_name, run)
        check_same_version(task, baseline_name, first, candidate_name, run)
    choice = MetricChoice(None, only_overall=True, all_metrics=False)
    differences = _compare_task(task, runs_by_name, choice, resamples, seed)
    return differences[0] if differences else None


def _too_few_names_message(runs: Sequence[Run]) -> str:
    """Why runs of one name cannot be compared, and what to do."""
    if len(runs) < 2:
        return "only one run: give at least two to compare"
    name = printable(runs[0].name)
    return (
        f"all {len(runs)} runs are named {name}, and runs of one name are repeats of one model,"
        " which are not compared with each other: give the models different names"
        f" ({name}_1=RUN {name}_2=RUN)"
    )


def adjust_p_values(differences: Sequence[Difference]) -> list[Difference]:
    """Copies of the differences, with `p_holm`: `p` adjusted for all tests among them.

    A difference without a test stays as it is.
    """
    p_values = [difference.p for difference in differences if difference.p is not None]
    # Those of the tested differences, in their order.
    adjusted_p_values = iter(significance.holm(p_values))
    adjusted: list[Difference] = []
    for difference in differences:
        if difference.p is None:
            adjusted.append(difference)
        else:
            adjusted.append(replace(difference, p_holm=next(adjusted_p_values)))
    return adjusted


# --- one task ---


@dataclass(frozen=True)
class _Repeats:
    """The estimates of a run for one metric in one scope: one for each of its repeats.

    A run without repeats has a single estimate. `name` is that of the run.
    """

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
    task: str, runs_by_name: RunsByName, choice: MetricChoice, resamples: int, seed: int
) -> list[Difference]:
    """The differences between every two runs on one task, one for each chosen metric and scope."""
    measures_by_name = declared_measures(all_runs(runs_by_name))
    # By the name of the run, the estimates of each of its repeats.
    estimates_by_name: dict[str, list[dict[MetricScope, Estimate]]] = {}
    for name, runs in runs_by_name.items():
        estimates_by_name[name] = [finite_estimates(run) for run in runs]
    chosen_metrics = choose_metrics(estimates_by_name.values(), measures_by_name, choice)
    if _need_explanation_scores(chosen_metrics, runs_by_name):
        check_same_scorer(task, runs_by_name)

    # Diagnostic metrics do not say which model is better: they would only add to Holm's tests.
    tested_metrics = [
        metric_scope
        for metric_scope in chosen_metrics
        if not measures_by_name[metric_scope.metric].is_diagnostic
    ]
    statistics = paired_statistics(task, runs_by_name, tested_metrics)
    # By the positions of two names in `runs_by_name`, the test of each metric by its full name:
    # {(0, 1): {"f1@60": ...}, (0, 2): ...}. Diagnostic metrics have none, nor has METEOR.
    tests = significance.compare_any(statistics, resamples, seed)

    differences: list[Difference] = []
    names = list(runs_by_name)
    for baseline_name, candidate_name in itertools.combinations(names, 2):
        tests_of_pair = tests[names.index(baseline_name), names.index(candidate_name)]
        for metric_scope in chosen_metrics:
            baseline = _repeats(baseline_name, estimates_by_name[baseline_name], metric_scope)
            candidate = _repeats(candidate_name, estimates_by_name[candidate_name], metric_scope)
            if baseline is not None and candidate is not None:
                test = tests_of_pair.get(metric_scope.name)
                differences.append(_difference(task, metric_scope, baseline, candidate, test))
    return differences


def _need_explanation_scores(
    metric_scopes: Iterable[MetricScope], runs_by_name: RunsByName
) -> bool:
    """Whether the value of any of the metrics depends on explanation scores."""
    metrics_of_explanations: set[str] = set()
    for run in all_runs(runs_by_name):
        metrics_of_explanations.update(run.metrics_of_explanations)
    return any(metric in metrics_of_explanations for metric, _ in metric_scopes)


def _repeats(
    name: str,
    estimates_of_repeats: Sequence[Mapping[MetricScope, Estimate]],
    metric_scope: MetricScope,
) -> _Repeats | None:
    """The estimates of all repeats of a run for a metric; None if a repeat has none.

    Args:
        name: of the run.
    """
    estimates: list[Estimate] = []
    for estimates_of_repeat in estimates_of_repeats:
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
    """The difference of two runs by one metric, with interval and p if there is a test."""
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
    # A test has NaN for each number that it does not give, JSON and tables have None.
    return replace(
        difference,
        low=_none_for_nan(test.low),
        high=_none_for_nan(test.high),
        p_randomization=_none_for_nan(test.p_randomization),
        p_repeats=_none_for_nan(test.p_repeats),
        smallest_detectable=_none_for_nan(test.smallest_detectable),
    )


def _none_for_nan(number: float) -> float | None:
    return None if np.isnan(number) else number
