"""Agreement of annotators, and how well a score predicts what they agree on.

Source: V-FLUTE (arXiv 2405.01474), sections 5.1 (Cohen's kappa, .47 on average) and 5.3 (area under the
precision-recall curve of ExplanationScore as a predictor of adequacy, .79; best F1 .77 at a threshold of .53).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "BestF1",
    "PrecisionRecall",
    "average_precision",
    "best_f1",
    "cohen_kappa",
    "krippendorff_alpha",
    "precision_recall_curve",
    "trapezoidal_area",
]

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Cohen's kappa of two annotators (Cohen 1960): ``(observed - expected) / (1 - expected)`` agreement.

    Expected is the agreement of two annotators who draw, each with the shares of labels that theirs have.

    Args:
        first, second: n labels each of the same n things; any values that compare and hash.

    Returns:
        float in [-1, 1]; NaN where both used one and the same label throughout: expected agreement is 1, and kappa
        undefined.

    Raises:
        ValueError: empty input or unequal lengths.

    Examples:
        >>> cohen_kappa(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"])
        0.5
    """
    n = len(first)
    if n == 0:
        raise ValueError("kappa of no labels is undefined")
    if len(second) != n:
        raise ValueError(f"first has {n} labels, second has {len(second)}")
    agreed = sum(a == b for a, b in zip(first, second, strict=True))
    by_second = Counter(second)
    by_chance = sum(count * by_second[label] for label, count in Counter(first).items())  # whole numbers: of n * n
    return math.nan if by_chance == n * n else (agreed * n - by_chance) / (n * n - by_chance)


def krippendorff_alpha(units: Iterable[Sequence[Hashable]]) -> float:
    """Krippendorff's alpha for nominal labels: ``1 - observed / expected`` disagreement, of any number of annotators.

    Unlike kappa it takes all annotators together and allows missing labels. Source: Krippendorff (2011), Computing
    Krippendorff's Alpha-Reliability, section C.

    Args:
        units: for each thing the labels that it got, in any order, without the missing ones; any values that compare
            and hash. Things with fewer than two labels do not count.

    Returns:
        float up to 1; 0 is chance. NaN if all labels are the same, or no thing has two: alpha is undefined.

    Examples:
        >>> krippendorff_alpha([["yes", "yes", "yes"], ["no", "no"], ["yes", "no", "no"], ["no"]])
        0.5625
    """
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


@dataclass(frozen=True)
class PrecisionRecall:
    """Precision and recall at every cut that tells scores apart.

    Attributes:
        thresholds: the k distinct scores, falling; at entry i what scores *at least* ``thresholds[i]`` is taken as
            positive. That is what scores *above* t for every t from ``thresholds[i + 1]`` up to, not including,
            ``thresholds[i]``.
        precision, recall: shape [k], each in [0, 1]; recall does not fall and ends at 1.
    """

    thresholds: Floats
    precision: Floats
    recall: Floats


class BestF1(NamedTuple):
    """The cut of best F1, for both ways of cutting.

    Attributes:
        f1, precision, recall: there, in [0, 1].
        at_least: the lowest score that is taken as positive (scikit-learn's threshold: ``score >= at_least``).
        above: the highest score that is not; -inf where all are taken as positive. ``score > t`` cuts here for every
            t in [above, at_least), as F1@t does.
    """

    f1: float
    precision: float
    recall: float
    at_least: float
    above: float


def precision_recall_curve(positive: Sequence[bool], scores: Sequence[float]) -> PrecisionRecall:
    """Precision and recall of ``score >= t`` for each distinct score t.

    Args:
        positive: n truths, True (or 1) for what the score should be high for; at least one.
        scores: n finite numbers.

    Raises:
        ValueError: empty input, unequal lengths, no positive (recall is undefined), a truth that is neither 0 nor 1,
            or a score that is not finite.
    """
    thresholds, taken, found = _counts(positive, scores)
    return PrecisionRecall(thresholds, found / taken, found / found[-1])


