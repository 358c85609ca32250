"""A comparison, the smallest detectable difference or Holm's correction is wrong if this fails."""

from __future__ import annotations

import functools
import itertools
import math
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from figlang_tasks.metrics import classification, resampling
from figlang_tasks.metrics.pairs import Comparison
from figlang_tasks.metrics.repeats import compare_repeats
from figlang_tasks.metrics.significance import compare, holm, smallest_difference
from figlang_tasks.metrics.statistic import Floats, Statistic


def ids(n: int) -> list[str]:
    return [f"unit {index}" for index in range(n)]


def compare_two(baseline: Statistic, candidate: Statistic, **options: Any) -> Comparison:
    """The comparison of two systems by one metric."""
    return compare([{"m": baseline}, {"m": candidate}], **options)[0, 1]["m"]


def are_equal(comparison: Comparison, other: Comparison) -> bool:
    """Whether two comparisons have the same numbers; NaN equals NaN, in every version of Python."""
    return bool(np.array_equal(astuple(comparison), astuple(other), equal_nan=True))


def macro_f1_of(gold: Sequence[int], predicted: Sequence[int]) -> Statistic:
    right = [label == true for true, label in zip(gold, predicted, strict=True)]
    value = functools.partial(classification.macro_f1, skip_absent=True)
    return Statistic(tuple(ids(len(gold))), classification.confusion_cells(gold, right), value)


# --- properties ---


def test_the_observed_data_count_as_a_resample_and_the_better_system_may_be_the_first() -> None:
    worse = Statistic.ratio_of(ids(60), [0] * 60)
    better = Statistic.ratio_of(ids(60), [1] * 59 + [0])
    gain = compare_two(worse, better, resamples=99)
    loss = compare_two(better, worse, resamples=99)
    assert (gain.p_bootstrap, gain.p_randomization) == (0.01, 0.01)
    assert (loss.p_bootstrap, loss.p_randomization) == (0.01, 0.01)
    assert (loss.difference, loss.low, loss.high) == pytest.approx(
        (-gain.difference, -gain.high, -gain.low)
    )


def test_other_systems_and_metrics_change_nothing_and_another_seed_the_draws() -> None:
    rng = np.random.default_rng(5)
    a, b = (Statistic.ratio_of(ids(50), rng.normal(0.5, 0.2, size=50)) for _ in range(2))
    x, y, z = (macro_f1_of([0, 1] * 25, rng.integers(0, 2, size=50).tolist()) for _ in range(3))
    alone = compare_two(a, b, resamples=100)
    systems = [{"f": x}, {"f": y, "a": a}, {"f": z, "a": a}, {"a": b, "f": z}]
    together = compare(systems, resamples=100)
    assert list(together) == list(itertools.combinations(range(4), 2))
    assert are_equal(together[2, 3]["a"], alone)
    assert are_equal(together[1, 3]["a"], alone)
    assert list(together[1, 2]) == ["f", "a"]
    assert list(together[0, 3]) == ["f"]
    assert are_equal(together[0, 3]["f"], compare_two(x, z, resamples=100))
    assert compare_two(a, b, resamples=100, seed=1).low != alone.low


def test_no_difference_has_p_1_and_no_interval() -> None:
    a = Statistic.ratio_of(ids(2), [0.1, 0.2])
    equal_but_for_rounding = Statistic.ratio_of(ids(2), [0.3, 0.0])
    assert a.total() != equal_but_for_rounding.total()  # 0.30000000000000004 / 2
    for b in (equal_but_for_rounding, replace(a)):
        comparison = compare_two(a, b, resamples=100)
        assert (comparison.p_bootstrap, comparison.p_randomization) == (1, 1)
    # All resamples of a system and its copy have the difference 0.
    assert math.isnan(comparison.low)
    assert math.isnan(comparison.high)


def test_blocks_change_memory_and_not_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    gold = rng.integers(0, 2, size=150).tolist()
    a, b = (macro_f1_of(gold, rng.integers(0, 2, size=150).tolist()) for _ in range(2))
    in_one_block = compare_two(a, b, resamples=300)
    monkeypatch.setattr(resampling, "BLOCK", 1000)
    assert are_equal(compare_two(a, b, resamples=300), in_one_block)


