"""MetaCLUE's mAP50 and mAP70 or their intervals are wrong if this fails."""

from __future__ import annotations

import contextlib
import math
import random
import re
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from figlang_tasks.metrics import box_matching, boxes
from figlang_tasks.metrics.box_images import (
    BoxImage,
    BoxType,
    PredictedBox,
    Role,
    TrueBox,
    Xyxy,
)
from figlang_tasks.metrics.boxes import AveragePrecision, average_precision
from figlang_tasks.metrics.intervals import DEFAULT_SEED

ROLES = get_args(Role)
BOX_TYPES = get_args(BoxType)


def image(image_id: str, truth: list[TrueBox], predicted: list[PredictedBox]) -> BoxImage:
    return BoxImage(image_id, tuple(truth), tuple(predicted))


def prediction(box: Xyxy, role: Role = "primary", score: float = 1.0) -> PredictedBox:
    return PredictedBox(box, role, score)


def values(
    images: list[BoxImage], role: Role = "primary", box_type: BoxType | None = None
) -> list[float] | None:
    """Average precision at .5 and .7; None where there is no box to find."""
    precisions = average_precision(images, role, box_type)
    return None if precisions is None else [precision.value for precision in precisions]


# --- an average precision of our own, straight from the definition ---


def overlap(a: Xyxy, b: Xyxy) -> float:
    """Intersection over union."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


def take_best(boxes: list[Xyxy], box: Xyxy, threshold: float) -> bool:
    """Take the box that overlaps most from a list, if it overlaps enough; whether it does."""
    best = max(boxes, key=lambda candidate: overlap(candidate, box), default=None)
    if best is None or overlap(best, box) < threshold:
        return False
    boxes.remove(best)
    return True


def outcomes_by_hand(
    item: BoxImage, role: Role, box_type: BoxType | None, threshold: float
) -> list[tuple[float, bool]]:
    """The score of each prediction of an image that counts, and whether it is right."""
    of_role = [true for true in item.truth if true.role == role]
    to_find = [true.box for true in of_role if box_type in (None, true.type)]
    ignored = [true.box for true in of_role if box_type not in (None, true.type)]
    best_overlap: dict[PredictedBox, float] = {}
    for predicted in item.predicted:
        overlaps = [overlap(true.box, predicted.box) for true in of_role]
        best_overlap[predicted] = max(overlaps, default=0.0)
    predictions = [predicted for predicted in item.predicted if predicted.role == role]
    outcomes: list[tuple[float, bool]] = []
    for predicted in sorted(predictions, key=lambda box: (-box.score, -best_overlap[box])):
        if take_best(to_find, predicted.box, threshold):
            outcomes.append((predicted.score, True))
        elif not take_best(ignored, predicted.box, threshold):
            outcomes.append((predicted.score, False))
    return outcomes


def boxes_to_find(images: list[BoxImage], role: Role, box_type: BoxType | None) -> int:
    count = 0
    for item in images:
        for true in item.truth:
            count += true.role == role and box_type in (None, true.type)
    return count


def by_hand(
    images: list[BoxImage], role: Role, box_type: BoxType | None, threshold: float
) -> float | None:
    """Average precision at one threshold; None where there is no box to find.

    Equal scores are one threshold: precision and recall are those of all predictions with at least
    a score.
    """
    positives = boxes_to_find(images, role, box_type)
    if not positives:
        return None
    outcomes: list[tuple[float, bool]] = []
    for item in images:
        outcomes += outcomes_by_hand(item, role, box_type, threshold)
    points: list[tuple[float, float]] = []  # recall and precision
    for least in {score for score, _ in outcomes}:
        ranked = [is_right for score, is_right in outcomes if score >= least]
        points.append((sum(ranked) / positives, sum(ranked) / len(ranked)))
    total = 0.0
    # The same doubles as the evaluator's levels of recall: 0.07 is not the seventh of them.
    for level in np.linspace(0, 1, 101):
        total += max((precision for recall, precision in points if recall >= level), default=0.0)
    return total / 101


def draw_box(draw: random.Random) -> Xyxy:
    x, y = draw.uniform(0, 60), draw.uniform(0, 60)
    return x, y, x + draw.uniform(10, 40), y + draw.uniform(10, 40)


def draw_prediction(draw: random.Random, truth: list[TrueBox], scores: int) -> PredictedBox:
    """A prediction, mostly near a true box; with one of `scores` scores, or any if that is 0."""
    score = draw.randrange(scores) / 7 if scores else draw.random()
    if truth and draw.random() < 0.75:
        near = draw.choice(truth)
        x0, y0, x1, y1 = (edge + draw.gauss(0, 2.5) for edge in near.box)
        role = near.role
    else:
        x0, y0, x1, y1 = draw_box(draw)
        role = draw.choice(ROLES)
    return PredictedBox((x0, y0, max(x1, x0 + 1), max(y1, y0 + 1)), role, score)


def corpus(seed: int, scores: int) -> list[BoxImage]:
    """Pictures with boxes near each other, so that every outcome occurs; no two overlaps are equal.

    Args:
        seed: of the draws.
        scores: how many different scores there are; 0: all are different.
    """
    draw = random.Random(seed)
    images: list[BoxImage] = []
    for number in range(draw.randint(1, 7)):
        truth: list[TrueBox] = []
        for _ in range(draw.randint(0, 4)):
            truth.append(TrueBox(draw_box(draw), draw.choice(ROLES), draw.choice(BOX_TYPES)))
        predicted = [draw_prediction(draw, truth, scores) for _ in range(draw.randint(0, 5))]
        images.append(image(f"{draw.randrange(10**6):06}-{number}", truth, predicted))
    return images


def several_corpora(seeds: range, scores: int) -> list[BoxImage]:
    images: list[BoxImage] = []
    for seed in seeds:
        images += corpus(seed, scores)
    return images


SCORES = st.sampled_from([0, 1, 3])


@given(st.integers(0, 10**9), SCORES, st.sampled_from(ROLES), st.sampled_from([None, *BOX_TYPES]))
@settings(max_examples=60)
def test_equals_the_definition(
    seed: int, scores: int, role: Role, box_type: BoxType | None
) -> None:
    images = corpus(seed, scores)
    at_thresholds = values(images, role, box_type) or (None, None)
    for threshold, value in zip((0.5, 0.7), at_thresholds, strict=True):
        expected = by_hand(images, role, box_type, threshold)
        assert value == (None if expected is None else pytest.approx(expected, abs=1e-9))


@pytest.mark.parametrize("seed", range(8))
def test_with_different_scores_it_is_that_of_cocos_tool(seed: int) -> None:
    images: list[BoxImage] = []
    for number, item in enumerate(several_corpora(range(4 * seed, 4 * seed + 4), scores=0)):
        images.append(replace(item, image_id=str(number)))
    evaluator = box_matching.match_with_pycocotools(images, "primary", None)
    with contextlib.redirect_stdout(None):
        evaluator.accumulate()
    # [thresholds, recalls, classes, areas, maximum of detections]
    precision = evaluator.eval["precision"]
    expected = [precision[threshold, :, 0, 0, 0].mean() for threshold in (0, 1)]
    assert values(images) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("scores", [1, 3])
def test_neither_names_nor_an_order_decide_between_equal_scores(scores: int) -> None:
    images = several_corpora(range(6), scores)
    draw = random.Random(scores)
    precisions = []
    for _ in range(5):
        names = draw.sample(range(1000), len(images))
        shuffled: list[BoxImage] = []
        for name, item in zip(names, images, strict=True):
            predicted = tuple(draw.sample(item.predicted, len(item.predicted)))
            shuffled.append(BoxImage(f"{name:03}.jpg", item.truth, predicted))
        shuffled = draw.sample(shuffled, len(shuffled))
        precisions.append(average_precision(shuffled, "primary", resamples=50))
    first = precisions[0]
    assert first is not None
    assert first[0].interval is not None
    assert precisions == [first] * 5


def test_twenty_answers_without_scores_are_one_threshold() -> None:
    """Nine of twenty boxes are found, with a precision of 9/20 up to this recall.

    Of 101 levels of recall 46 are reached.
    """
    images: list[BoxImage] = []
    for number in range(20):
        is_found = number % 2 == 1 and number < 18
        box = BOX if is_found else FAR_BOX
        truth = [TrueBox(BOX, "primary", "explicit")]
        images.append(image(f"{number:02}", truth, [prediction(box)]))
    assert values(images) == pytest.approx([9 / 20 * 46 / 101] * 2)


# --- literals ---

BOX = (0.0, 0.0, 10.0, 10.0)
FAR_BOX = (50.0, 50.0, 60.0, 60.0)


def test_a_box_is_found_at_the_threshold_itself() -> None:
    truth = [TrueBox(BOX, "primary", "explicit")]
    seven_tenths = [prediction((0.0, 0.0, 10.0, 7.0))]
    assert values([image("a", truth, seven_tenths)]) == [1, 1]
    half = [prediction((0.0, 0.0, 10.0, 5.0))]
    assert values([image("a", truth, half)]) == [1, 0]


def test_more_than_a_hundred_predictions_count() -> None:
    """COCO's own limit of 100 an image would cut the only right one off."""
    wrong = [prediction((float(i), 50.0, float(i) + 5, 55.0)) for i in range(150)]
    truth = [TrueBox(BOX, "primary", "explicit")]
    images = [image("a", truth, [*wrong, prediction(BOX)])]
    assert values(images) == pytest.approx([1 / 151] * 2)


