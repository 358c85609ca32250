"""Kappa and precision-recall: scikit-learn, textbook figures, brute force, properties."""

from __future__ import annotations

import math
import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sklearn

from figlang_tasks.metrics.agreement import (
    average_precision,
    best_f1,
    cohen_kappa,
    krippendorff_alpha,
    precision_recall_curve,
    trapezoidal_area,
)

Pairs = list[tuple[bool, float]]
label_pairs = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30)
# Few values, so that scores are often equal; and any values.
scored = st.lists(
    st.tuples(st.booleans(), st.one_of(st.sampled_from([0.0, 0.25, 0.5, 0.53]), st.floats(-2, 2))),
    min_size=1,
    max_size=30,
).filter(lambda pairs: any(truth for truth, _ in pairs))


def by_count(*counts: tuple[int, str, str]) -> tuple[list[str], list[str]]:
    rows = [(a, b) for count, a, b in counts for _ in range(count)]
    return [a for a, _ in rows], [b for _, b in rows]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        # observed .7, expected .5 (.5 * .6 + .5 * .4)
        (((20, "yes", "yes"), (5, "yes", "no"), (10, "no", "yes"), (15, "no", "no")), 0.4),
        # Same observed agreement .6, other margins: .54 expected, then .46.
        (((45, "yes", "yes"), (15, "yes", "no"), (25, "no", "yes"), (15, "no", "no")), 0.06 / 0.46),
        (((25, "yes", "yes"), (35, "yes", "no"), (5, "no", "yes"), (35, "no", "no")), 0.14 / 0.54),
        (((3, "yes", "no"), (3, "no", "yes")), -1.0),
        (((3, "yes", "yes"), (3, "no", "no")), 1.0),
        (((4, "yes", "no"),), 0.0),
    ],
)
def test_kappa_by_hand(counts: tuple[tuple[int, str, str], ...], expected: float) -> None:
    assert cohen_kappa(*by_count(*counts)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("annotators", "expected"),
    [
        # Krippendorff (2011), sections A, B and C: binary, nominal, four observers with gaps; three digits as printed.
        (("0100000000", "1110010010"), 0.095),
        (("aabbdcccedda", "babbbccceddd"), 0.692),
        (("123321412...", "1233224125.3", ".3332342251.", "12332441251."), 0.743),
        # Three coders and 15 units, the first two columns without a pair.
        ((".....34121133.3", "1.213343.......", "..21344.21133.4"), 0.691),
    ],
)
def test_alpha_of_published_examples(annotators: tuple[str, ...], expected: float) -> None:
    alpha = krippendorff_alpha([label for label in unit if label != "."] for unit in zip(*annotators, strict=True))
    assert round(alpha, 3) == expected


@given(st.lists(st.lists(st.sampled_from("abc"), max_size=5), max_size=20))
def test_alpha_by_its_definition_over_pairs_of_labels(units: list[list[str]]) -> None:
    """Disagreement as the mean over pairs within a thing, each label weighed alike, and over all pairs."""
    units = [unit for unit in units if len(unit) > 1]
    pooled = [label for unit in units for label in unit]
    unlike = [[a != b for a, b in permutations(labels, 2)] for labels in (*units, pooled)]
    alpha = krippendorff_alpha(units)
    if not any(unlike[-1]):
        assert math.isnan(alpha)
        return
    observed = sum(sum(pairs) / len(pairs) * len(unit) for unit, pairs in zip(units, unlike, strict=False))
    assert alpha == pytest.approx(1 - observed / len(pooled) / (sum(unlike[-1]) / len(unlike[-1])), abs=1e-12)


