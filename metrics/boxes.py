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
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from .intervals import DEFAULT_SEED, Interval, _check, error_of_resamples, of_resamples

__all__ = [
    "BOX_TYPES",
    "ROLES",
    "THRESHOLDS",
    "AveragePrecision",
    "BoxImage",
    "BoxType",
    "PredictedBox",
    "Resampled",
    "Role",
    "TrueBox",
    "Xyxy",
    "average_precision",
    "bootstrap_average_precision",
    "mean_average_precision",
    "signature",
]

Role: TypeAlias = Literal["primary", "secondary"]
BoxType: TypeAlias = Literal["explicit", "contextual", "logo", "text"]
Xyxy: TypeAlias = tuple[float, float, float, float]
Floats: TypeAlias = npt.NDArray[np.float64]

ROLES: tuple[Role, ...] = get_args(Role)
BOX_TYPES: tuple[BoxType, ...] = get_args(BoxType)

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


@dataclass(frozen=True)
class AveragePrecision:
    """Average precision of one role, over all its boxes or over those of one type.

    Attributes:
        ap50, ap70: in [0, 1]; None where there is no annotated box, so that nothing can be recalled.
        truths: annotated boxes that count.
        predictions: predicted boxes of the role, of all types.
    """

    ap50: float | None
    ap70: float | None
    truths: int
    predictions: int


class Resampled(NamedTuple):
    """What resampling shows about an average precision.

    Attributes:
        interval: None as in `intervals.bootstrap`.
        stderr: standard error; None as in `intervals.standard_error`.
    """

    interval: Interval | None
    stderr: float | None


@dataclass(frozen=True)
class _Outcomes:
    """Of one image: scores of its predictions, from high to low, and for each threshold whether each is right or
    ignored, both of shape [2, predictions]; and the number of boxes to find."""

    scores: Floats
    right: npt.NDArray[np.bool_]
    ignored: npt.NDArray[np.bool_]
    truths: int


def signature() -> str:
    """What computes the scores, e.g. ``pycocotools:2.0.11|iou:0.5,0.7|recalls:101|maxdets:all|ties:...``."""
    thresholds = ",".join(map(str, THRESHOLDS))
    return f"pycocotools:{version('pycocotools')}|iou:{thresholds}|recalls:101|maxdets:all|ties:image_id,emission"


def average_precision(images: Sequence[BoxImage], role: Role, box_type: BoxType | None = None) -> AveragePrecision:
    """Average precision of one role.

    Args:
        images: all images of the test set, also those without boxes of the role: predictions there are wrong.
        role: ``primary`` or ``secondary``; boxes of the other are left out.
        box_type: count boxes of this type and ignore those of other types; None counts all.

    Raises:
        ValueError: no images, two with one id, a box or score that is none (names the image), or an unknown role or
            type.
    """
    chosen = _checked(images, role, box_type)
    evaluator, truths, predictions = _evaluate(chosen, role, box_type)
    if truths == 0:
        return AveragePrecision(None, None, 0, predictions)
    precision = evaluator.eval["precision"]  # [thresholds, recalls, classes, areas, maximum of detections]
    # The evaluator adds the spacing of 1 to its denominators: a perfect precision is 0.9999999999999998 there.
    ap50, ap70 = (round(float(np.mean(precision[index, :, 0, 0, 0])), 12) for index in range(len(THRESHOLDS)))
    return AveragePrecision(ap50, ap70, truths, predictions)


def mean_average_precision(images: Sequence[BoxImage], box_type: BoxType | None = None) -> AveragePrecision:
    """Mean of the average precisions of both roles; of one where the other has no annotated box.

    The counts are summed.

    Args:
        images: all images of the test set, also those without boxes.
        box_type: count boxes of this type and ignore those of other types; None counts all.

    Raises:
        ValueError: as `average_precision`.

    Examples:
        The intersection over union of the two boxes is .6:

        >>> truth = TrueBox((0, 0, 100, 100), "primary", "explicit")
        >>> image = BoxImage("a", (truth,), (PredictedBox((0, 0, 100, 60), "primary"),))
        >>> found = mean_average_precision([image])
        >>> found.ap50, found.ap70
        (1.0, 0.0)
    """
    parts = [average_precision(images, role, box_type) for role in ROLES]
    low = [part.ap50 for part in parts if part.ap50 is not None]
    high = [part.ap70 for part in parts if part.ap70 is not None]
    return AveragePrecision(
        sum(low) / len(low) if low else None,
        sum(high) / len(high) if high else None,
        sum(part.truths for part in parts),
        sum(part.predictions for part in parts),
    )


