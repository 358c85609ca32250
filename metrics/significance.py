"""Is one system better than another? Paired bootstrap and approximate randomization over the same
units.

A metric here is a function of statistics summed over units (`Statistic`): a mean, a pooled ratio,
macro F1 of counts, corpus BLEU. A resample then is one product of weights with the rows, whatever
the metric, and the resamples of a set of units are drawn once for all systems and metrics over it.

Paired bootstrap: Koehn 2004 (EMNLP, "Statistical significance tests for machine translation
evaluation"), the test that V-FLUTE reports (arXiv 2405.01474, footnote 4). Approximate
randomization: Noreen 1989, "Computer-intensive methods for testing hypotheses"; Riezler & Maxwell
2005 ("On some pitfalls in automatic evaluation and significance testing for MT"), who show that the
bootstrap calls differences significant too easily. Holm 1979: "A simple sequentially rejective
multiple test procedure".

The smallest difference that rows can show: Connor 1987 (Biometrics 43, "Sample size for testing
differences in proportions for the paired-sample design"); for NLP Card et al. 2020 (EMNLP, "With
little power comes great responsibility").

Repeats that differ in the seed: the Multi-Bootstrap of Sellam et al. 2022 (ICLR, "The MultiBERTs",
arXiv 2106.16163).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .intervals import (
    DEFAULT_SEED,
    RESAMPLES,
    block_sizes,
    error_of_resamples,
    of_resamples,
    weighted_sums,
)
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
from .repeats import compare_repeats
from .statistic import Floats, Statistic

__all__ = [
    "Comparison",
    "Statistic",
    "compare",
    "compare_any",
    "compare_repeats",
    "holm",
    "smallest_difference",
]


def compare(
    systems: Sequence[Mapping[str, Statistic]],
    resamples: int = RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> dict[Pair, dict[str, Comparison]]:
    """The `Comparison` of every two systems, by each metric that both have.

    Paired bootstrap: units are drawn with replacement, the same ones for both systems. Ties count
    against the better system. Over a handful of units its p is too small (of a single one, 1 /
    (resamples + 1)): read the other one there.

    Approximate randomization: the outputs of the two systems for a unit change places with
    probability 1/2. A swap that gives the observed difference up to rounding counts as one at least
    as large.

    The observed data count as one resample, so both p are ``(c + 1) / (resamples + 1)`` and never
    0; both are 1 where there is no difference. They depend on the two systems, the metric,
    `resamples` and `seed` only: a further system or metric changes nothing, and neither does the
    order of units.

    Args:
        systems: metrics by name, of each system. Those of one name must be over the same units,
            with the same `value`.
        resamples: at least 1; of the bootstrap, and as many swaps.
        seed: a non-negative int.

    Returns:
        `Comparison` by pair ``(i, j)``, i < j, and name, in the order of the names of system i.
        Work grows with ``resamples * n`` times the number of metrics of all pairs, memory does not
        grow with ``resamples * n``.

    Raises:
        ValueError: different units or numbers of columns behind one name, a metric that is
            undefined on all units, or no resamples.

    Examples:
        Two systems on the same twenty rows, of which the second has five more right:

        >>> rows = [str(row) for row in range(20)]
        >>> first = Statistic.ratio_of(rows, [row < 10 for row in range(20)])
        >>> second = Statistic.ratio_of(rows, [row < 15 for row in range(20)])
        >>> found = compare([{"acc": first}, {"acc": second}])[0, 1]["acc"]
        >>> found.difference, 0.05 < found.p_randomization < 0.08
        (0.25, True)
    """
    found: dict[Pair, dict[str, Comparison]] = {
        pair: {} for pair in itertools.combinations(range(len(systems)), 2)
    }
    for units, names in by_units(systems, [[at] for at in range(len(systems))]).items():
        for_bootstrap, for_swaps = generators(seed, units)
        cells = {(at, name): systems[at][name] for name, having in names.items() for at in having}
        drawn = bootstrap(cells, resamples, for_bootstrap)
        tests = [
            _Test((i, name), (j, name), cells, drawn)
            for name, having in names.items()
            for i, j in itertools.combinations(having, 2)
        ]
        for test, extreme in zip(
            tests, _extreme_swaps(tests, cells, resamples, for_swaps), strict=True
        ):
            found[test.a[0], test.b[0]][test.a[1]] = test.comparison(extreme)
    return {
        (i, j): {name: rows[name] for name in systems[i] if name in rows}
        for (i, j), rows in found.items()
    }


def compare_any(
    systems: Sequence[Sequence[Mapping[str, Statistic]]],
    resamples: int = RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> dict[Pair, dict[str, Comparison]]:
    """The `Comparison` of every two systems: as of `compare_repeats` if one has repeats, else as of
    `compare`.

    A system need not have all units of another (a metric may count failures alone): those it lacks
    add nothing to its sums. Arguments, result and errors are those of `compare_repeats`.

    Examples:
        The first system lacks a unit of the second:

        >>> first = Statistic.ratio_of("abcd", [True, False, False, False])
        >>> second = Statistic.ratio_of("abcde", [True] * 5)
        >>> found = compare_any([[{"acc": first}], [{"acc": second}]], resamples=100)[0, 1]["acc"]
        >>> found.baseline, found.candidate
        (0.25, 1.0)
    """
    units: dict[str, dict[str, None]] = {}
    for name, statistic in (item for system in systems for run in system for item in run.items()):
        units.setdefault(name, {}).update(dict.fromkeys(statistic.units))

    def with_all_units(run: Mapping[str, Statistic]) -> dict[str, Statistic]:
        return {name: _with_units(statistic, units[name]) for name, statistic in run.items()}

    completed = [[with_all_units(run) for run in system] for system in systems]
    has_repeats = [len(system) != 1 for system in completed]
    comparisons = compare(
        [runs[0] if len(runs) == 1 else {} for runs in completed], resamples, seed
    )
    if not any(has_repeats):
        return comparisons
    for (i, j), of_repeats in compare_repeats(completed, resamples, seed).items():
        if has_repeats[i] or has_repeats[j]:
            comparisons[i, j] = of_repeats
    return comparisons


def _with_units(statistic: Statistic, units: Iterable[str]) -> Statistic:
    """The statistic with a row of zeros for each unit that it lacks."""
    lacking = tuple(set(units) - set(statistic.units))
    zeros = np.zeros((len(lacking), statistic.rows.shape[1]))
    return Statistic(
        (*statistic.units, *lacking), np.concatenate([statistic.rows, zeros]), statistic.value
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """P values adjusted by Holm's method (1979): reject those up to alpha, and the familywise error
    is at most alpha.

    The i-th smallest of m is multiplied by m - i + 1, is no smaller than the ones before it, and at
    most 1.

    Args:
        p_values: m numbers in [0, 1] in any order.

    Returns:
        The m adjusted values, in the order given.

    Raises:
        ValueError: a value outside [0, 1] or NaN (names its index).

    Examples:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    for at, p in enumerate(p_values):
        if not 0 <= p <= 1:
            raise ValueError(f"p_values[{at}] is {p}, must lie in [0, 1]")
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * float(p_values[at])))
        adjusted[at] = largest
    return adjusted


