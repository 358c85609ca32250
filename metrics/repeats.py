"""Tests of systems that were run several times and differ in the seed: the hierarchical bootstrap.

The Multi-Bootstrap of Sellam et al. 2022 (ICLR, "The MultiBERTs", arXiv 2106.16163).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .formula_intervals import t_quantile
from .intervals import DEFAULT_SEED, RESAMPLES, error_of_resamples
from .pairs import (
    ROUNDING,
    Comparison,
    Pair,
    RunMetric,
    bootstrap_p,
    bootstrap_values,
    group_by_units,
    random_generators,
    statistics_of_runs,
)
from .power import ALPHA, POWER, TOO_FEW
from .statistic import Floats, Statistic


def compare_repeats(
    systems: Sequence[Sequence[Mapping[str, Statistic]]],
    resamples: int = RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> dict[Pair, dict[str, Comparison]]:
    """Compare every two systems by their means over repeats; return the results by pair and metric.

    Repeats are runs that differ in the seed, and stand for all seeds. A hierarchical bootstrap
    gives the standard error of a difference: units are drawn first, the same ones for all repeats
    of both systems, then repeats of each system, whole ones, since a seed makes a run better or
    worse on all its rows. Of S repeats S - 1 are drawn, as S would vary too little (Rao & Wu 1988,
    "Resampling inference with complex survey data"); a single one stays. Interval and p are those
    of t, with Welch & Satterthwaite's degrees of freedom: few repeats say little of how much seeds
    matter.

    Args:
        systems: the statistics of each repeat of each system, by the name of the metric. A system
            does not have a metric that one of its repeats lacks.
        resamples: at least 1.
        seed: a non-negative int.

    Returns:
        `Comparison` by pair ``(i, j)``, i < j, and metric; system i is the baseline. Each has
        `Comparison.p_repeats`, and NaN for p_randomization.

    Raises:
        ValueError: different units or numbers of columns behind one name, or no resamples.

    Examples:
        Two runs of each system; in the second run of the candidate, one row more is right:

        >>> rows = [str(row) for row in range(20)]
        >>> def run(rows_right):
        ...     return {"acc": Statistic.ratio_of(rows, [row < rows_right for row in range(20)])}
        >>> comparison = compare_repeats([[run(10), run(10)], [run(15), run(16)]])[0, 1]["acc"]
        >>> round(comparison.difference, 3), comparison.p_repeats < 0.05
        (0.275, True)

    Source: Sellam et al. 2022.
    """
    runs: list[Mapping[str, Statistic]] = []
    runs_of_systems: list[range] = []
    for repeats in systems:
        runs_of_systems.append(range(len(runs), len(runs) + len(repeats)))
        runs.extend(repeats)

    comparisons: dict[Pair, dict[str, Comparison]] = {}
    for pair in itertools.combinations(range(len(systems)), 2):
        comparisons[pair] = {}
    for units, systems_by_metric in group_by_units(runs, runs_of_systems).items():
        bootstrap_generator, _ = random_generators(seed, units)
        statistics = statistics_of_runs(runs, systems_by_metric, runs_of_systems)
        values = bootstrap_values(statistics, resamples, bootstrap_generator)
        for name, indices in systems_by_metric.items():
            for i, j in itertools.combinations(indices, 2):
                baseline = _Repeats.of(name, runs_of_systems[i], statistics, values)
                candidate = _Repeats.of(name, runs_of_systems[j], statistics, values)
                comparisons[i, j][name] = _compare_two(baseline, candidate, seed)
    return comparisons


@dataclass(frozen=True)
class _Repeats:
    """One metric of the repeats of a system.

    Attributes:
        totals: the metric of each repeat on all units, [repeats].
        values: the metric of each repeat in each resample, [repeats, resamples].
        rows: the rows of the statistic, averaged over the repeats, [units, columns].
    """

    totals: Floats
    values: Floats
    rows: Floats

    @classmethod
    def of(
        cls,
        name: str,
        runs: Sequence[int],
        statistics: Mapping[RunMetric, Statistic],
        values: Mapping[RunMetric, Floats],
    ) -> _Repeats:
        """Collect one metric of the runs of a system.

        Args:
            name: the metric.
            runs: the indices of the system's runs.
            statistics: of all runs.
            values: of all runs, in each resample.
        """
        run_metrics = [RunMetric(run, name) for run in runs]
        return cls(
            totals=np.array([statistics[run_metric].total() for run_metric in run_metrics]),
            values=np.stack([values[run_metric] for run_metric in run_metrics]),
            rows=np.mean([statistics[run_metric].rows for run_metric in run_metrics], axis=0),
        )

    def seed_error(self) -> float | None:
        """The standard error of the mean over repeats; None for a single repeat."""
        if len(self.totals) == 1:
            return None
        return float(self.totals.std(ddof=1)) / len(self.totals) ** 0.5

    def largest_magnitude(self) -> float:
        """The largest value without its sign, on all units or in a resample."""
        values = np.concatenate([self.totals, self.values.ravel()])
        return float(np.nanmax(np.abs(values), initial=0.0))


def _compare_two(baseline: _Repeats, candidate: _Repeats, seed: int) -> Comparison:
    """Compare two systems by their means over repeats, with a t test.

    The error of the difference comes from a bootstrap of units and of repeats.
    """
    units = len(baseline.rows)
    baseline_mean = float(baseline.totals.mean())
    candidate_mean = float(candidate.totals.mean())
    difference = candidate_mean - baseline_mean
    # Each system draws its repeats with a seed of its own.
    candidate_values = _means_over_drawn_repeats(candidate.values, [seed, 1])
    baseline_values = _means_over_drawn_repeats(baseline.values, [seed, 0])
    resampled_differences = candidate_values - baseline_values
    tolerance = ROUNDING * max(baseline.largest_magnitude(), candidate.largest_magnitude())
    p_bootstrap = bootstrap_p(difference, resampled_differences, tolerance)

    comparison = Comparison(
        baseline_mean,
        candidate_mean,
        difference,
        low=math.nan,
        high=math.nan,
        p_bootstrap=p_bootstrap,
        p_randomization=math.nan,
        smallest_detectable=math.nan,
        p_repeats=1.0,
    )
    error = error_of_resamples(resampled_differences, units)
    if error is None or error <= tolerance:  # Without an error there is no t: p stays 1.
        return comparison

    degrees = _degrees_of_freedom(baseline, candidate)
    half_width = t_quantile(degrees) * error
    rows_are_equal = np.isclose(baseline.rows, candidate.rows, rtol=ROUNDING, atol=0).all(axis=1)
    differing_units = units - int(np.count_nonzero(rows_are_equal))
    smallest_detectable = math.nan
    if differing_units >= TOO_FEW:
        # As in `smallest_difference`, with t: a finding at ALPHA, missed with 1 - POWER at most.
        t_sum = t_quantile(degrees, 1 - ALPHA / 2) + t_quantile(degrees, POWER)
        smallest_detectable = t_sum * error
    resamples = len(resampled_differences)
    return replace(
        comparison,
        low=difference - half_width,
        high=difference + half_width,
        smallest_detectable=smallest_detectable,
        p_repeats=_two_sided_p(difference / error, degrees, differing_units, resamples),
    )


def _degrees_of_freedom(baseline: _Repeats, candidate: _Repeats) -> float:
    """Welch & Satterthwaite's degrees of freedom of the errors of units and of seeds.

    ``sum(error**2)**2 / sum(error**4 / degrees)``, over the error that units make, with units - 1
    degrees, and that of the seeds of each system, with repeats - 1 degrees.
    """
    units = len(baseline.rows)
    mean_differences = candidate.values.mean(axis=0) - baseline.values.mean(axis=0)
    unit_error = error_of_resamples(mean_differences, units)
    errors = [unit_error or 0.0]
    degrees_of_errors = [units - 1]
    for repeats in (baseline, candidate):
        seed_error = repeats.seed_error()
        if seed_error is not None:
            errors.append(seed_error)
            degrees_of_errors.append(len(repeats.totals) - 1)
    spread = sum(
        error**4 / degrees for error, degrees in zip(errors, degrees_of_errors, strict=True)
    )
    if not spread:
        return float(units - 1)
    return sum(error**2 for error in errors) ** 2 / spread


def _two_sided_p(t: float, degrees: float, differing_units: int, resamples: int) -> float:
    """The two-sided p of Student's t, but no less than random swaps could give.

    Swaps of the differing units (`compare`) cannot give less than 2 / 2**differing_units, nor less
    than 1 / (1 + resamples).
    """
    from scipy import special

    least = max(2.0 ** (1 - differing_units), 1 / (1 + resamples))
    return min(1.0, max(least, 2 * float(special.stdtr(degrees, -abs(t)))))


def _means_over_drawn_repeats(values: Floats, seed: Sequence[int]) -> Floats:
    """For each resample the mean of values over repeats that are drawn anew, [resamples].

    Args:
        values: [repeats, resamples]; of S repeats S - 1 are drawn with replacement, a single one
            stays.
        seed: of the draws.
    """
    repeats, resamples = values.shape
    rng = np.random.default_rng(seed)
    drawn_repeats = rng.integers(0, repeats, size=(max(1, repeats - 1), resamples))
    means = np.take_along_axis(values, drawn_repeats, axis=0).mean(axis=0)
    return np.asarray(means, dtype=np.float64)
