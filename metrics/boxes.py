"""mAP50 and mAP70 of bounding boxes, by role and by type of box, by pycocotools.

One class per role (the primary and the secondary concept), so that the average precision of a role is its mAP, as in
MetaCLUE's Table 4. Average precision is COCO's: precision at 101 levels of recall, each the best precision at that
recall or a higher one. A box is found when its intersection over union is at least the threshold. No box is a crowd,
and every prediction counts, however many an image has.

**By type.** Models do not say of what type a box is. So the boxes of the other types are *ignored*: to find one of
them is neither right nor wrong, while a prediction that finds nothing is wrong for every type.

**Without scores.** Average precision ranks all predictions of the corpus by score, and models that write boxes give
none. Predictions with equal scores are ranked by image id, and within an image as they were emitted. The second is
what the model decided, the first is arbitrary, but does not depend on the order of the input. With one score for all,
the curve is no trade-off: its end is the recall of the model, and its height about the model's precision.

Source: MetaCLUE (arXiv 2212.09898), section 3.3 and Table 4; the evaluator is the one of COCO (arXiv 1405.0312), which
the paper does not name.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .intervals import DEFAULT_SEED, Interval, error_of_resamples, of_resamples

__all__ = ["THRESHOLDS", "AveragePrecision", "BoxImage", "PredictedBox", "TrueBox", "average_precision"]

Role: TypeAlias = Literal["primary", "secondary"]
BoxType: TypeAlias = Literal["explicit", "contextual", "logo", "text"]
Xyxy: TypeAlias = tuple[float, float, float, float]
Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

THRESHOLDS: tuple[float, float] = (0.5, 0.7)
"""Intersection over union of mAP50 and mAP70."""

_RECALLS = np.linspace(0.0, 1.0, 101)
_COUNTED, _IGNORED = 1.0, 2.0  # stand-ins for areas, see `_evaluate`
_BLOCK = 1 << 13  # weights drawn at a time: arrays that stay in the processor's cache


@dataclass(frozen=True)
class TrueBox:
    """An annotated box.

    Attributes:
        box: x0, y0, x1, y1 in pixels, x0 < x1 and y0 < y1.
        role: the concept that it invokes.
        type: how it does so.
    """

    box: Xyxy
    role: Role
    type: BoxType


@dataclass(frozen=True)
class PredictedBox:
    """A predicted box.

    Attributes:
        box: as of `TrueBox`; may reach outside the image.
        role: the concept that it is said to invoke.
        score: finite, higher is surer; the same for all where the model gives none.
    """

    box: Xyxy
    role: Role
    score: float = 1.0


@dataclass(frozen=True)
class BoxImage:
    """Boxes of one image; `image_id` is different for every image, and decides between equal scores."""

    image_id: str
    truth: tuple[TrueBox, ...]
    predicted: tuple[PredictedBox, ...]


class AveragePrecision(NamedTuple):
    """Average precision at one threshold.

    Attributes:
        value: in [0, 1].
        interval: by the bootstrap; None as in :func:`.intervals.bootstrap`, and where nothing was resampled.
        stderr: standard error; None as in :func:`.intervals.standard_error`, and where nothing was resampled.
    """

    value: float
    interval: Interval | None = None
    stderr: float | None = None


def average_precision(
    images: Sequence[BoxImage], role: Role, box_type: BoxType | None = None, resamples: int = 0
) -> tuple[AveragePrecision, AveragePrecision] | None:
    """Average precision of one role at both thresholds, with intervals where images are resampled.

    What each prediction found is settled once, by pycocotools; a resample of images ranks and counts anew. Resamples
    without a box to find are left out. With equal scores the predictions are ranked by image id in every resample.

    Args:
        images: all n images of the test set, also those without boxes of the role: predictions there are wrong.
        role: ``primary`` or ``secondary``; boxes of the other are left out.
        box_type: count boxes of this type and ignore those of other types; None counts all.
        resamples: of the bootstrap; 0: none.

    Returns:
        Those at an intersection over union of .5 and .7; None where there is no box to find.

    Raises:
        ValueError: no images, or two of one id.

    Examples:
        The intersection over union of the two boxes is .6:

        >>> truth = TrueBox((0, 0, 100, 100), "primary", "explicit")
        >>> image = BoxImage("a", (truth,), (PredictedBox((0, 0, 100, 60), "primary"),))
        >>> [found.value for found in average_precision([image], "primary")]
        [1.0, 0.0]

    Source: MetaCLUE, Table 4.
    """
    ordered = sorted(images, key=lambda image: image.image_id)
    if not ordered or len({image.image_id for image in ordered}) < len(ordered):
        raise ValueError(f"images must be some, each with an id of its own: there are {len(ordered)}")
    evaluator = _evaluate(ordered, role, box_type)
    outcomes = [_outcomes(result) for result in evaluator.evalImgs]
    found = np.array([each.truths for each in outcomes])
    if not found.any():
        return None
    precision = evaluator.eval["precision"]  # [thresholds, recalls, classes, areas, maximum of detections]
    # The evaluator adds the spacing of 1 to its denominators: a perfect precision is 0.9999999999999998 there.
    at_50, at_70 = (round(float(np.mean(precision[index, :, 0, 0, 0])), 12) for index in range(len(THRESHOLDS)))
    if resamples == 0:
        return AveragePrecision(at_50), AveragePrecision(at_70)
    units = len(outcomes)
    of_50, of_70 = (
        (of_resamples(values, units), error_of_resamples(values, units))
        for values in _resampled(outcomes, found, resamples).T
    )
    return AveragePrecision(at_50, *of_50), AveragePrecision(at_70, *of_70)


class _Outcomes(NamedTuple):
    """What the predictions of one image have found, the highest score first.

    `right` and `ignored` have a row for each threshold, [2, predictions]; `truths` is the number of boxes to find.
    """

    scores: Floats
    right: Bools
    ignored: Bools
    truths: int


def _outcomes(result: dict[str, Any] | None) -> _Outcomes:
    if result is None:
        none = np.zeros((len(THRESHOLDS), 0), dtype=bool)
        return _Outcomes(np.zeros(0), none, none, 0)
    ignored = result["dtIgnore"].astype(bool)
    right = (result["dtMatches"] > 0) & ~ignored
    return _Outcomes(np.array(result["dtScores"], float), right, ignored, int((result["gtIgnore"] == 0).sum()))


def _resampled(outcomes: Sequence[_Outcomes], found: npt.NDArray[np.int64], resamples: int) -> Floats:
    """Average precision of each resample at each threshold, shape [resamples, thresholds]; NaN without a box."""
    owner = np.repeat(np.arange(len(outcomes)), [len(each.scores) for each in outcomes])
    order = np.argsort(-np.concatenate([each.scores for each in outcomes]), kind="mergesort")
    owner = owner[order]
    right = np.concatenate([each.right for each in outcomes], axis=1)[:, order]
    wrong = ~right & ~np.concatenate([each.ignored for each in outcomes], axis=1)[:, order]
    rng = np.random.default_rng(DEFAULT_SEED)
    drawn = np.full((resamples, len(THRESHOLDS)), np.nan)
    size = max(1, _BLOCK // max(len(outcomes), len(owner)))
    for start in range(0, resamples, size):
        block = drawn[start : start + size]
        places = rng.integers(0, len(outcomes), size=(len(block), len(outcomes)))
        weights = np.stack([np.bincount(each, minlength=len(outcomes)) for each in places])
        positives = weights @ found
        some = positives > 0
        block[some] = _weighted_precisions(right, wrong, np.take(weights[some], owner, axis=1), positives[some])
    return drawn


def _weighted_precisions(
    right: Bools, wrong: Bools, weights: npt.NDArray[np.int64], positives: npt.NDArray[np.int64]
) -> Floats:
    """Average precision, shape [resamples, thresholds]; in resample r prediction i occurs ``weights[r, i]`` times."""
    result = np.zeros((len(weights), len(THRESHOLDS)))
    for index in range(len(THRESHOLDS)):
        hits, misses = np.cumsum(right[index] * weights, axis=1), np.cumsum(wrong[index] * weights, axis=1)
        total = hits + misses
        precision = np.divide(hits, total, out=np.zeros(hits.shape), where=total > 0)
        best_from_here = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
        for place, (recall, best) in enumerate(zip(hits / positives[:, None], best_from_here, strict=True)):
            at = np.searchsorted(recall, _RECALLS, side="left")
            result[place, index] = best[at[at < len(best)]].sum() / len(_RECALLS)
    return result


def _evaluate(images: Sequence[BoxImage], role: Role, box_type: BoxType | None) -> Any:
    """The evaluator of pycocotools after its work."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    truths: list[dict[str, Any]] = []
    predictions: list[dict[str, Any]] = []
    for number, image in enumerate(images, 1):
        for true in image.truth:
            if true.role == role:
                area = _COUNTED if box_type in (None, true.type) else _IGNORED
                truths.append(_annotation(truths, number, true.box) | {"area": area})
        for predicted in image.predicted:
            if predicted.role == role:
                predictions.append(
                    _annotation(predictions, number, predicted.box) | {"area": _COUNTED, "score": predicted.score}
                )
    frame = {"images": [{"id": number} for number in range(1, len(images) + 1)], "categories": [{"id": 1}]}
    with contextlib.redirect_stdout(io.StringIO()):  # it tells its progress by print
        sides = []
        for annotations in (truths, predictions):
            side = COCO()
            side.dataset = frame | {"annotations": annotations}
            side.createIndex()
            sides.append(side)
        evaluator = COCOeval(*sides, iouType="bbox")
        evaluator.params.iouThrs = np.array(THRESHOLDS)
        evaluator.params.recThrs = _RECALLS
        # The one way of the evaluator to ignore an annotation without changing how it is matched (as a crowd would)
        # is its area outside the range. The real areas play no part.
        evaluator.params.areaRng = [[0.0, (_COUNTED + _IGNORED) / 2]]
        evaluator.params.areaRngLbl = ["all"]
        evaluator.params.maxDets = [max(1, len(predictions))]
        evaluator.evaluate()
        evaluator.accumulate()
    return evaluator


def _annotation(before: list[dict[str, Any]], image: int, box: Xyxy) -> dict[str, Any]:
    x0, y0, x1, y1 = map(float, box)
    # Identities start at 1: the evaluator takes a match with number 0 for none.
    return {
        "id": len(before) + 1,
        "image_id": image,
        "category_id": 1,
        "bbox": [x0, y0, x1 - x0, y1 - y0],
        "iscrowd": 0,
    }
