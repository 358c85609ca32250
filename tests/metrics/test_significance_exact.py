"""A p value or an interval is not that of all resamples and all swaps if this fails."""

from __future__ import annotations

import functools
import itertools
import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from figlang_tasks.metrics import classification
from figlang_tasks.metrics.overlap import bleu_statistics, corpus_bleu4
from figlang_tasks.metrics.pairs import Comparison
from figlang_tasks.metrics.significance import compare
from figlang_tasks.metrics.statistic import Statistic

Rows = Sequence[Sequence[int]]
Metric = Callable[[Rows], "Fraction | None"]


def ids(n: int) -> list[str]:
    return [f"unit {index}" for index in range(n)]


def compare_two(baseline: Statistic, candidate: Statistic, **options: Any) -> Comparison:
    """The comparison of two systems by one metric."""
    return compare([{"m": baseline}, {"m": candidate}], **options)[0, 1]["m"]


def near(p: float, exact: float, resamples: int) -> bool:
    """Whether a share of resamples can be an estimate of `exact`: five standard errors."""
    return abs(p - exact) <= 5 * math.sqrt(exact * (1 - exact) / resamples) + 2 / resamples


# --- brute force: every resample and every swap there is, in exact fractions ---


def mean(rows: Rows) -> Fraction | None:
    return Fraction(sum(row[0] for row in rows), len(rows))


def ratio(rows: Rows) -> Fraction | None:
    denominator = sum(row[1] for row in rows)
    if not denominator:
        return None
    return Fraction(sum(row[0] for row in rows), denominator)


def macro_f1(rows: Rows) -> Fraction | None:
    """Macro F1 of rows (gold, predicted), over the labels that occur."""
    scores: list[Fraction] = []
    for label in (0, 1):
        gold = {index for index, row in enumerate(rows) if row[0] == label}
        predicted = {index for index, row in enumerate(rows) if row[1] == label}
        if gold | predicted:
            scores.append(Fraction(2 * len(gold & predicted), len(gold) + len(predicted)))
    return sum(scores, Fraction(0)) / len(scores)


def difference_by(metric: Metric, baseline: Rows, candidate: Rows) -> Fraction | None:
    """The candidate's metric minus the baseline's; None where one is undefined."""
    baseline_value = metric(baseline)
    candidate_value = metric(candidate)
    if baseline_value is None or candidate_value is None:
        return None
    return candidate_value - baseline_value


def exact_bootstrap(baseline: Rows, candidate: Rows, metric: Metric) -> float:
    """The share of all n^n resamples in which the better system is not better.

    Resamples in which the metric of a system is undefined count too.
    """
    observed = difference_by(metric, baseline, candidate)
    assert observed
    not_better: list[bool] = []
    for drawn in itertools.product(range(len(baseline)), repeat=len(baseline)):
        baseline_rows = [baseline[index] for index in drawn]
        candidate_rows = [candidate[index] for index in drawn]
        difference = difference_by(metric, baseline_rows, candidate_rows)
        not_better.append(difference is None or difference * observed <= 0)
    return sum(not_better) / len(not_better)


def exact_randomization(baseline: Rows, candidate: Rows, metric: Metric) -> float:
    """The share of all 2^n swaps with a difference at least as large, or undefined."""
    observed = difference_by(metric, baseline, candidate)
    assert observed is not None
    as_large: list[bool] = []
    for swaps in itertools.product((False, True), repeat=len(baseline)):
        rows = list(zip(baseline, candidate, swaps, strict=True))
        baseline_rows = [y if swap else x for x, y, swap in rows]
        candidate_rows = [x if swap else y for x, y, swap in rows]
        difference = difference_by(metric, baseline_rows, candidate_rows)
        as_large.append(difference is None or abs(difference) >= abs(observed))
    return sum(as_large) / len(as_large)


def tenths(rows: Rows) -> Statistic:
    return Statistic.ratio_of(ids(len(rows)), [row[0] / 10 for row in rows])


def ratios(rows: Rows) -> Statistic:
    return Statistic.ratio_of(ids(len(rows)), [row[0] for row in rows], [row[1] for row in rows])


def labels(rows: Rows) -> Statistic:
    """Macro F1 of rows (gold, predicted)."""
    gold = [row[0] for row in rows]
    right = [row[0] == row[1] for row in rows]
    value = functools.partial(classification.macro_f1, skip_absent=True)
    return Statistic(tuple(ids(len(rows))), classification.confusion_cells(gold, right), value)


SMALL: list[tuple[Metric, Callable[[Rows], Statistic], Rows, Rows]] = [
    (mean, tenths, [(1,), (2,), (3,), (7,), (4,)], [(3,), (1,), (6,), (8,), (3,)]),
    (
        ratio,
        ratios,
        [(1, 4), (0, 2), (3, 9), (2, 2), (1, 5)],
        [(2, 4), (1, 2), (2, 9), (2, 2), (3, 5)],
    ),
    # Of the 8 swaps of 3 units two leave a system without a denominator, and two give the observed
    # difference.
    (ratio, ratios, [(0, 4), (0, 4), (0, 0)], [(0, 0), (0, 0), (3, 4)]),
    (
        macro_f1,
        labels,
        [(1, 0), (1, 1), (0, 0), (0, 1), (1, 0)],
        [(1, 1), (1, 1), (0, 0), (0, 1), (1, 0)],
    ),
]


