"""Macro precision, recall and F1 of two classes; F1@t of V-FLUTE and Acc@t of FLUTE.

Every score is a function of counts ``tn, fp, fn, tp``, which are summed over rows first: so the
order of rows never matters, subsets add up, and a bootstrap needs the counts only. Their intervals:
:func:`.of_two_classes`. Class 1 is entailment (or yes), class 0 contradiction (or no).

Macro means the unweighted mean over both classes. A quotient whose denominator is 0 (a class that
is never predicted, or never gold) counts as 0, as scikit-learn's ``zero_division=0`` with
``labels=[0, 1]``.

Sources: NYK-MS (arXiv 2409.01037), section 4.1: "Macro P, R and F1", and its remark that a model
which always says 1 has the macro recall (0 % + 100 %) / 2. Its Table 8 is reproduced by these
definitions.

V-FLUTE (arXiv 2405.01474), section 4.2: F1@0, F1@53, F1@60, "all predictions with ExplanationScore
<= t are considered incorrect". The published scorer carries that out by *setting* such a prediction
to the wrong label (``1 - gold``), whatever it was, and treats a missing label in the same way. So a
low score never makes a wrong row right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .array_types import Floats

__all__ = [
    "CURVE_THRESHOLDS",
    "confusion_cells",
    "counts_as_right",
    "f1_at",
    "f1_curve",
    "macro_f1",
    "macro_f1_of_labels",
    "macro_precision",
    "macro_recall",
]


Explained: TypeAlias = Literal["all", "contradiction"]
"""Which right rows must be explained well to count in an accuracy: all, or contradictions alone."""

CURVE_THRESHOLDS: tuple[float, ...] = tuple(i / 100 for i in range(101))
"""0.00, 0.01 ... 1.00. Each is exactly ``i / 100``, and so the same double as the literal 0.53."""


def confusion_cells(gold: npt.ArrayLike, right: npt.ArrayLike) -> Floats:
    """The cell of each row in a confusion matrix: a row ``tn, fp, fn, tp`` with a single 1.

    Args:
        gold: n true labels, 1 or 0.
        right: n times whether the row counts as right; a row that does not has the wrong label.

    Returns:
        float64 array of shape [n, 4]; its sum over rows is scikit-learn's
        ``confusion_matrix(...).ravel()``.

    Raises:
        ValueError: a label that is not 1 or 0, or a row that is neither right nor wrong (NaN, say).

    Examples:
        >>> confusion_cells(gold=[0, 1, 1], right=[False, False, True]).tolist()
        [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    is_gold = _as_bools(gold, "gold")
    is_right = _as_bools(right, "right")
    tn = ~is_gold & is_right
    fp = ~is_gold & ~is_right
    fn = is_gold & ~is_right
    tp = is_gold & is_right
    return np.stack([tn, fp, fn, tp], axis=-1).astype(np.float64)


def _as_bools(values: npt.ArrayLike, name: str) -> npt.NDArray[np.bool_]:
    """Values that are 1 or 0 as bools; ValueError for NaN, of which numpy would make True."""
    numbers = np.asarray(values)
    if not ((numbers == 0) | (numbers == 1)).all():
        raise ValueError(f"{name} must hold 1 and 0 alone, or True and False")
    return numbers.astype(bool)


def macro_precision(counts: npt.ArrayLike) -> Floats:
    """The mean of the precisions of the two classes: ``(tp / (tp + fp) + tn / (tn + fn)) / 2``.

    The precision of a class that is never predicted is 0.

    Args:
        counts: shape [..., 4] with ``tn, fp, fn, tp`` last, at least one row each.

    Returns:
        float64 of shape [...], each in [0, 1] (a 0-d array for a single set of counts).

    Raises:
        ValueError: another shape, four zeros, or a count that is negative or not finite.

    Examples:
        >>> round(float(macro_precision([40, 10, 5, 45])), 4)
        0.8535

    Source: NYK-MS, section 4.1.
    """
    tn, fp, fn, tp = _cells(counts)
    return (_share(tp, tp + fp) + _share(tn, tn + fn)) / 2


def macro_recall(counts: npt.ArrayLike) -> Floats:
    """The mean of the recalls of the two classes: ``(tp / (tp + fn) + tn / (tn + fp)) / 2``.

    The recall of a class that is never gold is 0.

    Args:
        counts: shape [..., 4] with ``tn, fp, fn, tp`` last, at least one row each.

    Returns:
        float64 of shape [...], each in [0, 1] (a 0-d array for a single set of counts).

    Raises:
        ValueError: another shape, four zeros, or a count that is negative or not finite.

    Examples:
        >>> round(float(macro_recall([40, 10, 5, 45])), 4)
        0.85

    Source: NYK-MS, section 4.1.
    """
    tn, fp, fn, tp = _cells(counts)
    return (_share(tp, tp + fn) + _share(tn, tn + fp)) / 2


def macro_f1(counts: npt.ArrayLike, skip_absent: bool = False) -> Floats:
    """The mean of the F1 scores of the two classes.

    ``(2 tp / (2 tp + fp + fn) + 2 tn / (2 tn + fp + fn)) / 2``; not the F1 of the mean precision
    and recall.

    Args:
        counts: shape [..., 4] with ``tn, fp, fn, tp`` last, at least one row each.
        skip_absent: leave a class out of the mean that is neither gold nor predicted, as V-FLUTE's
            scorer does; else it counts as 0. Where both classes are gold the two are the same.

    Returns:
        float64 of shape [...], each in [0, 1] (a 0-d array for a single set of counts).

    Raises:
        ValueError: another shape, four zeros, or a count that is negative or not finite.

    Examples:
        >>> round(float(macro_f1([40, 10, 5, 45])), 4)
        0.8496
        >>> float(macro_f1([0, 0, 0, 5])), float(macro_f1([0, 0, 0, 5], skip_absent=True))
        (0.5, 1.0)

    Source: NYK-MS, section 4.1; V-FLUTE, section 4.2.
    """
    tn, fp, fn, tp = _cells(counts)
    # Twice the hits plus the misses is gold + predicted of a class, so it is zero exactly where the
    # class is absent.
    misses = fp + fn
    size_of_1 = 2 * tp + misses
    size_of_0 = 2 * tn + misses
    classes: Floats | float = 2.0
    if skip_absent:
        classes = (size_of_1 > 0).astype(np.float64) + (size_of_0 > 0)
    total = _share(2 * tp, size_of_1) + _share(2 * tn, size_of_0)
    return np.asarray(total / classes, dtype=np.float64)


def _cells(counts: npt.ArrayLike) -> tuple[Floats, Floats, Floats, Floats]:
    """The columns ``tn, fp, fn, tp`` of counts [..., 4]; ValueError for other counts."""
    cells = np.asarray(counts, dtype=np.float64)
    if cells.shape[-1:] != (4,):
        raise ValueError(f"counts must have shape [..., 4] (tn, fp, fn, tp), got {cells.shape}")
    if not ((cells >= 0) & np.isfinite(cells)).all():
        raise ValueError("counts must be finite and not negative")
    if not cells.any(axis=-1).all():
        raise ValueError("counts are all zero: a score of no rows is undefined")
    return cells[..., 0], cells[..., 1], cells[..., 2], cells[..., 3]


def _share(numerator: Floats, denominator: Floats) -> Floats:
    """The quotient; 0 where the denominator, and with it the numerator, is 0."""
    positive = np.where(denominator > 0, denominator, 1.0)
    return np.asarray(numerator / positive, dtype=np.float64)


def macro_f1_of_labels(gold: Sequence[int], predicted: Sequence[int | None]) -> float:
    """Macro F1 over the labels that occur in gold or predicted.

    Equals scikit-learn's ``f1_score(gold, predicted, average="macro", zero_division=0)`` once every
    None has become ``1 - gold``. Without explanations this is the label-only score of V-FLUTE,
    Appendix J.

    A label that occurs without a single hit has F1 0. So twelve rows that are all entailment,
    eleven of them predicted right, give (0 + 22/23) / 2 = .4783, not .9565 (V-FLUTE, Table 7,
    NYCartoons).

    Args:
        gold: n true labels: 1 for entailment, 0 for contradiction.
        predicted: n predicted labels, 1 or 0; None where the answer has no label, which counts as
            the wrong label.

    Returns:
        float in [0, 1].

    Raises:
        ValueError: empty input, unequal lengths, or another label (names its index).

    Examples:
        >>> round(macro_f1_of_labels(gold=[1, 0, 1], predicted=[1, 0, None]), 3)
        0.667

    Source: V-FLUTE, section 4.2 and Appendix J.
    """
    return _macro_f1(gold, _right_predictions(gold, predicted))


def counts_as_right(
    gold: npt.ArrayLike,
    right: npt.ArrayLike,
    scores: npt.ArrayLike,
    threshold: float,
    explained: Explained | None = None,
) -> npt.NDArray[np.bool_]:
    """Whether each row has the right label and, where required, a good enough explanation.

    The mean over *all* rows is Acc@t of FLUTE. Scores and threshold are on one scale, 0 to 1 here:
    Acc@50 of the papers is a threshold of .5. Their Acc@0 is the accuracy of labels, whatever the
    scores.

    Args:
        gold: n true labels, 1 or 0.
        right: n times whether the label is right.
        scores: n explanation scores, compared as float64. A NaN is never enough; rows that need no
            explanation may have any score.
        threshold: on the scale of the scores, finite.
        explained: which rows need an explanation, and how good a one.

            - None, for F1@t: every row, with a score strictly above the threshold.
            - ``all``: every row, with at least the threshold, as in the organisers' scoring script
              of FigLang 2022, ``int((F1 + BLEURT) * 50.0) >= k``: at its k of 50 and 60 this is
              ``(F1 + BLEURT) / 2 >= k / 100`` to the last bit.
            - ``contradiction``: contradictions alone, strictly above the threshold ("higher than
              k", arXiv 2205.12404v1, section 3).

    Returns:
        bool array of shape [n].

    Raises:
        ValueError: a threshold that is not finite, or a row that is neither right nor wrong.

    Examples:
        >>> counts_as_right([1, 0, 0], [True, True, False], [0.5, 0.6, 0.9], 0.5).tolist()
        [False, True, False]
        >>> right, scores = [True, True, True, False], [0.4, 0.6, 0.9, 0.9]
        >>> float(counts_as_right([1, 0, 1, 0], right, scores, 0.5, "all").mean())
        0.5

    Source: V-FLUTE, section 4.2 (None); FLUTE, section 3, and its scoring script.
    """
    if not np.isfinite(threshold):
        raise ValueError(f"threshold is {threshold}, must be a finite number")
    values = np.asarray(scores, dtype=np.float64)
    if explained == "all":
        is_explained = values >= threshold
    else:
        is_explained = values > threshold
    if explained == "contradiction":
        is_entailment = np.asarray(gold) == 1
        is_explained = is_explained | is_entailment
    return _as_bools(right, "right") & is_explained


def f1_at(
    gold: Sequence[int], predicted: Sequence[int | None], scores: Sequence[float], threshold: float
) -> float:
    """F1@t: macro F1 after every prediction with a score of at most t was set to the wrong label.

    F1@0 therefore is `macro_f1_of_labels` only where every score is above zero: an empty
    explanation (score 0) costs its row. Scores are compared as float64, and a float32 score is
    widened without rounding.

    Args:
        gold: n true labels: 1 for entailment, 0 for contradiction.
        predicted: n predicted labels, 1 or 0; None where the answer has no label, which counts as
            the wrong label.
        scores: n finite explanation scores (any real: raw BLEURT may leave [0, 1]).
        threshold: in [0, 1]; the paper's are 0, .53 and .60.

    Returns:
        float in [0, 1].

    Raises:
        ValueError: empty input, unequal lengths, another label or a score that is not finite
            (names its index), or a threshold outside [0, 1].

    Examples:
        >>> gold, predicted, scores = [1, 0, 1, 0], [1, 0, None, 0], [0.7, 0.55, 0.0, 0.8]
        >>> [round(f1_at(gold, predicted, scores, threshold), 3) for threshold in (0, 0.53, 0.6)]
        [0.733, 0.733, 0.5]

    Source: V-FLUTE, section 4.2.
    """
    return float(f1_curve(gold, predicted, scores, [threshold])[0])


def f1_curve(
    gold: Sequence[int],
    predicted: Sequence[int | None],
    scores: Sequence[float],
    thresholds: Sequence[float] = CURVE_THRESHOLDS,
) -> Floats:
    """F1@t at many thresholds t, the curve of V-FLUTE's Figures 6 and 11.

    Args:
        gold: n true labels: 1 for entailment, 0 for contradiction.
        predicted: n predicted labels, 1 or 0; None where the answer has no label, which counts as
            the wrong label.
        scores: n finite explanation scores (any real: raw BLEURT may leave [0, 1]).
        thresholds: T values in [0, 1] in any order.

    Returns:
        float64 array of shape [T], in the order of `thresholds`, each in [0, 1].

    Raises:
        ValueError: empty input, unequal lengths, another label or a score that is not finite
            (names its index), or a threshold outside [0, 1].

    Examples:
        >>> gold, predicted, scores = [1, 0, 1, 0], [1, 0, None, 0], [0.7, 0.55, 0.0, 0.8]
        >>> f1_curve(gold, predicted, scores, thresholds=[0, 0.6, 1]).round(3).tolist()
        [0.733, 0.5, 0.0]

    Source: V-FLUTE, section 4.2, Figures 6 and 11.
    """
    is_right = _right_predictions(gold, predicted)
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (len(gold),):
        raise ValueError(f"scores has shape {values.shape}, gold has {len(gold)} rows")
    if not np.isfinite(values).all():
        index = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"scores[{index}] is {scores[index]!r}, must be a finite number")
    for threshold in thresholds:
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold is {threshold}, must lie in [0, 1]")
    curve: list[float] = []
    for threshold in thresholds:
        counted_right = counts_as_right(gold, is_right, values, threshold)
        curve.append(_macro_f1(gold, counted_right))
    return np.array(curve)


def _right_predictions(gold: Sequence[int], predicted: Sequence[int | None]) -> list[bool]:
    """Whether each prediction is right; ValueError for other labels than those that can occur."""
    if not len(gold) == len(predicted) > 0:
        raise ValueError(
            f"gold has {len(gold)} labels and predicted {len(predicted)}: give as many of both, at"
            " least 1"
        )
    for name, labels, valid in (("gold", gold, (0, 1)), ("predicted", predicted, (0, 1, None))):
        for index, label in enumerate(labels):
            if label not in valid:
                raise ValueError(f"{name}[{index}] is {label!r}, must be one of {valid}")
    return [label == true_label for true_label, label in zip(gold, predicted, strict=True)]


def _macro_f1(gold: Sequence[int], right: npt.ArrayLike) -> float:
    """Macro F1 of the rows, over the labels that occur in gold or predicted."""
    counts = confusion_cells(gold, right).sum(axis=0)
    return float(macro_f1(counts, skip_absent=True))