def bootstrap_average_precision(
    images: Sequence[BoxImage],
    role: Role,
    box_type: BoxType | None = None,
    resamples: int = 1_000,
    seed: int = DEFAULT_SEED,
    confidence: float = 0.95,
) -> tuple[Resampled, Resampled]:
    """Intervals and standard errors of ap50 and ap70, of one bootstrap; images are drawn with replacement.

    What each prediction found is settled once, by pycocotools; a resample ranks and counts anew. Resamples without a
    box to find are left out. With equal scores the predictions are ranked by image id in every resample.

    Args:
        images, role, box_type: as in `average_precision`.
        resamples: at least 1.
        seed: a non-negative int.
        confidence: strictly between 0 and 1.

    Returns:
        Those of ap50 and those of ap70; None where there is no box to find.

    Raises:
        ValueError: as `average_precision`; also for a parameter out of range.
    """
    _check(resamples, confidence)
    chosen = _checked(images, role, box_type)
    evaluator, truths, _ = _evaluate(chosen, role, box_type)
    if truths == 0:
        return Resampled(None, None), Resampled(None, None)
    outcomes = [_outcomes(result) for result in evaluator.evalImgs]
    owner = np.repeat(np.arange(len(outcomes)), [len(o.scores) for o in outcomes])
    scores = np.concatenate([o.scores for o in outcomes])
    order = np.argsort(-scores, kind="mergesort")
    owner = owner[order]
    right = np.concatenate([o.right for o in outcomes], axis=1)[:, order]
    wrong = ~right & ~np.concatenate([o.ignored for o in outcomes], axis=1)[:, order]
    found = np.array([o.truths for o in outcomes])

    rng = np.random.default_rng(seed)
    drawn = np.full((resamples, len(THRESHOLDS)), np.nan)
    size = max(1, _BLOCK // max(len(outcomes), len(owner)))
    for start in range(0, resamples, size):
        block = drawn[start : start + size]
        places = rng.integers(0, len(outcomes), size=(len(block), len(outcomes)))
        weights = np.stack([np.bincount(each, minlength=len(outcomes)) for each in places])
        positives = weights @ found
        some = positives > 0
        block[some] = _weighted_precisions(right, wrong, np.take(weights[some], owner, axis=1), positives[some])
    units = len(outcomes)
    at_50, at_70 = (
        Resampled(of_resamples(values, units, confidence), error_of_resamples(values, units)) for values in drawn.T
    )
    return at_50, at_70


def _weighted_precisions(
    right: npt.NDArray[np.bool_],
    wrong: npt.NDArray[np.bool_],
    weights: npt.NDArray[np.int64],
    positives: npt.NDArray[np.int64],
) -> Floats:
    """Average precision of each resample at each threshold; in resample r prediction i occurs ``weights[r, i]`` times.

    Returns:
        Shape [resamples, thresholds].
    """
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


def _outcomes(result: dict[str, Any] | None) -> _Outcomes:
    shape = (len(THRESHOLDS), 0)
    if result is None:
        return _Outcomes(np.zeros(0), np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool), 0)
    ignored = result["dtIgnore"].astype(bool)
    right = (result["dtMatches"] > 0) & ~ignored
    return _Outcomes(
        np.array(result["dtScores"], dtype=np.float64), right, ignored, int((result["gtIgnore"] == 0).sum())
    )


def _evaluate(images: Sequence[BoxImage], role: Role, box_type: BoxType | None) -> tuple[Any, int, int]:
    """Run pycocotools; returns its evaluator, and how many boxes there are to find and predictions."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    truths: list[dict[str, Any]] = []
    predictions: list[dict[str, Any]] = []
    counted = 0
    for number, image in enumerate(images, 1):
        for true in image.truth:
            if true.role == role:
                counts = box_type is None or true.type == box_type
                counted += counts
                truths.append(_annotation(truths, number, true.box) | {"area": _COUNTED if counts else _IGNORED})
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
    return evaluator, counted, len(predictions)


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


def _checked(images: Sequence[BoxImage], role: str, box_type: str | None) -> list[BoxImage]:
    """The images in the order of their ids."""
    if role not in ROLES:
        raise ValueError(f"role is {role!r}, must be one of {', '.join(ROLES)}")
    if box_type is not None and box_type not in BOX_TYPES:
        raise ValueError(f"box_type is {box_type!r}, must be None or one of {', '.join(BOX_TYPES)}")
    if not images:
        raise ValueError("no images: average precision of nothing is undefined")
    seen: set[str] = set()
    for image in images:
        if image.image_id in seen:
            raise ValueError(f"image {image.image_id!r} is there twice")
        seen.add(image.image_id)
        for true in image.truth:
            _check_box(image.image_id, "truth", true.box, true.role)
            if true.type not in BOX_TYPES:
                raise ValueError(f"image {image.image_id!r}: truth has the unknown type {true.type!r}")
        for predicted in image.predicted:
            _check_box(image.image_id, "predicted", predicted.box, predicted.role)
            if not math.isfinite(predicted.score):
                raise ValueError(f"image {image.image_id!r}: a score is {predicted.score}, must be finite")
    return sorted(images, key=lambda image: image.image_id)


def _check_box(image_id: str, side: str, box: Xyxy, role: str) -> None:
    if role not in ROLES:
        raise ValueError(f"image {image_id!r}: {side} has the unknown role {role!r}")
    if len(box) != 4 or not all(map(math.isfinite, box)) or not (box[0] < box[2] and box[1] < box[3]):
        raise ValueError(f"image {image_id!r}: {side} has the box {box}, must be x0 < x1, y0 < y1, all finite")
