"""Rows of a benchmark of which some were drawn at random and judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .array_types import Floats

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Draw:
    """The rows of a benchmark, and which of them were drawn and judged.

    Attributes:
        units: the unit of each of N rows; rows of one unit depend on each other.
        strata: the stratum of each row, from which judged rows were drawn at random.
        is_judged: whether each row was judged, shape [N].

    Raises:
        ValueError: no row of a stratum was judged, or there is not one of each for every row.
    """

    units: Sequence[str]
    strata: Sequence[str]
    is_judged: Bools

    def __post_init__(self) -> None:
        """Check the lengths, and that each stratum has judged rows."""
        if not len(self.units) == len(self.strata) == len(self.is_judged):
            raise ValueError("give one unit, stratum and flag for each row")
        for stratum, is_in_stratum in self.stratum_rows.items():
            if not (is_in_stratum & self.is_judged).any():
                raise ValueError(f"no row of {stratum} is judged")

    @cached_property
    def stratum_rows(self) -> dict[str, Bools]:
        """Whether each row is in a stratum, by stratum."""
        strata = np.asarray(self.strata, dtype=object)
        return {stratum: strata == stratum for stratum in sorted(set(self.strata))}

    @cached_property
    def groups(self) -> list[Bools]:
        """The judged and the other rows of each stratum; those without rows are left out."""
        groups: list[Bools] = []
        for is_in_stratum in self.stratum_rows.values():
            groups += [is_in_stratum & self.is_judged, is_in_stratum & ~self.is_judged]
        return [group for group in groups if group.any()]

    @cached_property
    def unit_of_row(self) -> npt.NDArray[np.intp]:
        """The number of each row's unit."""
        return np.unique(np.asarray(self.units, dtype=str), return_inverse=True)[1]

    @cached_property
    def judged_weights(self) -> Floats:
        """For each row its weight in a mean over the judged rows: they sum to 1."""
        return self._weights(self.is_judged)

    @cached_property
    def other_weights(self) -> Floats:
        """For each row its weight in a mean over the rows that were not judged: they sum to 1.

        The judged rows stand for a stratum of which all rows were judged.
        """
        return self._weights(~self.is_judged)

    def _weights(self, is_chosen: Bools) -> Floats:
        """Weights with which the chosen rows of a stratum, or else all, stand for the stratum."""
        weights = np.zeros(len(self.is_judged))
        for is_in_stratum in self.stratum_rows.values():
            rows = is_in_stratum & is_chosen
            if not rows.any():
                rows = is_in_stratum
            weights[rows] = is_in_stratum.sum() / len(weights) / rows.sum()
        return weights
