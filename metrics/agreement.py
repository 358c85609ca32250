"""Agreement of any number of annotators, and the cut at which a score best predicts what they agree
on.

Cohen's kappa, average precision and precision-recall curves are scikit-learn's. Source of the cut:
V-FLUTE (arXiv 2405.01474), section 5.3 (best F1 of ExplanationScore as a predictor of adequacy .77,
at a threshold of .53).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction

import numpy as np

__all__ = ["best_f1", "krippendorff_alpha"]


def krippendorff_alpha(units: Iterable[Sequence[Hashable]]) -> float:
    """Krippendorff's alpha for nominal labels: ``1 - observed / expected`` disagreement, of any
    number of annotators.

    Unlike kappa it takes all annotators together and allows missing labels. Source: Krippendorff
    (2011), Computing Krippendorff's Alpha-Reliability, section C.

    Args:
        units: for each thing the labels that it got, in any order, without the missing ones; any
            values that compare and hash. Things with fewer than two labels do not count.

    Returns:
        float up to 1; 0 is chance. NaN if all labels are the same, or no thing has two: alpha is
        undefined.

    Raises:
        ValueError: NaN among the labels.

    Examples:
        >>> krippendorff_alpha([["yes", "yes", "yes"], ["no", "no"], ["yes", "no", "no"], ["no"]])
        0.5625
    """
    units = list(map(list, units))
    for place, unit in enumerate(units):
        if any(label != label for label in unit):
            raise ValueError(
                f"units[{place}] has NaN among its labels {unit}: leave missing labels out"
            )
    labels: Counter[Hashable] = Counter()
    observed = Fraction(0)
    for unit in units:
        if len(unit) < 2:
            continue
        counts = Counter(unit)
        labels += counts
        observed += Fraction(_unlike_pairs(counts), len(unit) - 1)
    expected = _unlike_pairs(labels)
    return float(1 - observed * (labels.total() - 1) / expected) if expected else math.nan


def _unlike_pairs(counts: Counter[Hashable]) -> int:
    """Ordered pairs of two labels that differ."""
    return counts.total() ** 2 - sum(count**2 for count in counts.values())


def best_f1(positive: Sequence[bool], scores: Sequence[float]) -> dict[str, float]:
    """The cut whose F1 of the positives is best; of several equal ones that with the highest
    recall.

    Args:
        positive: n truths, True (or 1) for what the score should be high for; at least one.
        scores: n finite numbers.

    Raises:
        ValueError: unequal numbers, no positive, or a score that is not finite.

    Returns:
        ``f1``, ``precision`` and ``recall`` there, in [0, 1], and ``at_least``: the lowest score
        that is taken as positive (scikit-learn's threshold: ``score >= at_least``).

    Examples:
        >>> best_f1([True, True, False], [0.9, 0.6, 0.2])
        {'f1': 1.0, 'precision': 1.0, 'recall': 1.0, 'at_least': 0.6}
    """
    truth, values = np.asarray(positive, dtype=bool), np.asarray(scores, dtype=np.float64)
    if truth.shape != values.shape or not truth.any():
        raise ValueError(
            f"there are {len(truth)} truths, {truth.sum()} of them positive, and {len(values)}"
            " scores"
        )
    if not np.isfinite(values).all():
        place = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"scores[{place}] is {values[place]}, must be a finite number")
    cuts = np.unique(values)
    at_least = values >= cuts[:, None]
    taken, found = at_least.sum(axis=1), (at_least & truth).sum(axis=1)
    f1 = 2 * found / (taken + truth.sum())  # of whole numbers: equal ones are equal to the last bit
    best = int(np.argmax(f1))  # the first: the lowest cut
    return {
        "f1": float(f1[best]),
        "precision": float(found[best] / taken[best]),
        "recall": float(found[best] / truth.sum()),
        "at_least": float(cuts[best]),
    }
