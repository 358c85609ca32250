"""Sums of rows over resampled or swapped units, in blocks that bound the memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .array_types import Bits, Floats, Integers

BLOCK = 1 << 17
"""Numbers drawn at a time: arrays that stay in the processor's cache.

Memory does not grow with ``resamples * units``.
"""


def draw_units(units: int, resamples: int, rng: np.random.Generator) -> Iterator[Integers]:
    """Yield the units that each resample draws, a block of resamples at a time.

    Args:
        units: the number of units, at least 1; each resample draws as many, with replacement.
        resamples: at least 1.
        rng: where the draws come from.

    Yields:
        Indices of units, of shape [resamples of the block, units].

    Raises:
        ValueError: `resamples` is less than 1.

    Examples:
        >>> [drawn_units] = draw_units(units=3, resamples=2, rng=np.random.default_rng(0))
        >>> drawn_units.shape
        (2, 3)
    """
    for block_size in block_sizes(resamples, units):
        yield rng.integers(0, units, size=(block_size, units))


def random_bits(rows: int, columns: int, rng: np.random.Generator) -> Bits:
    """Zeros and ones with probability 1/2 each, [rows, columns]."""
    words_per_row = -(-columns // 64)  # rounded up
    words = rng.integers(0, 1 << 64, size=(rows, words_per_row), dtype=np.uint64)
    # Little-endian on every machine, so that the same seed gives the same bits.
    words_as_bytes = words.astype("<u8").view(np.uint8)
    return np.unpackbits(words_as_bytes, axis=1, count=columns)


class RowSums:
    """Sums of the rows of tables, over the units that resamples draw or that swaps exchange.

    The tables of whole numbers are put side by side, and the units are counted by their row. Many
    units have the same row there, and the sums follow from how often each distinct row is taken.
    They are exact, so that they have the same bits as sums of all rows. All other tables are summed
    with a weight for each unit.

    Sums are computed without BLAS. So they have the same bits on any number of threads, and a busy
    machine hardly slows them down.

    Attributes:
        units: the number of units.
        columns: the number of columns of all tables.

    Examples:
        >>> row_sums = RowSums([np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[0.5], [0.25]])])
        >>> [hits, scores] = row_sums.of_draws(np.array([[1, 1], [0, 1]]))
        >>> hits.tolist(), scores.tolist()
        ([[2.0, 2.0], [1.0, 2.0]], [[0.5], [0.75]])
    """

    def __init__(self, tables: Sequence[Floats]) -> None:
        """Prepare the sums.

        Args:
            tables: of shape [units, columns], all over the same units, at least one of both.
        """
        widths = [table.shape[1] for table in tables]
        self._boundaries = np.cumsum(widths)[:-1]
        columns = np.concatenate(tables, axis=1)
        self.units, self.columns = columns.shape
        self._is_counted = np.repeat([_has_exact_sums(table) for table in tables], widths)
        self._rows: _DistinctRows | None = None
        if self._is_counted.any():
            self._rows = _DistinctRows(columns[:, self._is_counted])
            if self._rows.are_too_many:
                self._rows = None
                self._is_counted[:] = False
        # [columns, units], so that the numbers of a sum lie side by side.
        self._weighted_columns = np.ascontiguousarray(columns[:, ~self._is_counted].T)

    def of_resamples(self, resamples: int, rng: np.random.Generator) -> list[Floats]:
        """The sums of each table over the units of random resamples (`draw_units`).

        The next call goes on where this one ends: the draws of two calls are those of one.

        Args:
            resamples: at least 1.
            rng: where the draws come from.

        Returns:
            For each table its sums, of shape [resamples, columns].

        Raises:
            ValueError: `resamples` is less than 1.
        """
        blocks: list[list[Floats]] = []
        for drawn_units in draw_units(self.units, resamples, rng):
            blocks.append(self.of_draws(drawn_units))
        return _joined(blocks)

    def of_draws(self, drawn_units: Integers) -> list[Floats]:
        """The sums of each table over the units that each resample draws.

        Args:
            drawn_units: [resamples, units], a block of `draw_units`.

        Returns:
            For each table its sums, of shape [resamples, columns].
        """
        sums = np.empty((len(drawn_units), len(self._is_counted)))
        if self._rows is not None:
            sums[:, self._is_counted] = self._rows.sums(self._rows.of_units[drawn_units])
        if len(self._weighted_columns):
            weights = _count_in_lines(drawn_units, drawn_units.shape[1])
            sums[:, ~self._is_counted] = self._weighted_sums(weights)
        return self._by_table(sums)

    def of_random_swaps(
        self, swaps: int, rng: np.random.Generator
    ) -> tuple[list[Floats], list[Floats]]:
        """The sums of each table over the units that stay, and over those that change places.

        Each unit changes places with probability 1/2. The swaps of two calls are those of one.

        Args:
            swaps: at least 1.
            rng: where the swaps come from.

        Returns:
            As `of_swaps`.

        Raises:
            ValueError: `swaps` is less than 1.
        """
        kept_blocks: list[list[Floats]] = []
        swapped_blocks: list[list[Floats]] = []
        for size in block_sizes(swaps, self.units):
            kept, swapped = self.of_swaps(random_bits(size, self.units, rng))
            kept_blocks.append(kept)
            swapped_blocks.append(swapped)
        return _joined(kept_blocks), _joined(swapped_blocks)

    def of_swaps(self, is_swapped: Bits) -> tuple[list[Floats], list[Floats]]:
        """The sums of each table over the units that stay, and over those that change places.

        Args:
            is_swapped: 1 for each unit that changes places, else 0; of shape [swaps, units].

        Returns:
            For each table its sums over units that stay, of shape [swaps, columns]; and for each
            table those over units that change places.
        """
        kept = np.empty((len(is_swapped), len(self._is_counted)))
        swapped = np.empty_like(kept)
        if self._rows is not None:
            kept_sums, swapped_sums = self._rows.sums_of_swaps(is_swapped)
            kept[:, self._is_counted] = kept_sums
            swapped[:, self._is_counted] = swapped_sums
        if len(self._weighted_columns):
            weights = is_swapped.astype(np.float64)
            kept[:, ~self._is_counted] = self._weighted_sums(1 - weights)
            swapped[:, ~self._is_counted] = self._weighted_sums(weights)
        return self._by_table(kept), self._by_table(swapped)

    def _weighted_sums(self, weights: Floats) -> Floats:
        """Sums of the columns that are not counted, [resamples, columns].

        Args:
            weights: of each unit, [resamples, units].
        """
        return np.einsum("ij,kj->ik", weights, self._weighted_columns)

    def _by_table(self, sums: Floats) -> list[Floats]:
        """The sums of all columns as one array for each table."""
        return list(map(np.ascontiguousarray, np.split(sums, self._boundaries, axis=1)))


def _joined(blocks: Sequence[Sequence[Floats]]) -> list[Floats]:
    """The sums of each table from those of blocks of resamples.

    Args:
        blocks: for each block the sums of each table, [resamples of the block, columns].
    """
    return [np.concatenate(blocks_of_table) for blocks_of_table in zip(*blocks, strict=True)]


class _DistinctRows:
    """The distinct rows of a table of whole numbers.

    Attributes:
        of_units: the number of each unit's row among the distinct ones, [units].
        are_too_many: whether sums of weighted units may be faster.
    """

    def __init__(self, table: Floats) -> None:
        """Find the distinct rows of a table, [units, columns]."""
        rows, row_of_unit = np.unique(table, axis=0, return_inverse=True)
        self._columns = np.ascontiguousarray(rows.T)
        # numpy 2.0 alone gives the inverse another shape. In few bytes it stays in the cache.
        number_type = np.min_scalar_type(2 * len(rows))
        self.of_units = row_of_unit.reshape(-1).astype(number_type)
        # Draws are faster to count with two units to a row already, swaps only with several.
        self.are_too_many = 8 * len(rows) > len(table)

    def sums(self, taken_rows: Integers) -> Floats:
        """Sums of rows: numbers of distinct rows, [resamples, units], give [resamples, columns]."""
        return self._sums_of_counts(_count_in_lines(taken_rows, self._columns.shape[1]))

    def sums_of_swaps(self, is_swapped: Bits) -> tuple[Floats, Floats]:
        """Sums of rows over units that stay, and over those that are swapped: [swaps, columns].

        Args:
            is_swapped: 1 for each unit that is swapped, else 0; of shape [swaps, units].
        """
        row_count = self._columns.shape[1]
        # The rows of swapped units have numbers of their own, behind those of units that stay.
        numbers = self.of_units + is_swapped * self.of_units.dtype.type(row_count)
        counts = _count_in_lines(numbers, 2 * row_count)
        kept_counts, swapped_counts = np.split(counts, 2, axis=1)
        return self._sums_of_counts(kept_counts), self._sums_of_counts(swapped_counts)

    def _sums_of_counts(self, counts: Floats) -> Floats:
        """Sums of rows from how often each distinct row is taken, [resamples, distinct rows]."""
        return np.einsum("ij,kj->ik", counts, self._columns)


def _has_exact_sums(table: Floats) -> bool:
    """Whether all numbers are whole, and any resample of the rows has an exact sum."""
    largest = np.abs(table).max()
    # Not `largest * len(table) < 2**53`, which may overflow.
    return bool(largest < 2**53 / len(table) and np.all(table == np.rint(table)))


def _count_in_lines(numbers: Integers, limit: int) -> Floats:
    """How often each number occurs in each line: [lines, length] gives [lines, limit].

    Args:
        numbers: from 0 to `limit` - 1.
    """
    lines = len(numbers)
    if lines > 1:
        # One count for all lines: number x of line i is counted as i * limit + x.
        numbers = numbers + limit * np.arange(lines)[:, None]
    counts = np.bincount(numbers.ravel(), minlength=lines * limit)
    return counts.reshape(lines, limit).astype(np.float64)


def block_sizes(resamples: int, width: int) -> list[int]:
    """Split a number of resamples into blocks of at most `BLOCK` numbers.

    Args:
        resamples: at least 1.
        width: numbers in one resample; one that is wider than `BLOCK` is a block of its own.

    Returns:
        The number of resamples in each block; they sum to `resamples`.

    Raises:
        ValueError: `resamples` is less than 1.

    Examples:
        >>> block_sizes(resamples=5, width=BLOCK // 2)
        [2, 2, 1]
    """
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}, must be at least 1")
    block_size = max(1, BLOCK // width)
    full_blocks, rest = divmod(resamples, block_size)
    sizes = [block_size] * full_blocks
    if rest:
        sizes.append(rest)
    return sizes
