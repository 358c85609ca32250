"""Accuracy and macro precision, recall and F1 of two classes, from four counts.

Every score here is a pure function of ``tn, fp, fn, tp`` (:func:`.confusion_counts`). Their intervals:
:func:`.of_two_classes`.

Macro means the unweighted mean over *both* classes, whether a class occurs or not. A quotient whose denominator is 0
(a class that is never predicted, or never gold) counts as 0, as scikit-learn's ``zero_division=0`` with
``labels=[0, 1]``. That differs from :func:`.macro_f1_from_counts`, which leaves out a label that neither occurs nor is
predicted; where both classes are gold the two agree.

Source: NYK-MS (arXiv 2409.01037), section 4.1: "Macro P, R and F1", and its remark that a model which always says 1
has the macro recall (0 % + 100 %) / 2. Its Table 8 is reproduced by these definitions
(``tests/metrics/test_classification.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .entailment import confusion_counts

__all__ = [
    "STATISTICS",
    "accuracy",
    "confusion_counts",
    "macro_f1",
    "macro_precision",
    "macro_recall",
]

Floats: TypeAlias = npt.NDArray[np.float64]


def accuracy(counts: npt.ArrayLike) -> Floats:
    """Share of rows predicted right.

    Args:
        counts: shape [..., 4] with ``tn, fp, fn, tp`` last; finite, not negative, at least one row each.

    Returns:
        float64 of shape [...], each in [0, 1] (a 0-d array for a single set of counts).

    Raises:
        ValueError: wrong shape, a negative or non-finite count, or four zeros.

    Examples:
        >>> round(float(accuracy([40, 10, 5, 45])), 4)
        0.85
    """
    tn, fp, fn, tp = _cells(counts)
    return np.asarray((tn + tp) / (tn + fp + fn + tp), dtype=np.float64)


def macro_precision(counts: npt.ArrayLike) -> Floats:
    """Mean of the precisions of the two classes; of a class that is never predicted it is 0.

    Args:
        counts: shape [..., 4] with ``tn, fp, fn, tp`` last; finite, not negative, at least one row each.

    Returns:
        float64 of shape [...], each in [0, 1] (a 0-d array for a single set of counts).

    Raises:
        ValueError: wrong shape, a negative or non-finite count, or four zeros.

    Examples:
        >>> round(float(macro_precision([40, 10, 5, 45])), 4)
        0.8535
    """
    tn, fp, fn, tp = _cells(counts)
    return (_share(tp, tp + fp) + _share(tn, tn + fn)) / 2


def macro_recall(counts: npt.ArrayLike) -> Floats:
    """Mean of the recalls of the two classes; of a class that is never gold it is 0.

    Args:
        counts: shape [..., 4] with ``tn, fp, fn, tp`` last; finite, not negative, at least one row each.

    Returns:
        float64 of shape [...], each in [0, 1] (a 0-d array for a single set of counts).

    Raises:
        ValueError: wrong shape, a negative or non-finite count, or four zeros.

    Examples:
        >>> round(float(macro_recall([40, 10, 5, 45])), 4)
        0.85
    """
    tn, fp, fn, tp = _cells(counts)
    return (_share(tp, tp + fn) + _share(tn, tn + fp)) / 2


def macro_f1(counts: npt.ArrayLike) -> Floats:
    """Mean of the F1 scores of the two classes; not the F1 of the mean precision and recall.

    Args:
        counts: shape [..., 4] with ``tn, fp, fn, tp`` last; finite, not negative, at least one row each.

    Returns:
        float64 of shape [...], each in [0, 1] (a 0-d array for a single set of counts).

    Raises:
        ValueError: wrong shape, a negative or non-finite count, or four zeros.

    Examples:
        >>> round(float(macro_f1([40, 10, 5, 45])), 4)
        0.8496
    """
    tn, fp, fn, tp = _cells(counts)
    return (_share(2 * tp, 2 * tp + fp + fn) + _share(2 * tn, 2 * tn + fp + fn)) / 2


STATISTICS: dict[str, Callable[[npt.ArrayLike], Floats]] = {
    "acc": accuracy,
    "macro_precision": macro_precision,
    "macro_recall": macro_recall,
    "macro_f1": macro_f1,
}
"""The scores of this module by metric name."""


def _cells(counts: npt.ArrayLike) -> tuple[Floats, Floats, Floats, Floats]:
    c = np.asarray(counts, dtype=np.float64)
    if c.ndim == 0 or c.shape[-1] != 4:
        raise ValueError(f"counts must have shape [..., 4] (tn, fp, fn, tp), got {c.shape}")
    bad = ~np.isfinite(c) | (c < 0)
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"counts must be finite and not negative: counts{list(at)} is {c[at]}")
    if not c.any(axis=-1).all():
        raise ValueError("counts are all zero: a score of no rows is undefined")
    return c[..., 0], c[..., 1], c[..., 2], c[..., 3]


def _share(part: Floats, whole: Floats) -> Floats:
    return np.asarray(part / np.where(whole > 0, whole, 1.0), dtype=np.float64)
