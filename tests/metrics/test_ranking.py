from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figlang_tasks.metrics.ranking import (
    argmax_is,
    best_rank,
    depends_on_ties,
    expected_precision_at_k,
    pairwise_share,
    precision_at_k,
    random_tie_precision_at_k,
    tied_at_top,
)

# Few distinct values, so that ties are the rule and not the exception.
coarse = st.integers(-2, 2).map(float)
fine = st.floats(-1e9, 1e9)


@st.composite
def candidates(draw: st.DrawFn, values: st.SearchStrategy[float] = coarse, most: int = 12) -> tuple[list[float], Any]:
    scores = draw(st.lists(values, min_size=1, max_size=most))
    positives = draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)).filter(any))
    return scores, positives


def orderings(scores: list[float], positives: list[bool]) -> list[list[bool]]:
    """Every ranking that agrees with the scores, as the labels from best to worst."""
    indices = range(len(scores))
    return [
        [positives[i] for i in order]
        for order in itertools.permutations(indices)
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order))
    ]


# --- oracles ----------------------------------------------------------------------------------------------------------


@given(candidates(most=6))
@settings(max_examples=150)
def test_the_worst_of_all_rankings_that_agree_with_the_scores(case: tuple[list[float], list[bool]]) -> None:
    scores, positives = case
    k = sum(positives)
    rankings = orderings(scores, positives)
    precisions = [sum(labels[:k]) / k for labels in rankings]
    assert precision_at_k(scores, positives) == min(precisions)
    assert depends_on_ties(scores, positives) == (min(precisions) != max(precisions))
    assert best_rank(scores, positives) == max(1 + labels.index(True) for labels in rankings)
    assert random_tie_precision_at_k(scores, positives) == pytest.approx(sum(precisions) / len(precisions))


@given(candidates(st.one_of(coarse, fine), most=40))
def test_sorting_with_the_tie_rule_spelt_out(case: tuple[list[float], list[bool]]) -> None:
    scores, positives = case
    k = sum(positives)
    ranked = [good for _, good in sorted(zip(scores, positives, strict=True), key=lambda pair: (-pair[0], pair[1]))]
    assert precision_at_k(scores, positives) == sum(ranked[:k]) / k
    assert best_rank(scores, positives) == 1 + ranked.index(True)


