"""Intervals by formula: Wilson's of a share, and those made of others by MOVER."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .array_types import Floats

CONFIDENCE = 0.95


class Interval(NamedTuple):
    """A two-sided interval, ``low <= high``, on the scale of the statistic."""

    low: float
    high: float


# --- shares of rows ---


def share(hits: npt.ArrayLike, totals: npt.ArrayLike) -> Interval:
    """Wilson's interval of the share ``sum(hits) / sum(totals)``.

    With p the share, n the number of rows and z the 97.5 % quantile of the normal distribution::

        (p + z**2 / 2n  -+  z * sqrt(p (1 - p) / n + z**2 / 4n**2)) / (1 + z**2 / n)

    With one row a unit, n is the number of rows. With several, it is the effective number of rows:
    how many independent rows would have the variance that the units show, at most the number of
    rows. Where all rows are hits, or none is, or there is a single unit, the units show no
    variance: n is their number, as if the rows of a unit were one.

    Args:
        hits: hits of each unit, shape [units], from 0 to its total.
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

    Source: Wilson 1927; Korn & Graubard 1998.
    """
    unit_hits = np.asarray(hits, dtype=np.float64)
    unit_rows = np.asarray(totals, dtype=np.float64)
    has_rows = unit_hits.shape == unit_rows.shape and bool(unit_rows.any())
    if not has_rows or not _are_hits_of_totals(unit_hits, unit_rows):
        raise ValueError(
            f"each unit must have 0 hits to its total, some unit a row: {hits!r} hits of {totals!r}"
        )
    is_filled = unit_rows > 0
    unit_hits = unit_hits[is_filled]
    unit_rows = unit_rows[is_filled]
    observed_share = float(unit_hits.sum()) / float(unit_rows.sum())
    return wilson(observed_share, _effective_rows(unit_hits, unit_rows))


def _are_hits_of_totals(hits: Floats, totals: Floats) -> bool:
    return bool(((hits >= 0) & (hits <= totals) & np.isfinite(totals)).all())


def _effective_rows(unit_hits: Floats, unit_rows: Floats) -> float:
    """How many independent rows would vary as much as these units do (Korn & Graubard 1998).

    Args:
        unit_hits: shape [units].
        unit_rows: rows of each unit, shape [units], all above 0.

    Returns:
        A number above 0, not always whole.
    """
    rows = float(unit_rows.sum())
    units = len(unit_rows)
    observed_share = float(unit_hits.sum()) / rows
    if units == 1 or not 0 < observed_share < 1:
        return float(units)

    squared_residuals = float(np.square(unit_hits - observed_share * unit_rows).sum())
    variance = units / (units - 1) * (rows - 1) / rows * squared_residuals / rows**2
    effective = rows
    if variance > 0:
        effective = min(rows, observed_share * (1 - observed_share) / variance)
    # Their correction for few units, whose variance is known less well than that of many rows.
    return effective * (t_quantile(rows - 1) / t_quantile(units - 1)) ** 2


def wilson(observed_share: float, rows: float) -> Interval:
    """Wilson's interval of a share of independent rows; the formula is in `share`."""
    from scipy import special  # imported late: commands that compute nothing need not wait for it

    z_squared = float(special.ndtri((1 + CONFIDENCE) / 2)) ** 2
    variance = observed_share * (1 - observed_share) / rows
    middle = observed_share + z_squared / 2 / rows
    half_width = math.sqrt(z_squared * (variance + z_squared / 4 / rows**2))
    low = (middle - half_width) / (1 + z_squared / rows)
    high = (middle + half_width) / (1 + z_squared / rows)
    # The limits lie in [0, 1] and around the share already, but for rounding.
    return Interval(max(0.0, min(low, observed_share)), min(1.0, max(high, observed_share)))


def t_quantile(degrees: float, probability: float = (1 + CONFIDENCE) / 2) -> float:
    """The quantile of Student's t at a probability, by default the 97.5 % quantile."""
    from scipy import special

    return float(special.stdtrit(degrees, probability))


# --- intervals made from other intervals (MOVER) ---


def of_mean(values: Sequence[float], ends: Sequence[Interval]) -> Interval:
    """The interval of the unweighted mean of independent values, from the interval of each (MOVER).

    With m values ``v_i`` and intervals ``(l_i, h_i)``::

        low = mean(v) - sqrt(sum((v_i - l_i)**2)) / m
        high = mean(v) + sqrt(sum((h_i - v_i)**2)) / m

    Args:
        values: m finite numbers, at least one.
        ends: the interval of each value.

    Returns:
        `Interval` on the scale of the values.

    Raises:
        ValueError: a value or an end that is not finite.

    Examples:
        >>> low, high = of_mean([0.5, 0.7], [Interval(0.4, 0.6), Interval(0.4, 0.8)])
        >>> round(low, 3), round(high, 3)
        (0.442, 0.671)

    Source: Zou & Donner 2008.
    """
    if not np.isfinite([*values, *np.ravel(ends)]).all():
        raise ValueError(
            f"values {list(values)} and their intervals {list(ends)} must be finite numbers"
        )
    mean = sum(values) / len(values)
    distances_to_low = [value - limits.low for value, limits in zip(values, ends, strict=True)]
    distances_to_high = [limits.high - value for value, limits in zip(values, ends, strict=True)]
    return Interval(
        mean - math.hypot(*distances_to_low) / len(values),
        mean + math.hypot(*distances_to_high) / len(values),
    )


