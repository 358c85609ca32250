"""Accuracy, macro F1 and explanation-aware F1@t for binary (visual) entailment.

Labels are 1 for entailment and 0 for contradiction. Every F1 here is a pure function of four counts, which are summed
over rows first; so the order of the rows never matters, subsets add up, and a bootstrap needs the counts only.

Source: V-FLUTE (arXiv 2405.01474), section 4.2: F1@0, F1@53, F1@60, "all predictions with ExplanationScore <= t are
considered incorrect". The published scorer carries that out by *setting* such a prediction to the wrong label
(``1 - gold``), whatever it was, and treats a missing label in the same way. So a prediction that is wrong already stays
wrong when its score is low: a flip never makes a row right.

`accuracy_at` is FLUTE's Acc@k, in both of its definitions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

__all__ = [
    "CURVE_THRESHOLDS",
    "PAPER_THRESHOLDS",
    "EXPLAINED",
    "Explained",
    "accuracy",
    "accuracy_at",
    "confusion_cells",
    "confusion_counts",
    "confusion_counts_at",
    "explained_well",
    "f1_at",
    "f1_curve",
    "macro_f1",
    "macro_f1_from_counts",
]

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

PAPER_THRESHOLDS: tuple[float, float, float] = (0.0, 0.53, 0.60)
"""The three thresholds of the paper's tables (V-FLUTE, section 4.2 and Table 4)."""

CURVE_THRESHOLDS: tuple[float, ...] = tuple(i / 100 for i in range(101))
"""0.00, 0.01 ... 1.00; each is exactly ``i / 100``, the double that the literal ``0.53`` denotes as well."""

Explained: TypeAlias = Literal["all", "contradiction"]
"""Which right rows must be explained well to count: every one, or the contradictions."""

EXPLAINED: tuple[Explained, ...] = get_args(Explained)

_NUMBER = (bool, int, float, np.bool_, np.integer, np.floating)


def confusion_cells(gold: npt.ArrayLike, right: npt.ArrayLike) -> Floats:
    """The cell of each row of a confusion matrix: ``tn, fp, fn, tp`` with a single 1.

    Args:
        gold: n true labels: 1 for entailment, 0 for contradiction.
        right: n times whether the row counts as right; any other has the wrong label.

    Returns:
        float64 array of shape [n, 4]; its sum over rows is `confusion_counts`.

    Examples:
        >>> confusion_cells(gold=[0, 1, 1], right=[False, False, True]).tolist()
        [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """
    positive, hit = np.asarray(gold, dtype=bool), np.asarray(right, dtype=bool)
    return np.stack([~positive & hit, ~positive & ~hit, positive & ~hit, positive & hit], axis=-1).astype(np.float64)


def confusion_counts(gold: Sequence[int], predicted: Sequence[int | None]) -> Ints:
    """The four counts that every F1 of this module is made of.

    Args:
        gold: n true labels: 1 for entailment, 0 for contradiction.
        predicted: n predicted labels, 1 or 0; None where no label was found, which counts as the wrong label.

    Returns:
        int64 array of shape [4]: ``tn, fp, fn, tp`` (1 is the positive class), summing to n. The order is the one of
        scikit-learn's ``confusion_matrix(...).ravel()``.

    Raises:
        ValueError: empty input, unequal lengths, or a label outside the allowed ones (names index and value).

    Examples:
        >>> confusion_counts(gold=[1, 0, 1, 1], predicted=[1, 0, None, 0]).tolist()
        [1, 0, 2, 1]
    """
    truth, right = _truth_and_right(gold, predicted)
    return confusion_cells(truth, right).sum(axis=0).astype(np.int64)


def confusion_counts_at(
    gold: Sequence[int], predicted: Sequence[int | None], scores: Sequence[float], threshold: float
) -> Ints:
    """`confusion_counts` after every prediction with ``score <= threshold`` was set to the wrong label.

    Args:
        gold: n true labels: 1 for entailment, 0 for contradiction.
        predicted: n predicted labels, 1 or 0; None where no label was found, which counts as the wrong label.
        scores: n finite explanation scores (any real: raw BLEURT may leave [0, 1]).
        threshold: in [0, 1]. A score equal to the threshold is too low.

    Returns:
        int64 array of shape [4]: ``tn, fp, fn, tp`` (1 is the positive class), summing to n.

    Raises:
        ValueError: empty input, unequal lengths, a label outside the allowed ones, a score that is NaN, infinite or no
            number (names its index), or a threshold outside [0, 1].

    Examples:
        The first row is right, but its explanation is not:

        >>> confusion_counts_at(gold=[1, 0, 1], predicted=[1, 0, None], scores=[0.6, 0.7, 0.0], threshold=0.6).tolist()
        [1, 0, 2, 0]
    """
    truth, right = _truth_and_right(gold, predicted)
    kept = _finite_scores(scores, len(truth)) > _checked_thresholds([threshold])[0]
    return confusion_cells(truth, right & kept).sum(axis=0).astype(np.int64)


