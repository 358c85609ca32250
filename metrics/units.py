"""Units: rows that depend on each other, added up so that what is resampled is independent."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .array_types import Floats, Integers


def sums_by_unit(units: Sequence[str], rows: npt.ArrayLike) -> tuple[tuple[str, ...], Floats]:
    """Add up the rows of each unit; return the sorted unit ids and their sums.

    Args:
        units: n unit ids, one for each row; an id may occur several times.
        rows: numbers of shape [n, k].

    Returns:
        The m distinct ids in sorted order, and float64 sums of shape [m, k]. Not even the last bit
        of a sum depends on the order of the rows.

    Raises:
        ValueError: there is not one unit id for each row.

    Examples:
        >>> ids, sums = sums_by_unit(["b", "a", "b"], [[1, 1], [0, 1], [0, 1]])
        >>> ids, sums.tolist()
        (('a', 'b'), [[0.0, 1.0], [1.0, 2.0]])
    """
    numbers = np.asarray(rows, dtype=np.float64)
    if len(units) != len(numbers):
        raise ValueError(f"{len(units)} units for {len(numbers)} rows: give one for each")
    unit_ids, unit_of_row = _sorted_units(tuple(units))
    sums = np.zeros((len(unit_ids), numbers.shape[1]))
    if len(unit_ids) == len(numbers):  # each row is a unit of its own
        sums[unit_of_row] += numbers
        return unit_ids, sums
    # Sums of floats depend on the order of the summands, so the rows of a unit are sorted first.
    order = np.lexsort((*numbers.T, unit_of_row))
    np.add.at(sums, unit_of_row[order], numbers[order])
    return unit_ids, sums


@lru_cache(maxsize=4)
def _sorted_units(units: tuple[str, ...]) -> tuple[tuple[str, ...], Integers]:
    """The distinct ids in sorted order, and for each row the index of its id among them.

    Kept for the next statistics, which are mostly of the same rows: to sort the ids takes longer
    than to add up their rows.

    Args:
        units: the id of each row.
    """
    unit_ids, unit_of_row = np.unique(
        np.asarray(units, dtype=object).astype(str), return_inverse=True
    )
    unit_of_row.flags.writeable = False  # the next caller gets the same array
    return tuple(map(str, unit_ids)), unit_of_row


def link_rows(keys_of_rows: Sequence[Sequence[Hashable]]) -> list[int]:
    """For each row the index of the first row that shares a key with it, directly or by a chain.

    Rows that share a key are one group, and so are rows that are linked by a chain of shared keys
    (union-find over the keys).

    Args:
        keys_of_rows: the keys of each of n rows, at least one a row.

    Returns:
        For each row the index of the first row of its group.

    Examples:
        >>> link_rows([["a"], ["b"], ["a", "c"], ["c"]])
        [0, 1, 0, 0]
    """
    parents: dict[Hashable, Hashable] = {}

    def find_root(key: Hashable) -> Hashable:
        """The key that stands for the group of `key`."""
        parents.setdefault(key, key)
        while parents[key] != key:
            parents[key] = parents[parents[key]]  # halves the path for the next search
            key = parents[key]
        return key

    for keys in keys_of_rows:
        for key in keys[1:]:
            parents[find_root(key)] = find_root(keys[0])

    first_row_by_root: dict[Hashable, int] = {}
    first_rows: list[int] = []
    for row, keys in enumerate(keys_of_rows):
        first_rows.append(first_row_by_root.setdefault(find_root(keys[0]), row))
    return first_rows
