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

__all__ = [
    "best_rank",
    "depends_on_ties",
    "precision_at_k",
    "random_tie_precision_at_k",
    "tied_at_top",
]

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]


def precision_at_k(scores: Sequence[float] | Floats, positives: Sequence[bool] | Bools) -> float:
    """Share of positives among the k best candidates, k being the number of positives; ties count
    against.

    Because k is the number of positives this is R-precision: precision and recall at k coincide,
    and a perfect ranking reaches 1. If every candidate is a positive the result is 1 whatever the
    scores.

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
    values, good = _candidates(scores, positives)
    return _hits(values, good, pessimistic=True) / int(np.count_nonzero(good))


def best_rank(scores: Sequence[float] | Floats, positives: Sequence[bool] | Bools) -> int:
    """Rank of the best-placed positive, 1 for the best; ties count against.

    Args and errors as in `precision_at_k`.

    Returns:
        One more than the number of negatives that score at least as high as the best positive: of n
        candidates with k positives an int from 1 to n - k + 1.

    Examples:
        >>> best_rank([0.9, 0.7, 0.8], [False, True, False])
        3

    Source: MetaCLUE's retrieval reports the mean rank of the right candidate.
    """
    values, good = _candidates(scores, positives)
    return 1 + int(np.count_nonzero(values[~good] >= values[good].max()))


def depends_on_ties(scores: Sequence[float] | Floats, positives: Sequence[bool] | Bools) -> bool:
    """Whether `precision_at_k` would be higher if positives stood before negatives of the same
    score.

    Args and errors as in `precision_at_k`.

    Returns:
        bool; False for equal scores within one class, or on one side of the k-th place.

    Examples:
        >>> depends_on_ties([0.5, 0.5], [True, False])
        True
    """
    values, good = _candidates(scores, positives)
    return _hits(values, good, pessimistic=True) != _hits(values, good, pessimistic=False)


def random_tie_precision_at_k(
    scores: Sequence[float] | Floats, positives: Sequence[bool] | Bools
) -> float:
    """Mean of `precision_at_k` over all orders of candidates of the same score: what breaking ties
    at random gives.

    For answers that are mostly ties, Yes and No for example, it tells what the answers are worth,
    where the pessimistic rule tells what they guarantee. Args and errors as in `precision_at_k`.

    Returns:
        A float in [0, 1]; without a tie at the k-th place, that of `precision_at_k`.

    Examples:
        >>> random_tie_precision_at_k([0.5, 0.5], [True, False])
        0.5
    """
    values, good = _candidates(scores, positives)
    count = int(np.count_nonzero(good))
    last = np.sort(values)[-count]  # the score at the k-th place
    above, tied = values > last, values == last
    places = count - int(np.count_nonzero(above))
    share = int(np.count_nonzero(good & tied)) / int(np.count_nonzero(tied))
    return (int(np.count_nonzero(good & above)) + places * share) / count


def index_of_best(scores: Sequence[float]) -> int | None:
    """The place of the highest score; None if several share it."""
    return None if tied_at_top(scores) else list(scores).index(max(scores))


def tied_at_top(scores: Sequence[float] | Floats) -> bool:
    """Whether the highest score occurs more than once, so that there is no single choice.

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
    values = _finite(scores)
    return int(np.count_nonzero(values == values.max())) > 1


def _hits(values: Floats, good: Bools, *, pessimistic: bool) -> int:
    """Positives among the k best. The last key of lexsort is the first to sort by."""
    order = np.lexsort((good if pessimistic else ~good, -values))
    return int(np.count_nonzero(good[order[: int(np.count_nonzero(good))]]))


def _candidates(
    scores: Sequence[float] | Floats, positives: Sequence[bool] | Bools
) -> tuple[Floats, Bools]:
    values, good = _finite(scores), np.asarray(positives)
    if (
        good.dtype != bool or good.shape != values.shape or not good.any()
    ):  # no numbers: swapped arguments are noticed
        raise ValueError(
            f"positives must be a bool for each of {len(values)} scores, one of them True:"
            f" {positives}"
        )
    return values, good


def _finite(scores: Sequence[float] | Floats) -> Floats:
    values = np.asarray(scores, dtype=np.float64)
    if values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"scores must be finite numbers, at least one: {scores}")
    return values
