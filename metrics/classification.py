"""Macro precision, recall and F1 of two classes, from the four cells of their confusion matrix.

Every score here is a function of counts ``tn, fp, fn, tp``, which are summed over rows first: so the order of rows
never matters, subsets add up, and a bootstrap needs the counts only. Their intervals: :func:`.of_two_classes`.

Macro means the unweighted mean over both classes. A quotient whose denominator is 0 (a class that is never predicted,
or never gold) counts as 0, as scikit-learn's ``zero_division=0`` with ``labels=[0, 1]``.

Source: NYK-MS (arXiv 2409.01037), section 4.1: "Macro P, R and F1", and its remark that a model which always says 1
has the macro recall (0 % + 100 %) / 2. Its Table 8 is reproduced by these definitions.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]


def confusion_cells(gold: npt.ArrayLike, right: npt.ArrayLike) -> Floats:
    """The cell of each row of a confusion matrix: ``tn, fp, fn, tp`` with a single 1.

    Args:
        gold: n true labels: 1 (entailment, yes) or 0.
        right: n times whether the row counts as right; any other has the wrong label.

    Returns:
        float64 array of shape [n, 4]; its sum over rows is scikit-learn's ``confusion_matrix(...).ravel()``.

    Examples:
        >>> confusion_cells(gold=[0, 1, 1], right=[False, False, True]).tolist()
        [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    positive, hit = np.asarray(gold, dtype=bool), np.asarray(right, dtype=bool)
    return np.stack([~positive & hit, ~positive & ~hit, positive & ~hit, positive & hit], axis=-1).astype(np.float64)


def macro_precision(counts: npt.ArrayLike) -> Floats:
    """Mean of the precisions of the two classes; of a class that is never predicted it is 0.

    Args:
        counts: shape [..., 4] with ``tn, fp, fn, tp`` last, at least one row each.

    Returns:
        float64 of shape [...], each in [0, 1] (a 0-d array for a single set of counts).

    Raises:
        ValueError: another shape, or four zeros.

    Examples:
        >>> round(float(macro_precision([40, 10, 5, 45])), 4)
        0.8535
    """
    tn, fp, fn, tp = _cells(counts)
    return (_share(tp, tp + fp) + _share(tn, tn + fn)) / 2


def macro_recall(counts: npt.ArrayLike) -> Floats:
    """Mean of the recalls of the two classes; of a class that is never gold it is 0.

    Args, returns and errors as in `macro_precision`.

    Examples:
        >>> round(float(macro_recall([40, 10, 5, 45])), 4)
        0.85
    """
    tn, fp, fn, tp = _cells(counts)
    return (_share(tp, tp + fn) + _share(tn, tn + fp)) / 2


def macro_f1(counts: npt.ArrayLike, skip_absent: bool = False) -> Floats:
    """Mean of the F1 scores of the two classes; not the F1 of the mean precision and recall.

    Args:
        counts: as in `macro_precision`.
        skip_absent: leave a class out of the mean that is neither gold nor predicted, as V-FLUTE's scorer does; else it
            counts as 0. Where both classes are gold the two are the same.

    Returns and errors as in `macro_precision`.

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


def _cells(counts: npt.ArrayLike) -> tuple[Floats, Floats, Floats, Floats]:
    c = np.asarray(counts, dtype=np.float64)
    if c.shape[-1:] != (4,):
        raise ValueError(f"counts must have shape [..., 4] (tn, fp, fn, tp), got {c.shape}")
    if not c.any(axis=-1).all():
        raise ValueError("counts are all zero: a score of no rows is undefined")
    return c[..., 0], c[..., 1], c[..., 2], c[..., 3]


def _share(part: Floats, whole: Floats) -> Floats:
    return np.asarray(part / np.where(whole > 0, whole, 1.0), dtype=np.float64)
