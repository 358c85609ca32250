"""Bootstrap resamples of units, as weights and weighted sums, in blocks that bound the memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .array_types import Floats

BLOCK = 1 << 20
"""Numbers drawn at a time, so that memory does not grow with ``resamples * units``."""


def unit_weights(units: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield how often each resample draws each unit, a block of resamples at a time.

    Args:
        units: the number of units, at least 1; each resample draws as many, with replacement.
        resamples: at least 1.
        rng: where the draws come from.

    Yields:
        float64 arrays of shape [resamples of the block, units]; each row sums to `units`.

    Raises:
        ValueError: `resamples` is less than 1.

    Examples:
        >>> [weights] = unit_weights(units=3, resamples=2, rng=np.random.default_rng(0))
        >>> weights.shape, weights.sum(axis=1).tolist()
        ((2, 3), [3.0, 3.0])
    """
    for block_size in block_sizes(resamples, units):
        drawn_units = rng.integers(0, units, size=(block_size, units))
        # One count for the whole block: unit u of resample r is counted as number r * units + u.
        numbers = drawn_units + units * np.arange(block_size)[:, None]
        counts = np.bincount(numbers.ravel(), minlength=block_size * units)
        yield counts.reshape(block_size, units).astype(np.float64)


def weighted_sums(weights: Floats, rows: Floats) -> Floats:
    """Weighted sums of rows: weights [m, n] and rows [n, k] give sums [m, k].

    Computed without BLAS. So each sum has the same bits on any number of threads, and a busy
    machine hardly slows it down.

    Examples:
        >>> weighted_sums(np.array([[2.0, 0.0]]), np.array([[1.0, 5.0], [3.0, 7.0]])).tolist()
        [[2.0, 10.0]]
    """
    return np.einsum("ij,kj->ik", weights, np.ascontiguousarray(rows.T))


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
