"""mAP50 and mAP70 of bounding boxes, by role and by type of box; which boxes are found is decided
by pycocotools.

One class per role (the primary and the secondary concept), so that the average precision of a role
is its mAP, as in MetaCLUE's Table 4. Average precision is COCO's: precision at 101 levels of
recall, each the best precision at that recall or a higher one. A box is found when its intersection
over union is at least the threshold. No box is a crowd, and every prediction counts, however many
an image has.

**By type.** Models do not say of what type a box is. So the boxes of the other types are *ignored*:
to find one of them is neither right nor wrong, while a prediction that finds nothing is wrong for
every type.

**Equal scores.** Average precision ranks all predictions of the corpus by score, and models that
write boxes give none. COCO's tool ranks predictions of equal scores by the number of their image,
so that the names of files decide. Here equal scores are one threshold, as for scikit-learn's
``average_precision_score``: precision and recall are taken where all of them are in. So no result
depends on an order or a name; where all scores differ, it is COCO's. With one score for all, the
curve is no trade-off: it is the precision of the model, up to its recall. Of predictions with equal
scores in one image, the one that overlaps most with a box takes its box first.

Source: MetaCLUE (arXiv 2212.09898), section 3.3 and Table 4; the evaluator is the one of COCO
(arXiv 1405.0312), which the paper does not name.
"""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .intervals import DEFAULT_SEED, Interval, error_of_resamples, of_resamples

__all__ = [
    "THRESHOLDS",
    "AveragePrecision",
    "BoxImage",
    "PredictedBox",
    "TrueBox",
    "average_precision",
]

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


def _check_box(name: str, box: Xyxy) -> None:
    """Refuse a box without four finite numbers and a finite area above 0: an overlap with NaN
    counts as a match.
    """
    if len(box) != 4 or not all(map(math.isfinite, box)):
        raise ValueError(f"{name} box {tuple(box)} must have four finite numbers: x0, y0, x1, y1")
    x0, y0, x1, y1 = map(float, box)
    if x0 >= x1 or y0 >= y1 or not 0 < (x1 - x0) * (y1 - y0) < math.inf:
        raise ValueError(
            f"{name} box {tuple(box)} must have x0 < x1 and y0 < y1, and a finite area"
        )


@dataclass(frozen=True)
class TrueBox:
    """An annotated box.

    Attributes:
        box: x0, y0, x1, y1 in pixels, finite, x0 < x1 and y0 < y1.
        role: the concept that it invokes.
        type: how it does so.

    Raises:
        ValueError: another box.
    """

    box: Xyxy
    role: Role
    type: BoxType

    def __post_init__(self) -> None:
        _check_box("the true", self.box)


@dataclass(frozen=True)
class PredictedBox:
    """A predicted box.

    Attributes:
        box: as of `TrueBox`; may reach outside the image.
        role: the concept that it is said to invoke.
        score: finite, higher is surer; the same for all where the model gives none.

    Raises:
        ValueError: another box or score.
    """

    box: Xyxy
    role: Role
    score: float = 1.0

    def __post_init__(self) -> None:
        _check_box("the predicted", self.box)
        if not math.isfinite(self.score):
            raise ValueError(
                f"the score of the predicted box {tuple(self.box)} is {self.score}, must be finite"
            )


@dataclass(frozen=True)
class BoxImage:
    """Boxes of one image; `image_id` is different for every image, and decides nothing."""

    image_id: str
    truth: tuple[TrueBox, ...]
    predicted: tuple[PredictedBox, ...]


class AveragePrecision(NamedTuple):
    """Average precision at one threshold.

    Attributes:
        value: in [0, 1].
        interval: by the bootstrap; None as in :func:`.intervals.bootstrap`, and where nothing was
            resampled.
        stderr: standard error; None as in :func:`.intervals.standard_error`, and where nothing was
            resampled.
    """

    value: float
    interval: Interval | None = None
    stderr: float | None = None


