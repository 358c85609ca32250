from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from figlang_tasks.metrics import boxes
from figlang_tasks.metrics.boxes import (
    BOX_TYPES,
    ROLES,
    AveragePrecision,
    BoxImage,
    BoxType,
    PredictedBox,
    Role,
    TrueBox,
    Xyxy,
    average_precision,
    bootstrap_average_precision,
    mean_average_precision,
    signature,
)

relaxed = settings(max_examples=60)


def image(image_id: str, truth: list[TrueBox], predicted: list[PredictedBox]) -> BoxImage:
    return BoxImage(image_id, tuple(truth), tuple(predicted))


def true(box: Xyxy, role: Role = "primary", type_: BoxType = "explicit") -> TrueBox:
    return TrueBox(box, role, type_)


def guess(box: Xyxy, role: Role = "primary", score: float = 1.0) -> PredictedBox:
    return PredictedBox(box, role, score)


# --- an average precision of our own, straight from the definition ---------------------------------------------------


def overlap(a: Xyxy, b: Xyxy) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)


def by_hand(images: list[BoxImage], role: Role, box_type: BoxType | None, threshold: float) -> float | None:
    outcomes: list[tuple[float, str, bool]] = []
    positives = 0
    for item in sorted(images, key=lambda item: item.image_id):
        counted = [t.box for t in item.truth if t.role == role and box_type in (None, t.type)]
        others = [t.box for t in item.truth if t.role == role and box_type not in (None, t.type)]
        positives += len(counted)
        free, free_others = list(counted), list(others)
        for p in sorted((p for p in item.predicted if p.role == role), key=lambda p: -p.score):
            best = max(free, key=lambda box: overlap(box, p.box), default=None)
            if best is not None and overlap(best, p.box) >= threshold:
                free.remove(best)
                outcomes.append((p.score, item.image_id, True))
                continue
            other = max(free_others, key=lambda box: overlap(box, p.box), default=None)
            if other is not None and overlap(other, p.box) >= threshold:
                free_others.remove(other)
                continue
            outcomes.append((p.score, item.image_id, False))
    if not positives:
        return None
    points, hits = [], 0
    for place, (_, _, good) in enumerate(sorted(outcomes, key=lambda outcome: -outcome[0]), 1):
        hits += good
        points.append((hits / positives, hits / place))
    # The same doubles as the evaluator's levels of recall: 0.07 is not the seventh of them.
    levels = np.linspace(0, 1, 101)
    return sum(max((p for r, p in points if r >= level), default=0.0) for level in levels) / 101


def corpus(seed: int, scored: bool) -> list[BoxImage]:
    """Pictures with boxes near each other, so that every outcome occurs; no two overlaps are equal."""
    draw = random.Random(seed)
    images = []
    for number in range(draw.randint(1, 7)):
        truth, predicted = [], []
        for _ in range(draw.randint(0, 4)):
            x, y = draw.uniform(0, 60), draw.uniform(0, 60)
            box = (x, y, x + draw.uniform(10, 40), y + draw.uniform(10, 40))
            truth.append(TrueBox(box, draw.choice(ROLES), draw.choice(BOX_TYPES)))
        for _ in range(draw.randint(0, 5)):
            score = draw.random() if scored else 1.0
            if truth and draw.random() < 0.75:
                near = draw.choice(truth)
                x0, y0, x1, y1 = (value + draw.gauss(0, 2.5) for value in near.box)
                role = near.role
            else:
                x0, y0 = draw.uniform(0, 60), draw.uniform(0, 60)
                x1, y1, role = x0 + draw.uniform(10, 40), y0 + draw.uniform(10, 40), draw.choice(ROLES)
            predicted.append(PredictedBox((x0, y0, max(x1, x0 + 1), max(y1, y0 + 1)), role, score))
        images.append(image(f"{draw.randrange(10**6):06}-{number}", truth, predicted))
    return images


@given(st.integers(0, 10**9), st.booleans(), st.sampled_from(ROLES), st.sampled_from([None, *BOX_TYPES]))
@relaxed
def test_equals_the_definition(seed: int, scored: bool, role: Role, box_type: BoxType | None) -> None:
    images = corpus(seed, scored)
    found = average_precision(images, role, box_type)
    for threshold, value in ((0.5, found.ap50), (0.7, found.ap70)):
        expected = by_hand(images, role, box_type, threshold)
        assert value == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_the_corpora_are_no_trivial_ones() -> None:
    values = [average_precision(corpus(seed, True), "primary").ap50 for seed in range(40)]
    inside = [value for value in values if value is not None and 0 < value < 1]
    assert len(inside) > 15


