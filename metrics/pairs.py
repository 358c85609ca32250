"""What the paired tests share: their result, and the resamples of all runs over the same units."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from .resampling import RowSums, block_sizes
from .statistic import Floats, Statistic

Pair: TypeAlias = tuple[int, int]
"""The indices of two systems, the baseline's first and smaller."""

SystemsByMetric: TypeAlias = dict[str, list[int]]
"""The indices of the systems that have a metric, by the name of the metric."""

ROUNDING = 1e-12
"""Two values of a metric are equal if they differ by less than this share of its largest value.

Sums in another order differ by so much.
"""


class RunMetric(NamedTuple):
    """A metric of one run; `run` is the index of the run, `metric` the name of the metric."""

    run: int
    metric: str


@dataclass(frozen=True)
class Comparison:
    """The candidate system against the baseline, by one metric. A p value is in (0, 1].

    Attributes:
        baseline, candidate: the value of the metric for each system.
        difference: ``candidate - baseline``.
        low, high: the 95 % interval of the difference, by the paired bootstrap; NaN for a single
            unit, where all resamples have one difference, and where the metric is undefined in
            more than half of them, because too few units carry it. Other resamples without a value
            are left out. They count against the difference in `p_bootstrap`, as swaps without one
            do in `p_randomization`.
        p_bootstrap: one-sided: the share of resamples in which the system that is better on all
            units is not better.
        p_randomization: two-sided: the share of random swaps of outputs with a difference at least
            as large either way. NaN from `compare_repeats`.
        smallest_detectable: the `smallest_difference` that these units can show between systems
            that disagree as much as these two; NaN where they differ in fewer than eight units:
            even if all spoke for one system, that would hardly be a finding.
        p_repeats: two-sided, from `compare_repeats`; NaN from `compare`.
    """

    baseline: float
    candidate: float
    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_randomization: float
    smallest_detectable: float
    p_repeats: float = math.nan


def group_by_units(
    runs: Sequence[Mapping[str, Statistic]], runs_of_systems: Sequence[Sequence[int]]
) -> dict[tuple[str, ...], SystemsByMetric]:
    """Group the metrics by the units they are taken over, each with the systems that have it.

    A system has a metric if all its runs have it. Metrics of fewer than two systems are left out:
    there is nothing to compare.

    Args:
        runs: the statistics of each run, by the name of the metric.
        runs_of_systems: for each system the indices of its runs.

    Returns:
        For each set of units the metrics over it, with the indices of their systems, at least two.

    Raises:
        ValueError: a metric is over other units in one run than in another, or has other columns.
    """
    groups: dict[tuple[str, ...], SystemsByMetric] = {}
    metric_names = dict.fromkeys(itertools.chain.from_iterable(runs))  # each once, in order
    for name in metric_names:
        systems: list[int] = []
        run_indices: list[int] = []
        for system, system_runs in enumerate(runs_of_systems):
            if all(name in runs[run] for run in system_runs):
                systems.append(system)
                run_indices.extend(system_runs)
        if not run_indices:
            continue
        _check_same_units(name, runs, run_indices)
        if len(systems) > 1:
            units = runs[run_indices[0]][name].units
            groups.setdefault(units, {})[name] = systems
    return groups


def _check_same_units(
    name: str, runs: Sequence[Mapping[str, Statistic]], run_indices: Sequence[int]
) -> None:
    """Raise ValueError unless a metric has the same units and as many columns in all runs."""
    first_run = run_indices[0]
    first = runs[first_run][name]
    for run in run_indices[1:]:
        statistic = runs[run][name]
        if statistic.units != first.units or statistic.rows.shape != first.rows.shape:
            raise ValueError(
                f"metric {name!r}: systems {first_run} and {run} differ in their units, or in the"
                " columns of their rows"
            )


def statistics_of_runs(
    runs: Sequence[Mapping[str, Statistic]],
    systems_by_metric: SystemsByMetric,
    runs_of_systems: Sequence[Sequence[int]],
) -> dict[RunMetric, Statistic]:
    """The statistics of all runs of the systems that have each metric.

    Args:
        runs: the statistics of each run, by the name of the metric.
        systems_by_metric: the metrics, each with its systems (`group_by_units`).
        runs_of_systems: for each system the indices of its runs.
    """
    statistics: dict[RunMetric, Statistic] = {}
    for name, systems in systems_by_metric.items():
        for system in systems:
            for run in runs_of_systems[system]:
                statistics[RunMetric(run, name)] = runs[run][name]
    return statistics


def bootstrap_values(
    statistics: Mapping[RunMetric, Statistic], resamples: int, rng: np.random.Generator
) -> dict[RunMetric, Floats]:
    """The value of each statistic in each resample, shape [resamples].

    Args:
        statistics: at least one, all over the same units; each resample draws the same units for
            all of them.
        resamples: at least 1.
        rng: where the draws come from.
    """
    row_sums = RowSums([statistic.rows for statistic in statistics.values()])
    blocks: dict[RunMetric, list[Floats]] = {run_metric: [] for run_metric in statistics}
    # The sums of all runs and metrics in all resamples would take hundreds of megabytes.
    for size in block_sizes(resamples, row_sums.columns):
        sums_of_statistics = row_sums.of_resamples(size, rng)
        for (run_metric, statistic), sums in zip(
            statistics.items(), sums_of_statistics, strict=True
        ):
            blocks[run_metric].append(statistic.value_of(sums))
    return {run_metric: np.concatenate(values) for run_metric, values in blocks.items()}


def bootstrap_p(difference: float, resampled_differences: Floats, tolerance: float) -> float:
    """The one-sided p: the share of resamples in which the better system is not better.

    The observed data count as one resample: ``(c + 1) / (resamples + 1)``.

    Args:
        difference: of the two systems on all units; its sign says which is better.
        resampled_differences: of the two systems in each resample, [resamples]; NaN counts as not
            better.
        tolerance: differences up to this one are rounding.

    Returns:
        p in (0, 1]; 1 if neither system is better.
    """
    if abs(difference) <= tolerance:
        return 1.0
    gains = math.copysign(1.0, difference) * resampled_differences
    better = int(np.count_nonzero(gains > tolerance))
    return (resampled_differences.size - better + 1) / (resampled_differences.size + 1)


def random_generators(
    seed: int, units: tuple[str, ...]
) -> tuple[np.random.Generator, np.random.Generator]:
    """The generators of the bootstrap and of the swaps, made from the seed and the unit ids alone.

    So a further system or metric over the same units changes no draw.
    """
    digest = hashlib.sha256(json.dumps(units).encode("ascii")).digest()
    seeds = np.random.SeedSequence([seed, int.from_bytes(digest, "big")])
    bootstrap_seed, swap_seed = seeds.spawn(2)
    return np.random.default_rng(bootstrap_seed), np.random.default_rng(swap_seed)
