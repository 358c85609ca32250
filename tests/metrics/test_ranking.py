"""A ranking by scores gives other figures, or hides that ties decided them, if this fails."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

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
def candidates(draw: st.DrawFn, most: int = 12) -> tuple[list[float], list[bool]]:
    """Scores and positives of up to `most` candidates, at least one of them positive."""
    scores = draw(st.lists(coarse, min_size=1, max_size=most))
    flags = st.lists(st.booleans(), min_size=len(scores), max_size=len(scores))
    return scores, draw(flags.filter(any))


def rankings_of(scores: list[float], positives: list[bool]) -> list[list[bool]]:
    """Every ranking that agrees with the scores, as the labels from best to worst."""
    rankings: list[list[bool]] = []
    for order in itertools.permutations(range(len(scores))):
        if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order)):
            rankings.append([positives[index] for index in order])
    return rankings


@given(candidates(most=6))
@settings(max_examples=150)
def test_ties_count_as_in_the_worst_ranking_that_agrees_with_the_scores(
    case: tuple[list[float], list[bool]],
) -> None:
    scores, positives = case
    k = sum(positives)
    rankings = rankings_of(scores, positives)
    precisions = [sum(labels[:k]) / k for labels in rankings]
    mean_precision = pytest.approx(sum(precisions) / len(precisions))
    assert precision_at_k(scores, positives) == min(precisions)
    assert depends_on_ties(scores, positives) == (min(precisions) != max(precisions))
    assert best_rank(scores, positives) == max(1 + labels.index(True) for labels in rankings)
    assert random_tie_precision_at_k(scores, positives) == mean_precision
    assert tied_at_top(scores) == (scores.count(max(scores)) > 1)


@pytest.mark.parametrize(
    "function", [precision_at_k, best_rank, depends_on_ties, random_tie_precision_at_k]
)
@pytest.mark.parametrize(
    ("scores", "positives", "message"),
    [
        ([], [], "scores must be finite numbers, at least one"),
        ([1.0, None], [True, False], "scores must be finite"),
        ([1.0], [True, False], "positives must be a bool for each of 1 scores"),
        ([1.0, 2.0], [False, False], "one of them True"),
        ([True, False], [1.0, 0.0], "positives must be a bool"),  # swapped
    ],
)
def test_candidates_that_are_none_are_refused(
    function: Callable[..., object], scores: Any, positives: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        function(scores, positives)