@given(st.integers(0, 10**9), st.booleans())
@relaxed
def test_the_order_of_the_images_does_not_matter(seed: int, scored: bool) -> None:
    images = corpus(seed, scored)
    shuffled = random.Random(seed + 1).sample(images, len(images))
    for role in ROLES:
        assert average_precision(shuffled, role) == average_precision(images, role)
        assert bootstrap_average_precision(shuffled, role, resamples=5) == bootstrap_average_precision(
            images, role, resamples=5
        )


# --- literals ---------------------------------------------------------------------------------------------------------

BOX = (0.0, 0.0, 10.0, 10.0)
FAR = (50.0, 50.0, 60.0, 60.0)


@pytest.mark.parametrize(
    ("predicted", "ap50", "ap70"),
    [
        (BOX, 1.0, 1.0),
        ((0.0, 0.0, 10.0, 7.0), 1.0, 1.0),  # 70 of 100: the threshold itself counts
        ((0.0, 0.0, 10.0, 6.999999), 1.0, 0.0),
        ((0.0, 0.0, 10.0, 5.0), 1.0, 0.0),
        ((0.0, 0.0, 10.0, 4.999999), 0.0, 0.0),
        (FAR, 0.0, 0.0),
        ((-5.0, -5.0, 5.0, 5.0), 0.0, 0.0),
    ],
)
def test_thresholds(predicted: Xyxy, ap50: float, ap70: float) -> None:
    found = average_precision([image("a", [true(BOX)], [guess(predicted)])], "primary")
    assert found == AveragePrecision(ap50, ap70, truths=1, predictions=1)


@pytest.mark.parametrize(
    ("width", "height", "part"),
    [(10, 10, 7), (100, 30, 70), (640, 480, 448), (1000, 3, 700), (30, 7, 21), (50, 11, 35), (90, 13, 63)],
)
def test_seven_tenths_exactly(width: int, height: int, part: int) -> None:
    """Whatever the size, the quotient of the areas is the double 0.7, and found at 0.7."""
    found = average_precision([image("a", [true((0, 0, width, height))], [guess((0, 0, part, height))])], "primary")
    assert found.ap70 == 1.0


def test_two_of_four_boxes_found() -> None:
    truth = [true((x, 0.0, x + 10, 10.0)) for x in (0.0, 20.0, 40.0, 60.0)]
    predicted = [guess(truth[0].box), guess(truth[1].box)]
    # Precision 1 up to recall 1/2: 51 of 101 levels.
    assert average_precision([image("a", truth, predicted)], "primary").ap50 == pytest.approx(51 / 101)


def test_a_second_prediction_of_a_found_box_is_wrong() -> None:
    truth = [true(BOX), true(FAR)]
    predicted = [guess(BOX), guess(BOX), guess(FAR)]
    # Precision 1 up to recall 1/2, then 2/3.
    expected = (51 * 1 + 50 * 2 / 3) / 101
    assert average_precision([image("a", truth, predicted)], "primary").ap50 == pytest.approx(expected)


def test_without_scores_the_order_of_emission_decides() -> None:
    right_first = image("a", [true(BOX)], [guess(BOX), guess(FAR)])
    wrong_first = image("a", [true(BOX)], [guess(FAR), guess(BOX)])
    assert average_precision([right_first], "primary").ap50 == 1.0
    assert average_precision([wrong_first], "primary").ap50 == 0.5


def test_without_scores_images_follow_their_ids() -> None:
    good, bad = image("a", [true(BOX)], [guess(BOX)]), image("b", [], [guess(BOX)])
    assert average_precision([bad, good], "primary").ap50 == 1.0
    assert average_precision([replace(bad, image_id="0"), good], "primary").ap50 == 0.5


def test_scores_decide_before_ids() -> None:
    good, bad = image("b", [true(BOX)], [guess(BOX, score=0.9)]), image("a", [], [guess(BOX, score=0.1)])
    assert average_precision([bad, good], "primary").ap50 == 1.0


