"""An interval or a standard error is wrong if this fails.

Coverage, by simulation: tools/interval_coverage.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from figlang_tasks.metrics import classification
from figlang_tasks.metrics.intervals import (
    Interval,
    bootstrap,
    error_of_resamples,
    interval_of_resamples,
    of_mean,
    of_two_classes,
    resampled_sums,
    share,
    standard_error,
    sums_by_unit,
)
from figlang_tasks.metrics.units import link_rows

# --- shares ---


def rows_of(hits: int, n: int) -> tuple[list[float], list[float]]:
    return [1.0] * hits + [0.0] * (n - hits), [1.0] * n


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_as_published(hits: int, n: int, low: float, high: float) -> None:
    """Table I, method 3, of Newcombe 1998.

    "Two-sided confidence intervals for the single proportion".
    """
    assert share(*rows_of(hits, n)) == pytest.approx((low, high), abs=5e-5)


def test_all_right_in_some_units_is_the_evidence_of_so_many_rows() -> None:
    assert share([10, 12, 7], [10, 12, 7]) == share([1, 1, 1], [1, 1, 1])
    assert share([0, 0, 0], [10, 12, 7]) == share([0, 0, 0], [1, 1, 1])


@pytest.mark.parametrize(
    ("hits", "totals", "effective"),
    [
        # Of 9 rows, 6 hits: residuals 2/3, -1/3, -2/3, 1/3; variance 4/3 * 8/9 * 10/9 / 81 =
        # .01626, less than that of 9 rows, (2/9) / 9; t of 8 and of 3 degrees of freedom (tables)
        # 2.3060 and 3.1824.
        ([2, 1, 0, 3], [2, 2, 1, 4], 9 * (2.3060 / 3.1824) ** 2),
        # Of 12 rows, 8 hits: residuals 4/3, -8/3, 4/3; variance 3/2 * 11/12 * 32/3 / 144; t of 11
        # and of 2.
        ([4, 0, 4], [4, 4, 4], 2 / 9 / (1.5 * 11 / 12 * 32 / 3 / 144) * (2.2010 / 4.3027) ** 2),
        # No variance at all between units: 20 rows; t of 19 and of 9.
        ([1] * 10, [2] * 10, 20 * (2.0930 / 2.2622) ** 2),
        # Nor of a single unit, whose rows count as one.
        ([2], [5], 1),
    ],
)
def test_rows_by_unit_by_hand(hits: list[int], totals: list[int], effective: float) -> None:
    """The effective number of rows as Korn and Graubard have it.

    The ends are where (p - x)^2 = z^2 x (1 - x) / n.
    """
    p = sum(hits) / sum(totals)
    z_squared = 1.959964**2
    ends = np.roots([1 + z_squared / effective, -2 * p - z_squared / effective, p * p])
    assert share(hits, totals) == pytest.approx(sorted(ends.real), abs=1e-4)
    assert share([*hits, 0], [*totals, 0]) == share(hits, totals), "a unit without rows"


# --- two classes ---


def units_of(counts: list[int]) -> np.ndarray:
    """One row a unit."""
    return np.repeat(np.eye(4), counts, axis=0)


def test_macro_recall_by_hand() -> None:
    """The mean of two shares: half of the distances of their limits, squared, added, rooted."""
    recall_of_1 = share(*rows_of(30, 40))
    recall_of_0 = share(*rows_of(9, 25))
    distance_to_low = 0.5 * math.hypot(0.75 - recall_of_1.low, 0.36 - recall_of_0.low)
    distance_to_high = 0.5 * math.hypot(recall_of_1.high - 0.75, recall_of_0.high - 0.36)
    limits = (0.555 - distance_to_low, 0.555 + distance_to_high)
    interval = of_two_classes(units_of([9, 16, 10, 30]), classification.macro_recall)
    assert interval == pytest.approx(limits, abs=1e-12)


def test_limits_beyond_0_and_1_are_cut_and_where_no_recall_counts_there_are_none() -> None:
    few_units = [[3, 0, 0, 5], [1, 3, 0, 4], [0, 9, 2, 1]]  # [-.09, 1.04]
    assert of_two_classes(few_units, classification.macro_precision) == (0, 1)
    one_class = units_of([3, 1, 0, 0])
    assert of_two_classes(one_class, classification.macro_precision) is None
    errors_that_cancel = [[1, 0, 1, 0]] * 5 + [[0, 1, 0, 1]] * 5
    assert of_two_classes(errors_that_cancel, classification.macro_recall) is None


def recall_of_1(sums: np.ndarray) -> np.ndarray:
    return sums[..., 3] / (sums[..., 2] + sums[..., 3])


def recall_of_0(sums: np.ndarray) -> np.ndarray:
    return sums[..., 0] / (sums[..., 0] + sums[..., 1])


@pytest.mark.parametrize(
    "counts", [[[3, 1, 2, 4], [5, 0, 1, 1], [2, 2, 0, 3]], [[0, 0, 2, 4], [0, 0, 1, 2]]]
)
def test_the_recall_of_one_class_has_the_interval_of_a_share(counts: list[list[int]]) -> None:
    """Rows of the other class play no part, whichever class it is."""
    _, _, fn, tp = np.array(counts).T
    expected = pytest.approx(share(tp, fn + tp), abs=1e-12)
    assert of_two_classes(counts, recall_of_1) == expected
    exchanged = np.array(counts)[:, ::-1]
    assert of_two_classes(exchanged, recall_of_0) == expected


def test_errors_that_go_together_within_a_unit_widen_it_and_those_that_balance_narrow_it() -> None:
    both_right = [1, 0, 0, 1]
    both_wrong = [0, 1, 1, 0]
    only_0_right = [1, 0, 1, 0]
    only_1_right = [0, 1, 0, 1]
    together = np.array([both_right] * 30 + [both_wrong] * 30)
    balanced = np.array([only_0_right] * 30 + [only_1_right] * 29 + [both_right])
    independent = units_of([30, 30, 30, 30])
    assert 0 < width(balanced) < 0.05
    assert width(independent) == pytest.approx(width(together) / math.sqrt(2), rel=0.03)


def width(counts: np.ndarray) -> float:
    """The width of the interval of macro recall."""
    interval = of_two_classes(counts, classification.macro_recall)
    assert interval is not None
    return interval.high - interval.low


# --- the bootstrap ---


def ratio(sums: np.ndarray) -> np.ndarray:
    return sums[..., 0] / sums[..., 1]


def test_percentiles_of_resampled_rows() -> None:
    """Drawn here once more, with the tails of Hesterberg (2015, Table 5) for few rows."""
    rng = np.random.default_rng(8)
    k = rng.integers(1, 38, size=34)
    rows = np.stack([rng.binomial(k, 0.2 + 0.5 * k / 38), k], axis=-1).astype(float)
    values = [ratio(rows[rng.integers(0, 34, size=34)].sum(axis=0)) for _ in range(6000)]
    tail = stats.norm.cdf(-math.sqrt(34 / 33) * stats.t.ppf(0.975, 33))
    limits = tuple(np.quantile(values, [tail, 1 - tail]))
    assert bootstrap(rows, ratio) == pytest.approx(limits, abs=0.012)
    assert bootstrap(rows, ratio) == bootstrap(rows[::-1], ratio, resamples=10_000)


@pytest.mark.parametrize(
    "rows",
    [
        [[0.3, 1.0]],
        [[0.0, 1.0]] * 9,
        [[1e6 / 3, 1.0]] * 9,  # the values differ by rounding alone
        [[0.0, 0.0]] * 6 + [[1.0, 1.0]],
    ],
)
def test_where_resampling_knows_nothing_there_is_no_interval(rows: list[list[float]]) -> None:
    """A single unit, one value whatever is drawn, and a value that most resamples do not have."""
    assert bootstrap(rows, ratio, resamples=500) is None


# --- means and units ---


def test_rows_are_linked_directly_or_through_others() -> None:
    keys = [("a", 1), ("b", 2), ("c", 1), ("b", 3), ("d", 3), ("e", 4)]
    assert link_rows(keys) == [0, 1, 0, 1, 1, 5]


def test_sums_by_unit_are_the_same_to_the_last_bit_in_any_order() -> None:
    rng = np.random.default_rng(3)
    rows, units = rng.random((200, 2)), rng.integers(0, 7, size=200).astype(str)
    order = rng.permutation(200)
    names, sums = sums_by_unit(list(units), rows)
    assert names == tuple("0123456")
    assert sums.tolist() == sums_by_unit(list(units[order]), rows[order])[1].tolist()
    assert sums.sum(axis=0) == pytest.approx(rows.sum(axis=0))


def test_a_standard_error_is_that_of_the_mean() -> None:
    """Two units, 0 and 1, give resamples of 0, .5 and 1 in the ratio 1:2:1: the error is .5."""
    assert standard_error([[0, 1], [1, 1]], ratio) == pytest.approx(0.5, rel=0.02)
    assert standard_error([[1, 1], [1, 1]], ratio) == 0
    assert standard_error([[1, 1]], ratio) is None


def test_statistics_share_draws_and_have_the_bits_they_have_alone() -> None:
    rng = np.random.default_rng(5)
    hits = np.stack([rng.integers(0, 2, size=50), np.ones(50)], axis=1)
    scores = rng.random((50, 1))
    lengths = rng.random((7, 2))  # of other units
    together = resampled_sums([hits, lengths, scores], resamples=40)
    for table, sums in zip([hits, lengths, scores], together, strict=True):
        [alone] = resampled_sums([table], resamples=40)
        assert np.array_equal(sums, alone)


# --- errors ---


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: share([1], [1, 1]), "0 hits to its total"),
        (lambda: share([1, 2], [1, 1]), "0 hits to its total"),
        (lambda: share([1, -1], [1, 1]), "0 hits to its total"),
        (lambda: share([0], [0]), "some unit a row"),
        (lambda: share([math.nan, 1], [1, 1]), "0 hits to its total"),
        (lambda: share([1, 1], [1, math.inf]), "0 hits to its total"),
        (lambda: share([1, 1], [1, math.nan]), "0 hits to its total"),
        (lambda: of_mean([math.nan], [Interval(0, 1)]), "must be finite"),
        (lambda: of_mean([0.5], [Interval(0, math.inf)]), "must be finite"),
        (lambda: bootstrap([[1, 1], [math.nan, 1]], ratio), r"rows\[1\] is \[nan, 1.0\]"),
        (lambda: standard_error([[math.inf, 1], [1, 1]], ratio), r"rows\[0\] is \[inf, 1.0\]"),
        (lambda: bootstrap([[1, 1], [2, 1]], ratio, resamples=0), "resamples is 0"),
        (lambda: sums_by_unit(["a"], [[0.0], [1.0]]), "1 units for 2 rows"),
    ],
)
def test_numbers_that_are_none_are_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_half_of_the_resamples_must_have_a_value() -> None:
    half = np.array([1.0, 3.0, np.nan, np.inf])
    assert interval_of_resamples(half, 4) is not None
    assert error_of_resamples(half, 4) == pytest.approx((4 / 3) ** 0.5)
    less = np.array([1.0, 3.0, np.nan, np.nan, np.nan])
    assert interval_of_resamples(less, 4) is None
    assert error_of_resamples(less, 4) is None


@pytest.mark.parametrize("units", [3, 8, 35])
def test_percentiles_have_the_tails_of_t(units: int) -> None:
    """A percentile of resamples at even steps from 0 to 1 is its own share.

    Hesterberg 2014, section 5.3.
    """
    steps = np.linspace(0, 1, 100_001)
    tail = stats.norm.cdf(-stats.t.ppf(0.975, units - 1) * (units / (units - 1)) ** 0.5)
    assert interval_of_resamples(steps, units) == pytest.approx((tail, 1 - tail), abs=1e-9)