@given(candidates(st.one_of(coarse, fine), most=30), st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(
    case: tuple[list[float], list[bool]], shuffler: random.Random
) -> None:
    pairs = list(zip(*case, strict=True))
    shuffler.shuffle(pairs)
    shuffled = [list(column) for column in zip(*pairs, strict=True)]
    for function in (precision_at_k, best_rank, depends_on_ties):
        assert function(*case) == function(*shuffled)


@given(candidates(), st.sampled_from([lambda x: 3 * x - 7, math.exp, lambda x: x**3, math.atan]))
def test_only_the_order_of_the_scores_matters(case: tuple[list[float], list[bool]], rising: Any) -> None:
    scores, positives = case
    moved = [rising(v) for v in scores]
    for function in (precision_at_k, best_rank, depends_on_ties):
        assert function(scores, positives) == function(moved, positives)
    assert tied_at_top(scores) == tied_at_top(moved)
    assert [argmax_is(scores, i) for i in range(len(scores))] == [argmax_is(moved, i) for i in range(len(scores))]


@given(candidates(st.one_of(coarse, fine), most=30))
def test_bounds(case: tuple[list[float], list[bool]]) -> None:
    scores, positives = case
    n, k = len(scores), sum(positives)
    value = precision_at_k(scores, positives)
    # With k places and n - k negatives, at least k - (n - k) positives must be among them.
    assert max(0, 2 * k - n) / k <= value <= 1
    assert 1 <= best_rank(scores, positives) <= n - k + 1
    if len(set(scores)) == n:
        assert not depends_on_ties(scores, positives)
    if value == 1:
        assert best_rank(scores, positives) == 1 and not depends_on_ties(scores, positives)


@given(st.lists(coarse, min_size=1, max_size=8))
def test_argmax_against_sorting(scores: list[float]) -> None:
    ranked = sorted(scores, reverse=True)
    tied = len(ranked) > 1 and ranked[0] == ranked[1]
    assert tied_at_top(scores) is tied
    right = [i for i in range(len(scores)) if argmax_is(scores, i)]
    assert right == ([] if tied else [scores.index(ranked[0])])
    for i in range(len(scores)):
        one_positive = [j == i for j in range(len(scores))]
        assert (
            argmax_is(scores, i)
            == (precision_at_k(scores, one_positive) == 1)
            == (best_rank(scores, one_positive) == 1)
        )


@given(st.lists(st.tuples(coarse, coarse), min_size=1, max_size=30))
def test_pairwise_share_counts_pairs(pairs: list[tuple[float, float]]) -> None:
    higher, lower = [list(column) for column in zip(*pairs, strict=True)]
    assert pairwise_share(higher, lower) == sum(a > b for a, b in pairs) / len(pairs)
    ties = sum(a == b for a, b in pairs) / len(pairs)
    assert pairwise_share(higher, lower) + pairwise_share(lower, higher) + ties == pytest.approx(1)


# --- worked by hand ---------------------------------------------------------------------------------------------------

T, F = True, False


@pytest.mark.parametrize(
    ("scores", "positives", "precision", "rank", "tied"),
    [
        ([0.3], [T], 1, 1, F),
        ([0.9, 0.1], [T, F], 1, 1, F),
        ([0.1, 0.9], [T, F], 0, 2, F),
        ([0.5, 0.5], [T, F], 0, 2, T),
        ([0.0, -0.0], [T, F], 0, 2, T),
        ([0.5, 0.5], [T, T], 1, 1, F),
        ([0.9, 0.8, 0.7, 0.6], [T, F, T, F], 1 / 2, 1, F),
        ([0.9, 0.8, 0.7, 0.6], [F, T, F, T], 1 / 2, 2, F),
        ([0.9, 0.8, 0.7, 0.6], [F, F, T, T], 0, 3, F),
        # the tie is above the k-th place, or below it, or within one class: nothing depends on it
        ([0.9, 0.9, 0.2, 0.1], [T, F, T, F], 1 / 2, 2, F),
        ([0.9, 0.8, 0.2, 0.2], [T, F, T, F], 1 / 2, 1, F),
        ([0.9, 0.9, 0.2, 0.1], [T, T, F, F], 1, 1, F),
        # one of three at the border: pessimistic 1/2, optimistic 1
        ([0.9, 0.5, 0.5, 0.5], [T, T, F, F], 1 / 2, 1, T),
        # every image the same: of k = 3 places two go to the negatives
        ([0, 0, 0, 0, 0], [T, T, T, F, F], 1 / 3, 3, T),
        ([0, 0, 0, 0], [T, F, F, F], 0, 4, T),
        # answers Yes (1) and No (0)
        ([1, 1, 0, 1, 0, 0], [T, T, T, F, F, F], 2 / 3, 2, F),
        ([1, 0, 0, 1, 1, 0], [T, T, T, F, F, F], 1 / 3, 3, F),
        ([1, 0, 0, 0, 0, 0], [T, T, T, F, F, F], 1 / 3, 1, T),
    ],
)
def test_table(scores: list[float], positives: list[bool], precision: float, rank: int, tied: bool) -> None:
    assert precision_at_k(scores, positives) == precision
    assert best_rank(scores, positives) == rank
    assert depends_on_ties(scores, positives) is tied
    arrays = np.array(scores, dtype=np.float32), np.array(positives)
    assert (precision_at_k(*arrays), best_rank(*arrays), depends_on_ties(*arrays)) == (precision, rank, tied)


def test_all_positives_is_one() -> None:
    assert precision_at_k([3.0, 1.0, 1.0], [T, T, T]) == 1
    assert expected_precision_at_k(3, 3) == 1


@pytest.mark.parametrize(
    ("higher", "lower", "share"),
    [([1.0], [0.0], 1), ([1.0], [1.0], 0), ([1.0, 2.0, 3.0, 4.0], [0.0, 2.0, 4.0, 1.0], 0.5)],
)
def test_pairwise_table(higher: list[float], lower: list[float], share: float) -> None:
    assert pairwise_share(higher, lower) == share


def test_argmax_table() -> None:
    assert [argmax_is([0.2, 0.7, 0.1], i) for i in range(3)] == [F, T, F]
    assert not any(argmax_is([0.7, 0.7, 0.1], i) for i in range(3))
    assert tied_at_top([0.7, 0.7, 0.1]) and not tied_at_top([0.7, 0.1, 0.1])
    assert argmax_is(np.array([1.0, 2.0]), int(np.argmax([1.0, 2.0])))
    assert argmax_is([1.0], 0) and not tied_at_top([1.0])


# --- chance -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "n"), [(1, 4), (4, 14), (15, 36), (3, 4)])
def test_random_scores_reach_k_of_n(k: int, n: int) -> None:
    rng = np.random.default_rng(11)
    positives = [i < k for i in range(n)]
    values = [precision_at_k(rng.random(n), positives) for _ in range(2000)]
    standard_error = float(np.std(values)) / math.sqrt(len(values))
    assert abs(np.mean(values) - expected_precision_at_k(k, n)) < 4 * standard_error


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [precision_at_k, best_rank, depends_on_ties])
@pytest.mark.parametrize(
    ("scores", "positives", "message"),
    [
        ([], [], "scores is empty"),
        ([1.0], [T, F], "positives has 2 entries, scores has 1"),
        ([1.0, 2.0], [F, F], "no True"),
        ([1.0, float("nan")], [T, F], r"scores\[1\] is nan"),
        ([float("-inf"), 1.0], [T, F], r"scores\[0\] is -inf"),
        ([1.0, None], [T, F], r"scores\[1\] is None"),
        ([1.0, "2"], [T, F], r"scores\[1\] is '2'"),
        ([10**400, 1.0], [T, F], r"scores\[0\] is 10"),
        ([T, F], [1.0, 0.0], r"scores\[0\] is True"),
        ([1.0, 0.0], [1.0, 0.0], r"positives\[0\] is 1.0"),
    ],
)
def test_bad_candidates(function: Any, scores: Any, positives: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(scores, positives)


@pytest.mark.parametrize(("k", "n"), [(0, 4), (5, 4), (-1, 2), (0, 0)])
def test_bad_expectation(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="n_positives"):
        expected_precision_at_k(k, n)


@pytest.mark.parametrize(
    ("higher", "lower", "message"),
    [
        ([], [], "higher is empty"),
        ([1.0], [], "lower has 0 scores, higher has 1"),
        ([1.0, float("inf")], [0.0, 0.0], r"higher\[1\] is inf"),
        ([1.0, 2.0], [0.0, float("nan")], r"lower\[1\] is nan"),
    ],
)
def test_bad_pairs(higher: Any, lower: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pairwise_share(higher, lower)


@pytest.mark.parametrize("index", [-1, 2, 0.0, True, None])
def test_bad_index(index: Any) -> None:
    with pytest.raises(ValueError, match="index is"):
        argmax_is([1.0, 2.0], index)


def test_bad_scores_of_a_choice() -> None:
    with pytest.raises(ValueError, match="scores is empty"):
        tied_at_top([])
    with pytest.raises(ValueError, match=r"scores\[0\] is nan"):
        argmax_is([float("nan"), 1.0], 1)
