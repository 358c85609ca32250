"""Precision at k and best rank of scored candidates, with every tie reported.

Scores order candidates, the highest first; their scale never matters. *Ties are pessimistic*: among
equal scores the negatives stand before the positives, so a model that gives every image the same
score gets nothing for it, and no result depends on the order in which candidates happened to be
listed. `depends_on_ties` says where that rule decided.

Source: IRFL (Yosef et al. 2023, arXiv 2303.15445), section 4.2: "calculate the precision at k,
where k is the number of figurative images in the input". MetaCLUE (Akula et al. 2023, arXiv
2212.09898) reports the rank of the right candidate. Neither paper says what happens to ties; the
rule is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .array_types import Floats

__all__ = [
    "best_rank",
    "depends_on_ties",
    "precision_at_k",
    "random_tie_precision_at_k",
    "tied_at_top",
]

Bools: TypeAlias = npt.NDArray[np.bool_]


def precision_at_k(scores: Sequence[float] | Floats, positives: Sequence[bool] | Bools) -> float:
    """The share of positives among the k best candidates, k being the number of positives.

    Ties count against. Because k is the number of positives this is R-precision: precision and
    recall at k coincide, and a perfect ranking reaches 1. If every candidate is a positive the
    value is 1 whatever the scores.

    Args:
        scores: n finite numbers, higher is better.
        positives: n bools, at least one of them True.

    Returns:
        A float in [0, 1], a multiple of 1/k.

    Raises:
        ValueError: no candidates, unequal lengths, no positive, a score that is not finite, or a
            positive that is no bool.

    Examples:
        Two positives, one of them among the best two; the tie counts against:

        >>> precision_at_k([0.9, 0.2, 0.8, 0.1], [True, True, False, False])
        0.5
        >>> precision_at_k([0.5, 0.5], [True, False])
        0.0

    Source: IRFL, section 4.2 (Table 7).
    """
    values, is_positive = _check_candidates(scores, positives)
    hits = _hits_at_k(values, is_positive, negatives_first=True)
    return hits / int(np.count_nonzero(is_positive))


def best_rank(scores: Sequence[float] | Floats, positives: Sequence[bool] | Bools) -> int:
    """The rank of the positive with the highest score, 1 for the best; ties count against.

    It is one more than the number of negatives that score at least as high as that positive.

    Args:
        scores: n finite numbers, higher is better.
        positives: n bools, k of them True, at least one.

    Returns:
        An int from 1 to n - k + 1.

    Raises:
        ValueError: no candidates, unequal lengths, no positive, a score that is not finite, or a
            positive that is no bool.

    Examples:
        >>> best_rank([0.9, 0.7, 0.8], [False, True, False])
        3

    Source: MetaCLUE's retrieval reports the mean rank of the right candidate.
    """
    values, is_positive = _check_candidates(scores, positives)
    best_positive = values[is_positive].max()
    return 1 + int(np.count_nonzero(values[~is_positive] >= best_positive))


def depends_on_ties(scores: Sequence[float] | Floats, positives: Sequence[bool] | Bools) -> bool:
    """Whether `precision_at_k` would be higher if ties counted for the positives.

    Args:
        scores: n finite numbers, higher is better.
        positives: n bools, at least one of them True.

    Returns:
        bool; False for equal scores within one class, or on one side of the k-th candidate.

    Raises:
        ValueError: no candidates, unequal lengths, no positive, a score that is not finite, or a
            positive that is no bool.

    Examples:
        >>> depends_on_ties([0.5, 0.5], [True, False])
        True
    """
    values, is_positive = _check_candidates(scores, positives)
    least_hits = _hits_at_k(values, is_positive, negatives_first=True)
    return least_hits != _hits_at_k(values, is_positive, negatives_first=False)


def random_tie_precision_at_k(
    scores: Sequence[float] | Floats, positives: Sequence[bool] | Bools
) -> float:
    """The mean of `precision_at_k` over all ways to break ties: what breaking them at random gives.

    For answers that are mostly ties, Yes and No for example, it says what the answers are worth,
    where `precision_at_k` says what they guarantee. With a positives above the k-th best score, and
    b of m candidates of that score positive, which fill r of the k best: ``(a + r * b / m) / k``.

    Args:
        scores: n finite numbers, higher is better.
        positives: n bools, k of them True, at least one.

    Returns:
        A float in [0, 1]; without a tie at the k-th candidate, that of `precision_at_k`.

    Raises:
        ValueError: no candidates, unequal lengths, no positive, a score that is not finite, or a
            positive that is no bool.

    Examples:
        >>> random_tie_precision_at_k([0.5, 0.5], [True, False])
        0.5
    """
    values, is_positive = _check_candidates(scores, positives)
    k = int(np.count_nonzero(is_positive))
    kth_score = np.sort(values)[-k]  # of the k-th best candidate
    is_above = values > kth_score
    is_tied = values == kth_score
    tied_among_best = k - int(np.count_nonzero(is_above))
    positives_above = int(np.count_nonzero(is_positive & is_above))
    tied_positives = int(np.count_nonzero(is_positive & is_tied))
    positive_share = tied_positives / int(np.count_nonzero(is_tied))
    return (positives_above + tied_among_best * positive_share) / k


def index_of_best(scores: Sequence[float]) -> int | None:
    """The index of the highest score; None if several candidates share it.

    Raises:
        ValueError: no scores, or a score that is not finite.

    Examples:
        >>> index_of_best([0.1, 0.9]), index_of_best([0.9, 0.9])
        (1, None)
    """
    return None if tied_at_top(scores) else list(scores).index(max(scores))


def tied_at_top(scores: Sequence[float] | Floats) -> bool:
    """Whether several candidates share the highest score, so that there is no single choice.

    Args:
        scores: n finite numbers.

    Returns:
        bool.

    Raises:
        ValueError: no scores, or a score that is not finite.

    Examples:
        >>> tied_at_top([0.5, 0.5, 0.1])
        True
    """
    values = _check_finite(scores)
    return int(np.count_nonzero(values == values.max())) > 1


def _hits_at_k(values: Floats, is_positive: Bools, *, negatives_first: bool) -> int:
    """The number of positives among the k best, k being the number of positives.

    Args:
        values: the scores.
        is_positive: for each score.
        negatives_first: whether negatives stand before positives of the same score.
    """
    k = int(np.count_nonzero(is_positive))
    stands_last = is_positive if negatives_first else ~is_positive
    # lexsort sorts by its last key first: by falling score, then by `stands_last`.
    order = np.lexsort((stands_last, -values))
    return int(np.count_nonzero(is_positive[order[:k]]))


def _check_candidates(
    scores: Sequence[float] | Floats, positives: Sequence[bool] | Bools
) -> tuple[Floats, Bools]:
    """Scores and positives as arrays; ValueError if they are not those of candidates."""
    values = _check_finite(scores)
    is_positive = np.asarray(positives)
    # Numbers are refused, so that swapped arguments are noticed.
    is_valid = is_positive.dtype == bool and is_positive.shape == values.shape
    if not is_valid or not is_positive.any():
        raise ValueError(
            f"positives must be a bool for each of {len(values)} scores, one of them True:"
            f" {positives}"
        )
    return values, is_positive


def _check_finite(scores: Sequence[float] | Floats) -> Floats:
    """Scores as an array; ValueError if there is none, or one is not finite."""
    values = np.asarray(scores, dtype=np.float64)
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"scores must be finite numbers, at least one: {scores}")
    return values
