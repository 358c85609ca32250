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

Intervals are for one system. To test a difference between systems, use ``significance``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .array_types import Floats
from .formula_intervals import Interval, of_mean, of_two_classes, share, t_quantile
from .resampling import RowSums
from .units import sums_by_unit

__all__ = [
    "DEFAULT_SEED",
    "Interval",
    "bootstrap",
    "of_mean",
    "of_two_classes",
    "resampled_sums",
    "share",
    "standard_error",
    "sums_by_unit",
]


DEFAULT_SEED = 20240501
"""Seed of every bootstrap. Numbers repeat exactly for one numpy version: numpy may change the
stream of a ``Generator`` between versions."""

RESAMPLES = 10_000
"""Resamples of every bootstrap unless the caller gives another number."""

ValueOfSums: TypeAlias = Callable[[Floats], Floats]
"""The value of sums over units: [..., columns] to [...]."""


def bootstrap(
    rows: npt.ArrayLike, value: ValueOfSums, resamples: int = RESAMPLES
) -> Interval | None:
    """The bootstrap interval of a function of sums over units, by percentiles.

    n units are drawn with replacement and summed, `resamples` times. The interval lies between two
    quantiles of the values: at ``Phi(t * sqrt(n / (n - 1)))`` and 1 minus that, Phi being the
    normal distribution and t the 2.5 % quantile of Student's t with n - 1 degrees of freedom. The
    order of the units does not matter.

    Args:
        rows: the numbers of each unit that are summed, finite, shape [n, k].
        value: the statistic of sums: [..., k] to [...]; a value that is not finite is undefined.
        resamples: at least 1.

    Returns:
        `Interval` on the scale of the statistic; None for a single unit, where all resamples have
        one value, and where more than half of them have none.

    Raises:
        ValueError: no units, no resamples, or a row that is not finite.

    Examples:
        The mean score of five rows:

        >>> rows = [[score, 1] for score in (0.3, 0.5, 0.6, 0.8, 0.9)]
        >>> low, high = bootstrap(rows, lambda sums: sums[..., 0] / sums[..., 1])
        >>> low < 0.62 < high
        True

    Source: Hesterberg 2014, expanded percentile interval.
    """
    unit_rows = _finite_rows(rows)
    return interval_of_resamples(_resampled_values(unit_rows, value, resamples), len(unit_rows))


def standard_error(
    rows: npt.ArrayLike, value: ValueOfSums, resamples: int = RESAMPLES
) -> float | None:
    """The standard error of a function of sums over units: the standard deviation of its bootstrap.

    It is multiplied by ``sqrt(n / (n - 1))`` for n units, since resamples vary less than samples.

    Args:
        rows: the numbers of each unit that are summed, finite, shape [n, k].
        value: the statistic of sums: [..., k] to [...]; a value that is not finite is undefined.
        resamples: at least 1.

    Returns:
        float >= 0; None for a single unit, and where more than half of the resamples have no value.

    Raises:
        ValueError: no units, no resamples, or a row that is not finite.

    Examples:
        >>> rows = [[hit, 1] for hit in (1, 0) * 50]
        >>> round(standard_error(rows, lambda sums: sums[..., 0] / sums[..., 1]), 2)
        0.05

    Source: Hesterberg 2014, section 4.3.
    """
    unit_rows = _finite_rows(rows)
    return error_of_resamples(_resampled_values(unit_rows, value, resamples), len(unit_rows))


def resampled_sums(tables: Sequence[npt.ArrayLike], resamples: int = RESAMPLES) -> list[Floats]:
    """The sums of the rows of each table in the resamples that `bootstrap` draws.

    Tables of equally many units share their draws, which take most of the time of a bootstrap. The
    sums of each have the same bits as alone.

    Args:
        tables: the numbers of each unit, finite, shape [n, k]; n and k may differ between tables.
        resamples: at least 1.

    Returns:
        For each table its sums, of shape [resamples, k].

    Raises:
        ValueError: no units, no resamples, or a row that is not finite.

    Examples:
        >>> [sums, other_sums] = resampled_sums([[[1, 1], [0, 1]], [[0.5], [0.5]]], resamples=100)
        >>> sums.shape, set(other_sums[:, 0].tolist())
        ((100, 2), {1.0})
    """
    sorted_tables: list[Floats] = []
    tables_by_units: dict[int, list[int]] = {}
    for index, table in enumerate(tables):
        unit_rows = _finite_rows(table)
        # so that the order given does not matter
        sorted_tables.append(unit_rows[np.lexsort(unit_rows.T)])
        tables_by_units.setdefault(len(unit_rows), []).append(index)

    sums_of_tables: dict[int, Floats] = {}
    for indices in tables_by_units.values():
        row_sums = RowSums([sorted_tables[index] for index in indices])
        sums = row_sums.of_resamples(resamples, np.random.default_rng(DEFAULT_SEED))
        sums_of_tables.update(zip(indices, sums, strict=True))
    return [sums_of_tables[index] for index in range(len(sorted_tables))]


def interval_of_resamples(values: Floats, units: int) -> Interval | None:
    """The bootstrap interval from the values of the resamples; None where there is none.

    Args:
        values: the statistic of each resample, shape [resamples]; those that are not finite are
            left out.
        units: how many units each resample draws.

    Returns:
        The interval that `bootstrap` describes, or None where that says so.
    """
    finite_values = values[np.isfinite(values)]
    if units == 1 or 2 * len(finite_values) < len(values):
        return None
    has_one_value = np.ptp(finite_values) <= 1e-12 * np.abs(finite_values).max()
    if has_one_value:
        return None
    from scipy import special

    tail = float(special.ndtr(-t_quantile(units - 1) * math.sqrt(units / (units - 1))))
    low, high = np.quantile(finite_values, [tail, 1 - tail])
    return Interval(float(low), float(high))


def error_of_resamples(values: Floats, units: int) -> float | None:
    """The standard error from the values of the resamples; None where `standard_error` has none.

    Args:
        values: the statistic of each resample, shape [resamples]; those that are not finite are
            left out.
        units: how many units each resample draws.
    """
    finite_values = values[np.isfinite(values)]
    if units == 1 or 2 * len(finite_values) < len(values):
        return None
    return float(np.std(finite_values)) * math.sqrt(units / (units - 1))


def _finite_rows(rows: npt.ArrayLike) -> Floats:
    """The rows as a float64 array; ValueError if a number is not finite."""
    unit_rows = np.asarray(rows, dtype=np.float64)
    if not np.isfinite(unit_rows).all():
        index = int(np.argmin(np.isfinite(unit_rows).all(axis=1)))
        raise ValueError(f"rows[{index}] is {unit_rows[index].tolist()}, must be finite")
    return unit_rows


def _resampled_values(unit_rows: Floats, value: ValueOfSums, resamples: int) -> Floats:
    """The statistic of each resample of the units, [resamples]; not finite where undefined."""
    [sums] = resampled_sums([unit_rows], resamples)
    with np.errstate(divide="ignore", invalid="ignore"):
        return value(sums)
