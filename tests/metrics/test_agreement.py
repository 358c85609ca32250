"""If these fail, alpha or the best cut is wrong: textbook figures, brute force."""

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
    alpha = krippendorff_alpha(
        [label for label in unit if label != "."] for unit in zip(*annotators, strict=True)
    )
    assert round(alpha, 3) == expected


def test_without_two_labels_that_differ_alpha_is_undefined() -> None:
    assert all(
        math.isnan(krippendorff_alpha(units))
        for units in ([], [["a"], ["b"]], [["a", "a"], ["a", "a"]])
    )


def counted(truth: list[bool], taken: list[bool]) -> tuple[float, float, float]:
    """F1, precision, recall."""
    hits = sum(a and b for a, b in zip(truth, taken, strict=True))
    return 2 * hits / (sum(truth) + sum(taken)), hits / max(sum(taken), 1), hits / sum(truth)


# Of two equal cuts: 2 * 5 / (9 + 6) and 2 * 6 / (12 + 6); of precision and recall they differ in
# the last bit.
@example([*[(True, 0.0)] * 5, *[(False, 0.0)] * 4, (True, -1.0), *[(False, -1.0)] * 2])
@given(scored)
def test_best_f1_by_brute_force(pairs: Pairs) -> None:
    truth, scores = (list(column) for column in zip(*pairs, strict=True))
    by_cut = {t: counted(truth, [score >= t for score in scores])[0] for t in set(scores)}
    found = best_f1(truth, scores)
    best = max(by_cut.values())
    assert found["at_least"] == min(
        t for t, f1 in by_cut.items() if f1 == pytest.approx(best, abs=1e-12)
    )
    taken = [score >= found["at_least"] for score in scores]
    assert (found["f1"], found["precision"], found["recall"]) == pytest.approx(
        counted(truth, taken)
    )


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match=r"units\[1\] has NaN among its labels"):
        krippendorff_alpha([["yes", "no"], ["yes", math.nan]])
    with pytest.raises(ValueError, match=r"scores\[1\] is nan"):
        best_f1([True, False], [0.5, math.nan])
    for positive in ([False, False], [True]):
        with pytest.raises(ValueError, match=r"truths, \d of them positive, and 2 scores"):
            best_f1(positive, [0.5, 0.6])
