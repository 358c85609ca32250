"""Alpha or the best threshold is wrong if this fails: textbook figures, brute force."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from figlang_tasks.metrics.agreement import best_f1, krippendorff_alpha

Pairs = list[tuple[bool, float]]
# Few values, so that scores are often equal; and any values.
scored = st.lists(
    st.tuples(st.booleans(), st.one_of(st.sampled_from([0.0, 0.25, 0.5, 0.53]), st.floats(-2, 2))),
    min_size=1,
    max_size=30,
).filter(lambda pairs: any(truth for truth, _ in pairs))


@pytest.mark.parametrize(
    ("annotators", "expected"),
    [
        # Krippendorff (2011), sections A, B and C: binary, nominal, four observers with gaps; three
        # digits as printed.
        (("0100000000", "1110010010"), 0.095),
        (("aabbdcccedda", "babbbccceddd"), 0.692),
        (("123321412...", "1233224125.3", ".3332342251.", "12332441251."), 0.743),
        # Three coders and 15 units, the first two columns without a pair.
        ((".....34121133.3", "1.213343.......", "..21344.21133.4"), 0.691),
    ],
)
def test_alpha_of_published_examples(annotators: tuple[str, ...], expected: float) -> None:
    units: list[list[str]] = []
    for labels in zip(*annotators, strict=True):
        units.append([label for label in labels if label != "."])
    assert round(krippendorff_alpha(units), 3) == expected


@pytest.mark.parametrize("units", [[], [["a"], ["b"]], [["a", "a"], ["a", "a"]]])
def test_without_two_labels_that_differ_alpha_is_undefined(units: list[list[str]]) -> None:
    assert math.isnan(krippendorff_alpha(units))


def scores_of_predictions(truth: list[bool], predicted: list[bool]) -> tuple[float, float, float]:
    """F1, precision and recall of predictions."""
    hits = sum(a and b for a, b in zip(truth, predicted, strict=True))
    f1 = 2 * hits / (sum(truth) + sum(predicted))
    return f1, hits / max(sum(predicted), 1), hits / sum(truth)


def at_least(scores: list[float], threshold: float) -> list[bool]:
    return [score >= threshold for score in scores]


# Of two equal thresholds: 2 * 5 / (9 + 6) and 2 * 6 / (12 + 6); of precision and recall they differ
# in the last bit.
@example([*[(True, 0.0)] * 5, *[(False, 0.0)] * 4, (True, -1.0), *[(False, -1.0)] * 2])
@given(scored)
def test_best_f1_by_brute_force(pairs: Pairs) -> None:
    truth, scores = (list(column) for column in zip(*pairs, strict=True))
    f1_by_threshold: dict[float, float] = {}
    for threshold in set(scores):
        f1_by_threshold[threshold], _, _ = scores_of_predictions(truth, at_least(scores, threshold))
    largest = pytest.approx(max(f1_by_threshold.values()), abs=1e-12)
    lowest_best = min(threshold for threshold, f1 in f1_by_threshold.items() if f1 == largest)

    best = best_f1(truth, scores)
    assert best["at_least"] == lowest_best
    expected = scores_of_predictions(truth, at_least(scores, best["at_least"]))
    assert (best["f1"], best["precision"], best["recall"]) == pytest.approx(expected)


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match=r"units\[1\] has NaN among its labels"):
        krippendorff_alpha([["yes", "no"], ["yes", math.nan]])
    with pytest.raises(ValueError, match=r"scores\[1\] is nan"):
        best_f1([True, False], [0.5, math.nan])
    for positive in ([False, False], [True]):
        with pytest.raises(ValueError, match=r"truths, \d of them positive, and 2 scores"):
            best_f1(positive, [0.5, 0.6])