@given(label_pairs)
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    first, second = zip(*pairs, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = sklearn.cohen_kappa_score(first, second)
    if len({*first, *second}) == 1:
        assert math.isnan(cohen_kappa(first, second))
    else:
        assert cohen_kappa(first, second) == pytest.approx(expected, abs=1e-12)


@given(label_pairs)
def test_kappa_does_not_depend_on_order_roles_or_names(pairs: list[tuple[str, str]]) -> None:
    first, second = (list(labels) for labels in zip(*pairs, strict=True))
    kappa = cohen_kappa(first, second)
    renamed = dict(zip("abc", (7, None, ("x",)), strict=True))
    for other in (
        cohen_kappa(second, first),
        cohen_kappa(first[::-1], second[::-1]),
        cohen_kappa([renamed[label] for label in first], [renamed[label] for label in second]),
    ):
        assert other == kappa or math.isnan(other) and math.isnan(kappa)


@pytest.mark.parametrize(("first", "second", "says"), [([], [], "no labels"), ([1], [1, 0], "1 labels, second has 2")])
def test_kappa_of_no_or_unequal_labels(first: list[int], second: list[int], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        cohen_kappa(first, second)


@given(scored)
def test_curve_and_areas_are_those_of_scikit_learn(pairs: Pairs) -> None:
    truth, scores = (list(column) for column in zip(*pairs, strict=True))
    curve = precision_recall_curve(truth, scores)
    precision, recall, thresholds = sklearn.precision_recall_curve(truth, scores)
    np.testing.assert_array_equal(curve.thresholds, thresholds[::-1])
    np.testing.assert_allclose(curve.precision, precision[-2::-1])
    np.testing.assert_allclose(curve.recall, recall[-2::-1])
    assert average_precision(truth, scores) == pytest.approx(sklearn.average_precision_score(truth, scores))
    assert trapezoidal_area(truth, scores) == pytest.approx(sklearn.auc(recall, precision))


def counted(truth: list[bool], taken: list[bool]) -> tuple[float, float, float]:
    """F1, precision, recall."""
    hits = sum(a and b for a, b in zip(truth, taken, strict=True))
    return 2 * hits / (sum(truth) + sum(taken)), hits / max(sum(taken), 1), hits / sum(truth)


@given(scored)
def test_best_f1_by_brute_force(pairs: Pairs) -> None:
    truth, scores = (list(column) for column in zip(*pairs, strict=True))
    by_cut = {t: counted(truth, [score >= t for score in scores])[0] for t in set(scores)}
    found = best_f1(truth, scores)
    best = max(by_cut.values())
    assert found.f1 == pytest.approx(best)
    assert found.at_least == min(t for t, f1 in by_cut.items() if f1 == pytest.approx(best, abs=1e-12))
    # `score > t` cuts at the same place for every t from `above` up to, not including, `at_least`.
    for t in (found.above, (max(found.above, -9) + found.at_least) / 2, np.nextafter(found.at_least, -9)):
        if found.above <= t < found.at_least:
            taken = [score > t for score in scores]
            assert taken == [score >= found.at_least for score in scores]
            assert (found.f1, found.precision, found.recall) == pytest.approx(counted(truth, taken))


@given(scored, st.permutations(range(30)))
def test_areas_depend_on_the_order_of_scores_alone(pairs: Pairs, order: list[int]) -> None:
    shuffled = [pairs[index] for index in order if index < len(pairs)]
    ranks = sorted({score for _, score in pairs})
    ranked = [(truth, ranks.index(score)) for truth, score in shuffled]
    for area in (average_precision, trapezoidal_area):
        assert area(*zip(*pairs, strict=True)) == pytest.approx(area(*zip(*ranked, strict=True)))


def test_of_equal_cuts_the_one_with_the_highest_recall_is_taken() -> None:
    # 2 * 5 / (9 + 6) and 2 * 6 / (12 + 6): computed from precision and recall they differ in the last bit.
    truth = [True] * 5 + [False] * 4 + [True] + [False] * 2
    assert best_f1(truth, [0.0] * 9 + [-1.0] * 3) == (pytest.approx(2 / 3), 0.5, 1.0, -1.0, -math.inf)


def test_a_score_that_says_nothing_gets_the_share_of_positives() -> None:
    assert average_precision([True, False, False, True, False], [0.5] * 5) == pytest.approx(0.4)
    assert best_f1([True, False], [0.5, 0.5]).above == -math.inf


@pytest.mark.parametrize(
    ("truth", "scores", "says"),
    [
        ([], [], "no positive"),
        ([0, 0], [0.1, 0.2], "no positive"),
        ([1], [0.1, 0.2], "as long"),
        ([2, 1], [0.1, 0.2], "0 and 1"),
        ([1, 0], [0.1, math.nan], r"scores\[1\] is nan"),
        ([1, 0], [math.inf, 0.1], r"scores\[0\] is inf"),
    ],
)
def test_what_has_no_curve(truth: list[int], scores: list[float], says: str) -> None:
    for function in (precision_recall_curve, average_precision, trapezoidal_area, best_f1):
        with pytest.raises(ValueError, match=says):
            function(truth, scores)