def smallest_difference(error: float, units: int, difference: float = 0.0) -> float:
    """The true difference of two systems that a test finds (p < .05, two-sided) in four of five
    samples of this size.

    That of Connor (1987) for a share of rows, where ``error**2 + difference**2 / units`` is the
    share of rows that one system alone has right, by the number of rows. Other metrics, and units
    of several rows, behave alike up to the curvature of the metric: the first term is their
    variance where the systems differ by `difference`, and the sum that where they are equal, which
    the test is made for.

    Args:
        error: standard error of the paired difference, not negative.
        units: what it was taken over, at least 1.
        difference: that was observed between the systems that `error` is of.

    Returns:
        On the metric's own scale.

    Raises:
        ValueError: an error or a difference that is not finite, a negative error, or no units.

    Examples:
        100 rows, of which one system alone has every fifth right, cannot show three points:

        >>> round(smallest_difference(math.sqrt(0.2 / 100), 100), 3)
        0.124
    """
    from scipy import special

    if not (math.isfinite(error) and error >= 0 and math.isfinite(difference) and units >= 1):
        raise ValueError(
            f"error is {error}, difference {difference}, units {units}: give finite numbers, and a"
            " unit"
        )
    variance = error**2 + difference**2 / units
    alpha, power = float(special.ndtri(1 - ALPHA / 2)), float(special.ndtri(POWER))
    shrunk = 1 + power**2 / units  # systems that differ vary less than equal ones
    return (
        math.sqrt(variance)
        * (alpha + math.sqrt(alpha**2 - shrunk * (alpha**2 - power**2)))
        / shrunk
    )