@pytest.mark.parametrize(("metric", "statistic_of", "baseline", "candidate"), SMALL)
def test_p_values_are_those_of_all_resamples_and_all_swaps(
    metric: Metric, statistic_of: Callable[[Rows], Statistic], baseline: Rows, candidate: Rows
) -> None:
    comparison = compare_two(statistic_of(baseline), statistic_of(candidate), resamples=40_000)
    p_bootstrap = exact_bootstrap(baseline, candidate, metric)
    p_randomization = exact_randomization(baseline, candidate, metric)
    assert near(comparison.p_bootstrap, p_bootstrap, 40_000)
    assert near(comparison.p_randomization, p_randomization, 40_000)


def test_swaps_that_give_the_same_difference_count() -> None:
    # The observed difference is the largest there is, so the only swaps as large are those that
    # give it again. Tenths have no exact doubles: sums in another order differ in the last bit, and
    # must be taken for equal.
    rng = np.random.default_rng(0)
    baseline = [(int(score),) for score in rng.integers(0, 10, size=7)]
    gains = rng.integers(0, 4, size=7)
    candidate = [(row[0] + int(gain),) for row, gain in zip(baseline, gains, strict=True)]
    comparison = compare_two(tenths(baseline), tenths(candidate), resamples=40_000)
    exact = exact_randomization(baseline, candidate, mean)
    assert near(comparison.p_randomization, exact, 40_000)


@pytest.mark.parametrize("n", [2, 64, 130])
def test_every_unit_is_swapped_however_many_there_are(n: int) -> None:
    """The last two units alone differ, by as much.

    Half of all swaps keep or turn both, and give as large a difference.
    """
    names = [f"{index:03}" for index in range(n)]
    baseline = Statistic.ratio_of(names, [0.5] * (n - 2) + [0.0, 0.0])
    candidate = Statistic.ratio_of(names, [0.5] * (n - 2) + [1.0, 1.0])
    comparison = compare_two(baseline, candidate, resamples=2000)
    assert near(comparison.p_randomization, 0.5, 2000)


def test_the_interval_is_that_of_all_resamples() -> None:
    baseline = [(1,), (0,), (4,), (2,)]
    candidate = [(2,), (3,), (4,), (9,)]
    differences: list[float] = []
    for drawn in itertools.product(range(4), repeat=4):
        differences.append(sum(candidate[index][0] - baseline[index][0] for index in drawn) / 40)
    comparison = compare_two(tenths(baseline), tenths(candidate), resamples=40_000)
    # For few units the tails are those of t, and wider (Hesterberg 2015, section 5.3): .01 % of 4
    # units.
    tail = stats.norm.cdf(-math.sqrt(4 / 3) * stats.t.ppf(0.975, 3))
    limits = np.quantile(differences, [tail, 1 - tail])
    assert (comparison.low, comparison.high) == pytest.approx(limits, abs=0.01)
    assert comparison.difference == pytest.approx(0.275)


# --- another program ---


def with_errors(references: list[str], share: float, draw: random.Random) -> list[str]:
    """The references with a share of their words replaced."""
    texts: list[str] = []
    for reference in references:
        words = ["wrong" if draw.random() < share else word for word in reference.split()]
        texts.append(" ".join(words))
    return texts


def bleu_of(texts: list[str], references: list[str]) -> Statistic:
    rows = [bleu_statistics(*pair) for pair in zip(texts, references, strict=True)]
    return Statistic(tuple(ids(len(rows))), np.array(rows), corpus_bleu4)


def test_bleu_agrees_with_sacrebleu() -> None:
    from sacrebleu import significance
    from sacrebleu.metrics import BLEU

    draw = random.Random(0)
    references: list[str] = []
    for _ in range(80):
        words = [f"w{draw.randint(0, 50)}" for _ in range(draw.randint(8, 16))]
        references.append(" ".join(words))
    worse = with_errors(references, 0.23, draw)
    better = with_errors(references, 0.18, draw)
    comparison = compare_two(bleu_of(worse, references), bleu_of(better, references))
    # sacrebleu's bootstrap p is the share of resamples whose |difference| exceeds its mean by the
    # observed one. Where the distribution is symmetric and hardly ever changes sign, that is the
    # share below zero, which is Koehn's and ours.
    assert comparison.p_bootstrap < 0.1
    systems: Any = [("a", worse), ("b", better)]
    for test_type, p, tolerance in (
        ("ar", comparison.p_randomization, 0.06),
        ("bs", comparison.p_bootstrap, 0.02),
    ):
        paired_test = significance.PairedTest(
            systems, {"BLEU": BLEU()}, [references], test_type, 2000
        )
        _, scores = paired_test()
        candidate_score: Any = scores["BLEU"][1]
        assert float(candidate_score.p_value) == pytest.approx(p, abs=tolerance)
