"""A metric as a function of sums over units: what intervals and tests resample."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .intervals import sums_by_unit

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Statistic:
    """A metric of one system as a function of statistics that are summed over units.

    Attributes:
        units: n ids of what is resampled (rows, phrases, images), sorted: the order given never
            matters. An id may be given several times; its rows are added up.
        rows: float64 [n, k], finite, in the order of `units`.
        value: the metric of summed rows: [..., k] to [...]. A value that is not finite is undefined
            (0/0, say).

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
            raise ValueError(
                f"the row of unit {units[at]!r} is {rows[at].tolist()}, must be finite"
            )
        object.__setattr__(self, "units", units)
        object.__setattr__(self, "rows", rows)

    @classmethod
    def ratio_of(
        cls,
        units: Iterable[str],
        numerators: npt.ArrayLike,
        denominators: npt.ArrayLike | None = None,
    ) -> Statistic:
        """``sum(numerators) / sum(denominators)``, by default the mean of the numerators (bools
        count as 0 and 1).

        Args:
            units: n ids, as of `Statistic`.
            numerators, denominators: n numbers; undefined where all denominators that were drawn
                are 0.

        Returns:
            `Statistic` with rows of two columns.

        Examples:
            >>> Statistic.ratio_of(["a", "b"], [True, False]).total()
            0.5
        """
        totals = np.ones(np.shape(numerators)) if denominators is None else denominators
        return cls(
            tuple(units),
            np.stack([numerators, totals], axis=1),
            lambda sums: sums[..., 0] / sums[..., 1],
        )

    def total(self) -> float:
        """The metric of all units, of exactly rounded sums; NaN where it is undefined."""
        return float(self.at(np.array([math.fsum(column) for column in self.rows.T])))

    def at(self, sums: Floats) -> Floats:
        """The metric of sums of shape [..., k], as shape [...]; NaN where it is undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.asarray(self.value(sums), dtype=np.float64)
        if found.shape != sums.shape[:-1]:
            raise ValueError(
                f"value makes {found.shape} of sums of shape {sums.shape}, must be"
                f" {sums.shape[:-1]}"
            )
        return np.where(np.isfinite(found), found, np.nan)
