"""95 % intervals of one system's scores, over units that are independent.

Rows that share a phrase, a claim or a cartoon are not independent: they are added up to *units*,
and units are what a method counts or resamples. Three methods (coverage, by simulation:
docs/intervals.md):

- `share`, for shares of rows (accuracy, parse rate): Wilson's interval (1927, "Probable inference,
  the law of succession, and statistical inference"; Brown, Cai & DasGupta 2001, "Interval
  estimation for a binomial proportion"). Where units have several rows, n is the effective number
  of rows (Korn & Graubard 1998, "Confidence intervals for proportions with small expected number of
  positive counts estimated from survey data").
- `of_two_classes`, for macro precision, recall and F1: Wilson's limits of the two recalls, combined
  by MOVER (after Zou & Donner 2008, "Construction of confidence limits about effect measures"), for
  any score that rises with both recalls.
- `bootstrap`, for all other functions of sums: percentiles of resampled units, with wider tails for
  few units, as Student's t has them (Hesterberg 2014, "What teachers should know about the
  bootstrap", arXiv 1411.5279).

Intervals are for one system; they are no test of a difference (``significance``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "DEFAULT_SEED",
    "Interval",
    "bootstrap",
    "of_mean",
    "of_two_classes",
    "share",
    "standard_error",
    "sums_by_unit",
]

Floats: TypeAlias = npt.NDArray[np.float64]

DEFAULT_SEED = 20240501
"""Seed of every bootstrap. Numbers repeat exactly for one numpy version: numpy may change the
stream of a ``Generator`` between versions."""

RESAMPLES = 10_000
"""Resamples of every bootstrap unless the caller gives another number."""

CONFIDENCE = 0.95

BLOCK = 1 << 20
"""Numbers drawn at a time, so that memory does not grow with ``resamples * n``."""


class Interval(NamedTuple):
    """A two-sided interval, ``low <= high``, on the scale of the statistic."""

    low: float
    high: float


def share(hits: npt.ArrayLike, totals: npt.ArrayLike) -> Interval:
    """Wilson's interval of ``sum(hits) / sum(totals)``.

    With one row a unit, it is Wilson's interval of n rows. Else n is the number of rows that would
    have the variance that the units show, at most the number of rows. Where all rows are hits, or
    none is, or there is a single unit, the units show no variance: n is their number, as if the
    rows of a unit were one.

    Args:
        hits: of each unit, shape [units], 0 to its total.
        totals: rows of each unit, shape [units], whole numbers; units without rows are left out.

    Returns:
        `Interval` within [0, 1] that holds the share.

    Raises:
        ValueError: no rows, shapes that differ, hits above totals or below 0, numbers that are not
            finite.

    Examples:
        Eight of ten rows, each a unit of its own:

        >>> low, high = share([1] * 8 + [0] * 2, [1] * 10)
        >>> round(low, 3), round(high, 3)
        (0.49, 0.943)
    """
    parts, wholes = np.asarray(hits, dtype=np.float64), np.asarray(totals, dtype=np.float64)
    is_filled = parts.shape == wholes.shape and bool(wholes.any())
    if not is_filled or not ((parts >= 0) & (parts <= wholes) & np.isfinite(wholes)).all():
        raise ValueError(
            f"each unit must have 0 hits to its total, some unit a row: {hits!r} hits of {totals!r}"
        )
    parts, wholes = parts[wholes > 0], wholes[wholes > 0]
    n, units = float(wholes.sum()), len(wholes)
    found = float(parts.sum()) / n
    rows = float(units)
    if 0 < found < 1 and units > 1:
        residuals = float(np.square(parts - found * wholes).sum())
        variance = units / (units - 1) * (n - 1) / n * residuals / n**2
        rows = min(n, found * (1 - found) / variance) if variance > 0 else n
        rows *= (_t(n - 1) / _t(units - 1)) ** 2
    return _wilson(found, rows)


def of_mean(values: Sequence[float], ends: Sequence[Interval]) -> Interval:
    """The interval of the unweighted mean of independent values, from their own: MOVER (Zou &
    Donner 2008).

    Args:
        values: at least one.
        ends: the interval of each.

    Returns:
        `Interval` on the scale of the values.

    Raises:
        ValueError: a value or an end that is not finite.

    Examples:
        >>> low, high = of_mean([0.5, 0.7], [Interval(0.4, 0.6), Interval(0.4, 0.8)])
        >>> round(low, 3), round(high, 3)
        (0.442, 0.671)
    """
    if not np.isfinite([*values, *np.ravel(ends)]).all():
        raise ValueError(
            f"values {list(values)} and their intervals {list(ends)} must be finite numbers"
        )
    middle = sum(values) / len(values)
    below = math.hypot(*(value - end.low for value, end in zip(values, ends, strict=True))) / len(
        values
    )
    above = math.hypot(*(end.high - value for value, end in zip(values, ends, strict=True))) / len(
        values
    )
    return Interval(middle - below, middle + above)


def _wilson(found: float, n: float) -> Interval:
    from scipy import special  # late: commands that compute nothing need not wait for it

    z2 = float(special.ndtri((1 + CONFIDENCE) / 2)) ** 2
    middle, half = found + z2 / 2 / n, math.sqrt(z2 * (found * (1 - found) / n + z2 / 4 / n**2))
    low, high = (middle - half) / (1 + z2 / n), (middle + half) / (1 + z2 / n)
    # Rounding aside they are there already
    return Interval(max(0.0, min(low, found)), min(1.0, max(high, found)))


def _t(freedom: float) -> float:
    from scipy import special

    return float(special.stdtrit(freedom, (1 + CONFIDENCE) / 2))


def of_two_classes(counts: npt.ArrayLike, value: Callable[[Floats], Floats]) -> Interval | None:
    """Interval of a score of two classes that no right answer lowers: macro precision, recall or
    F1, accuracy.

    The gold labels are taken as given. Each class has a recall with the limits of `share`; the
    distances from the score to its value at these limits are combined by MOVER, with the
    correlation that the units show. Two units always show +1 or -1, whatever they hold: there it is
    taken as 0.

    Args:
        counts: ``tn, fp, fn, tp`` of each unit, shape [units, 4], whole numbers.
        value: the score of summed counts: [..., 4] to [...].

    Returns:
        `Interval` that holds the score; None where no recall would change it (macro precision of a
        single class), and where the errors of the two classes cancel in every unit.

    Raises:
        ValueError: counts that are all zero, or negative.

    Examples:
        Ten rows of class 0, eight of them right, and ten of class 1, nine of them right:

        >>> cells = [[1, 0, 0, 0]] * 8 + [[0, 1, 0, 0]] * 2 + [[0, 0, 0, 1]] * 9 + [[0, 0, 1, 0]]
        >>> def share_right(counts):
        ...     return (counts[..., 0] + counts[..., 3]) / counts.sum(axis=-1)
        >>> low, high = of_two_classes(cells, share_right)
        >>> round(low, 3), round(high, 3)
        (0.633, 0.933)
    """
    of_units = np.asarray(counts, dtype=np.float64)
    # Of each class that is gold: the columns of its right and its wrong rows.
    classes = [(hit, miss) for hit, miss in ((0, 1), (3, 2)) if of_units[:, [hit, miss]].any()]
    rows = [(of_units[:, hit], of_units[:, hit] + of_units[:, miss]) for hit, miss in classes]
    limits = [share(hits, totals) for hits, totals in rows]
    recalls = [float(hits.sum() / totals.sum()) for hits, totals in rows]

    def at(shares: Sequence[float]) -> float:
        cells = np.zeros(4)
        for (hit, miss), (_, totals), right in zip(classes, rows, shares, strict=True):
            cells[[hit, miss]] = right * totals.sum(), (1 - right) * totals.sum()
        return float(value(cells))

    score = float(value(of_units.sum(axis=0)))
    errors = [hits - recall * totals for (hits, totals), recall in zip(rows, recalls, strict=True)]
    known = len(classes) == 2 and len(of_units) > 2
    scale = math.sqrt(math.prod(float(np.square(each).sum()) for each in errors)) if known else 0.0
    correlation = float(errors[0] @ errors[1]) / scale if scale else 0.0
    ends = []
    for end in (0, 1):
        away = [
            abs(
                at([limits[i][end] if i == place else recall for i, recall in enumerate(recalls)])
                - score
            )
            for place in range(len(classes))
        ]
        cross = 2 * correlation * math.prod(away) if len(away) == 2 else 0.0
        ends.append(math.sqrt(max(0.0, sum(each**2 for each in away) + cross)))
    return Interval(max(0.0, score - ends[0]), min(1.0, score + ends[1])) if any(ends) else None


def bootstrap(
    rows: npt.ArrayLike, value: Callable[[Floats], Floats], resamples: int = RESAMPLES
) -> Interval | None:
    """Percentile bootstrap interval of a function of sums over units.

    The order of the units does not matter.

    Args:
        rows: the numbers of each unit that are summed, finite, shape [units, k].
        value: the statistic of sums: [..., k] to [...]; a value that is not finite is undefined.
        resamples: at least 1.

    Returns:
        `Interval`; None where resampling knows of no interval: of a single unit, where all
        resamples have one value, and where more than half of them have none.

    Raises:
        ValueError: no units, no resamples, or a row that is not finite.

    Examples:
        The mean score of five rows:

        >>> rows = [[score, 1] for score in (0.3, 0.5, 0.6, 0.8, 0.9)]
        >>> low, high = bootstrap(rows, lambda sums: sums[..., 0] / sums[..., 1])
        >>> low < 0.62 < high
        True
    """
    return of_resamples(*_resampled(rows, value, resamples))


def standard_error(
    rows: npt.ArrayLike, value: Callable[[Floats], Floats], resamples: int = RESAMPLES
) -> float | None:
    """Standard error of a function of sums over units: the standard deviation of its bootstrap, the
    units resampled.

    Args and errors as in `bootstrap`. It is times ``sqrt(n / (n - 1))`` for n units, since
    resamples vary less than samples (Hesterberg 2014, section 4.3).

    Returns:
        float >= 0; None of a single unit, and where more than half of the resamples have no value.

    Examples:
        >>> rows = [[hit, 1] for hit in (1, 0) * 50]
        >>> round(standard_error(rows, lambda sums: sums[..., 0] / sums[..., 1]), 2)
        0.05
    """
    return error_of_resamples(*_resampled(rows, value, resamples))


def _resampled(
    rows: npt.ArrayLike, value: Callable[[Floats], Floats], resamples: int
) -> tuple[Floats, int]:
    """Values of the resamples, and the number of units."""
    given = np.asarray(rows, dtype=np.float64)
    if not np.isfinite(given).all():
        place = int(np.argmin(np.isfinite(given).all(axis=1)))
        raise ValueError(f"rows[{place}] is {given[place].tolist()}, must be finite")
    ordered = given[np.lexsort(given.T)]
    rng = np.random.default_rng(DEFAULT_SEED)
    with np.errstate(divide="ignore", invalid="ignore"):
        blocks = [
            value(weighted_sums(weights, ordered))
            for weights in unit_weights(len(given), resamples, rng)
        ]
    return np.concatenate(blocks), len(given)


def sums_by_unit(units: Sequence[str], rows: npt.ArrayLike) -> tuple[tuple[str, ...], Floats]:
    """The names of the units in their order, and the sums of the rows of each.

    Args:
        units: n names, one for each row.
        rows: shape [n, k].

    Returns:
        The sums have the shape [units, k]; the order of the rows does not matter to the last bit.

    Raises:
        ValueError: not one unit for each row.

    Examples:
        >>> names, sums = sums_by_unit(["b", "a", "b"], [[1, 1], [0, 1], [0, 1]])
        >>> names, sums.tolist()
        (('a', 'b'), [[0.0, 1.0], [1.0, 2.0]])
    """
    given = np.asarray(rows, dtype=np.float64)
    if len(units) != len(given):
        raise ValueError(f"{len(units)} units for {len(given)} rows: give one for each")
    names, places = np.unique(np.asarray(units, dtype=object).astype(str), return_inverse=True)
    order = np.lexsort((*given.T, places))
    sums = np.zeros((len(names), given.shape[1]))
    np.add.at(sums, places[order], given[order])
    return tuple(map(str, names)), sums


def linked(keys: Sequence[Sequence[Hashable]]) -> list[int]:
    """The first row of each row's family: rows that share a key, directly or through others.

    Args:
        keys: of each of n rows, at least one.

    Returns:
        n places, each of a row of the same family; the smallest.

    Examples:
        >>> linked([["a"], ["b"], ["a", "c"], ["c"]])
        [0, 1, 0, 0]
    """
    parents: dict[Hashable, Hashable] = {}

    def root(key: Hashable) -> Hashable:
        parents.setdefault(key, key)
        while parents[key] != key:
            parents[key] = parents[parents[key]]
            key = parents[key]
        return key

    for own in keys:
        for other in own[1:]:
            parents[root(other)] = root(own[0])
    first: dict[Hashable, int] = {}
    return [first.setdefault(root(own[0]), place) for place, own in enumerate(keys)]


def of_resamples(drawn: Floats, units: int) -> Interval | None:
    """Interval of the resampled values that are finite; None where they know of no interval, as in
    `bootstrap`.

    Percentiles, whose tails are those of t instead of the normal distribution, and wider by
    ``sqrt(n / (n - 1))`` for n units, since resamples vary less than samples.
    """
    defined = drawn[np.isfinite(drawn)]
    if (
        units == 1
        or 2 * len(defined) < len(drawn)
        or np.ptp(defined) <= 1e-12 * np.abs(defined).max()
    ):
        return None
    from scipy import special

    tail = float(special.ndtr(-_t(units - 1) * math.sqrt(units / (units - 1))))
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Interval(float(low), float(high))


def error_of_resamples(drawn: Floats, units: int) -> float | None:
    """Standard error of the resampled values that are finite, as `standard_error`."""
    defined = drawn[np.isfinite(drawn)]
    if units == 1 or 2 * len(defined) < len(drawn):
        return None
    return float(np.std(defined)) * math.sqrt(units / (units - 1))


def unit_weights(units: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield blocks of shape [resamples of the block, units]: how often each resample draws each
    unit.
    """
    for size in block_sizes(resamples, units):
        drawn = rng.integers(0, units, size=(size, units)) + units * np.arange(size)[:, None]
        yield (
            np.bincount(drawn.ravel(), minlength=size * units)
            .reshape(size, units)
            .astype(np.float64)
        )


def weighted_sums(weights: Floats, rows: Floats) -> Floats:
    """Weighted sums of rows: weights [m, n] and rows [n, k] to [m, k].

    Not by BLAS: so each sum has the same bits on any number of threads, and a busy machine hardly
    slows it down.
    """
    return np.einsum("ij,kj->ik", weights, np.ascontiguousarray(rows.T))


def block_sizes(resamples: int, width: int) -> list[int]:
    """`resamples` cut into blocks that hold at most `BLOCK` numbers (or one resample, if that alone
    is wider).
    """
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}, must be at least 1")
    rows = max(1, BLOCK // width)
    whole, rest = divmod(resamples, rows)
    return [rows] * whole + [rest] * (rest > 0)
