"""Is one system better than another? Paired bootstrap and approximate randomization over the same units.

A metric here is a function of statistics summed over units (`Statistic`): a mean, a pooled ratio, macro F1 of counts,
corpus BLEU. A resample then is one product of weights with the rows, whatever the metric, and the resamples of a set
of units are drawn once for all systems and metrics over it.

Paired bootstrap: Koehn 2004 (EMNLP, "Statistical significance tests for machine translation evaluation"), the test
that V-FLUTE reports (arXiv 2405.01474, footnote 4). Approximate randomization: Noreen 1989, "Computer-intensive methods
for testing hypotheses"; Riezler & Maxwell 2005 ("On some pitfalls in automatic evaluation and significance testing for
MT"), who show that the bootstrap calls differences significant too easily. Holm 1979: "A simple sequentially rejective
multiple test procedure".

The smallest difference that rows can show: Connor 1987 (Biometrics 43, "Sample size for testing differences in
proportions for the paired-sample design"); for NLP Card et al. 2020 (EMNLP, "With little power comes great
responsibility").

Repeats that differ in the seed: the Multi-Bootstrap of Sellam et al. 2022 (ICLR, "The MultiBERTs", arXiv 2106.16163).
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .intervals import (
    CONFIDENCE,
    DEFAULT_SEED,
    RESAMPLES,
    block_sizes,
    error_of_resamples,
    of_resamples,
    sums_by_unit,
    unit_weights,
    weighted_sums,
)

__all__ = ["Comparison", "Statistic", "compare", "compare_any", "compare_repeats", "holm", "smallest_difference"]

Floats: TypeAlias = npt.NDArray[np.float64]
Pair: TypeAlias = tuple[int, int]

_ROUNDING = 1e-12
"""Two values of a metric closer than this share of its largest value are equal: sums in another order differ so."""

_ALPHA, _POWER = 0.05, 0.8
"""Of `smallest_difference`: of a two-sided test, and the share of such pairs of systems in which it finds something."""

_TOO_FEW = 8
"""Units that must differ for a `Comparison.smallest`. With fewer, that of a share would exceed the share of rows that
differ at all, (1.96 + 0.84)**2 = 7.8 being where the two meet."""


@dataclass(frozen=True, eq=False)
class Statistic:
    """A metric of one system as a function of statistics that are summed over units.

    Attributes:
        units: n ids of what is resampled (rows, phrases, images), sorted: the order given never matters. An id may be
            given several times; its rows are added up.
        rows: float64 [n, k], finite, in the order of `units`.
        value: the metric of summed rows: [..., k] to [...]. A value that is not finite is undefined (0/0, say).

    Raises:
        ValueError: no units, rows of another shape or not finite (names the unit).
    """

    units: tuple[str, ...]
    rows: Floats
    value: Callable[[Floats], Floats]

    def __post_init__(self) -> None:
        given = np.asarray(self.rows, dtype=np.float64)
        if given.ndim != 2 or given.size == 0:
            raise ValueError(f"rows must have shape [n, k] and not be empty, got {given.shape}")
        units, rows = sums_by_unit(self.units, given)
        if not np.isfinite(rows).all():
            at = int(np.argmin(np.isfinite(rows).all(axis=1)))
            raise ValueError(f"the row of unit {units[at]!r} is {rows[at].tolist()}, must be finite")
        object.__setattr__(self, "units", units)
        object.__setattr__(self, "rows", rows)

    @classmethod
    def ratio_of(
        cls, units: Iterable[str], numerators: npt.ArrayLike, denominators: npt.ArrayLike | None = None
    ) -> Statistic:
        """``sum(numerators) / sum(denominators)``, by default the mean of the numerators (bools count as 0 and 1).

        Args:
            units: n ids, as of `Statistic`.
            numerators, denominators: n numbers; undefined where all denominators that were drawn are 0.

        Returns:
            `Statistic` with rows of two columns.

        Examples:
            >>> Statistic.ratio_of(["a", "b"], [True, False]).total()
            0.5
        """
        totals = np.ones(np.shape(numerators)) if denominators is None else denominators
        return cls(tuple(units), np.stack([numerators, totals], axis=1), lambda sums: sums[..., 0] / sums[..., 1])

    def total(self) -> float:
        """The metric of all units, of exactly rounded sums; NaN where it is undefined."""
        return float(self.at(np.array([math.fsum(column) for column in self.rows.T])))

    def at(self, sums: Floats) -> Floats:
        """The metric of sums of shape [..., k], as shape [...]; NaN where it is undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.asarray(self.value(sums), dtype=np.float64)
        if found.shape != sums.shape[:-1]:
            raise ValueError(f"value makes {found.shape} of sums of shape {sums.shape}, must be {sums.shape[:-1]}")
        return np.where(np.isfinite(found), found, np.nan)


