"""A p value, an interval of a difference, or the smallest difference that rows show is wrong if this fails."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from figlang_tasks.metrics import classification, intervals
from figlang_tasks.metrics.overlap import bleu_statistics, corpus_bleu4
from figlang_tasks.metrics.significance import (
    Comparison,
    Statistic,
    compare,
    compare_repeats,
    holm,
    smallest_difference,
)

Rows = Sequence[Sequence[int]]
Metric = Callable[[Rows], "Fraction | None"]


def ids(n: int) -> list[str]:
    return [f"unit {at}" for at in range(n)]


def one(a: Statistic, b: Statistic, **options: Any) -> Comparison:
    return compare([{"m": a}, {"m": b}], **options)[0, 1]["m"]


def macro_f1_of(units: Sequence[str], gold: Sequence[int], said: Sequence[int | None]) -> Statistic:
    right = [label == true for true, label in zip(gold, said, strict=True)]
    of = functools.partial(classification.macro_f1, skip_absent=True)
    return Statistic(tuple(units), classification.confusion_cells(gold, right), of)


def near(p: float, exact: float, resamples: int) -> bool:
    """Whether a share of resamples can be an estimate of `exact`: five standard errors."""
    return abs(p - exact) <= 5 * math.sqrt(exact * (1 - exact) / resamples) + 2 / resamples


# --- brute force: every resample and every swap there is, in exact fractions, with lists of rows ---


def mean(rows: Rows) -> Fraction | None:
    return Fraction(sum(row[0] for row in rows), len(rows))


def ratio(rows: Rows) -> Fraction | None:
    below = sum(row[1] for row in rows)
    return Fraction(sum(row[0] for row in rows), below) if below else None


def macro_f1(rows: Rows) -> Fraction | None:
    """Of rows (gold, predicted): by label, precision and recall, as the textbooks have it."""
    scores = []
    for label in (0, 1):
        gold, said = ({at for at, row in enumerate(rows) if row[column] == label} for column in (0, 1))
        if gold | said:
            scores.append(Fraction(2 * len(gold & said), len(gold) + len(said)))
    return sum(scores, Fraction(0)) / len(scores)


def subtract(b: Fraction | None, a: Fraction | None) -> Fraction | None:
    return None if a is None or b is None else b - a


def exact_bootstrap(a: Rows, b: Rows, metric: Metric) -> float:
    """Share of all n^n resamples in which the better system is not better, or the metric of one is undefined."""
    observed = subtract(metric(b), metric(a))
    assert observed
    found: list[Fraction | None] = []
    for drawn in itertools.product(range(len(a)), repeat=len(a)):
        found.append(subtract(metric([b[at] for at in drawn]), metric([a[at] for at in drawn])))
    return sum(difference is None or difference * observed <= 0 for difference in found) / len(found)


def exact_randomization(a: Rows, b: Rows, metric: Metric) -> float:
    """Share of all 2^n swaps with a difference at least as large, or undefined."""
    observed = subtract(metric(b), metric(a))
    assert observed is not None
    as_large = []
    for swaps in itertools.product((False, True), repeat=len(a)):
        one = [y if swap else x for x, y, swap in zip(a, b, swaps, strict=True)]
        other = [x if swap else y for x, y, swap in zip(a, b, swaps, strict=True)]
        difference = subtract(metric(other), metric(one))
        as_large.append(difference is None or abs(difference) >= abs(observed))
    return sum(as_large) / len(as_large)


def tenths(rows: Rows) -> Statistic:
    return Statistic.ratio_of(ids(len(rows)), [row[0] / 10 for row in rows])


def ratios(rows: Rows) -> Statistic:
    return Statistic.ratio_of(ids(len(rows)), [row[0] for row in rows], [row[1] for row in rows])


def labels(rows: Rows) -> Statistic:
    return macro_f1_of(ids(len(rows)), [row[0] for row in rows], [row[1] for row in rows])


SMALL: list[tuple[Metric, Callable[[Rows], Statistic], Rows, Rows]] = [
    (mean, tenths, [(1,), (2,), (3,), (7,), (4,)], [(3,), (1,), (6,), (8,), (3,)]),
    (ratio, ratios, [(1, 4), (0, 2), (3, 9), (2, 2), (1, 5)], [(2, 4), (1, 2), (2, 9), (2, 2), (3, 5)]),
    # Of the 8 swaps of 3 units two leave a system without a denominator, and two give the observed difference.
    (ratio, ratios, [(0, 4), (0, 4), (0, 0)], [(0, 0), (0, 0), (3, 4)]),
    (macro_f1, labels, [(1, 0), (1, 1), (0, 0), (0, 1), (1, 0)], [(1, 1), (1, 1), (0, 0), (0, 1), (1, 0)]),
]


@pytest.mark.parametrize(("metric", "make", "a", "b"), SMALL)
def test_p_values_are_those_of_all_resamples_and_all_swaps(
    metric: Metric, make: Callable[[Rows], Statistic], a: Rows, b: Rows
) -> None:
    found = one(make(a), make(b), resamples=40_000)
    assert near(found.p_bootstrap, exact_bootstrap(a, b, metric), 40_000)
    assert near(found.p_randomization, exact_randomization(a, b, metric), 40_000)


def test_swaps_that_give_the_same_difference_count() -> None:
    # The observed difference is the largest there is, so the only swaps as large are those that give it again. Tenths
    # have no exact doubles: sums in another order differ in the last bit, and must be taken for equal.
    rng = np.random.default_rng(0)
    a = [(int(value),) for value in rng.integers(0, 10, size=7)]
    b = [(row[0] + int(gain),) for row, gain in zip(a, rng.integers(0, 4, size=7), strict=True)]
    found = one(tenths(a), tenths(b), resamples=40_000)
    assert near(found.p_randomization, exact_randomization(a, b, mean), 40_000)


@pytest.mark.parametrize("n", [2, 64, 130])
def test_every_unit_is_swapped_however_many_there_are(n: int) -> None:
    """The last two alone differ, by as much: half of all swaps keep or turn both, and give as large a difference."""
    names = [f"{at:03}" for at in range(n)]
    a, b = (Statistic.ratio_of(names, [0.5] * (n - 2) + [last] * 2) for last in (0.0, 1.0))
    assert near(one(a, b, resamples=2000).p_randomization, 0.5, 2000)


def test_the_interval_is_that_of_all_resamples() -> None:
    a, b = [(1,), (0,), (4,), (2,)], [(2,), (3,), (4,), (9,)]
    every = [sum(b[at][0] - a[at][0] for at in drawn) / 40 for drawn in itertools.product(range(4), repeat=4)]
    found = one(tenths(a), tenths(b), resamples=40_000)
    # For few units the tails are those of t, and wider (Hesterberg 2015, section 5.3): .01 % of 4 units.
    tail = stats.norm.cdf(-math.sqrt(4 / 3) * stats.t.ppf(0.975, 3))
    assert (found.low, found.high) == pytest.approx(np.quantile(every, [tail, 1 - tail]), abs=0.01)
    assert found.difference == pytest.approx(0.275)


# --- another program ---


def test_bleu_agrees_with_sacrebleu() -> None:
    from sacrebleu import significance
    from sacrebleu.metrics import BLEU

    draw = random.Random(0)
    references = [" ".join(f"w{draw.randint(0, 50)}" for _ in range(draw.randint(8, 16))) for _ in range(80)]
    texts = [
        [" ".join("wrong" if draw.random() < share else word for word in text.split()) for text in references]
        for share in (0.23, 0.18)
    ]
    pairs = [[bleu_statistics(c, r) for c, r in zip(of, references, strict=True)] for of in texts]
    found = one(*(Statistic(tuple(ids(80)), np.array(of), corpus_bleu4) for of in pairs))
    # Theirs is the share of resamples whose |difference| exceeds its mean by the observed one. Where the distribution
    # is symmetric and hardly ever changes sign, that is the share below zero, which is Koehn's and ours.
    assert found.p_bootstrap < 0.1
    for kind, ours, slack in (("ar", found.p_randomization, 0.06), ("bs", found.p_bootstrap, 0.02)):
        systems: Any = list(zip("ab", texts, strict=True))
        scores: Any = significance.PairedTest(systems, {"BLEU": BLEU()}, [references], kind, 2000)()[1]
        assert float(scores["BLEU"][1].p_value) == pytest.approx(ours, abs=slack)


# --- the smallest difference ---


@pytest.mark.parametrize(("n", "disagree"), [(60, 0.6), (723, 0.15)])
def test_smallest_share_is_that_of_connors_sample_size(n: int, disagree: float) -> None:
    """His formula gives n for a difference (Biometrics 43, p. 209); here it is solved for the difference."""

    def rows(difference: float) -> float:
        alpha, power = stats.norm.ppf([0.975, 0.8])
        return ((alpha * disagree**0.5 + power * (disagree - difference**2) ** 0.5) / difference) ** 2

    assert rows(smallest_difference((disagree / n) ** 0.5, n)) == pytest.approx(n)
    # A comparison takes the error from its bootstrap.
    other = np.arange(n) < disagree * n / 2
    first, second = (Statistic.ratio_of(ids(n), of) for of in (other, other[::-1]))
    assert one(first, second, resamples=20_000).smallest == pytest.approx(
        smallest_difference((disagree / n) ** 0.5, n), rel=0.04
    )


@pytest.mark.parametrize(("differ", "known"), [(7, False), (8, True)])
def test_systems_that_hardly_differ_do_not_say_what_rows_can_show(differ: int, known: bool) -> None:
    a, b = np.zeros(50), np.arange(50) < differ
    found = one(Statistic.ratio_of(ids(50), a), Statistic.ratio_of(ids(50), b), resamples=500)
    assert math.isfinite(found.smallest) == math.isfinite(pooled([a], [b], resamples=500).smallest) == known


# --- repeats ---


def pooled(first: Any, second: Any, **options: Any) -> Comparison:
    """Of means; each is [repeats, units]."""
    systems = [[{"m": Statistic.ratio_of(ids(len(run)), run)} for run in system] for system in (first, second)]
    return compare_repeats(systems, **options)[0, 1]["m"]


def test_the_standard_error_is_that_of_all_rows_and_then_all_repeats() -> None:
    first, second = np.array([[1, 5, 2], [0, 3, 9], [4, 4, 1.0]]), np.array([[3, 1, 7.0]])
    every = [
        second[0, list(rows)].mean() - first[np.ix_(repeats, rows)].mean()
        for rows in itertools.product(range(3), repeat=3)
        for repeats in itertools.product(range(3), repeat=2)  # two of three
    ]
    of_rows = np.var([second[0, list(r)].mean() - first[:, r].mean() for r in itertools.product(range(3), repeat=3)])
    parts = [(of_rows * 3 / 2, 2), (first.mean(axis=1).var(ddof=1) / 3, 2)]
    freedom = sum(of for of, _ in parts) ** 2 / sum(of**2 / own for of, own in parts)
    found = pooled(first, second, resamples=40_000)
    half = stats.t.ppf(0.975, freedom) * np.std(every) * (3 / 2) ** 0.5
    assert (found.first, found.second) == pytest.approx((29 / 9, 11 / 3))
    assert (found.low, found.high) == pytest.approx((4 / 9 - half, 4 / 9 + half), rel=0.03)


def test_of_rows_that_are_all_alike_it_is_welchs_t_test() -> None:
    first, second = (1, 2, 3, 4.5), (3, 5, 4)
    found = pooled(*(np.repeat(np.array(of)[:, None], 30, axis=1) for of in (first, second)))
    theirs = stats.ttest_ind(second, first, equal_var=False)
    assert found.p_repeats == pytest.approx(theirs.pvalue, rel=0.05) and math.isnan(found.p_randomization)
    half, power = stats.t.ppf((0.975, 0.8), theirs.df)
    assert (found.high - found.low) / 2 / found.smallest == pytest.approx(half / (half + power))


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 4), st.integers(1, 12))
def test_copies_of_a_run_are_no_more_than_the_run(seed: int, first: int, second: int, n: int) -> None:
    a, b = np.random.default_rng(seed).integers(0, 2, size=(2, n))
    single, found = pooled([a], [b], resamples=100), pooled([a] * first, [b] * second, resamples=100)
    assert 0 < found.p_repeats <= 1
    for name in ("first", "second", "difference", "low", "high", "p_repeats", "p_bootstrap", "smallest"):
        assert getattr(found, name) == pytest.approx(getattr(single, name), rel=1e-6, abs=1e-9, nan_ok=True)


def test_a_metric_that_one_repeat_lacks_is_left_out() -> None:
    runs = [{name: Statistic.ratio_of(ids(9), np.arange(9.0) + at) for name in names} for at, names in enumerate(
        ("ab", "a", "ab"))]  # fmt: skip
    assert list(compare_repeats([runs[:2], runs[2:]], resamples=100)[0, 1]) == ["a"]


# --- properties ---


def test_the_observed_data_count_as_a_resample_and_the_better_system_may_be_the_first() -> None:
    worse, better = (Statistic.ratio_of(ids(60), [value] * 59 + [0]) for value in (0, 1))
    there, back = one(worse, better, resamples=99), one(better, worse, resamples=99)
    assert (there.p_bootstrap, there.p_randomization) == (back.p_bootstrap, back.p_randomization) == (0.01, 0.01)
    assert (back.difference, back.low, back.high) == pytest.approx((-there.difference, -there.high, -there.low))


def test_other_systems_and_metrics_change_nothing_and_another_seed_the_draws() -> None:
    rng = np.random.default_rng(5)
    a, b = (Statistic.ratio_of(ids(50), rng.normal(0.5, 0.2, size=50)) for _ in range(2))
    x, y, z = (macro_f1_of(ids(50), [0, 1] * 25, rng.integers(0, 2, size=50).tolist()) for _ in range(3))
    alone = one(a, b, resamples=100)
    among = compare([{"f": x}, {"f": y, "a": a}, {"f": z, "a": a}, {"a": b, "f": z}], resamples=100)
    assert list(among) == list(itertools.combinations(range(4), 2))
    assert among[2, 3]["a"] == among[1, 3]["a"] == alone
    assert list(among[1, 2]) == ["f", "a"]
    assert among[0, 3] == {"f": one(x, z, resamples=100)}
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
    a, b = (macro_f1_of(ids(150), gold, rng.integers(0, 2, size=150).tolist()) for _ in range(2))
    whole = one(a, b, resamples=300)
    monkeypatch.setattr(intervals, "_BLOCK", 1000)
    assert one(a, b, resamples=300) == whole


def test_rows_of_a_unit_are_added_up_in_exact_sums() -> None:
    made = Statistic.ratio_of(["b", "a", "b"], [1, 2, 1], [3, 4, 1])
    assert made.units == ("a", "b") and made.rows.tolist() == [[2, 4], [2, 4]] and made.total() == 0.5
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
    with pytest.raises(ValueError, match=r"metric 'm' of systems 0 and 1 is 0\.5 and nan on all units"):
        one(a, nothing)


# --- Holm ---


def test_holm_by_hand() -> None:
    # Smallest times 4, next times 3, next times 2; the last stays, and rises to the one before it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match=r"p_values\[1\]"):
            holm([0.5, bad])


# --- errors ---


def test_statistics_that_differ_in_units_or_columns_are_refused() -> None:
    a = Statistic.ratio_of(["a", "b"], [1, 2])
    for b in (Statistic.ratio_of(["a", "c"], [1, 2]), Statistic(("a", "b"), np.ones((2, 1)), np.sum)):
        with pytest.raises(ValueError, match="metric 'm': systems 0 and 2 differ in their units, or in the columns"):
            compare([{"m": a}, {"m": a}, {"m": b}])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Statistic.ratio_of([], []), r"rows must have shape \[n, k\]"),
        (lambda: Statistic.ratio_of(["b", "a"], [math.nan, 1]), r"row of unit 'b' is \[nan, 1.0\], must be finite"),
        (lambda: Statistic(("a", "b"), np.ones((2, 3)), lambda sums: sums).total(), r"must be \(\)"),
    ],
)
def test_refusals(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