def macro_f1_from_counts(counts: npt.ArrayLike) -> Floats:
    """Macro F1 over the labels that occur, from counts.

    A label occurs when it is gold or predicted at least once; a label that does not occur is left out of the mean,
    and one that occurs without a single hit has F1 0. So twelve rows that are all entailment, eleven of them
    predicted right, give (0 + 22/23) / 2 = .4783, not .9565 (V-FLUTE, Table 7, NYCartoons).

    Args:
        counts: array of shape [..., 4] with ``tn, fp, fn, tp`` last; finite, not negative, at least one row each.

    Returns:
        float64 array of shape [...], each in [0, 1] (a 0-d array for a single set of counts).

    Raises:
        ValueError: wrong shape, a negative or non-finite count, or four zeros (names the index).

    Examples:
        >>> round(float(macro_f1_from_counts([0, 0, 1, 11])), 4)
        0.4783
    """
    c = np.asarray(counts, dtype=np.float64)
    if c.ndim == 0 or c.shape[-1] != 4:
        raise ValueError(f"counts must have shape [..., 4] (tn, fp, fn, tp), got {c.shape}")
    bad = ~np.isfinite(c) | (c < 0)
    if bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"counts must be finite and not negative: counts{list(at)} is {c[at]}")
    tn, fp, fn, tp = c[..., 0], c[..., 1], c[..., 2], c[..., 3]
    wrong = fp + fn
    # Twice the hits plus the misses is gold + predicted of that label, so it is zero exactly where the label is absent.
    size_1, size_0 = 2 * tp + wrong, 2 * tn + wrong
    occurs = (size_1 > 0).astype(np.float64) + (size_0 > 0)
    if not occurs.all():
        at = tuple(int(i) for i in np.argwhere(occurs == 0)[0])
        raise ValueError(f"macro F1 of no rows is undefined: counts{list(at) if at else ''} are all zero")
    f1_1 = 2 * tp / np.where(size_1 > 0, size_1, 1.0)
    f1_0 = 2 * tn / np.where(size_0 > 0, size_0, 1.0)
    return np.asarray((f1_1 + f1_0) / occurs, dtype=np.float64)


def accuracy(gold: Sequence[int], predicted: Sequence[int | None]) -> float:
    """Share of rows predicted right; a missing label (None) is wrong.

    Args:
        gold: n true labels: 1 for entailment, 0 for contradiction.
        predicted: n predicted labels, 1 or 0; None where no label was found, which counts as the wrong label.

    Returns:
        float in [0, 1].

    Raises:
        ValueError: empty input, unequal lengths, or a label outside the allowed ones (names index and value).

    Examples:
        >>> accuracy(gold=[1, 0, 1, 0], predicted=[1, 0, None, 1])
        0.5
    """
    truth, right = _truth_and_right(gold, predicted)
    return int(np.count_nonzero(right)) / len(truth)


