"""A metric as a function of sums over units: what intervals and tests resample."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .array_types import Floats
from .units import sums_by_unit


@dataclass(frozen=True, eq=False)
class Statistic:
    """A metric of one system as a function of numbers that are summed over units.

    Attributes:
        units: the ids of the n units that are resampled (rows, phrases, images), sorted: the order
            given never matters. You may give an id several times; its rows are added up.
        rows: float64 [n, k], finite, in the order of `units`.
        value: the metric of summed rows: [..., k] to [...]. A value that is not finite is undefined
            (0/0, say).

    Raises:
        ValueError: no units, rows of another shape or not finite (names the unit).

    Examples:
        The share of right rows, whose units have two rows and one:

        >>> def share(sums):
        ...     return sums[..., 0] / sums[..., 1]
        >>> statistic = Statistic(("b", "a", "b"), [[1, 1], [0, 1], [0, 1]], share)
        >>> statistic.units, statistic.rows.tolist(), round(statistic.total(), 3)
        (('a', 'b'), [[0.0, 1.0], [1.0, 2.0]], 0.333)
    """

    units: tuple[str, ...]
    rows: Floats
    value: Callable[[Floats], Floats]

    def __post_init__(self) -> None:
        """Sort the units, add up the rows of each, and check them."""
        rows = np.asarray(self.rows, dtype=np.float64)
        if rows.ndim != 2 or rows.size == 0:
            raise ValueError(f"rows must have shape [n, k] and not be empty, got {rows.shape}")
        unit_ids, unit_rows = sums_by_unit(self.units, rows)
        if not np.isfinite(unit_rows).all():
            index = int(np.argmin(np.isfinite(unit_rows).all(axis=1)))
            raise ValueError(
                f"the row of unit {unit_ids[index]!r} is {unit_rows[index].tolist()}, must be"
                " finite"
            )
        # The dataclass is frozen for its users; here its fields get their final form.
        object.__setattr__(self, "units", unit_ids)
        object.__setattr__(self, "rows", unit_rows)

    @classmethod
    def ratio_of(
        cls,
        units: Iterable[str],
        numerators: npt.ArrayLike,
        denominators: npt.ArrayLike | None = None,
    ) -> Statistic:
        """The statistic ``sum(numerators) / sum(denominators)``; without denominators, the mean.

        Args:
            units: n unit ids, one for each number.
            numerators: n numbers; bools count as 0 and 1.
            denominators: n numbers; None: all 1. The ratio is undefined where they sum to 0.

        Returns:
            `Statistic` with rows of two columns.

        Raises:
            ValueError: unequal numbers, or one that is not finite.

        Examples:
            >>> Statistic.ratio_of(["a", "b"], [True, False]).total()
            0.5
        """
        if denominators is None:
            denominators = np.ones(np.shape(numerators))
        return cls(tuple(units), np.stack([numerators, denominators], axis=1), _ratio)

    def total(self) -> float:
        """The metric of all units, from exactly rounded sums; NaN where it is undefined."""
        sums = np.array([math.fsum(column) for column in self.rows.T])
        return float(self.value_of(sums))

    def value_of(self, sums: Floats) -> Floats:
        """The metric of sums of shape [..., k], as shape [...]; NaN where it is undefined.

        Raises:
            ValueError: `value` returns another shape.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.asarray(self.value(sums), dtype=np.float64)
        if values.shape != sums.shape[:-1]:
            raise ValueError(
                f"value makes {values.shape} of sums of shape {sums.shape}, must be"
                f" {sums.shape[:-1]}"
            )
        return np.where(np.isfinite(values), values, np.nan)


def _ratio(sums: Floats) -> Floats:
    """The first of two sums, divided by the second."""
    return np.asarray(sums[..., 0] / sums[..., 1], dtype=np.float64)