def average_precision(
    images: Sequence[BoxImage], role: Role, box_type: BoxType | None = None, resamples: int = 0
) -> tuple[AveragePrecision, AveragePrecision] | None:
    """Average precision of one role at both thresholds, with intervals where images are resampled.

    What each prediction found is settled once, by pycocotools; a resample of images ranks and
    counts anew. Resamples without a box to find are left out.

    Args:
        images: all n images of the test set, also those without boxes of the role: predictions
            there are wrong.
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
    if not images or len({image.image_id for image in images}) < len(images):
        raise ValueError(
            f"images must be some, each with an id of its own: there are {len(images)}"
        )
    outcomes = [
        _outcomes(evaluated) for evaluated in _evaluate(_ordered(images), role, box_type).evalImgs
    ]
    truths = np.array([each.truths for each in outcomes])
    if not truths.any():
        return None
    once = np.ones((1, len(outcomes)), dtype=np.int64)
    # Rounded, so that a sum in another order is the same number.
    at_50, at_70 = (round(float(value), 12) for value in _Ranking.of(outcomes).precisions(once)[0])
    if resamples == 0:
        return AveragePrecision(at_50), AveragePrecision(at_70)
    units = len(outcomes)
    of_50, of_70 = (
        (of_resamples(values, units), error_of_resamples(values, units))
        for values in _resampled(outcomes, resamples).T
    )
    return AveragePrecision(at_50, *of_50), AveragePrecision(at_70, *of_70)


def _ordered(images: Sequence[BoxImage]) -> list[BoxImage]:
    """The images in an order that their boxes decide, each with its predictions as they take their
    boxes.
    """
    in_order = []
    for image in images:
        keys = [
            (
                -predicted.score,
                -_largest_overlap(predicted, image.truth),
                tuple(predicted.box),
                predicted.role,
            )
            for predicted in image.predicted
        ]
        places = sorted(range(len(keys)), key=keys.__getitem__)
        in_order.append(replace(image, predicted=tuple(image.predicted[place] for place in places)))
    return sorted(in_order, key=_boxes_of)


def _boxes_of(image: BoxImage) -> tuple[Any, ...]:
    """All that is known of an image but its name."""
    truth = sorted((tuple(true.box), true.role, true.type) for true in image.truth)
    return truth, [
        (predicted.score, tuple(predicted.box), predicted.role) for predicted in image.predicted
    ]


def _largest_overlap(predicted: PredictedBox, truth: Sequence[TrueBox]) -> float:
    """The largest intersection over union of a prediction with a true box of its role; 0 without
    any.
    """
    overlaps = [_overlap(predicted.box, true.box) for true in truth if true.role == predicted.role]
    return max(overlaps, default=0.0)


def _overlap(one: Xyxy, other: Xyxy) -> float:
    """Intersection over union."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    return width * height / (sum(areas) - width * height)


class _Outcomes(NamedTuple):
    """What the predictions of one image have found, the highest score first.

    `right` and `ignored` have a row for each threshold, [2, predictions]; `truths` is the number of
    boxes to find.
    """

    scores: Floats
    right: Bools
    ignored: Bools
    truths: int


def _outcomes(evaluated: dict[str, Any] | None) -> _Outcomes:
    """The outcomes of an image as pycocotools tells them; None is an image without boxes and
    predictions.
    """
    if evaluated is None:
        none = np.zeros((len(THRESHOLDS), 0), dtype=bool)
        return _Outcomes(np.zeros(0), none, none, 0)
    ignored = evaluated["dtIgnore"].astype(bool)
    right = (evaluated["dtMatches"] > 0) & ~ignored
    return _Outcomes(
        np.array(evaluated["dtScores"], float),
        right,
        ignored,
        int((evaluated["gtIgnore"] == 0).sum()),
    )


