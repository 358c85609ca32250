"""Which predicted boxes find a true box, as pycocotools decides it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from .array_types import Floats
from .box_images import BoxImage, BoxType, PredictedBox, Role, TrueBox, Xyxy

Bools: TypeAlias = npt.NDArray[np.bool_]

THRESHOLDS: tuple[float, float] = (0.5, 0.7)
"""Intersection over union of mAP50 and mAP70."""

RECALLS = np.linspace(0.0, 1.0, 101)
"""The levels of recall at which COCO's average precision takes the precision."""

_COUNTED, _IGNORED = 1.0, 2.0  # stand-ins for areas, see `match_with_pycocotools`


class Matches(NamedTuple):
    """What the predictions of one image have found, the highest score first.

    Attributes:
        scores: [predictions].
        right: whether each prediction found a box that counts, at each threshold,
            [2, predictions].
        ignored: whether it found a box that is ignored, [2, predictions]. A prediction that is
            neither right nor ignored is wrong.
        truths: the number of boxes to find.
    """

    scores: Floats
    right: Bools
    ignored: Bools
    truths: int


class _Annotation(TypedDict, total=False):
    """A box in the form of pycocotools; only predictions have a score."""

    id: int
    image_id: int
    category_id: int
    bbox: list[float]
    iscrowd: int
    area: float
    score: float


def match_boxes(images: Sequence[BoxImage], role: Role, box_type: BoxType | None) -> list[Matches]:
    """Match the predictions of each image with its true boxes of one role.

    Args:
        images: at least one.
        role: boxes of the other role are left out.
        box_type: boxes of other types are ignored: to find one is neither right nor wrong. None
            counts all types.

    Returns:
        The matches of each image, in an order that the boxes decide, not the names of images.
    """
    evaluator = match_with_pycocotools(sort_images(images), role, box_type)
    return [_matches_of(image_evaluation) for image_evaluation in evaluator.evalImgs]


def _matches_of(image_evaluation: dict[str, Any] | None) -> Matches:
    """Turn pycocotools' report of an image into its matches.

    Args:
        image_evaluation: the report; None for an image without boxes and predictions.
    """
    if image_evaluation is None:
        none = np.zeros((len(THRESHOLDS), 0), dtype=bool)
        return Matches(np.zeros(0), right=none, ignored=none, truths=0)
    ignored = image_evaluation["dtIgnore"].astype(bool)
    # dtMatches holds the id of the true box that a prediction found, 0 for none.
    right = (image_evaluation["dtMatches"] > 0) & ~ignored
    truths = int((image_evaluation["gtIgnore"] == 0).sum())
    return Matches(np.array(image_evaluation["dtScores"], float), right, ignored, truths)


# --- the order of images and predictions ---


def sort_images(images: Sequence[BoxImage]) -> list[BoxImage]:
    """The images in an order that their boxes decide, each with its predictions in order.

    Predictions are in the order in which they take their boxes: by falling score, then by falling
    overlap with a true box.
    """
    sorted_images: list[BoxImage] = []
    for image in images:
        ranks = [_prediction_rank(predicted, image.truth) for predicted in image.predicted]
        # By index and not by box, since two predictions may be equal.
        order = sorted(range(len(ranks)), key=ranks.__getitem__)
        predicted = tuple(image.predicted[index] for index in order)
        sorted_images.append(replace(image, predicted=predicted))
    return sorted(sorted_images, key=_image_rank)


def _prediction_rank(
    predicted: PredictedBox, truth: Sequence[TrueBox]
) -> tuple[float, float, tuple[float, ...], Role]:
    """The sort key of a prediction of an image: the surest first, then the best overlap."""
    overlap = _largest_overlap(predicted, truth)
    return -predicted.score, -overlap, tuple(predicted.box), predicted.role


_TrueRank: TypeAlias = tuple[tuple[float, ...], Role, BoxType]
_PredictedRank: TypeAlias = tuple[float, tuple[float, ...], Role]


