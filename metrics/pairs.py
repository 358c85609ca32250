"""What the tests of two systems share: their result, and resamples of all systems at once."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from .intervals import unit_weights, weighted_sums
from .statistic import Floats, Statistic

Pair: TypeAlias = tuple[int, int]
"""The numbers of two systems."""

Cell: TypeAlias = tuple[int, str]
"""A system and the name of a metric that it has."""

ROUNDING = 1e-12
"""Two values of a metric closer than this share of its largest value are equal: sums in another
order differ so.
"""

ALPHA, POWER = 0.05, 0.8
"""Of `significance.smallest_difference`: of a two-sided test, and the share of pairs in which it
finds something.
"""

TOO_FEW = 8
"""Units that must differ for a `Comparison.smallest_detectable`. With fewer, that of a share would exceed the
share of rows that differ at all, (1.96 + 0.84)**2 = 7.8 being where the two meet."""


@dataclass(frozen=True)
class Comparison:
    """The candidate system against the baseline, by one metric. A p value is in (0, 1].

    Attributes:
        baseline, candidate: the metric of each system.
        difference: ``candidate - baseline``.
        low, high: ends of the interval of the difference, by the paired bootstrap; NaN where
            resampling knows of none (``intervals.bootstrap``): of a single unit, of one difference
            in all resamples, and where the metric is undefined in more than half of them, because
            too few units carry it. Other resamples without a value are left out, and count against
            the difference in `p_bootstrap`, as such swaps do in `p_randomization`.
        p_bootstrap: one-sided. Share of resamples in which the system that is better on all units
            is not better.
        p_randomization: two-sided. Share of random swaps of outputs with a difference at least as
            large either way.
        smallest_detectable: the `smallest_difference` that these units show of systems that disagree as much
            as these two; NaN where they differ in fewer than eight units: even if all spoke for one
            system, that is hardly a finding.
        p_repeats: of `compare_repeats`, which has no p_randomization; else NaN.
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


def by_units(
    runs: Sequence[Mapping[str, Statistic]], members: Sequence[Sequence[int]]
) -> dict[tuple[str, ...], dict[str, list[int]]]:
    """The metrics over each set of units, each with the systems (at least two) whose runs all have
    it.
    """
    groups: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for name in dict.fromkeys(itertools.chain.from_iterable(runs)):
        having = [at for at, own in enumerate(members) if all(name in runs[run] for run in own)]
        first, *others = [run for at in having for run in members[at]] or [0]
        for other in others:
            a, b = runs[first][name], runs[other][name]
            if a.units != b.units or a.rows.shape != b.rows.shape:
                differ = (
                    f"systems {first} and {other} differ in their units, or in the columns of their"
                    " rows"
                )
                raise ValueError(f"metric {name!r}: {differ}")
        if len(having) > 1:
            groups.setdefault(runs[first][name].units, {})[name] = having
    return groups


def bootstrap(
    cells: Mapping[Cell, Statistic], resamples: int, rng: np.random.Generator
) -> dict[Cell, Floats]:
    """Values [resamples] of statistics over the same n units, in the same resamples."""
    n = len(next(iter(cells.values())).units)
    values: dict[Cell, list[Floats]] = {cell: [] for cell in cells}
    for weights in unit_weights(n, resamples, rng):
        for cell, statistic in cells.items():
            values[cell].append(statistic.at(weighted_sums(weights, statistic.rows)))
    return {cell: np.concatenate(blocks) for cell, blocks in values.items()}


def not_better(difference: float, differences: Floats, tolerance: float) -> float:
    """One-sided p: the share of resamples in which the better system is not better; 1 if neither is
    better.
    """
    if abs(difference) <= tolerance:
        return 1.0
    better = int(np.count_nonzero(math.copysign(1.0, difference) * differences > tolerance))
    return (differences.size - better + 1) / (differences.size + 1)


def generators(
    seed: int, units: tuple[str, ...]
) -> tuple[np.random.Generator, np.random.Generator]:
    """Generators of the bootstrap and of the swaps, which depend on nothing but the seed and the
    units.
    """
    digest = hashlib.sha256(json.dumps(units).encode("ascii")).digest()
    one, other = np.random.SeedSequence([seed, int.from_bytes(digest, "big")]).spawn(2)
    return np.random.default_rng(one), np.random.default_rng(other)