# --- intervals ---


@given(st.integers(0, 10**9), SCORES, st.sampled_from(ROLES), st.sampled_from([None, *BOX_TYPES]))
@settings(max_examples=30)
def test_every_resample_is_scored_like_the_images_that_were_drawn(
    seed: int, scores: int, role: Role, box_type: BoxType | None
) -> None:
    images = corpus(seed, scores)
    resampled_values: list[np.ndarray] = []  # at .5 and at .7
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            boxes,
            "interval_of_resamples",
            lambda resampled, units: resampled_values.append(resampled),
        )
        average_precision(images, role, box_type, resamples=4)
    if not boxes_to_find(images, role, box_type):
        assert resampled_values == []
        return
    rng = np.random.default_rng(DEFAULT_SEED)
    sorted_images = box_matching.sort_images(images)
    for resample in range(4):
        drawn = rng.integers(0, len(images), size=len(images))
        copies: list[BoxImage] = []
        for number, index in enumerate(drawn):
            copies.append(replace(sorted_images[index], image_id=f"{number:02}"))
        for at_threshold, threshold in zip(resampled_values, (0.5, 0.7), strict=True):
            expected = by_hand(copies, role, box_type, threshold)
            if expected is None:
                assert np.isnan(at_threshold[resample])
            else:
                assert at_threshold[resample] == pytest.approx(expected, abs=1e-9)