def test_memory_does_not_grow_with_resamples_times_columns() -> None:
    """All sums of these two systems would take 16 megabytes."""
    rng = np.random.default_rng(9)

    def total(sums: Floats) -> Floats:
        return np.asarray(sums.sum(axis=-1))

    a, b = (Statistic(tuple(ids(20)), rng.random((20, 200)), total) for _ in range(2))
    tracemalloc.start()
    try:
        compare_two(a, b, resamples=5_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8_000_000


def test_rows_of_a_unit_are_added_up_in_exact_sums() -> None:
    statistic = Statistic.ratio_of(["b", "a", "b"], [1, 2, 1], [3, 4, 1])
    assert statistic.units == ("a", "b")
    assert statistic.rows.tolist() == [[2, 4], [2, 4]]
    assert statistic.total() == 0.5
    assert Statistic.ratio_of(ids(4), [1e16, 1, 1, -1e16]).total() == 0.5
    assert math.isnan(Statistic.ratio_of(ids(2), [0, 1], [0, 0]).total())


def test_a_metric_that_is_mostly_undefined_has_no_interval_and_is_never_significant() -> None:
    n = 20
    a = Statistic.ratio_of(ids(n), [1] + [0] * (n - 1), [2] + [0] * (n - 1))
    b = Statistic.ratio_of(ids(n), [0] * (n - 1) + [2], [0] * (n - 1) + [2])
    comparison = compare_two(a, b, resamples=500)
    assert math.isnan(comparison.low)
    assert math.isnan(comparison.high)
    assert comparison.p_bootstrap > 0.5


def test_a_metric_that_is_undefined_on_all_units_is_refused() -> None:
    defined = Statistic.ratio_of(ids(20), [1] + [0] * 19, [2] + [0] * 19)
    undefined = Statistic.ratio_of(ids(20), [0] * 20, [0] * 20)
    message = r"metric 'm' of systems 0 and 1 is 0\.5 and nan on all units"
    with pytest.raises(ValueError, match=message):
        compare_two(defined, undefined)


# --- the smallest difference ---


@pytest.mark.parametrize(("n", "disagree"), [(60, 0.6), (723, 0.15)])
def test_smallest_share_is_that_of_connors_sample_size(n: int, disagree: float) -> None:
    """Connor gives n for a difference (Biometrics 43, p. 209); we solve for the difference."""
    z_alpha, z_power = stats.norm.ppf([0.975, 0.8])
    difference = smallest_difference(((disagree - 0.01) / n) ** 0.5, n, difference=0.1)
    deviation_if_equal = disagree**0.5
    deviation = (disagree - difference**2) ** 0.5
    rows = ((z_alpha * deviation_if_equal + z_power * deviation) / difference) ** 2
    assert rows == pytest.approx(n)


@pytest.mark.parametrize(("n", "disagree"), [(60, 0.6), (723, 0.15)])
def test_a_comparison_takes_the_error_from_its_bootstrap(n: int, disagree: float) -> None:
    right = np.arange(n) < disagree * n / 2
    baseline = Statistic.ratio_of(ids(n), right)
    candidate = Statistic.ratio_of(ids(n), right[::-1])
    comparison = compare_two(baseline, candidate, resamples=20_000)
    expected = smallest_difference((disagree / n) ** 0.5, n)
    assert comparison.smallest_detectable == pytest.approx(expected, rel=0.04)


@pytest.mark.parametrize(("differing_units", "is_known"), [(7, False), (8, True)])
def test_systems_that_hardly_differ_do_not_say_what_rows_can_show(
    differing_units: int, is_known: bool
) -> None:
    baseline = {"m": Statistic.ratio_of(ids(50), np.zeros(50))}
    candidate = {"m": Statistic.ratio_of(ids(50), np.arange(50) < differing_units)}
    for comparisons in (
        compare([baseline, candidate], resamples=500),
        compare_repeats([[baseline], [candidate]], resamples=500),
    ):
        assert math.isfinite(comparisons[0, 1]["m"].smallest_detectable) == is_known


# --- Holm ---


def test_holm_by_hand() -> None:
    # Smallest times 4, next times 3, next times 2; the last stays, and rises to the one before it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5, 0.0, 1.0]) == [1.0, 1.0, 0.0, 1.0]
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match=r"p_values\[1\]"):
            holm([0.5, bad])


# --- errors ---


@pytest.mark.parametrize(
    "other",
    [Statistic.ratio_of(["a", "c"], [1, 2]), Statistic(("a", "b"), np.ones((2, 1)), np.sum)],
)
def test_statistics_that_differ_in_units_or_columns_are_refused(other: Statistic) -> None:
    statistic = Statistic.ratio_of(["a", "b"], [1, 2])
    message = "metric 'm': systems 0 and 2 differ in their units, or in the columns"
    with pytest.raises(ValueError, match=message):
        compare([{"m": statistic}, {"m": statistic}, {"m": other}])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: smallest_difference(math.nan, 10), "error is nan"),
        (lambda: smallest_difference(-0.1, 10), "error is -0.1"),
        (lambda: smallest_difference(0.1, 0), "units 0"),
        (lambda: smallest_difference(0.1, 10, math.inf), "difference inf"),
        (lambda: Statistic.ratio_of([], []), r"rows must have shape \[n, k\]"),
        (
            lambda: Statistic.ratio_of(["b", "a"], [math.nan, 1]),
            r"row of unit 'b' is \[nan, 1.0\], must be finite",
        ),
        (
            lambda: Statistic(("a", "b"), np.ones((2, 3)), lambda sums: sums).total(),
            r"must be \(\)",
        ),
    ],
)
def test_numbers_that_are_none_are_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
