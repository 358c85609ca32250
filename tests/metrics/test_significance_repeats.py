"""A difference between systems that were run with several seeds is wrong if this fails."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from figlang_tasks.metrics.pairs import Comparison
from figlang_tasks.metrics.repeats import compare_repeats
from figlang_tasks.metrics.statistic import Statistic


def ids(n: int) -> list[str]:
    return [f"unit {at}" for at in range(n)]


def pooled(first: Any, second: Any, **options: Any) -> Comparison:
    """Of means; each is [repeats, units]."""
    systems = [
        [{"m": Statistic.ratio_of(ids(len(run)), run)} for run in system]
        for system in (first, second)
    ]
    return compare_repeats(systems, **options)[0, 1]["m"]


def test_the_standard_error_is_that_of_all_rows_and_then_all_repeats() -> None:
    first, second = np.array([[1, 5, 2], [0, 3, 9], [4, 4, 1.0]]), np.array([[3, 1, 7.0]])
    every = [
        second[0, list(rows)].mean() - first[np.ix_(repeats, rows)].mean()
        for rows in itertools.product(range(3), repeat=3)
        for repeats in itertools.product(range(3), repeat=2)  # two of three
    ]
    of_rows = np.var(
        [
            second[0, list(r)].mean() - first[:, r].mean()
            for r in itertools.product(range(3), repeat=3)
        ]
    )
    parts = [(of_rows * 3 / 2, 2), (first.mean(axis=1).var(ddof=1) / 3, 2)]
    freedom = sum(of for of, _ in parts) ** 2 / sum(of**2 / own for of, own in parts)
    found = pooled(first, second, resamples=40_000)
    half = stats.t.ppf(0.975, freedom) * np.std(every) * (3 / 2) ** 0.5
    assert (found.baseline, found.candidate) == pytest.approx((29 / 9, 11 / 3))
    assert (found.low, found.high) == pytest.approx((4 / 9 - half, 4 / 9 + half), rel=0.03)


def test_of_rows_that_are_all_alike_it_is_welchs_t_test() -> None:
    first, second = (1, 2, 3, 4.5), (3, 5)
    found = pooled(*(np.repeat(np.array(of)[:, None], 30, axis=1) for of in (first, second)))
    theirs = stats.ttest_ind(second, first, equal_var=False)
    assert found.p_repeats == pytest.approx(theirs.pvalue, rel=0.05) and math.isnan(
        found.p_randomization
    )
    half, power = stats.t.ppf((0.975, 0.8), theirs.df)
    assert (found.high - found.low) / 2 / found.smallest_detectable == pytest.approx(
        half / (half + power)
    )


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 4), st.integers(1, 12))
def test_copies_of_a_run_are_no_more_than_the_run(
    seed: int, first: int, second: int, n: int
) -> None:
    a, b = np.random.default_rng(seed).integers(0, 2, size=(2, n))
    single, found = (
        pooled([a], [b], resamples=100),
        pooled([a] * first, [b] * second, resamples=100),
    )
    assert 0 < found.p_repeats <= 1
    for name in (
        "baseline",
        "candidate",
        "difference",
        "low",
        "high",
        "p_repeats",
        "p_bootstrap",
        "smallest_detectable",
    ):
        assert getattr(found, name) == pytest.approx(
            getattr(single, name), rel=1e-6, abs=1e-9, nan_ok=True
        )


def test_a_metric_that_one_repeat_lacks_is_left_out() -> None:
    runs = [
        {name: Statistic.ratio_of(ids(9), np.arange(9.0) + at) for name in names}
        for at, names in enumerate(("ab", "a", "ab"))
    ]
    assert list(compare_repeats([runs[:2], runs[2:]], resamples=100)[0, 1]) == ["a"]