def of_two_classes(counts: npt.ArrayLike, value: Callable[[Floats], Floats]) -> Interval | None:
    """The interval of a score of two classes: macro precision, recall or F1, or accuracy.

    For any score that no right answer lowers. The gold labels are taken as given, so that the
    score is a function of the recalls ``r_0`` and ``r_1`` of the two classes. Each recall has the
    limits of `share`, and MOVER combines the distances ``d_c`` between the score and its value with
    ``r_c`` at its limit::

        low, high = score -+ sqrt(d_0**2 + d_1**2 + 2 * correlation * d_0 * d_1)

    where the correlation is that of the two recalls over units. Two units always show +1 or -1,
    whatever they hold: there it is taken as 0.

    Args:
        counts: ``tn, fp, fn, tp`` of each unit, shape [units, 4], whole numbers.
        value: the score of summed counts: [..., 4] to [...], in [0, 1].

    Returns:
        `Interval` that holds the score; None where no recall would change it (macro precision of a
        single class), and where the errors of the two classes cancel in every unit.

    Raises:
        ValueError: counts that are all zero, or negative.

    Examples:
        Ten rows of class 0, eight of them right, and ten of class 1, nine of them right:

        >>> counts = [[1, 0, 0, 0]] * 8 + [[0, 1, 0, 0]] * 2 + [[0, 0, 0, 1]] * 9 + [[0, 0, 1, 0]]
        >>> def accuracy(counts):
        ...     return (counts[..., 0] + counts[..., 3]) / counts.sum(axis=-1)
        >>> low, high = of_two_classes(counts, accuracy)
        >>> round(low, 3), round(high, 3)
        (0.633, 0.933)

    Source: after Zou & Donner 2008.
    """
    unit_counts = np.asarray(counts, dtype=np.float64)
    classes: list[_GoldClass] = []
    for right_column, wrong_column in ((0, 1), (3, 2)):  # tn and fp, then tp and fn
        if unit_counts[:, [right_column, wrong_column]].any():
            classes.append(_GoldClass.of(unit_counts, right_column, wrong_column))
    limits = [gold_class.limits() for gold_class in classes]
    score = float(value(unit_counts.sum(axis=0)))

    correlation = 0.0
    if len(classes) == 2 and len(unit_counts) > 2:
        correlation = _correlation(classes[0].residuals(), classes[1].residuals())
    distance_to_low = _mover_distance(
        classes, [interval.low for interval in limits], value, score, correlation
    )
    distance_to_high = _mover_distance(
        classes, [interval.high for interval in limits], value, score, correlation
    )
    if not distance_to_low and not distance_to_high:
        return None
    return Interval(max(0.0, score - distance_to_low), min(1.0, score + distance_to_high))


@dataclass(frozen=True, eq=False)
class _GoldClass:
    """The rows of one gold class.

    Attributes:
        right_column, wrong_column: where ``tn, fp, fn, tp`` counts its right and its wrong rows.
        right: its right rows in each unit, [units].
        rows: all its rows in each unit, [units].
    """

    right_column: int
    wrong_column: int
    right: Floats
    rows: Floats

    @classmethod
    def of(cls, unit_counts: Floats, right_column: int, wrong_column: int) -> _GoldClass:
        right = unit_counts[:, right_column]
        return cls(right_column, wrong_column, right, right + unit_counts[:, wrong_column])

    def recall(self) -> float:
        return float(self.right.sum() / self.rows.sum())

    def limits(self) -> Interval:
        return share(self.right, self.rows)

    def residuals(self) -> Floats:
        """Right rows in each unit, minus those that the recall of the class predicts."""
        return self.right - self.recall() * self.rows

    def counts_at(self, recall: float) -> Floats:
        """``tn, fp, fn, tp`` of this class alone, if its recall were `recall`."""
        counts = np.zeros(4)
        counts[self.right_column] = recall * self.rows.sum()
        counts[self.wrong_column] = (1 - recall) * self.rows.sum()
        return counts


def _correlation(residuals: Floats, other_residuals: Floats) -> float:
    """Pearson's correlation of two sets of residuals; 0 if one of them does not vary."""
    scale = math.sqrt(float(np.square(residuals).sum()) * float(np.square(other_residuals).sum()))
    return float(residuals @ other_residuals) / scale if scale else 0.0


def _mover_distance(
    classes: Sequence[_GoldClass],
    recall_limits: Sequence[float],
    value: Callable[[Floats], Floats],
    score: float,
    correlation: float,
) -> float:
    """The distance from the score to one end of its interval, by the formula in `of_two_classes`.

    Args:
        classes: those that are gold, one or two.
        recall_limits: the limit of each class's recall, all low or all high.
        value: the score of summed counts.
        score: its value for the observed counts.
        correlation: that of the two recalls.
    """
    distances: list[float] = []
    for moved_class, limit in zip(classes, recall_limits, strict=True):
        counts = np.zeros(4)
        for gold_class in classes:
            recall = limit if gold_class is moved_class else gold_class.recall()
            counts += gold_class.counts_at(recall)
        distances.append(abs(float(value(counts)) - score))
    squares = sum(distance**2 for distance in distances)
    if len(distances) == 2:
        squares += 2 * correlation * math.prod(distances)
    return math.sqrt(max(0.0, squares))