class _Ranking(NamedTuple):
    """The predictions of n images, the highest score first.

    Attributes:
        image: of each prediction the number of its image, [predictions].
        last: the place of the last prediction of each score, [scores].
        right, wrong: at each threshold, [thresholds, predictions]; an ignored prediction is
            neither.
        truths: boxes to find of each image, [images].
    """

    image: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]
    right: Bools
    wrong: Bools
    truths: npt.NDArray[np.int64]

    @classmethod
    def of(cls, outcomes: Sequence[_Outcomes]) -> _Ranking:
        """Rank the predictions of all images."""
        scores = np.concatenate([each.scores for each in outcomes])
        order = np.argsort(-scores, kind="stable")
        right = np.concatenate([each.right for each in outcomes], axis=1)[:, order]
        ignored = np.concatenate([each.ignored for each in outcomes], axis=1)[:, order]
        image = np.repeat(np.arange(len(outcomes)), [len(each.scores) for each in outcomes])[order]
        # The next score is lower; behind the last prediction there is none.
        last = np.flatnonzero(np.diff(scores[order], append=-np.inf))
        return cls(
            image, last, right, ~right & ~ignored, np.array([each.truths for each in outcomes])
        )

    def precisions(self, weights: npt.NDArray[np.int64]) -> Floats:
        """Average precision at each threshold, if image i occurs ``weights[r, i]`` times in
        resample r.

        Args:
            weights: shape [resamples, images].

        Returns:
            Shape [resamples, thresholds]; NaN where there is no box to find.
        """
        average = np.full((len(weights), len(THRESHOLDS)), np.nan)
        positives = weights @ self.truths
        of_predictions = np.take(weights, self.image, axis=1)
        for threshold in range(len(THRESHOLDS)):
            hits = np.cumsum(self.right[threshold] * of_predictions, axis=1)[:, self.last]
            misses = np.cumsum(self.wrong[threshold] * of_predictions, axis=1)[:, self.last]
            counted = hits + misses
            precision = np.divide(hits, counted, out=np.zeros(hits.shape), where=counted > 0)
            best_from_here = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
            for resample in np.flatnonzero(positives):
                recall = hits[resample] / positives[resample]
                place = np.searchsorted(recall, _RECALLS, side="left")
                reached = best_from_here[resample, place[place < len(recall)]]
                average[resample, threshold] = reached.sum() / len(_RECALLS)
        return average


def _resampled(outcomes: Sequence[_Outcomes], resamples: int) -> Floats:
    """Average precision of each resample at each threshold, shape [resamples, thresholds]; NaN
    without a box.
    """
    ranking = _Ranking.of(outcomes)
    rng = np.random.default_rng(DEFAULT_SEED)
    size = max(1, _BLOCK // max(len(outcomes), len(ranking.image)))
    blocks = []
    for start in range(0, resamples, size):
        block_size = min(size, resamples - start)
        drawn = rng.integers(0, len(outcomes), size=(block_size, len(outcomes)))
        weights = np.stack([np.bincount(images, minlength=len(outcomes)) for images in drawn])
        blocks.append(ranking.precisions(weights))
    return np.concatenate(blocks)


def _evaluate(images: Sequence[BoxImage], role: Role, box_type: BoxType | None) -> Any:
    """The evaluator of pycocotools, after it has matched the predictions of each image with its
    boxes.
    """
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
                    _annotation(predictions, number, predicted.box)
                    | {
                        "area": _COUNTED,
                        "score": predicted.score,
                    }
                )
    frame = {
        "images": [{"id": number} for number in range(1, len(images) + 1)],
        "categories": [{"id": 1}],
    }
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
        # The one way of the evaluator to ignore an annotation without changing how it is matched
        # (as a crowd would) is its area outside the range. The real areas play no part.
        evaluator.params.areaRng = [[0.0, (_COUNTED + _IGNORED) / 2]]
        evaluator.params.areaRngLbl = ["all"]
        evaluator.params.maxDets = [max(1, len(predictions))]
        evaluator.evaluate()
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