def test_roles_are_apart() -> None:
    images = [
        image("a", [true(BOX, "primary"), true(FAR, "secondary")], [guess(FAR, "primary"), guess(FAR, "secondary")])
    ]
    assert average_precision(images, "primary").ap50 == 0.0
    assert average_precision(images, "secondary").ap50 == 1.0
    assert mean_average_precision(images) == AveragePrecision(0.5, 0.5, truths=2, predictions=2)


def test_types_ignore_the_others() -> None:
    truth = [true(BOX, type_="logo"), true(FAR, type_="text")]
    both = [image("a", truth, [guess(BOX), guess(FAR)])]
    for box_type, counted in (("logo", 1), ("text", 1)):
        found = average_precision(both, "primary", box_type)
        assert found == AveragePrecision(1.0, 1.0, truths=counted, predictions=2)
    # A prediction that finds nothing is wrong for every type.
    missed = [image("a", truth, [guess((20, 20, 30, 30)), guess(BOX), guess(FAR)])]
    assert average_precision(missed, "primary", "logo").ap50 == 0.5
    assert average_precision(both, "primary", "explicit") == AveragePrecision(None, None, 0, 2)


def test_a_second_prediction_of_an_ignored_box_is_wrong() -> None:
    """Ignored boxes are no crowds, which would swallow any number of predictions."""
    truth = [true(BOX, type_="logo"), true(FAR, type_="text")]
    images = [image("a", truth, [guess(FAR), guess(FAR), guess(BOX)])]
    assert average_precision(images, "primary", "logo").ap50 == 0.5


@pytest.mark.parametrize(
    ("images", "expected"),
    [
        ([image("a", [], [])], AveragePrecision(None, None, 0, 0)),
        ([image("a", [], [guess(BOX)])], AveragePrecision(None, None, 0, 1)),
        ([image("a", [true(BOX)], [])], AveragePrecision(0.0, 0.0, 1, 0)),
        ([image("a", [true(BOX, "secondary")], [])], AveragePrecision(None, None, 0, 0)),
        ([image("a", [true(BOX)], []), image("b", [], [guess(BOX)])], AveragePrecision(0.0, 0.0, 1, 1)),
    ],
)
def test_empty_cases(images: list[BoxImage], expected: AveragePrecision) -> None:
    assert average_precision(images, "primary") == expected
    for found in bootstrap_average_precision(images, "primary", resamples=20):
        assert found.interval is None
        assert found.stderr is None or len(images) > 1


def test_the_mean_of_one_role_is_that_role() -> None:
    images = [image("a", [true(BOX)], [guess(BOX)])]
    assert mean_average_precision(images) == AveragePrecision(1.0, 1.0, 1, 1)
    assert mean_average_precision([image("a", [], [])]) == AveragePrecision(None, None, 0, 0)


def test_more_than_a_hundred_predictions_count() -> None:
    """COCO's own limit of 100 an image would cut the only right one off."""
    wrong = [guess((float(i), 50.0, float(i) + 5, 55.0)) for i in range(150)]
    found = average_precision([image("a", [true(BOX)], [*wrong, guess(BOX)])], "primary")
    assert found.ap50 == pytest.approx(1 / 151)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    average_precision([image("a", [true(BOX)], [guess(BOX)])], "primary")
    print("still here")
    assert capfd.readouterr() == ("still here\n", "")


# --- intervals --------------------------------------------------------------------------------------------------------


def test_the_interval_equals_resampling_images() -> None:
    images = [image_ for seed in range(6) for image_ in corpus(seed, True)]
    images = [replace(item, image_id=str(number)) for number, item in enumerate(images)]
    rng = np.random.default_rng(5)
    values = []
    for _ in range(400):
        drawn = [images[i] for i in rng.integers(0, len(images), size=len(images))]
        value = by_hand([replace(item, image_id=f"{n:03}") for n, item in enumerate(drawn)], "primary", None, 0.5)
        if value is not None:
            values.append(value)
    low, high = np.quantile(values, [0.025, 0.975])
    at_50, at_70 = bootstrap_average_precision(images, "primary", resamples=1000)
    assert at_50.interval is not None and at_70.interval is not None
    assert at_50.interval == pytest.approx((low, high), abs=0.05)
    assert at_50.stderr == pytest.approx(np.std(values, ddof=1), rel=0.15)
    found = average_precision(images, "primary")
    assert at_50.interval.low < (found.ap50 or 0) < at_50.interval.high
    assert at_70.interval.low < (found.ap70 or 0) < at_70.interval.high
    assert (at_50, at_70) == bootstrap_average_precision(images, "primary")
    assert (at_50, at_70) != bootstrap_average_precision(images, "primary", resamples=1001)