@dataclass(frozen=True)
class Comparison:
    """The second system against the first, by one metric. A p value is in (0, 1].

    Attributes:
        first, second: the metric of each system.
        difference: ``second - first``.
        low, high: ends of the interval of the difference, by the paired bootstrap; NaN where resampling knows of none
            (``intervals.bootstrap``): of a single unit, of one difference in all resamples, and where the metric is
            undefined in more than half of them, because too few units carry it. Other resamples without a value are
            left out, and count against the difference in `p_bootstrap`, as such swaps do in `p_randomization`.
        p_bootstrap: one-sided. Share of resamples in which the system that is better on all units is not better.
        p_randomization: two-sided. Share of random swaps of outputs with a difference at least as large either way.
        smallest: the `smallest_difference` that these units show of systems that disagree as much as these two; NaN
            where they differ in fewer than eight units: even if all spoke for one system, that is hardly a finding.
        p_repeats: of `compare_repeats`, which has no p_randomization; else NaN.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_randomization: float
    smallest: float
    p_repeats: float = math.nan


def compare(
    systems: Sequence[Mapping[str, Statistic]],
    resamples: int = RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> dict[Pair, dict[str, Comparison]]:
    """The `Comparison` of every two systems, by each metric that both have.

    Paired bootstrap: units are drawn with replacement, the same ones for both systems. Ties count against the better
    system. Over a handful of units its p is too small (of a single one, 1 / (resamples + 1)): read the other one there.

    Approximate randomization: the outputs of the two systems for a unit change places with probability 1/2. A swap that
    gives the observed difference up to rounding counts as one at least as large.

    The observed data count as one resample, so both p are ``(c + 1) / (resamples + 1)`` and never 0; both are 1 where
    there is no difference. They depend on the two systems, the metric, `resamples` and `seed` only: a further system or
    metric changes nothing, and neither does the order of units.

    Args:
        systems: metrics by name, of each system. Those of one name must be over the same units, with the same `value`.
        resamples: at least 1; of the bootstrap, and as many swaps.
        seed: a non-negative int.

    Returns:
        `Comparison` by pair ``(i, j)``, i < j, and name, in the order of the names of system i. Work grows with
        ``resamples * n`` times the number of metrics of all pairs, memory does not grow with ``resamples * n``.

    Raises:
        ValueError: different units or numbers of columns behind one name, a metric that is undefined on all units, or
            no resamples.

    Examples:
        Two systems on the same twenty rows, of which the second has five more right:

        >>> rows = [str(row) for row in range(20)]
        >>> first = Statistic.ratio_of(rows, [row < 10 for row in range(20)])
        >>> second = Statistic.ratio_of(rows, [row < 15 for row in range(20)])
        >>> found = compare([{"acc": first}, {"acc": second}])[0, 1]["acc"]
        >>> found.difference, 0.05 < found.p_randomization < 0.08
        (0.25, True)
    """
    found: dict[Pair, dict[str, Comparison]] = {pair: {} for pair in itertools.combinations(range(len(systems)), 2)}
    for units, names in _by_units(systems, [[at] for at in range(len(systems))]).items():
        for_bootstrap, for_swaps = _generators(seed, units)
        cells = {(at, name): systems[at][name] for name, having in names.items() for at in having}
        drawn = _bootstrap(cells, resamples, for_bootstrap)
        tests = [
            _Test((i, name), (j, name), cells, drawn)
            for name, having in names.items()
            for i, j in itertools.combinations(having, 2)
        ]
        for test, extreme in zip(tests, _extreme_swaps(tests, cells, resamples, for_swaps), strict=True):
            found[test.a[0], test.b[0]][test.a[1]] = test.comparison(extreme)
    return {(i, j): {name: rows[name] for name in systems[i] if name in rows} for (i, j), rows in found.items()}


def compare_repeats(
    systems: Sequence[Sequence[Mapping[str, Statistic]]],
    resamples: int = RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> dict[Pair, dict[str, Comparison]]:
    """The `Comparison` of every two systems whose repeats (runs that differ in the seed) stand for all seeds.

    The value of a system is the mean over its repeats. A hierarchical bootstrap gives the standard error of a
    difference: units are drawn first, the same ones for all repeats of both systems, then repeats of each system, whole
    ones, since a seed makes a run better or worse on all its rows. Of S repeats S - 1 are drawn, as S would vary too
    little (Rao & Wu 1988, "Resampling inference with complex survey data"); a single one stays. Interval and p are
    those of t, with Welch & Satterthwaite's degrees of freedom: few repeats say little of how much seeds matter.

    Args:
        systems: metrics by name, of each repeat of each system; a metric that one repeat lacks is left out of its
            system. The rest as in `compare`.

    Returns:
        As `compare`, with `Comparison.p_repeats`, two-sided, in place of p_randomization, which is NaN.

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
    found: dict[Pair, dict[str, Comparison]] = {pair: {} for pair in itertools.combinations(range(len(systems)), 2)}
    for units, names in _by_units(runs, members).items():
        cells = {(run, name): runs[run][name] for name, having in names.items() for at in having for run in members[at]}
        drawn = _bootstrap(cells, resamples, _generators(seed, units)[0])
        for name, having in names.items():
            for i, j in itertools.combinations(having, 2):
                baseline = _Repeats.of([(run, name) for run in members[i]], cells, drawn)
                candidate = _Repeats.of([(run, name) for run in members[j]], cells, drawn)
                found[i, j][name] = _compare_repeats(baseline, candidate, seed)
    return found


