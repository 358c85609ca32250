"""Accuracy, macro precision, recall and F1 of two classes, from the four cells of their confusion matrix.

Every score here is a function of counts ``tn, fp, fn, tp``, which are summed over rows first: so the order of rows
never matters, subsets add up, and a bootstrap needs the counts only. Their intervals: :func:`.of_two_classes`.

Macro means the unweighted mean over both classes. A quotient whose denominator is 0 (a class that is never predicted,
or never gold) counts as 0, as scikit-learn's ``zero_division=0`` with ``labels=[0, 1]``.

Source: NYK-MS (arXiv 2409.01037), section 4.1: "Macro P, R and F1", and its remark that a model which always says 1
has the macro recall (0 % + 100 %) / 2. Its Table 8 is reproduced by these definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "STATISTICS",
    "accuracy",
    "confusion_cells",
    "confusion_counts",
    "macro_f1",
    "macro_precision",
    "macro_recall",
    "truth_and_right",
]

Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]


def truth_and_right(gold: Sequence[int], predicted: Sequence[int | None]) -> tuple[Bools, Bools]:
    """Whether each row is of class 1, and whether its prediction is right.

    Args:
        gold: n true labels, 1 or 0.
        predicted: n predicted labels, 1 or 0; None where no label was found, which is not right.

    Returns:
        Two arrays of shape [n].

    Raises:
        ValueError: empty input, unequal lengths, or another label.

    Examples:
        >>> [each.tolist() for each in truth_and_right(gold=[1, 0, 1], predicted=[1, 1, None])]
        [[True, False, True], [True, False, False]]
    """
    if len(gold) == 0 or len(gold) != len(predicted):
        raise ValueError(
            f"gold has {len(gold)} labels and predicted {len(predicted)}: give as many of both, at least 1"
        )
    for name, labels, valid in (("gold", gold, (0, 1)), ("predicted", predicted, (0, 1, None))):
        for place, label in enumerate(labels):
            if label not in valid:
                raise ValueError(f"{name}[{place}] is {label!r}, must be one of {valid}")
    right = [label == true for true, label in zip(gold, predicted, strict=True)]
    return np.array(gold, dtype=bool), np.array(right, dtype=bool)


def confusion_cells(gold: npt.ArrayLike, right: npt.ArrayLike) -> Floats:
    """The cell of each row of a confusion matrix: ``tn, fp, fn, tp`` with a single 1.

    Args:
        gold: n true labels: 1 (entailment, yes) or 0.
        right: n times whether the row counts as right; any other has the wrong label.

    Returns:
        float64 array of shape [n, 4]; its sum over rows is `confusion_counts`.

    Examples:
        >>> confusion_cells(gold=[0, 1, 1], right=[False, False, True]).tolist()
        [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    positive, hit = np.asarray(gold, dtype=bool), np.asarray(right, dtype=bool)
    return np.stack([~positive & hit, ~positive & ~hit, positive & ~hit, positive & hit], axis=-1).astype(np.float64)


def confusion_counts(gold: Sequence[int], predicted: Sequence[int | None]) -> npt.NDArray[np.int64]:
    """The four counts that all scores are made of.

    Args and errors as in `truth_and_right`.

    Returns:
        int64 array of shape [4]: ``tn, fp, fn, tp`` (1 is the positive class), summing to n; the order of
        scikit-learn's ``confusion_matrix(...).ravel()``.

    Examples:
        >>> confusion_counts(gold=[1, 0, 1, 1], predicted=[1, 0, None, 0]).tolist()
        [1, 0, 2, 1]
    """
    return confusion_cells(*truth_and_right(gold, predicted)).sum(axis=0).astype(np.int64)


def accuracy(counts: npt.ArrayLike) -> Floats:
    """Share of rows predicted right.

    Args:
        counts: shape [..., 4] with ``tn, fp, fn, tp`` last, at least one row each.

    Returns:
        float64 of shape [...], each in [0, 1] (a 0-d array for a single set of counts).

    Raises:
        ValueError: another shape, or four zeros.

    Examples:
        >>> round(float(accuracy([40, 10, 5, 45])), 4)
        0.85
    """
    tn, fp, fn, tp = _cells(counts)
    return _share(tn + tp, tn + fp + fn + tp)


def macro_precision(counts: npt.ArrayLike) -> Floats:
    """Mean of the precisions of the two classes; of a class that is never predicted it is 0.

    Args, returns and errors as in `accuracy`.

    Examples:
        >>> round(float(macro_precision([40, 10, 5, 45])), 4)
        0.8535
    """
    tn, fp, fn, tp = _cells(counts)
    return (_share(tp, tp + fp) + _share(tn, tn + fn)) / 2


def macro_recall(counts: npt.ArrayLike) -> Floats:
    """Mean of the recalls of the two classes; of a class that is never gold it is 0.

    Args, returns and errors as in `accuracy`.

    Examples:
        >>> round(float(macro_recall([40, 10, 5, 45])), 4)
        0.85
    """
    tn, fp, fn, tp = _cells(counts)
    return (_share(tp, tp + fn) + _share(tn, tn + fp)) / 2


def macro_f1(counts: npt.ArrayLike, skip_absent: bool = False) -> Floats:
    """Mean of the F1 scores of the two classes; not the F1 of the mean precision and recall.

    Args:
        counts: as in `accuracy`.
        skip_absent: leave a class out of the mean that is neither gold nor predicted, as V-FLUTE's scorer does; else it
            counts as 0. Where both classes are gold the two are the same.

    Returns and errors as in `accuracy`.

    Examples:
        >>> round(float(macro_f1([40, 10, 5, 45])), 4)
        0.8496
        >>> float(macro_f1([0, 0, 0, 5])), float(macro_f1([0, 0, 0, 5], skip_absent=True))
        (0.5, 1.0)
    """
    tn, fp, fn, tp = _cells(counts)
    # Twice the hits plus the misses is gold + predicted of a class, so it is zero exactly where the class is absent.
    wrong = fp + fn
    sizes = (2 * tp + wrong, 2 * tn + wrong)
    classes = (sizes[0] > 0).astype(np.float64) + (sizes[1] > 0) if skip_absent else 2.0
    return np.asarray((_share(2 * tp, sizes[0]) + _share(2 * tn, sizes[1])) / classes, dtype=np.float64)


STATISTICS: dict[str, Callable[[npt.ArrayLike], Floats]] = {
    "acc": accuracy,
    "macro_precision": macro_precision,
    "macro_recall": macro_recall,
    "macro_f1": macro_f1,
}
"""The scores of this module by metric name."""


def _cells(counts: npt.ArrayLike) -> tuple[Floats, Floats, Floats, Floats]:
    c = np.asarray(counts, dtype=np.float64)
    if c.shape[-1:] != (4,):
        raise ValueError(f"counts must have shape [..., 4] (tn, fp, fn, tp), got {c.shape}")
    if not c.any(axis=-1).all():
        raise ValueError("counts are all zero: a score of no rows is undefined")
    return c[..., 0], c[..., 1], c[..., 2], c[..., 3]


def _share(part: Floats, whole: Floats) -> Floats:
    return np.asarray(part / np.where(whole > 0, whole, 1.0), dtype=np.float64)