def accuracy_at(
    gold: Sequence[int],
    predicted: Sequence[int | None],
    scores: Sequence[float | None],
    threshold: float,
    explained: Explained = "all",
) -> float:
    """Acc@threshold of FLUTE: share of *all* rows that are predicted right and, where asked, explained well enough.

    Well enough is what `explained_well` says. Scores and threshold are on one scale, 0 to 1 here (the papers speak of
    0 to 100: Acc@50 is a threshold of .5). At 0 this is the plain accuracy only if no score asked for is below 0 (with
    ``contradiction``: or 0); the papers' Acc@0 is "label accuracy", which is `accuracy`.

    Args:
        gold: n true labels: 1 for entailment, 0 for contradiction.
        predicted: n predicted labels, 1 or 0; None where no label was found, which counts as the wrong label.
        scores: n explanation scores (any real). Of rows that need none (entailments, with ``contradiction``) the score
            is not looked at and may be None.
        threshold: in [0, 1].
        explained: ``all`` asks an explanation of every right row (FigLang 2022 shared task: Acc@50 "counts as correct
            only the correctly predicted labels that achieve an explanation score greater than 50"); ``contradiction``
            only of right contradictions (arXiv 2205.12404v1, section 3: "correct predictions for both entailment and
            contradiction classes with the additional prerequisite where the explanation score for correctly predicted
            contradiction examples is higher than k, divided by the total number of predictions").

    Returns:
        float in [0, 1].

    Raises:
        ValueError: empty input, unequal lengths, a label outside the allowed ones, a score that is NaN, infinite or no
            number (names its index), a threshold outside [0, 1], or an unknown `explained`.

    Examples:
        >>> gold, predicted, scores = [1, 0, 1, 0], [1, 0, 1, 1], [0.4, 0.6, 0.9, 0.9]
        >>> accuracy_at(gold, predicted, scores, 0.5)
        0.5
        >>> accuracy_at(gold, predicted, scores, 0.5, explained="contradiction")
        0.75
    """
    if explained not in EXPLAINED:
        raise ValueError(f"explained is {explained!r}, must be one of {', '.join(EXPLAINED)}")
    truth, right = _truth_and_right(gold, predicted)
    asked = np.ones_like(truth) if explained == "all" else ~truth
    if len(scores) != len(truth):
        raise ValueError(f"scores has {len(scores)} rows, gold has {len(truth)}")
    values = _finite_scores([score if a else 0.0 for score, a in zip(scores, asked, strict=True)], len(truth))  # type: ignore[misc]
    kept = ~asked | explained_well(values, _checked_thresholds([threshold])[0], explained)
    return int(np.count_nonzero(right & kept)) / len(truth)


def explained_well(scores: Floats, thresholds: float | Floats, explained: Explained) -> npt.NDArray[np.bool_]:
    """Whether explanation scores are high enough to count in FLUTE's Acc@threshold.

    ``contradiction``: strictly above the threshold ("higher than k", arXiv 2205.12404v1, section 3). ``all``: at least
    the threshold, as in the organisers' scoring script of FigLang 2022, ``int((F1 + BLEURT) * 50.0) >= k``: at its k of
    50 and 60 this is ``(F1 + BLEURT) / 2 >= k / 100`` to the last bit. So the two differ at a score of exactly k alone.

    Args:
        scores: explanation scores, any shape; a NaN is never enough.
        thresholds: one, or an array that broadcasts with `scores`.
        explained: as in `accuracy_at`.
    """
    return np.asarray(scores >= thresholds if explained == "all" else scores > thresholds)


def macro_f1(gold: Sequence[int], predicted: Sequence[int | None]) -> float:
    """Macro F1 over the labels that occur in gold or predicted.

    Equals scikit-learn's ``f1_score(gold, predicted, average="macro", zero_division=0)`` once every None has become
    ``1 - gold``. Without explanations this is the label-only score of V-FLUTE, Appendix J.

    Args:
        gold: n true labels: 1 for entailment, 0 for contradiction.
        predicted: n predicted labels, 1 or 0; None where no label was found, which counts as the wrong label.

    Returns:
        float in [0, 1].

    Raises:
        ValueError: empty input, unequal lengths, or a label outside the allowed ones (names index and value).

    Examples:
        >>> round(macro_f1(gold=[1, 0, 1], predicted=[1, 0, None]), 3)
        0.667
    """
    return float(macro_f1_from_counts(confusion_counts(gold, predicted)))


def f1_at(gold: Sequence[int], predicted: Sequence[int | None], scores: Sequence[float], threshold: float) -> float:
    """F1@threshold: macro F1 after every prediction with ``score <= threshold`` was set to the wrong label.

    F1@0 therefore is `macro_f1` only where every score is above zero: an empty explanation (score 0) costs its row.
    Scores are compared as float64, and a float32 score is widened without rounding.

    Args:
        gold: n true labels: 1 for entailment, 0 for contradiction.
        predicted: n predicted labels, 1 or 0; None where no label was found, which counts as the wrong label.
        scores: n finite explanation scores (any real: raw BLEURT may leave [0, 1]).
        threshold: in [0, 1]; the paper's are 0, .53 and .60 (`PAPER_THRESHOLDS`).

    Returns:
        float in [0, 1].

    Raises:
        ValueError: empty input, unequal lengths, a label outside the allowed ones, a score that is NaN, infinite or no
            number (names its index), or a threshold outside [0, 1].

    Examples:
        >>> gold, predicted, scores = [1, 0, 1, 0], [1, 0, None, 0], [0.7, 0.55, 0.0, 0.8]
        >>> [round(f1_at(gold, predicted, scores, threshold), 3) for threshold in PAPER_THRESHOLDS]
        [0.733, 0.733, 0.5]

    Source: V-FLUTE, section 4.2.
    """
    return float(macro_f1_from_counts(confusion_counts_at(gold, predicted, scores, threshold)))


