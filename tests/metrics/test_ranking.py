"""A ranking by scores gives other figures, or hides that ties decided them, if this fails."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figlang_tasks.metrics.ranking import (
    best_rank,
    depends_on_ties,
    precision_at_k,
    random_tie_precision_at_k,
    tied_at_top,
)

# Few distinct values, so that ties are the rule and not the exception.
coarse = st.integers(-2, 2).map(float)


@st.composite
def candidates(draw: st.DrawFn, most: int = 12) -> tuple[list[float], Any]:
    scores = draw(st.lists(coarse, min_size=1, max_size=most))
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


@given(candidates(), st.sampled_from([lambda x: 3 * x - 7, math.exp, lambda x: x**3, math.atan]))
def test_only_the_order_of_the_scores_matters(case: tuple[list[float], list[bool]], rising: Any) -> None:
    scores, positives = case
    moved = [rising(v) for v in scores]
    for function in (precision_at_k, best_rank, depends_on_ties):
        assert function(scores, positives) == function(moved, positives)
    assert tied_at_top(scores) == tied_at_top(moved) == (scores.count(max(scores)) > 1)


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


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [precision_at_k, best_rank, depends_on_ties, random_tie_precision_at_k])
@pytest.mark.parametrize(
    ("scores", "positives", "message"),
    [
        ([], [], "scores must be finite numbers, at least one"),
        ([1.0, float("nan")], [T, F], "scores must be finite"),
        ([1.0, None], [T, F], "scores must be finite"),
        ([1.0], [T, F], "positives must be a bool for each of 1 scores"),
        ([1.0, 2.0], [F, F], "one of them True"),
        ([T, F], [1.0, 0.0], "positives must be a bool"),  # swapped
    ],
)
def test_refused(function: Any, scores: Any, positives: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(scores, positives)