class _Test:
    """One metric of two systems, with its values in the resamples."""

    def __init__(
        self, a: Cell, b: Cell, cells: Mapping[Cell, Statistic], drawn: Mapping[Cell, Floats]
    ) -> None:
        self.a, self.b = a, b
        self.first, self.second = cells[a].total(), cells[b].total()
        self.difference = self.second - self.first
        self.units = len(cells[a].units)
        self.differing = int(np.count_nonzero((cells[a].rows != cells[b].rows).any(axis=1)))
        self.differences = drawn[b] - drawn[a]
        where = f"metric {a[1]!r} of systems {a[0]} and {b[0]}"
        if math.isnan(self.difference):
            raise ValueError(
                f"{where} is {self.first} and {self.second} on all units: nothing to compare"
            )
        largest = max(
            abs(self.first), abs(self.second), float(np.nanmax(np.abs([drawn[a], drawn[b]])))
        )
        self.tolerance = ROUNDING * largest

    def comparison(self, extreme: int) -> Comparison:
        interval = of_resamples(self.differences, self.units)
        error = (
            None if self.differing < TOO_FEW else error_of_resamples(self.differences, self.units)
        )
        return Comparison(
            self.first,
            self.second,
            self.difference,
            *(interval or (math.nan, math.nan)),
            p_bootstrap=not_better(self.difference, self.differences, self.tolerance),
            p_randomization=(extreme + 1) / (len(self.differences) + 1),
            smallest_detectable=(
                math.nan
                if error is None
                else smallest_difference(error, self.units, self.difference)
            ),
        )


def _extreme_swaps(
    tests: Sequence[_Test],
    cells: Mapping[Cell, Statistic],
    resamples: int,
    rng: np.random.Generator,
) -> list[int]:
    """Number of random swaps of each test whose difference is undefined or at least as large as the
    observed one.
    """
    n = len(next(iter(cells.values())).units)
    counts = [0] * len(tests)
    for size in block_sizes(resamples, n):
        words = rng.integers(0, 1 << 64, size=(size, -(-n // 64)), dtype=np.uint64).astype("<u8")
        swapped = np.unpackbits(words.view(np.uint8), axis=1, count=n).astype(np.float64)
        stayed = 1 - swapped
        given = {cell: weighted_sums(swapped, statistic.rows) for cell, statistic in cells.items()}
        kept = {cell: weighted_sums(stayed, statistic.rows) for cell, statistic in cells.items()}
        for at, test in enumerate(tests):
            first = cells[test.a].at(kept[test.a] + given[test.b])
            second = cells[test.b].at(kept[test.b] + given[test.a])
            smaller = np.abs(second - first) < abs(test.difference) - test.tolerance
            counts[at] += size - int(np.count_nonzero(smaller))
    return counts
