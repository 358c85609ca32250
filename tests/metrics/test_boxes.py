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
from figlang_tasks.metrics.boxes import average_precision
from figlang_tasks.metrics.intervals import DEFAULT_SEED

ROLES = get_args(Role)
BOX_TYPES = get_args(BoxType)


def image(image_id: str, truth: list[TrueBox], predicted: list[PredictedBox]) -> BoxImage:
    return BoxImage(image_id, tuple(truth), tuple(predicted))


def guess(box: Xyxy, role: Role = "primary", score: float = 1.0) -> PredictedBox:
    return PredictedBox(box, role, score)


def values(
    images: list[BoxImage], role: Role = "primary", box_type: BoxType | None = None
) -> list[float] | None:
    """Average precision at .5 and .7."""
    found = average_precision(images, role, box_type)
    return None if found is None else [each.value for each in found]


# --- an average precision of our own, straight from the definition ---


def overlap(a: Xyxy, b: Xyxy) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


def by_hand(
    images: list[BoxImage], role: Role, box_type: BoxType | None, threshold: float
) -> float | None:
    """Equal scores are one threshold: precision and recall are those of all predictions with at
    least a score.
    """
    outcomes: list[tuple[float, bool]] = []
    positives = 0
    for item in images:
        counted = [t.box for t in item.truth if t.role == role and box_type in (None, t.type)]
        others = [t.box for t in item.truth if t.role == role and box_type not in (None, t.type)]
        positives += len(counted)
        best_overlap = {
            p: max((overlap(box, p.box) for box in [*counted, *others]), default=0.0)
            for p in item.predicted
        }
        free, free_others = list(counted), list(others)
        mine = [p for p in item.predicted if p.role == role]
        for p in sorted(mine, key=lambda p: (-p.score, -best_overlap[p])):
            best = max(free, key=lambda box: overlap(box, p.box), default=None)
            if best is not None and overlap(best, p.box) >= threshold:
                free.remove(best)
                outcomes.append((p.score, True))
                continue
            other = max(free_others, key=lambda box: overlap(box, p.box), default=None)
            if other is not None and overlap(other, p.box) >= threshold:
                free_others.remove(other)
                continue
            outcomes.append((p.score, False))
    if not positives:
        return None
    points = []
    for least in {score for score, _ in outcomes}:
        taken = [good for score, good in outcomes if score >= least]
        points.append((sum(taken) / positives, sum(taken) / len(taken)))
    # The same doubles as the evaluator's levels of recall: 0.07 is not the seventh of them.
    levels = np.linspace(0, 1, 101)
    return sum(max((p for r, p in points if r >= level), default=0.0) for level in levels) / 101


def corpus(seed: int, scores: int) -> list[BoxImage]:
    """Pictures with boxes near each other, so that every outcome occurs; no two overlaps are equal.

    Of `scores` different scores; 0: all are different.
    """
    draw = random.Random(seed)
    images = []
    for number in range(draw.randint(1, 7)):
        truth, predicted = [], []
        for _ in range(draw.randint(0, 4)):
            x, y = draw.uniform(0, 60), draw.uniform(0, 60)
            box = (x, y, x + draw.uniform(10, 40), y + draw.uniform(10, 40))
            truth.append(TrueBox(box, draw.choice(ROLES), draw.choice(BOX_TYPES)))
        for _ in range(draw.randint(0, 5)):
            score = draw.randrange(scores) / 7 if scores else draw.random()
            if truth and draw.random() < 0.75:
                near = draw.choice(truth)
                x0, y0, x1, y1 = (value + draw.gauss(0, 2.5) for value in near.box)
                role = near.role
            else:
                x0, y0 = draw.uniform(0, 60), draw.uniform(0, 60)
                x1, y1, role = (
                    x0 + draw.uniform(10, 40),
                    y0 + draw.uniform(10, 40),
                    draw.choice(ROLES),
                )
            predicted.append(PredictedBox((x0, y0, max(x1, x0 + 1), max(y1, y0 + 1)), role, score))
        images.append(image(f"{draw.randrange(10**6):06}-{number}", truth, predicted))
    return images


SCORES = st.sampled_from([0, 1, 3])


@given(st.integers(0, 10**9), SCORES, st.sampled_from(ROLES), st.sampled_from([None, *BOX_TYPES]))
@settings(max_examples=60)
def test_equals_the_definition(
    seed: int, scores: int, role: Role, box_type: BoxType | None
) -> None:
    images = corpus(seed, scores)
    found = values(images, role, box_type)
    for threshold, value in zip((0.5, 0.7), found or (None, None), strict=True):
        expected = by_hand(images, role, box_type, threshold)
        assert value == (None if expected is None else pytest.approx(expected, abs=1e-9))


@pytest.mark.parametrize("seed", range(8))
def test_with_different_scores_it_is_that_of_cocos_tool(seed: int) -> None:
    images = [each for number in range(4) for each in corpus(4 * seed + number, scores=0)]
    images = [replace(each, image_id=str(place)) for place, each in enumerate(images)]
    evaluator = box_matching.match_with_pycocotools(images, "primary", None)
    with contextlib.redirect_stdout(None):
        evaluator.accumulate()
    # [thresholds, recalls, classes, areas, maximum of detections]
    precision = evaluator.eval["precision"]
    assert values(images) == pytest.approx(
        [precision[index, :, 0, 0, 0].mean() for index in (0, 1)], abs=1e-9
    )