def average_precision(positive: Sequence[bool], scores: Sequence[float]) -> float:
    """Area under the precision-recall curve, in steps: the sum of ``(recall[i] - recall[i - 1]) * precision[i]``.

    scikit-learn's ``average_precision_score``. A score that says nothing gets the share of positives.

    Args:
        positive: n truths, True (or 1) for what the score should be high for; at least one.
        scores: n finite numbers.

    Returns:
        float in (0, 1].

    Raises:
        ValueError: as `precision_recall_curve`.

    Examples:
        >>> average_precision([True, False, True], [0.9, 0.8, 0.7])
        0.8333333333333333
    """
    curve = precision_recall_curve(positive, scores)
    return float(np.sum(np.diff(curve.recall, prepend=0.0) * curve.precision))


def trapezoidal_area(positive: Sequence[bool], scores: Sequence[float]) -> float:
    """Area under the precision-recall curve with straight lines between its points, from (recall 0, precision 1) on.

    scikit-learn's ``auc`` of what its ``precision_recall_curve`` returns. Too high in general, as precision does not
    fall along straight lines (Davis & Goadrich 2006); the V-FLUTE paper does not say which of the two its .79 is.

    Args:
        positive: n truths, True (or 1) for what the score should be high for; at least one.
        scores: n finite numbers.

    Returns:
        float in (0, 1].

    Raises:
        ValueError: as `precision_recall_curve`.
    """
    curve = precision_recall_curve(positive, scores)
    precision = np.concatenate(([1.0], curve.precision))
    return float(np.sum(np.diff(curve.recall, prepend=0.0) * (precision[1:] + precision[:-1]) / 2))


def best_f1(positive: Sequence[bool], scores: Sequence[float]) -> BestF1:
    """The cut whose F1 of the positives is best; of several equal ones that with the highest recall.

    Args:
        positive: n truths, True (or 1) for what the score should be high for; at least one.
        scores: n finite numbers.

    Raises:
        ValueError: as `precision_recall_curve`.

    Examples:
        >>> best_f1([True, True, False], [0.9, 0.6, 0.2])
        BestF1(f1=1.0, precision=1.0, recall=1.0, at_least=0.6, above=0.2)
    """
    thresholds, taken, found = _counts(positive, scores)
    f1 = 2 * found / (taken + found[-1])  # of whole numbers: equal ones are equal to the last bit
    best = len(f1) - 1 - int(np.argmax(f1[::-1]))
    above = thresholds[best + 1] if best + 1 < len(f1) else -math.inf
    return BestF1(
        f1=float(f1[best]),
        precision=float(found[best] / taken[best]),
        recall=float(found[best] / found[-1]),
        at_least=float(thresholds[best]),
        above=float(above),
    )


def _counts(positive: Sequence[bool], scores: Sequence[float]) -> tuple[Floats, Ints, Ints]:
    """The distinct scores, falling; how many scores are at least that; and how many of these are positives."""
    truth, values = np.asarray(positive), np.asarray(scores, dtype=np.float64)
    if truth.ndim != 1 or truth.shape != values.shape:
        raise ValueError(f"positive and scores must be as long, got shapes {truth.shape} and {values.shape}")
    if not np.isin(truth, (0, 1)).all():
        raise ValueError("positive must hold nothing but 0 and 1")
    if not np.isfinite(values).all():
        at = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"scores[{at}] is {values[at]}, must be a finite number")
    if not truth.any():
        raise ValueError("there is no positive: recall is undefined")
    thresholds, ranks = np.unique(-values, return_inverse=True)  # ascending in -score: falling in score
    taken = np.cumsum(np.bincount(ranks))
    found = np.cumsum(np.bincount(ranks[truth == 1], minlength=len(thresholds)))
    return 0.0 - thresholds, taken, found