def f1_curve(
    gold: Sequence[int],
    predicted: Sequence[int | None],
    scores: Sequence[float],
    thresholds: Sequence[float] | Floats | None = None,
) -> Floats:
    """`f1_at` for many thresholds at once (V-FLUTE, Figures 6 and 11), equal to it bit for bit at each of them.

    The surviving right rows of each class are counted by binary search in their sorted scores, so the cost is
    O((n + T) log n) and there is no loop over thresholds.

    Args:
        gold: n true labels: 1 for entailment, 0 for contradiction.
        predicted: n predicted labels, 1 or 0; None where no label was found, which counts as the wrong label.
        scores: n finite explanation scores (any real: raw BLEURT may leave [0, 1]).
        thresholds: T values in [0, 1] in any order; `CURVE_THRESHOLDS` (T = 101) when None.

    Returns:
        float64 array of shape [T], in the order of `thresholds`, each in [0, 1].

    Raises:
        ValueError: empty input, unequal lengths, a label outside the allowed ones, a score that is NaN, infinite or no
            number (names its index), or a threshold outside [0, 1].

    Examples:
        >>> f1_curve([1, 0, 1, 0], [1, 0, None, 0], [0.7, 0.55, 0.0, 0.8], thresholds=[0, 0.6, 1]).round(3).tolist()
        [0.733, 0.5, 0.0]
    """
    truth, right = _truth_and_right(gold, predicted)
    values = _finite_scores(scores, len(truth))
    cuts = _checked_thresholds(CURVE_THRESHOLDS if thresholds is None else thresholds)
    positives = int(np.count_nonzero(truth))
    tp = _survivors(values[right & truth], cuts)
    tn = _survivors(values[right & ~truth], cuts)
    return macro_f1_from_counts(np.stack([tn, len(truth) - positives - tn, positives - tp, tp], axis=-1))


def _survivors(scores: Floats, cuts: Floats) -> Ints:
    """How many of `scores` lie strictly above each cut; shape [T]."""
    return np.asarray(len(scores) - np.searchsorted(np.sort(scores), cuts, side="right"), dtype=np.int64)


def _truth_and_right(
    gold: Sequence[int], predicted: Sequence[int | None]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Both of shape [n]: whether gold is 1, and whether the prediction is right (a missing one is not)."""
    if len(gold) == 0:
        raise ValueError("gold is empty")
    if len(predicted) != len(gold):
        raise ValueError(f"predicted has {len(predicted)} rows, gold has {len(gold)}")
    truth = np.array([_label("gold", i, v) for i, v in enumerate(gold)], dtype=bool)
    right = np.array(
        [v is not None and _label("predicted", i, v) is bool(truth[i]) for i, v in enumerate(predicted)], dtype=bool
    )
    return truth, right


def _label(name: str, index: int, value: Any) -> bool:
    if isinstance(value, _NUMBER) and (value == 0 or value == 1):
        return bool(value)
    allowed = "0 or 1" if name == "gold" else "0, 1 or None"
    raise ValueError(f"{name}[{index}] is {value!r}, must be {allowed}")


def _finite_scores(scores: Sequence[float], n: int) -> Floats:
    if len(scores) != n:
        raise ValueError(f"scores has {len(scores)} rows, gold has {n}")
    for i, v in enumerate(scores):
        if isinstance(v, bool) or not isinstance(v, _NUMBER) or not math.isfinite(v):
            raise ValueError(f"scores[{i}] is {v!r}, must be a finite number")
    return np.array([float(v) for v in scores], dtype=np.float64)


def _checked_thresholds(thresholds: Sequence[float] | Floats) -> Floats:
    cuts = np.asarray(thresholds, dtype=np.float64)
    if cuts.ndim != 1:
        raise ValueError(f"thresholds must be one-dimensional, got shape {cuts.shape}")
    bad = ~((cuts >= 0) & (cuts <= 1))
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(f"thresholds[{at}] is {cuts[at]}, must lie in [0, 1]")
    return cuts
