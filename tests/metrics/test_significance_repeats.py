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

COMPARED = (
    "baseline",
    "candidate",
    "difference",
    "low",
    "high",
    "p_repeats",
    "p_bootstrap",
    "smallest_detectable",
)
"""The numbers of a comparison of repeats."""


def ids(n: int) -> list[str]:
    return [f"unit {index}" for index in range(n)]


def repeats_of(scores: Any) -> list[dict[str, Statistic]]:
    """A system whose metric is the mean of scores [repeats, units]."""
    return [{"m": Statistic.ratio_of(ids(len(run)), run)} for run in scores]


def compare_two(baseline: Any, candidate: Any, **options: Any) -> Comparison:
    """The comparison of two systems by the mean of scores, [repeats, units] each."""
    systems = [repeats_of(baseline), repeats_of(candidate)]
    return compare_repeats(systems, **options)[0, 1]["m"]


def test_the_standard_error_is_that_of_all_rows_and_then_all_repeats() -> None:
    baseline = np.array([[1, 5, 2], [0, 3, 9], [4, 4, 1.0]])
    candidate = np.array([[3, 1, 7.0]])
    differences: list[float] = []  # with repeats drawn, two of three
    unit_differences: list[float] = []  # with all repeats
    for rows in itertools.product(range(3), repeat=3):
        candidate_mean = candidate[0, list(rows)].mean()
        unit_differences.append(candidate_mean - baseline[:, rows].mean())
        for repeats in itertools.product(range(3), repeat=2):
            differences.append(candidate_mean - baseline[np.ix_(repeats, rows)].mean())
    unit_variance = np.var(unit_differences) * 3 / 2
    seed_variance = baseline.mean(axis=1).var(ddof=1) / 3
    # Welch and Satterthwaite: both have two degrees of freedom.
    degrees = (unit_variance + seed_variance) ** 2 / (unit_variance**2 / 2 + seed_variance**2 / 2)
    half_width = stats.t.ppf(0.975, degrees) * np.std(differences) * (3 / 2) ** 0.5

    comparison = compare_two(baseline, candidate, resamples=40_000)
    assert (comparison.baseline, comparison.candidate) == pytest.approx((29 / 9, 11 / 3))
    limits = (4 / 9 - half_width, 4 / 9 + half_width)
    assert (comparison.low, comparison.high) == pytest.approx(limits, rel=0.03)


def test_of_rows_that_are_all_alike_it_is_welchs_t_test() -> None:
    baseline = (1, 2, 3, 4.5)
    candidate = (3, 5)
    comparison = compare_two(
        np.repeat(np.array(baseline)[:, None], 30, axis=1),
        np.repeat(np.array(candidate)[:, None], 30, axis=1),
    )
    welch = stats.ttest_ind(candidate, baseline, equal_var=False)
    assert comparison.p_repeats == pytest.approx(welch.pvalue, rel=0.05)
    assert math.isnan(comparison.p_randomization)
    t_alpha, t_power = stats.t.ppf((0.975, 0.8), welch.df)
    half_width = (comparison.high - comparison.low) / 2
    share_of_smallest = half_width / comparison.smallest_detectable
    assert share_of_smallest == pytest.approx(t_alpha / (t_alpha + t_power))


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 4), st.integers(1, 12))
def test_copies_of_a_run_are_no_more_than_the_run(
    seed: int, baseline_copies: int, candidate_copies: int, n: int
) -> None:
    baseline, candidate = np.random.default_rng(seed).integers(0, 2, size=(2, n))
    single = compare_two([baseline], [candidate], resamples=100)
    copied = compare_two(
        [baseline] * baseline_copies, [candidate] * candidate_copies, resamples=100
    )
    assert 0 < copied.p_repeats <= 1
    for name in COMPARED:
        expected = pytest.approx(getattr(single, name), rel=1e-6, abs=1e-9, nan_ok=True)
        assert getattr(copied, name) == expected


def test_a_metric_that_one_repeat_lacks_is_left_out() -> None:
    statistic = Statistic.ratio_of(ids(9), np.arange(9.0))
    better = Statistic.ratio_of(ids(9), np.arange(9.0) + 2)
    baseline = [{"a": statistic, "b": statistic}, {"a": statistic}]
    candidate = [{"a": better, "b": better}]
    assert list(compare_repeats([baseline, candidate], resamples=100)[0, 1]) == ["a"]