@pytest.mark.parametrize("scores", [1, 3])
def test_neither_names_nor_an_order_decide_between_equal_scores(scores: int) -> None:
    images = [each for seed in range(6) for each in corpus(seed, scores)]
    draw = random.Random(scores)
    found = []
    for _ in range(5):
        names = draw.sample(range(1000), len(images))
        shuffled = [
            BoxImage(
                f"{name:03}.jpg",
                each.truth,
                tuple(draw.sample(each.predicted, len(each.predicted))),
            )
            for name, each in zip(names, images, strict=True)
        ]
        found.append(
            average_precision(draw.sample(shuffled, len(shuffled)), "primary", resamples=50)
        )
    assert found[0] is not None and found[0][0].interval is not None
    assert all(each == found[0] for each in found)


def test_twenty_answers_without_scores_are_one_threshold() -> None:
    """Nine of twenty boxes are found, with a precision of 9/20 up to this recall: of 101 levels 46
    are reached.
    """
    images = []
    for number in range(20):
        box = BOX if number % 2 and number < 18 else (50.0, 50.0, 60.0, 60.0)
        images.append(image(f"{number:02}", [TrueBox(BOX, "primary", "explicit")], [guess(box)]))
    assert values(images) == pytest.approx([9 / 20 * 46 / 101] * 2)


# --- literals ---

BOX = (0.0, 0.0, 10.0, 10.0)


def test_a_box_is_found_at_the_threshold_itself() -> None:
    truth = [TrueBox(BOX, "primary", "explicit")]
    assert values([image("a", truth, [guess((0.0, 0.0, 10.0, 7.0))])]) == [1, 1]  # 70 of 100
    assert values([image("a", truth, [guess((0.0, 0.0, 10.0, 5.0))])]) == [1, 0]


def test_more_than_a_hundred_predictions_count() -> None:
    """COCO's own limit of 100 an image would cut the only right one off."""
    wrong = [guess((float(i), 50.0, float(i) + 5, 55.0)) for i in range(150)]
    assert values(
        [image("a", [TrueBox(BOX, "primary", "explicit")], [*wrong, guess(BOX)])]
    ) == pytest.approx([1 / 151] * 2)


# --- intervals ---


@given(st.integers(0, 10**9), SCORES, st.sampled_from(ROLES), st.sampled_from([None, *BOX_TYPES]))
@settings(max_examples=30)
def test_every_resample_is_scored_like_the_images_that_were_drawn(
    seed: int, scores: int, role: Role, box_type: BoxType | None
) -> None:
    images = corpus(seed, scores)
    drawn: list[np.ndarray] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boxes, "interval_of_resamples", lambda values, _: drawn.append(values))
        average_precision(images, role, box_type, resamples=4)
    if not any(
        t.role == role and box_type in (None, t.type) for item in images for t in item.truth
    ):
        assert drawn == []
        return
    rng = np.random.default_rng(DEFAULT_SEED)
    in_order = box_matching.sort_images(images)
    for resample in range(4):
        chosen = rng.integers(0, len(images), size=len(images))
        copies = [replace(in_order[i], image_id=f"{place:02}") for place, i in enumerate(chosen)]
        for resampled, threshold in zip(drawn, (0.5, 0.7), strict=True):
            expected = by_hand(copies, role, box_type, threshold)
            assert resampled[resample] == pytest.approx(
                np.nan if expected is None else expected, abs=1e-9, nan_ok=True
            )


def test_an_ignored_box_is_neither_right_nor_wrong_in_any_resample() -> None:
    """The first prediction of each image finds a text: of logos alone, all that count are right."""
    far = (50.0, 50.0, 60.0, 60.0)
    truth = [TrueBox(BOX, "primary", "text"), TrueBox(far, "primary", "logo")]
    images = [image(name, truth, [guess(BOX, score=0.9), guess(far, score=0.1)]) for name in "abc"]
    both = average_precision(images, "primary", "logo", resamples=20)
    assert (
        both is not None
        and [(each.value, each.interval, each.stderr) for each in both] == [(1.0, None, 0.0)] * 2
    )


def test_the_interval_of_a_recall_is_that_of_binomial_draws() -> None:
    """Half of 100 images have their box found and no other prediction: k found are precision 1 up
    to recall k/100.
    """
    images = [
        image(f"{i:02}", [TrueBox(BOX, "primary", "explicit")], [guess(BOX)] if i % 2 else [])
        for i in range(100)
    ]
    both = average_precision(images, "primary", resamples=1000)
    assert both is not None and both == average_precision(images[::-1], "primary", resamples=1000)
    tail = stats.norm.cdf(-math.sqrt(100 / 99) * stats.t.ppf(0.975, 99))
    expected = stats.binom.ppf([tail, 1 - tail], 100, 0.5) / 100
    assert [each.interval for each in both] == [pytest.approx(tuple(expected), abs=0.021)] * 2
    assert both[0].stderr == pytest.approx(0.05, rel=0.1)


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
        guess(BOX, score=score)