@given(st.integers(0, 10**9), st.booleans(), st.sampled_from(ROLES), st.sampled_from([None, *BOX_TYPES]))
@settings(max_examples=30)
def test_every_resample_is_scored_like_the_images_that_were_drawn(
    seed: int, scored: bool, role: Role, box_type: BoxType | None
) -> None:
    images = sorted(corpus(seed, scored), key=lambda item: item.image_id)
    drawn: list[np.ndarray] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boxes, "of_resamples", lambda values, *_: drawn.append(values))
        bootstrap_average_precision(images, role, box_type, resamples=4, seed=seed)
    if not any(t.role == role and box_type in (None, t.type) for item in images for t in item.truth):
        assert drawn == []
        return
    rng = np.random.default_rng(seed)
    for resample in range(4):
        chosen = sorted(rng.integers(0, len(images), size=len(images)))
        copies = [replace(images[i], image_id=f"{place:02}") for place, i in enumerate(chosen)]
        for values, threshold in zip(drawn, (0.5, 0.7), strict=True):
            expected = by_hand(copies, role, box_type, threshold)
            if scored:
                assert values[resample] == pytest.approx(
                    np.nan if expected is None else expected, abs=1e-9, nan_ok=True
                )
            else:  # copies of an image stand together, prediction by prediction instead of image by image
                assert np.isnan(values[resample]) == (expected is None)


def test_the_interval_of_a_recall_is_that_of_binomial_draws() -> None:
    """Half of 100 images have their box found and no other prediction: k found are precision 1 up to recall k/100."""
    images = [image(f"{i:02}", [true(BOX)], [guess(BOX)] if i % 2 else []) for i in range(100)]
    found = tuple(each.interval for each in bootstrap_average_precision(images, "primary", confidence=0.45))
    recalls = binom.ppf([0.275, 0.725], 100, 0.5) / 100
    expected = [np.count_nonzero(np.linspace(0, 1, 101) <= recall) / 101 for recall in recalls]
    assert found == (pytest.approx(tuple(expected), abs=1e-9),) * 2


def test_a_perfect_model_has_no_interval() -> None:
    """All resamples are perfect too; an interval from 1 to 1 would say that no image can be missed."""
    images = [image(str(i), [true(BOX)], [guess(BOX)]) for i in range(5)]
    assert [each.interval for each in bootstrap_average_precision(images, "primary", resamples=10)] == [None, None]


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("images", "role", "box_type", "message"),
    [
        ([], "primary", None, "no images"),
        ([image("a", [], [])], "tertiary", None, "role is 'tertiary'"),
        ([image("a", [], [])], "primary", "hybrid", "box_type is 'hybrid'"),
        ([image("a", [], []), image("a", [], [])], "primary", None, "image 'a' is there twice"),
        ([image("a", [true((5, 0, 5, 9))], [])], "primary", None, "image 'a': truth has the box"),
        ([image("a", [true((0, 9, 5, 9))], [])], "primary", None, "image 'a': truth has the box"),
        ([image("b", [], [guess((5, 0, 4, 9))])], "primary", None, "image 'b': predicted has the box"),
        ([image("b", [], [guess((0, 0, float("nan"), 9))])], "primary", None, "all finite"),
        ([image("b", [], [guess(BOX, score=float("inf"))])], "primary", None, "a score is inf"),
        ([image("b", [], [guess((0, 0, 1))])], "primary", None, "predicted has the box"),
        ([image("b", [true(BOX, type_="odd")], [])], "primary", None, "unknown type 'odd'"),
        ([image("b", [true(BOX, "odd")], [])], "primary", None, "unknown role 'odd'"),
    ],
)
def test_refusals(images: list[BoxImage], role: Any, box_type: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        average_precision(images, role, box_type)


@pytest.mark.parametrize("options", [{"resamples": 0}, {"confidence": 1.0}, {"confidence": 0.0}])
def test_refusals_of_the_interval(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        bootstrap_average_precision([image("a", [true(BOX)], [])], "primary", **options)


def test_signature() -> None:
    assert signature().startswith("pycocotools:2.")
