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
    return [f"unit {at}" for at in range(n)]


def one(a: Statistic, b: Statistic, **options: Any) -> Comparison:
    return compare([{"m": a}, {"m": b}], **options)[0, 1]["m"]


def near(p: float, exact: float, resamples: int) -> bool:
    """Whether a share of resamples can be an estimate of `exact`: five standard errors."""
    return abs(p - exact) <= 5 * math.sqrt(exact * (1 - exact) / resamples) + 2 / resamples


# --- brute force: every resample and every swap there is, in exact fractions, with lists of rows
# ---


def mean(rows: Rows) -> Fraction | None:
    return Fraction(sum(row[0] for row in rows), len(rows))


def ratio(rows: Rows) -> Fraction | None:
    below = sum(row[1] for row in rows)
    return Fraction(sum(row[0] for row in rows), below) if below else None


def macro_f1(rows: Rows) -> Fraction | None:
    """Of rows (gold, predicted): by label, precision and recall, as the textbooks have it."""
    scores = []
    for label in (0, 1):
        gold, said = (
            {at for at, row in enumerate(rows) if row[column] == label} for column in (0, 1)
        )
        if gold | said:
            scores.append(Fraction(2 * len(gold & said), len(gold) + len(said)))
    return sum(scores, Fraction(0)) / len(scores)


def subtract(b: Fraction | None, a: Fraction | None) -> Fraction | None:
    return None if a is None or b is None else b - a


def exact_bootstrap(a: Rows, b: Rows, metric: Metric) -> float:
    """Share of all n^n resamples in which the better system is not better, or the metric of one is
    undefined.
    """
    observed = subtract(metric(b), metric(a))
    assert observed
    found: list[Fraction | None] = []
    for drawn in itertools.product(range(len(a)), repeat=len(a)):
        found.append(subtract(metric([b[at] for at in drawn]), metric([a[at] for at in drawn])))
    return sum(difference is None or difference * observed <= 0 for difference in found) / len(
        found
    )


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
    gold, right = [row[0] for row in rows], [row[0] == row[1] for row in rows]
    of = functools.partial(classification.macro_f1, skip_absent=True)
    return Statistic(tuple(ids(len(rows))), classification.confusion_cells(gold, right), of)


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


@pytest.mark.parametrize(("metric", "make", "a", "b"), SMALL)
def test_p_values_are_those_of_all_resamples_and_all_swaps(
    metric: Metric, make: Callable[[Rows], Statistic], a: Rows, b: Rows
) -> None:
    found = one(make(a), make(b), resamples=40_000)
    assert near(found.p_bootstrap, exact_bootstrap(a, b, metric), 40_000)
    assert near(found.p_randomization, exact_randomization(a, b, metric), 40_000)


def test_swaps_that_give_the_same_difference_count() -> None:
    # The observed difference is the largest there is, so the only swaps as large are those that
    # give it again. Tenths have no exact doubles: sums in another order differ in the last bit, and
    # must be taken for equal.
    rng = np.random.default_rng(0)
    a = [(int(value),) for value in rng.integers(0, 10, size=7)]
    b = [(row[0] + int(gain),) for row, gain in zip(a, rng.integers(0, 4, size=7), strict=True)]
    found = one(tenths(a), tenths(b), resamples=40_000)
    assert near(found.p_randomization, exact_randomization(a, b, mean), 40_000)


@pytest.mark.parametrize("n", [2, 64, 130])
def test_every_unit_is_swapped_however_many_there_are(n: int) -> None:
    """The last two alone differ, by as much: half of all swaps keep or turn both, and give as large
    a difference.
    """
    names = [f"{at:03}" for at in range(n)]
    a, b = (Statistic.ratio_of(names, [0.5] * (n - 2) + [last] * 2) for last in (0.0, 1.0))
    assert near(one(a, b, resamples=2000).p_randomization, 0.5, 2000)


def test_the_interval_is_that_of_all_resamples() -> None:
    a, b = [(1,), (0,), (4,), (2,)], [(2,), (3,), (4,), (9,)]
    every = [
        sum(b[at][0] - a[at][0] for at in drawn) / 40
        for drawn in itertools.product(range(4), repeat=4)
    ]
    found = one(tenths(a), tenths(b), resamples=40_000)
    # For few units the tails are those of t, and wider (Hesterberg 2015, section 5.3): .01 % of 4
    # units.
    tail = stats.norm.cdf(-math.sqrt(4 / 3) * stats.t.ppf(0.975, 3))
    assert (found.low, found.high) == pytest.approx(np.quantile(every, [tail, 1 - tail]), abs=0.01)
    assert found.difference == pytest.approx(0.275)


# --- another program ---


def test_bleu_agrees_with_sacrebleu() -> None:
    from sacrebleu import significance
    from sacrebleu.metrics import BLEU

    draw = random.Random(0)
    references = [
        " ".join(f"w{draw.randint(0, 50)}" for _ in range(draw.randint(8, 16))) for _ in range(80)
    ]
    texts = [
        [
            " ".join("wrong" if draw.random() < share else word for word in text.split())
            for text in references
        ]
        for share in (0.23, 0.18)
    ]
    pairs = [[bleu_statistics(c, r) for c, r in zip(of, references, strict=True)] for of in texts]
    found = one(*(Statistic(tuple(ids(80)), np.array(of), corpus_bleu4) for of in pairs))
    # Theirs is the share of resamples whose |difference| exceeds its mean by the observed one.
    # Where the distribution is symmetric and hardly ever changes sign, that is the share below
    # zero, which is Koehn's and ours.
    assert found.p_bootstrap < 0.1
    for kind, ours, slack in (("ar", found.p_randomization, 0.06), ("bs", found.p_bootstrap, 0.02)):
        systems: Any = list(zip("ab", texts, strict=True))
        scores: Any = significance.PairedTest(
            systems, {"BLEU": BLEU()}, [references], kind, 2000
        )()[1]
        assert float(scores["BLEU"][1].p_value) == pytest.approx(ours, abs=slack)