def test_an_ignored_box_is_neither_right_nor_wrong_in_any_resample() -> None:
    """The first prediction of each image finds a text: of logos alone, all that count are right."""
    truth = [TrueBox(BOX, "primary", "text"), TrueBox(FAR_BOX, "primary", "logo")]
    predicted = [prediction(BOX, score=0.9), prediction(FAR_BOX, score=0.1)]
    images = [image(name, truth, predicted) for name in "abc"]
    precisions = average_precision(images, "primary", "logo", resamples=20)
    assert precisions == (AveragePrecision(1.0, None, 0.0), AveragePrecision(1.0, None, 0.0))


def test_the_interval_of_a_recall_is_that_of_binomial_draws() -> None:
    """Half of 100 images have their box found and no other prediction.

    With k found, precision is 1 up to recall k/100.
    """
    truth = [TrueBox(BOX, "primary", "explicit")]
    images: list[BoxImage] = []
    for number in range(100):
        images.append(image(f"{number:02}", truth, [prediction(BOX)] if number % 2 else []))
    precisions = average_precision(images, "primary", resamples=1000)
    assert precisions is not None
    assert precisions == average_precision(images[::-1], "primary", resamples=1000)
    tail = stats.norm.cdf(-math.sqrt(100 / 99) * stats.t.ppf(0.975, 99))
    limits = tuple(stats.binom.ppf([tail, 1 - tail], 100, 0.5) / 100)
    for precision in precisions:
        assert precision.interval == pytest.approx(limits, abs=0.021)
    assert precisions[0].stderr == pytest.approx(0.05, rel=0.1)


@pytest.mark.parametrize("images", [[], [image("a", [], []), image("a", [], [])]])
def test_images_without_an_id_of_their_own_are_refused(images: list[BoxImage]) -> None:
    with pytest.raises(ValueError, match="each with an id of its own"):
        average_precision(images, "primary")


@pytest.mark.parametrize(
    "box",
    [
        (0, 0, math.nan, 1),
        (math.inf, 0, 1, 1),
        (0, -math.inf, 1, 1),
        (0, 0, 0, 1),
        (5, 0, 1, 1),
        (0, 5, 1, 1),
        (0, 0, 1),
        (-1e200, -1e200, 1e200, 1e200),
    ],
)
def test_boxes_that_are_none_are_refused(box: Xyxy) -> None:
    for name, make in (
        ("true", lambda: TrueBox(box, "primary", "logo")),
        ("predicted", lambda: PredictedBox(box, "primary")),
    ):
        with pytest.raises(ValueError, match=rf"the {name} box {re.escape(str(box))} must have"):
            make()


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_scores_that_are_no_numbers_are_refused(score: float) -> None:
    with pytest.raises(
        ValueError, match=r"the score of the predicted box \(0.0, .* is -?(nan|inf), must be finite"
    ):
        prediction(BOX, score=score)
