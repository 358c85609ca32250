"""Agreement of any number of annotators, and the threshold at which a score best predicts it.

Cohen's kappa, average precision and precision-recall curves are scikit-learn's. Source of the
threshold: V-FLUTE (arXiv 2405.01474), section 5.3 (best F1 of ExplanationScore as a predictor of
adequacy .77, at a threshold of .53).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction

import numpy as np

__all__ = ["best_f1", "krippendorff_alpha"]


def krippendorff_alpha(units: Iterable[Sequence[Hashable]]) -> float:
    """Krippendorff's alpha of any number of annotators, for nominal labels.

    ``alpha = 1 - observed / expected`` disagreement. With n labels in all, ``n_c`` of them c, and
    in unit u ``m_u`` labels, ``n_uc`` of them c::

        observed = sum over u of (m_u**2 - sum over c of n_uc**2) / (m_u - 1) / n
        expected = (n**2 - sum over c of n_c**2) / (n * (n - 1))

    Unlike kappa it takes all annotators together and allows missing labels.

    Args:
        units: for each unit (what is labelled) the labels that it got, in any order, without the
            missing ones; any values that compare and hash. Units with fewer than two labels do not
            count.

    Returns:
        float up to 1; 0 is chance. NaN if all labels are the same, or no unit has two: alpha is
        undefined.

    Raises:
        ValueError: NaN among the labels.

    Examples:
        >>> krippendorff_alpha([["yes", "yes", "yes"], ["no", "no"], ["yes", "no", "no"], ["no"]])
        0.5625

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C.
    """
    units = list(map(list, units))
    for index, labels in enumerate(units):
        if any(label != label for label in labels):  # true of NaN alone
            raise ValueError(
                f"units[{index}] has NaN among its labels {labels}: leave missing labels out"
            )

    label_counts: Counter[Hashable] = Counter()
    observed = Fraction(0)  # exact, so that no result depends on the order of units
    for labels in units:
        if len(labels) < 2:
            continue
        unit_counts = Counter(labels)
        label_counts += unit_counts
        observed += Fraction(_unlike_pairs(unit_counts), len(labels) - 1)
    expected = _unlike_pairs(label_counts)
    if not expected:
        return math.nan
    return float(1 - observed * (label_counts.total() - 1) / expected)


def _unlike_pairs(label_counts: Counter[Hashable]) -> int:
    """The number of ordered pairs of labels that differ."""
    return label_counts.total() ** 2 - sum(count**2 for count in label_counts.values())


def best_f1(positive: Sequence[bool], scores: Sequence[float]) -> dict[str, float]:
    """The threshold at which a score predicts the positives with the best F1, with that F1.

    Of several equal ones, that with the highest recall.

    Args:
        positive: n truths, True (or 1) for what the score should be high for; at least one.
        scores: n finite numbers.

    Returns:
        ``f1``, ``precision`` and ``recall`` there, in [0, 1], and ``at_least``: the lowest score
        that is taken as positive (scikit-learn's threshold: ``score >= at_least``).

    Raises:
        ValueError: unequal numbers, no positive, or a score that is not finite.

    Examples:
        >>> best_f1([True, True, False], [0.9, 0.6, 0.2])
        {'f1': 1.0, 'precision': 1.0, 'recall': 1.0, 'at_least': 0.6}

    Source: V-FLUTE, section 5.3.
    """
    is_positive = np.asarray(positive, dtype=bool)
    values = np.asarray(scores, dtype=np.float64)
    if is_positive.shape != values.shape or not is_positive.any():
        raise ValueError(
            f"there are {len(is_positive)} truths, {is_positive.sum()} of them positive, and"
            f" {len(values)} scores"
        )
    if not np.isfinite(values).all():
        index = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"scores[{index}] is {values[index]}, must be a finite number")

    thresholds = np.unique(values)  # rising
    is_predicted = values >= thresholds[:, None]  # [thresholds, n]
    predicted = is_predicted.sum(axis=1)
    true_positives = (is_predicted & is_positive).sum(axis=1)
    positives = is_positive.sum()
    # Made of whole numbers: equal F1 are equal to the last bit.
    f1 = 2 * true_positives / (predicted + positives)
    best = int(np.argmax(f1))  # the first of equal ones: the lowest threshold
    return {
        "f1": float(f1[best]),
        "precision": float(true_positives[best] / predicted[best]),
        "recall": float(true_positives[best] / positives),
        "at_least": float(thresholds[best]),
    }