def compare_any(
    systems: Sequence[Sequence[Mapping[str, Statistic]]],
    resamples: int = RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> dict[Pair, dict[str, Comparison]]:
    """The `Comparison` of every two systems: as of `compare_repeats` if one has repeats, else as of `compare`.

    A system need not have all units of another (a metric may count failures alone): those it lacks add nothing to its
    sums. Arguments, result and errors are those of `compare_repeats`.

    Examples:
        The first system lacks a unit of the second:

        >>> first = Statistic.ratio_of("abcd", [True, False, False, False])
        >>> second = Statistic.ratio_of("abcde", [True] * 5)
        >>> found = compare_any([[{"acc": first}], [{"acc": second}]], resamples=100)[0, 1]["acc"]
        >>> found.first, found.second
        (0.25, 1.0)
    """
    units: dict[str, dict[str, None]] = {}
    for name, statistic in (item for system in systems for run in system for item in run.items()):
        units.setdefault(name, {}).update(dict.fromkeys(statistic.units))
    whole = [[{name: _with_units(of, units[name]) for name, of in run.items()} for run in system] for system in systems]
    single = compare([own[0] if len(own) == 1 else {} for own in whole], resamples, seed)
    if all(len(own) == 1 for own in whole):
        return single
    pooled = compare_repeats(whole, resamples, seed)
    return {(i, j): single[i, j] if len(whole[i]) == len(whole[j]) == 1 else of for (i, j), of in pooled.items()}


def _with_units(statistic: Statistic, units: Iterable[str]) -> Statistic:
    """The statistic with a row of zeros for each unit that it lacks."""
    lacking = tuple(set(units) - set(statistic.units))
    zeros = np.zeros((len(lacking), statistic.rows.shape[1]))
    return Statistic((*statistic.units, *lacking), np.concatenate([statistic.rows, zeros]), statistic.value)


def _by_units(
    runs: Sequence[Mapping[str, Statistic]], members: Sequence[Sequence[int]]
) -> dict[tuple[str, ...], dict[str, list[int]]]:
    """The metrics over each set of units, each with the systems (at least two) whose runs all have it."""
    groups: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for name in dict.fromkeys(itertools.chain.from_iterable(runs)):
        having = [at for at, own in enumerate(members) if all(name in runs[run] for run in own)]
        first, *others = [run for at in having for run in members[at]] or [0]
        for other in others:
            a, b = runs[first][name], runs[other][name]
            if a.units != b.units or a.rows.shape != b.rows.shape:
                differ = f"systems {first} and {other} differ in their units, or in the columns of their rows"
                raise ValueError(f"metric {name!r}: {differ}")
        if len(having) > 1:
            groups.setdefault(runs[first][name].units, {})[name] = having
    return groups


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
    def of(cls, runs: Sequence[Cell], cells: Mapping[Cell, Statistic], drawn: Mapping[Cell, Floats]) -> _Repeats:
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
    """The comparison of two systems by the means over their repeats: t, with an error by a hierarchical bootstrap."""
    units = len(baseline.rows)
    before, after = float(baseline.totals.mean()), float(candidate.totals.mean())
    difference = after - before
    differences = _some_repeats(candidate.values, [seed, 1]) - _some_repeats(baseline.values, [seed, 0])
    tolerance = _ROUNDING * max(baseline.largest(), candidate.largest())
    p_bootstrap = _not_better(difference, differences, tolerance)

    error = error_of_resamples(differences, units)
    if error is None or error <= tolerance:
        nan = math.nan
        return Comparison(
            before, after, difference, nan, nan, p_bootstrap, p_randomization=nan, smallest=nan, p_repeats=1.0
        )

    freedom = _degrees_of_freedom(baseline, candidate)
    half = _t_quantile(freedom, (1 + CONFIDENCE) / 2) * error
    is_equal = np.isclose(baseline.rows, candidate.rows, rtol=_ROUNDING, atol=0).all(axis=1)
    differing = units - int(np.count_nonzero(is_equal))
    smallest = math.nan
    if differing >= _TOO_FEW:
        smallest = (_t_quantile(freedom, 1 - _ALPHA / 2) + _t_quantile(freedom, _POWER)) * error
    return Comparison(
        before,
        after,
        difference,
        low=difference - half,
        high=difference + half,
        p_bootstrap=p_bootstrap,
        p_randomization=math.nan,
        smallest=smallest,
        p_repeats=_p_of_t(difference / error, freedom, differing, differences.size),
    )


def _degrees_of_freedom(baseline: _Repeats, candidate: _Repeats) -> float:
    """Welch & Satterthwaite's degrees of freedom of the errors of units and of the seeds of both systems."""
    units = len(baseline.rows)
    unit_error = error_of_resamples(candidate.values.mean(axis=0) - baseline.values.mean(axis=0), units)
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
    """Two-sided p of Student's t; at least what swaps of the differing units could give, as in `compare`."""
    from scipy import special

    least = max(2.0 ** (1 - differing), 1 / (1 + resamples))
    return min(1.0, max(least, 2 * float(special.stdtr(freedom, -abs(t)))))


def _not_better(difference: float, differences: Floats, tolerance: float) -> float:
    """One-sided p: the share of resamples in which the better system is not better; 1 if neither is better."""
    if abs(difference) <= tolerance:
        return 1.0
    better = int(np.count_nonzero(math.copysign(1.0, difference) * differences > tolerance))
    return (differences.size - better + 1) / (differences.size + 1)


def _some_repeats(values: Floats, seed: Sequence[int]) -> Floats:
    """The mean of values [repeats, resamples] over all repeats but one, drawn with replacement in each resample."""
    repeats, resamples = values.shape
    chosen = np.random.default_rng(seed).integers(0, repeats, size=(max(1, repeats - 1), resamples))
    return np.asarray(np.take_along_axis(values, chosen, axis=0).mean(axis=0), dtype=np.float64)


def holm(p_values: Sequence[float]) -> list[float]:
    """P values adjusted by Holm's method (1979): reject those up to alpha, and the familywise error is at most alpha.

    The i-th smallest of m is multiplied by m - i + 1, is no smaller than the ones before it, and at most 1.

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
    """The true difference of two systems that a test finds (p < .05, two-sided) in four of five samples of this size.

    That of Connor (1987) for a share of rows, where ``error**2 + difference**2 / units`` is the share of rows that one
    system alone has right, by the number of rows. Other metrics, and units of several rows, behave alike up to the
    curvature of the metric: the first term is their variance where the systems differ by `difference`, and the sum that
    where they are equal, which the test is made for.

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
        raise ValueError(f"error is {error}, difference {difference}, units {units}: give finite numbers, and a unit")
    variance = error**2 + difference**2 / units
    alpha, power = float(special.ndtri(1 - _ALPHA / 2)), float(special.ndtri(_POWER))
    shrunk = 1 + power**2 / units  # systems that differ vary less than equal ones
    return math.sqrt(variance) * (alpha + math.sqrt(alpha**2 - shrunk * (alpha**2 - power**2))) / shrunk


Cell: TypeAlias = tuple[int, str]
"""A system and the name of a metric that it has."""


class _Test:
    """One metric of two systems, with its values in the resamples."""

    def __init__(self, a: Cell, b: Cell, cells: Mapping[Cell, Statistic], drawn: Mapping[Cell, Floats]) -> None:
        self.a, self.b = a, b
        self.first, self.second = cells[a].total(), cells[b].total()
        self.difference = self.second - self.first
        self.units = len(cells[a].units)
        self.differing = int(np.count_nonzero((cells[a].rows != cells[b].rows).any(axis=1)))
        self.differences = drawn[b] - drawn[a]
        where = f"metric {a[1]!r} of systems {a[0]} and {b[0]}"
        if math.isnan(self.difference):
            raise ValueError(f"{where} is {self.first} and {self.second} on all units: nothing to compare")
        largest = max(abs(self.first), abs(self.second), float(np.nanmax(np.abs([drawn[a], drawn[b]]))))
        self.tolerance = _ROUNDING * largest

    def comparison(self, extreme: int) -> Comparison:
        interval = of_resamples(self.differences, self.units)
        error = None if self.differing < _TOO_FEW else error_of_resamples(self.differences, self.units)
        return Comparison(
            self.first,
            self.second,
            self.difference,
            *(interval or (math.nan, math.nan)),
            p_bootstrap=_not_better(self.difference, self.differences, self.tolerance),
            p_randomization=(extreme + 1) / (len(self.differences) + 1),
            smallest=math.nan if error is None else smallest_difference(error, self.units, self.difference),
        )


def _bootstrap(cells: Mapping[Cell, Statistic], resamples: int, rng: np.random.Generator) -> dict[Cell, Floats]:
    """Values [resamples] of statistics over the same n units, in the same resamples."""
    n = len(next(iter(cells.values())).units)
    values: dict[Cell, list[Floats]] = {cell: [] for cell in cells}
    for weights in unit_weights(n, resamples, rng):
        for cell, statistic in cells.items():
            values[cell].append(statistic.at(weighted_sums(weights, statistic.rows)))
    return {cell: np.concatenate(blocks) for cell, blocks in values.items()}


def _extreme_swaps(
    tests: Sequence[_Test], cells: Mapping[Cell, Statistic], resamples: int, rng: np.random.Generator
) -> list[int]:
    """Number of random swaps of each test whose difference is undefined or at least as large as the observed one."""
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


def _generators(seed: int, units: tuple[str, ...]) -> tuple[np.random.Generator, np.random.Generator]:
    """Generators of the bootstrap and of the swaps, which depend on nothing but the seed and the units."""
    digest = hashlib.sha256(json.dumps(units).encode("ascii")).digest()
    one, other = np.random.SeedSequence([seed, int.from_bytes(digest, "big")]).spawn(2)
    return np.random.default_rng(one), np.random.default_rng(other)
