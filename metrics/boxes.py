"""mAP50 and mAP70 of bounding boxes, by role and by type of box.

pycocotools decides which boxes are found.

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

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from .array_types import Floats
from .box_images import BoxImage, BoxType, PredictedBox, Role, TrueBox
from .box_matching import RECALLS, THRESHOLDS, Matches, match_boxes
from .intervals import DEFAULT_SEED, Interval, error_of_resamples, interval_of_resamples

__all__ = [
    "THRESHOLDS",
    "AveragePrecision",
    "BoxImage",
    "PredictedBox",
    "TrueBox",
    "average_precision",
]

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

_BLOCK = 1 << 13  # weights drawn at a time: arrays that stay in the processor's cache


class AveragePrecision(NamedTuple):
    """Average precision at one threshold.

    Attributes:
        value: in [0, 1].
        interval: by the bootstrap; None where :func:`.intervals.bootstrap` gives none, and where
            nothing was resampled.
        stderr: standard error; None where :func:`.intervals.standard_error` gives none, and where
            nothing was resampled.
    """

    value: float
    interval: Interval | None = None
    stderr: float | None = None


def average_precision(
    images: Sequence[BoxImage], role: Role, box_type: BoxType | None = None, resamples: int = 0
) -> tuple[AveragePrecision, AveragePrecision] | None:
    """Average precision of one role at an intersection over union of .5 and of .7.

    With ``precision(r)`` the best precision at a recall of r or more, or 0 if that recall is never
    reached, it is the mean of ``precision(0), precision(.01), ... precision(1)``.

    For intervals, images are resampled. What each prediction found is settled once; a resample
    ranks and counts anew. Resamples without a box to find are left out.

    Args:
        images: all n images of the test set, also those without boxes of the role: predictions
            there are wrong.
        role: ``primary`` or ``secondary``; boxes of the other role are left out.
        box_type: count boxes of this type and ignore those of other types; None counts all.
        resamples: resamples of the bootstrap; 0 for no interval and no standard error.

    Returns:
        `AveragePrecision` at .5 and at .7; None where there is no box to find.

    Raises:
        ValueError: no images, or two of one id.

    Examples:
        The intersection over union of the two boxes is .6:

        >>> truth = TrueBox((0, 0, 100, 100), "primary", "explicit")
        >>> image = BoxImage("a", (truth,), (PredictedBox((0, 0, 100, 60), "primary"),))
        >>> at_50, at_70 = average_precision([image], "primary")
        >>> at_50.value, at_70.value
        (1.0, 0.0)

    Source: MetaCLUE, Table 4; COCO's evaluator (arXiv 1405.0312).
    """
    if not images or len({image.image_id for image in images}) < len(images):
        raise ValueError(
            f"images must be some, each with an id of its own: there are {len(images)}"
        )
    matches = match_boxes(images, role, box_type)
    if not any(image_matches.truths for image_matches in matches):
        return None
    ranking = _Ranking.of(matches)
    each_image_once = np.ones((1, len(matches)), dtype=np.int64)
    # Rounded, so that a sum in another order is the same number.
    values = [round(float(value), 12) for value in ranking.precisions(each_image_once)[0]]
    if resamples == 0:
        return AveragePrecision(values[0]), AveragePrecision(values[1])

    resampled_values = _resampled_precisions(ranking, resamples)
    at_50, at_70 = (
        _with_errors(value, resampled_values[:, threshold], len(matches))
        for threshold, value in enumerate(values)
    )
    return at_50, at_70


def _with_errors(value: float, resampled_values: Floats, units: int) -> AveragePrecision:
    """Average precision with the interval and standard error that its resamples give.

    Args:
        value: for all images.
        resampled_values: for each resample, [resamples].
        units: the number of images.
    """
    interval = interval_of_resamples(resampled_values, units)
    return AveragePrecision(value, interval, error_of_resamples(resampled_values, units))


class _Ranking(NamedTuple):
    """The predictions of n images, the highest score first.

    Attributes:
        image: the index of the image of each prediction, [predictions].
        last: the index of the last prediction of each score, [scores].
        right, wrong: at each threshold, [thresholds, predictions]; an ignored prediction is
            neither.
        truths: boxes to find in each image, [images].
    """

    image: Ints
    last: Ints
    right: Bools
    wrong: Bools
    truths: Ints

    @classmethod
    def of(cls, matches: Sequence[Matches]) -> _Ranking:
        """Rank the predictions of all images, given the matches of each."""
        scores = np.concatenate([image_matches.scores for image_matches in matches])
        right = np.concatenate([image_matches.right for image_matches in matches], axis=1)
        ignored = np.concatenate([image_matches.ignored for image_matches in matches], axis=1)
        predictions = [len(image_matches.scores) for image_matches in matches]
        image = np.repeat(np.arange(len(matches)), predictions)
        order = np.argsort(-scores, kind="stable")
        right = right[:, order]
        ignored = ignored[:, order]
        # A score ends where the next one is lower; behind the last prediction there is none.
        last = np.flatnonzero(np.diff(scores[order], append=-np.inf))
        truths = np.array([image_matches.truths for image_matches in matches])
        return cls(image[order], last, right, wrong=~right & ~ignored, truths=truths)

    def precisions(self, weights: Ints) -> Floats:
        """Average precision of each resample at each threshold.

        Args:
            weights: how often each resample draws each image, shape [resamples, images].

        Returns:
            Shape [resamples, thresholds]; NaN where there is no box to find.
        """
        averages = np.full((len(weights), len(THRESHOLDS)), np.nan)
        truths = weights @ self.truths
        prediction_weights = np.take(weights, self.image, axis=1)
        for threshold in range(len(THRESHOLDS)):
            # Counted where all predictions of a score are in: [resamples, scores].
            hits = np.cumsum(self.right[threshold] * prediction_weights, axis=1)[:, self.last]
            misses = np.cumsum(self.wrong[threshold] * prediction_weights, axis=1)[:, self.last]
            predicted = hits + misses
            precision = np.divide(hits, predicted, out=np.zeros(hits.shape), where=predicted > 0)
            # The best precision at this recall or a higher one.
            best_precision = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
            for resample in np.flatnonzero(truths):  # those that have a box to find
                recall = hits[resample] / truths[resample]
                # For each level of recall the first score that reaches it.
                reached_at = np.searchsorted(recall, RECALLS, side="left")
                is_reached = reached_at < len(recall)
                reached = best_precision[resample, reached_at[is_reached]]
                averages[resample, threshold] = reached.sum() / len(RECALLS)
        return averages


def _resampled_precisions(ranking: _Ranking, resamples: int) -> Floats:
    """Average precision of each resample of the images, shape [resamples, thresholds].

    NaN where a resample has no box to find.
    """
    images = len(ranking.truths)
    rng = np.random.default_rng(DEFAULT_SEED)
    full_block = max(1, _BLOCK // max(images, len(ranking.image)))
    blocks: list[Floats] = []
    for start in range(0, resamples, full_block):
        block_size = min(full_block, resamples - start)
        drawn_images = rng.integers(0, images, size=(block_size, images))
        weights = np.stack([np.bincount(drawn, minlength=images) for drawn in drawn_images])
        blocks.append(ranking.precisions(weights))
    return np.concatenate(blocks)
