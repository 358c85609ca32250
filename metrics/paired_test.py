"""The paired test of one metric of two systems: bootstrap and approximate randomization."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from .intervals import error_of_resamples, interval_of_resamples
from .pairs import ROUNDING, Comparison, RunMetric, bootstrap_p
from .power import TOO_FEW, smallest_difference
from .resampling import RowSums, block_sizes
from .statistic import Floats, Statistic


class PairedTest:
    """One metric of two systems, with its differences in the resamples.

    Attributes:
        baseline, candidate: the systems, with the name of the metric.
        baseline_value, candidate_value: the metric of each on all units.
        difference: ``candidate_value - baseline_value``.
        units: the number of units.
        differing_units: the number of units whose rows differ between the systems.
        resampled_differences: of each resample, [resamples]; NaN where undefined.
        tolerance: differences up to this one are rounding.

    Raises:
        ValueError: the metric is undefined for one of the systems.
    """

    def __init__(
        self,
        baseline: RunMetric,
        candidate: RunMetric,
        statistics: Mapping[RunMetric, Statistic],
        values: Mapping[RunMetric, Floats],
    ) -> None:
        """Take the values of two systems from those of all.

        Args:
            baseline, candidate: the systems, with the name of the metric.
            statistics: of all systems.
            values: of all systems in each resample, [resamples] each.
        """
        self.baseline = baseline
        self.candidate = candidate
        self.baseline_value = statistics[baseline].total()
        self.candidate_value = statistics[candidate].total()
        self.difference = self.candidate_value - self.baseline_value
        if math.isnan(self.difference):
            raise ValueError(
                f"metric {baseline.metric!r} of systems {baseline.run} and {candidate.run} is"
                f" {self.baseline_value} and {self.candidate_value} on all units: nothing to"
                " compare"
            )
        baseline_rows = statistics[baseline].rows
        rows_differ = (baseline_rows != statistics[candidate].rows).any(axis=1)
        self.units = len(baseline_rows)
        self.differing_units = int(np.count_nonzero(rows_differ))
        self.resampled_differences = values[candidate] - values[baseline]
        largest_resampled = float(np.nanmax(np.abs([values[baseline], values[candidate]])))
        self.tolerance = ROUNDING * max(
            abs(self.baseline_value), abs(self.candidate_value), largest_resampled
        )

    def comparison(self, extreme_swaps: int) -> Comparison:
        """The result of the test: difference, interval, p values, smallest detectable difference.

        Args:
            extreme_swaps: how many random swaps gave a difference at least as large.
        """
        interval = interval_of_resamples(self.resampled_differences, self.units)
        low, high = interval or (math.nan, math.nan)
        return Comparison(
            self.baseline_value,
            self.candidate_value,
            self.difference,
            low,
            high,
            p_bootstrap=bootstrap_p(self.difference, self.resampled_differences, self.tolerance),
            p_randomization=(extreme_swaps + 1) / (len(self.resampled_differences) + 1),
            smallest_detectable=self.smallest_detectable(),
        )

    def smallest_detectable(self) -> float:
        """The `smallest_difference` of these systems; NaN if too few units differ."""
        if self.differing_units < TOO_FEW:
            return math.nan
        error = error_of_resamples(self.resampled_differences, self.units)
        if error is None:
            return math.nan
        return smallest_difference(error, self.units, self.difference)


def count_extreme_swaps(
    tests: Sequence[PairedTest],
    statistics: Mapping[RunMetric, Statistic],
    resamples: int,
    rng: np.random.Generator,
) -> list[int]:
    """How many random swaps of each test give a difference at least as large as the observed one.

    Swaps whose difference is undefined count too.

    Args:
        tests: those of all pairs and metrics over the same units; each swap is the same for all.
        statistics: of all systems in the tests.
        resamples: the number of swaps.
        rng: where the swaps come from.
    """
    row_sums = RowSums([statistic.rows for statistic in statistics.values()])
    counts = [0] * len(tests)
    # The sums of all runs and metrics in all swaps would take hundreds of megabytes.
    for size in block_sizes(resamples, row_sums.columns):
        sums_of_kept, sums_of_swapped = row_sums.of_random_swaps(size, rng)
        kept_sums = dict(zip(statistics, sums_of_kept, strict=True))
        swapped_sums = dict(zip(statistics, sums_of_swapped, strict=True))
        for index, test in enumerate(tests):
            baseline_sums = kept_sums[test.baseline] + swapped_sums[test.candidate]
            candidate_sums = kept_sums[test.candidate] + swapped_sums[test.baseline]
            baseline_values = statistics[test.baseline].value_of(baseline_sums)
            candidate_values = statistics[test.candidate].value_of(candidate_sums)
            differences = np.abs(candidate_values - baseline_values)
            # A comparison with NaN is false: an undefined difference is not smaller.
            is_smaller = differences < abs(test.difference) - test.tolerance
            counts[index] += size - int(np.count_nonzero(is_smaller))
    return counts
