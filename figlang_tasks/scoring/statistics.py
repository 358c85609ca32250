"""Ways to make a `Statistic` from records: a ratio of sums, grouped rows, several statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.metrics.statistic import Floats

ratio = Statistic.ratio_of
"""The ratio of two sums, by default the mean of the numerators; records of one unit are added."""


def grouped(
    units: Iterable[str], rows: npt.ArrayLike, value: Callable[[Floats], Floats]
) -> Statistic:
    """A statistic whose value is a function of the sum of rows of numbers, one row per record.

    `Statistic` adds up the rows of one unit, since units are what is resampled.

    Args:
        units: the unit of each record.
        rows: the numbers of each record, shape [records, columns].
        value: the value of sums of rows, shape [..., columns] to [...].
    """
    return Statistic(tuple(units), np.asarray(rows, dtype=np.float64), value)


def combine_statistics(
    statistics: Sequence[Statistic], combine: Callable[..., Floats]
) -> Statistic:
    """One statistic whose value is a function of the values of several, such as their mean.

    Its units are those of all of them, so that a unit that several share is resampled once.

    Args:
        combine: a function like ``numpy.mean``; called with the values and ``axis=0``.
    """
    units = sorted(set().union(*(statistic.units for statistic in statistics)))
    index_of_unit = {unit: index for index, unit in enumerate(units)}
    widths = [statistic.rows.shape[1] for statistic in statistics]
    boundaries = np.cumsum(widths)[:-1]

    # A row for each unit. The columns of the statistics stand side by side, those of the first one
    # on the left; they are 0 where a statistic lacks the unit.
    rows = np.zeros((len(units), sum(widths)))
    # np.split returns views, so that these assignments fill `rows`.
    for statistic, columns in zip(statistics, np.split(rows, boundaries, axis=1), strict=True):
        indices = [index_of_unit[unit] for unit in statistic.units]
        columns[indices] = statistic.rows

    def value(sums: Floats) -> Floats:
        """Combine the values of the statistics, each computed from its own columns."""
        values: list[Floats] = []
        for statistic, columns in zip(statistics, np.split(sums, boundaries, axis=-1), strict=True):
            values.append(statistic.value(columns))
        return combine(values, axis=0)

    return Statistic(tuple(units), rows, value)
