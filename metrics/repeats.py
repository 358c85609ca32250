"""Tests of systems that were run several times and differ in the seed: the hierarchical bootstrap.

The Multi-Bootstrap of Sellam et al. 2022 (ICLR, "The MultiBERTs", arXiv 2106.16163).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .intervals import CONFIDENCE, DEFAULT_SEED, RESAMPLES, error_of_resamples
from .pairs import (
    ALPHA,
    POWER,
    ROUNDING,
    TOO_FEW,
    Cell,
    Comparison,
    Pair,
    bootstrap,
    by_units,
    generators,
    not_better,
)
from .statistic import Floats, Statistic


def compare_repeats(
    systems: Sequence[Sequence[Mapping[str, Statistic]]],
    resamples: int = RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> dict[Pair, dict[str, Comparison]]:
    """The `Comparison` of every two systems whose repeats (runs that differ in the seed) stand for
    all seeds.

    The value of a system is the mean over its repeats. A hierarchical bootstrap gives the standard
    error of a difference: units are drawn first, the same ones for all repeats of both systems,
    then repeats of each system, whole ones, since a seed makes a run better or worse on all its
    rows. Of S repeats S - 1 are drawn, as S would vary too little (Rao & Wu 1988, "Resampling
    inference with complex survey data"); a single one stays. Interval and p are those of t, with
    Welch & Satterthwaite's degrees of freedom: few repeats say little of how much seeds matter.

    Args:
        systems: metrics by name, of each repeat of each system; a metric that one repeat lacks is
            left out of its system. The rest as in `compare`.

    Returns:
        As `compare`, with `Comparison.p_repeats`, two-sided, in place of p_randomization, which is
        NaN.

    Raises:
        ValueError: as `compare`.

    Examples:
        Two runs of each system; in the second run of the second, one row more is right:

        >>> rows = [str(row) for row in range(20)]
        >>> runs = [[{"acc": Statistic.ratio_of(rows, [row < n for row in range(20)])} for n in of]
        ...         for of in ((10, 10), (15, 16))]
        >>> found = compare_repeats(runs)[0, 1]["acc"]
        >>> round(found.difference, 3), found.p_repeats < 0.05
        (0.275, True)
    """
    runs = [run for system in systems for run in system]
    starts = [0, *itertools.accumulate(map(len, systems))]
    members = [range(*ends) for ends in itertools.pairwise(starts)]
    found: dict[Pair, dict[str, Comparison]] = {
        pair: {} for pair in itertools.combinations(range(len(systems)), 2)
    }
    for units, names in by_units(runs, members).items():
        cells = {
            (run, name): runs[run][name]
            for name, having in names.items()
            for at in having
            for run in members[at]
        }
        drawn = bootstrap(cells, resamples, generators(seed, units)[0])
        for name, having in names.items():
            for i, j in itertools.combinations(having, 2):
                baseline = _Repeats.of([(run, name) for run in members[i]], cells, drawn)
                candidate = _Repeats.of([(run, name) for run in members[j]], cells, drawn)
                found[i, j][name] = _compare_repeats(baseline, candidate, seed)
    return found


@dataclass(frozen=True)
class _Repeats:
    """One metric of the repeats of a system.

    Attributes:
        totals: the metric of each repeat on all units, [repeats].
        values: and in each resample, [repeats, resamples].
        rows: the rows of the statistic, averaged over the repeats, [units, columns].
    """

    totals: Floats
    values: Floats
    rows: Floats

    @classmethod
    def of(
        cls, runs: Sequence[Cell], cells: Mapping[Cell, Statistic], drawn: Mapping[Cell, Floats]
    ) -> _Repeats:
        """The repeats of a system, given by its runs."""
        return cls(
            totals=np.array([cells[run].total() for run in runs]),
            values=np.stack([drawn[run] for run in runs]),
            rows=np.mean([cells[run].rows for run in runs], axis=0),
        )

    def seed_error(self) -> float | None:
        """The standard error of the mean over repeats; None of a single one."""
        if len(self.totals) == 1:
            return None
        return float(self.totals.std(ddof=1)) / len(self.totals) ** 0.5

    def largest(self) -> float:
        """The largest value that occurs, without its sign."""
        values = np.concatenate([self.totals, self.values.ravel()])
        return float(np.nanmax(np.abs(values), initial=0.0))


def _compare_repeats(baseline: _Repeats, candidate: _Repeats, seed: int) -> Comparison:
    """The comparison of two systems by the means over their repeats: t, with an error by a
    hierarchical bootstrap.
    """
    units = len(baseline.rows)
    before, after = float(baseline.totals.mean()), float(candidate.totals.mean())
    difference = after - before
    differences = _some_repeats(candidate.values, [seed, 1]) - _some_repeats(
        baseline.values, [seed, 0]
    )
    tolerance = ROUNDING * max(baseline.largest(), candidate.largest())
    p_bootstrap = not_better(difference, differences, tolerance)

    error = error_of_resamples(differences, units)
    if error is None or error <= tolerance:
        nan = math.nan
        return Comparison(
            before,
            after,
            difference,
            nan,
            nan,
            p_bootstrap,
            p_randomization=nan,
            smallest_detectable=nan,
            p_repeats=1.0,
        )

    freedom = _degrees_of_freedom(baseline, candidate)
    half = _t_quantile(freedom, (1 + CONFIDENCE) / 2) * error
    is_equal = np.isclose(baseline.rows, candidate.rows, rtol=ROUNDING, atol=0).all(axis=1)
    differing = units - int(np.count_nonzero(is_equal))
    smallest = math.nan
    if differing >= TOO_FEW:
        smallest = (_t_quantile(freedom, 1 - ALPHA / 2) + _t_quantile(freedom, POWER)) * error
    return Comparison(
        before,
        after,
        difference,
        low=difference - half,
        high=difference + half,
        p_bootstrap=p_bootstrap,
        p_randomization=math.nan,
        smallest_detectable=smallest,
        p_repeats=_p_of_t(difference / error, freedom, differing, differences.size),
    )


def _degrees_of_freedom(baseline: _Repeats, candidate: _Repeats) -> float:
    """Welch & Satterthwaite's degrees of freedom of the errors of units and of the seeds of both
    systems.
    """
    units = len(baseline.rows)
    unit_error = error_of_resamples(
        candidate.values.mean(axis=0) - baseline.values.mean(axis=0), units
    )
    errors = [(unit_error or 0.0, units - 1)]
    for repeats in (baseline, candidate):
        seed_error = repeats.seed_error()
        if seed_error is not None:
            errors.append((seed_error, len(repeats.totals) - 1))
    spread = sum(error**4 / degrees for error, degrees in errors)
    return sum(error**2 for error, _ in errors) ** 2 / spread if spread else float(units - 1)


def _t_quantile(freedom: float, share: float) -> float:
    """The quantile of Student's t."""
    from scipy import special

    return float(special.stdtrit(freedom, share))


def _p_of_t(t: float, freedom: float, differing: int, resamples: int) -> float:
    """Two-sided p of Student's t; at least what swaps of the differing units could give, as in
    `compare`.
    """
    from scipy import special

    least = max(2.0 ** (1 - differing), 1 / (1 + resamples))
    return min(1.0, max(least, 2 * float(special.stdtr(freedom, -abs(t)))))


def _some_repeats(values: Floats, seed: Sequence[int]) -> Floats:
    """The mean of values [repeats, resamples] over all repeats but one, drawn with replacement in
    each resample.
    """
    repeats, resamples = values.shape
    chosen = np.random.default_rng(seed).integers(0, repeats, size=(max(1, repeats - 1), resamples))
    return np.asarray(np.take_along_axis(values, chosen, axis=0).mean(axis=0), dtype=np.float64)