def _image_rank(image: BoxImage) -> tuple[list[_TrueRank], list[_PredictedRank]]:
    """The sort key of an image: all that is known of it but its name."""
    truth = sorted((tuple(true.box), true.role, true.type) for true in image.truth)
    predicted = [(box.score, tuple(box.box), box.role) for box in image.predicted]
    return truth, predicted


def _largest_overlap(predicted: PredictedBox, truth: Sequence[TrueBox]) -> float:
    """The largest intersection over union of a prediction with a true box of its role, or 0."""
    overlaps = [
        _intersection_over_union(predicted.box, true.box)
        for true in truth
        if true.role == predicted.role
    ]
    return max(overlaps, default=0.0)


def _intersection_over_union(box: Xyxy, other: Xyxy) -> float:
    width = min(box[2], other[2]) - max(box[0], other[0])
    height = min(box[3], other[3]) - max(box[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    intersection = width * height
    return intersection / (_area(box) + _area(other) - intersection)


def _area(box: Xyxy) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


# --- pycocotools ---


def match_with_pycocotools(
    images: Sequence[BoxImage], role: Role, box_type: BoxType | None
) -> Any:  # pycocotools has no types
    """The evaluator of pycocotools, after it has matched the predictions of each image.

    Its ``evalImgs`` has a report for each image. It takes images, and predictions of equal scores,
    in the order given here.

    Args:
        images: their predictions in the order in which they take their boxes (`sort_images`).
        role, box_type: as in `match_boxes`.
    """
    from pycocotools.cocoeval import COCOeval

    truths: list[_Annotation] = []
    predictions: list[_Annotation] = []
    for image_number, image in enumerate(images, 1):
        for true in image.truth:
            if true.role == role:
                annotation = _annotation(len(truths) + 1, image_number, true.box)
                is_counted = box_type is None or true.type == box_type
                annotation["area"] = _COUNTED if is_counted else _IGNORED
                truths.append(annotation)
        for predicted in image.predicted:
            if predicted.role == role:
                annotation = _annotation(len(predictions) + 1, image_number, predicted.box)
                annotation["area"] = _COUNTED
                annotation["score"] = predicted.score
                predictions.append(annotation)

    with contextlib.redirect_stdout(io.StringIO()):  # it prints its progress
        evaluator = COCOeval(
            _coco(len(images), truths), _coco(len(images), predictions), iouType="bbox"
        )
        evaluator.params.iouThrs = np.array(THRESHOLDS)
        evaluator.params.recThrs = RECALLS
        # The one way of the evaluator to ignore an annotation without changing how it is matched
        # (as a crowd would) is its area outside the range. The real areas play no part.
        evaluator.params.areaRng = [[0.0, (_COUNTED + _IGNORED) / 2]]
        evaluator.params.areaRngLbl = ["all"]
        evaluator.params.maxDets = [max(1, len(predictions))]
        evaluator.evaluate()
    return evaluator


def _annotation(number: int, image_number: int, box: Xyxy) -> _Annotation:
    """A box in the form of pycocotools.

    Args:
        number: its id, from 1: the evaluator takes a match with number 0 for none.
        image_number: the id of its image.
        box: its edges.
    """
    x0, y0, x1, y1 = map(float, box)
    return {
        "id": number,
        "image_id": image_number,
        "category_id": 1,
        "bbox": [x0, y0, x1 - x0, y1 - y0],
        "iscrowd": 0,
    }


def _coco(image_count: int, annotations: list[_Annotation]) -> Any:
    """pycocotools' index of annotations of one category, over images numbered from 1."""
    from pycocotools.coco import COCO

    coco = COCO()
    coco.dataset = {
        "images": [{"id": number} for number in range(1, image_count + 1)],
        "categories": [{"id": 1}],
        "annotations": annotations,
    }
    coco.createIndex()
    return coco
