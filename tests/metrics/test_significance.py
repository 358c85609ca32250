"""What a comparison depends on, the smallest difference of rows, or Holm's correction is wrong if
this fails.
"""

from __future__ import annotations

import functools
import itertools
import math
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
from figlang_tasks.metrics.statistic import Statistic


def ids(n: int) -> list[str]:
    return [f"unit {at}" for at in range(n)]


def one(a: Statistic, b: Statistic, **options: Any) -> Comparison:
    return compare([{"m": a}, {"m": b}], **options)[0, 1]["m"]


def equal(one: Comparison, other: Comparison) -> bool:
    """Whether two comparisons have the same numbers; NaN equals NaN, in every version of Python."""
    return bool(np.array_equal(astuple(one), astuple(other), equal_nan=True))


def macro_f1_of(gold: Sequence[int], said: Sequence[int]) -> Statistic:
    right = [label == true for true, label in zip(gold, said, strict=True)]
    of = functools.partial(classification.macro_f1, skip_absent=True)
    return Statistic(tuple(ids(len(gold))), classification.confusion_cells(gold, right), of)


# --- properties ---


def test_the_observed_data_count_as_a_resample_and_the_better_system_may_be_the_first() -> None:
    worse, better = (Statistic.ratio_of(ids(60), [value] * 59 + [0]) for value in (0, 1))
    there, back = one(worse, better, resamples=99), one(better, worse, resamples=99)
    assert (
        (there.p_bootstrap, there.p_randomization)
        == (back.p_bootstrap, back.p_randomization)
        == (0.01, 0.01)
    )
    assert (back.difference, back.low, back.high) == pytest.approx(
        (-there.difference, -there.high, -there.low)
    )


def test_other_systems_and_metrics_change_nothing_and_another_seed_the_draws() -> None:
    rng = np.random.default_rng(5)
    a, b = (Statistic.ratio_of(ids(50), rng.normal(0.5, 0.2, size=50)) for _ in range(2))
    x, y, z = (macro_f1_of([0, 1] * 25, rng.integers(0, 2, size=50).tolist()) for _ in range(3))
    alone = one(a, b, resamples=100)
    among = compare([{"f": x}, {"f": y, "a": a}, {"f": z, "a": a}, {"a": b, "f": z}], resamples=100)
    assert list(among) == list(itertools.combinations(range(4), 2))
    assert equal(among[2, 3]["a"], alone) and equal(among[1, 3]["a"], alone)
    assert list(among[1, 2]) == ["f", "a"]
    assert list(among[0, 3]) == ["f"] and equal(among[0, 3]["f"], one(x, z, resamples=100))
    assert one(a, b, resamples=100, seed=1).low != alone.low


def test_no_difference_has_p_1_and_no_interval() -> None:
    a, b = Statistic.ratio_of(ids(2), [0.1, 0.2]), Statistic.ratio_of(ids(2), [0.3, 0.0])
    assert a.total() != b.total()  # 0.30000000000000004 / 2
    for found in (one(a, b, resamples=100), one(a, replace(a), resamples=100)):
        assert (found.p_bootstrap, found.p_randomization) == (1, 1)
    assert math.isnan(found.low) and math.isnan(found.high)  # no resample says anything else


def test_blocks_change_memory_and_not_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(8)
    gold = rng.integers(0, 2, size=150).tolist()
    a, b = (macro_f1_of(gold, rng.integers(0, 2, size=150).tolist()) for _ in range(2))
    whole = one(a, b, resamples=300)
    monkeypatch.setattr(resampling, "BLOCK", 1000)
    assert equal(one(a, b, resamples=300), whole)


def test_rows_of_a_unit_are_added_up_in_exact_sums() -> None:
    made = Statistic.ratio_of(["b", "a", "b"], [1, 2, 1], [3, 4, 1])
    assert (
        made.units == ("a", "b") and made.rows.tolist() == [[2, 4], [2, 4]] and made.total() == 0.5
    )
    assert Statistic.ratio_of(ids(4), [1e16, 1, 1, -1e16]).total() == 0.5
    assert math.isnan(Statistic.ratio_of(ids(2), [0, 1], [0, 0]).total())


def test_a_metric_that_is_mostly_undefined_has_no_interval_and_is_never_significant() -> None:
    n = 20
    a = Statistic.ratio_of(ids(n), [1] + [0] * (n - 1), [2] + [0] * (n - 1))
    b = Statistic.ratio_of(ids(n), [0] * (n - 1) + [2], [0] * (n - 1) + [2])
    found = one(a, b, resamples=500)
    assert math.isnan(found.low) and math.isnan(found.high)
    assert found.p_bootstrap > 0.5
    nothing = Statistic.ratio_of(ids(n), [0] * n, [0] * n)
    with pytest.raises(
        ValueError, match=r"metric 'm' of systems 0 and 1 is 0\.5 and nan on all units"
    ):
        one(a, nothing)


# --- the smallest difference ---


@pytest.mark.parametrize(("n", "disagree"), [(60, 0.6), (723, 0.15)])
def test_smallest_share_is_that_of_connors_sample_size(n: int, disagree: float) -> None:
    """His formula gives n for a difference (Biometrics 43, p. 209); here it is solved for the
    difference.
    """

    def rows(difference: float) -> float:
        alpha, power = stats.norm.ppf([0.975, 0.8])
        return (
            (alpha * disagree**0.5 + power * (disagree - difference**2) ** 0.5) / difference
        ) ** 2

    assert rows(
        smallest_difference(((disagree - 0.01) / n) ** 0.5, n, difference=0.1)
    ) == pytest.approx(n)
    # A comparison takes the error from its bootstrap.
    other = np.arange(n) < disagree * n / 2
    first, second = (Statistic.ratio_of(ids(n), of) for of in (other, other[::-1]))
    assert one(first, second, resamples=20_000).smallest_detectable == pytest.approx(
        smallest_difference((disagree / n) ** 0.5, n), rel=0.04
    )


@pytest.mark.parametrize(("differ", "known"), [(7, False), (8, True)])
def test_systems_that_hardly_differ_do_not_say_what_rows_can_show(differ: int, known: bool) -> None:
    a, b = np.zeros(50), np.arange(50) < differ
    first, second = ({"m": Statistic.ratio_of(ids(50), of)} for of in (a, b))
    for found in (
        compare([first, second], resamples=500),
        compare_repeats([[first], [second]], resamples=500),
    ):
        assert math.isfinite(found[0, 1]["m"].smallest_detectable) == known


# --- Holm ---


def test_holm_by_hand() -> None:
    # Smallest times 4, next times 3, next times 2; the last stays, and rises to the one before it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5, 0.0, 1.0]) == [1.0, 1.0, 0.0, 1.0]
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match=r"p_values\[1\]"):
            holm([0.5, bad])


# --- errors ---


def test_statistics_that_differ_in_units_or_columns_are_refused() -> None:
    a = Statistic.ratio_of(["a", "b"], [1, 2])
    for b in (
        Statistic.ratio_of(["a", "c"], [1, 2]),
        Statistic(("a", "b"), np.ones((2, 1)), np.sum),
    ):
        with pytest.raises(
            ValueError, match="metric 'm': systems 0 and 2 differ in their units, or in the columns"
        ):
            compare([{"m": a}, {"m": a}, {"m": b}])


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
def test_refusals(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
