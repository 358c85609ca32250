"""Estimates of what people would say of all rows are wrong, or too sure, if these tests fail.

Expected values are those of ppi-python 0.2.3 (where it is installed, it is asked again), counted by
hand, or what a simulation with a known truth must give.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from figlang_tasks.metrics.classification import confusion_cells, macro_f1
from figlang_tasks.metrics.draw import Draw
from figlang_tasks.metrics.prediction_powered import (
    Powered,
    bootstrap,
    difference,
    expected_judgements,
    mean,
    needed_labels,
)

PPI_PYTHON_VALUE = 0.5939256321815658
PPI_PYTHON_ERROR = 0.05562066981740435


def simple_draw(rows: int, judged: int) -> Draw:
    """A draw of the first of some independent rows."""
    return Draw([str(row) for row in range(rows)], ["all"] * rows, np.arange(rows) < judged)


def example() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Judgements of 200 rows of which 40 are judged, what a machine predicts, and what counts."""
    row = np.arange(200)
    judgements = (row * 7 % 10 < 6).astype(float)
    predictions = 0.3 + 0.4 * judgements + 0.2 * np.sin(row)
    return judgements, predictions, (row < 40).astype(float)


def example_mean() -> Powered:
    return mean(simple_draw(200, 40), *example())


def test_the_mean_is_that_of_ppi_python() -> None:
    # ppi_mean_pointestimate and half of ppi_mean_ci(alpha=.05) / 1.959964 of the example, with
    # version 0.2.3; its error divides by n, ours by n - 1.
    estimate = example_mean()
    assert estimate.value == pytest.approx(PPI_PYTHON_VALUE, abs=1e-9)
    assert estimate.error * (39 / 40) ** 0.5 == pytest.approx(PPI_PYTHON_ERROR, abs=1e-9)
    assert estimate.labels_value == pytest.approx(0.6)


@pytest.mark.parametrize("noise", [0.1, 0.5, 5.0])
def test_the_mean_is_that_of_the_installed_ppi_python(noise: float) -> None:
    ppi_py = pytest.importorskip("ppi_py")
    rng = np.random.default_rng(5)
    judgements = (rng.random(400) < 0.6).astype(float)
    predictions = judgements + noise * rng.normal(size=400)
    estimate = mean(simple_draw(400, 50), judgements, predictions, (np.arange(400) < 50) * 1.0)
    theirs = ppi_py.ppi_mean_pointestimate(judgements[:50], predictions[:50], predictions[50:])
    assert estimate.value == pytest.approx(float(theirs[0]), abs=1e-9)


def test_useless_predictions_change_nothing() -> None:
    judgements, _, counts = example()
    for predictions in (np.full(200, 0.4), -judgements):  # constant, and the wrong way round
        estimate = mean(simple_draw(200, 40), judgements, predictions, counts)
        assert estimate.tuning == 0
        assert estimate.value == estimate.labels_value
        assert estimate.interval == estimate.labels_interval
        assert estimate.effective_labels == 40


def test_the_shift_of_biased_predictions_changes_nothing() -> None:
    judgements, predictions, counts = example()
    shifted = mean(simple_draw(200, 40), judgements, predictions - 7, counts)
    assert shifted.value == pytest.approx(example_mean().value, abs=1e-12)
    assert shifted.error == pytest.approx(example_mean().error, abs=1e-12)


def test_a_perfect_machine_gives_the_mean_of_nearly_all_rows() -> None:
    judgements, _, counts = example()
    estimate = mean(simple_draw(200, 40), judgements, judgements, counts)
    assert estimate.value == pytest.approx(judgements.mean(), abs=1e-9)
    assert estimate.effective_labels == pytest.approx(200, rel=0.02)


def test_all_rows_judged_are_counted() -> None:
    judgements, predictions, _ = example()
    estimate = mean(simple_draw(200, 200), judgements, predictions, np.ones(200))
    assert estimate.value == pytest.approx(judgements.mean())
    assert estimate.effective_labels == 200


def test_only_rows_that_count_make_the_share() -> None:
    judgements, predictions, counts = example()
    counts[:10] = 0
    estimate = mean(simple_draw(200, 40), judgements, predictions, counts)
    assert estimate.labels == 30
    assert estimate.labels_value == judgements[10:40].mean()
    judgements[:10] = 1 - judgements[:10]
    assert mean(simple_draw(200, 40), judgements, predictions, counts) == estimate


def test_a_draw_by_source_is_weighted_by_the_rows_of_each_source() -> None:
    # 30 of 60 rows of "a" are judged, all adequate; 10 of 140 rows of "b", none of them.
    strata = ["a"] * 60 + ["b"] * 140
    is_judged = np.array([True] * 30 + [False] * 30 + [True] * 10 + [False] * 130)
    judgements = np.array([1.0] * 60 + [0.0] * 140)
    draw = Draw([str(row) for row in range(200)], strata, is_judged)
    estimate = mean(draw, judgements, np.zeros(200), is_judged * 1.0)
    assert estimate.value == pytest.approx(60 / 200)
    with pytest.raises(ValueError, match="no row of b is judged"):
        Draw(draw.units, strata, is_judged & (np.arange(200) < 60))


def test_rows_of_one_unit_are_not_independent() -> None:
    # Each judged row is there twice: half as many units, so the variance is double.
    judgements = np.array([1.0, 1.0, 0.0, 0.0] * 20)
    counts = np.ones(80)
    pairs = Draw([str(row // 2) for row in range(80)], ["all"] * 80, counts > 0)
    alone = mean(simple_draw(80, 80), judgements, np.zeros(80), counts)
    together = mean(pairs, judgements, np.zeros(80), counts)
    assert together.error**2 == pytest.approx(2 * alone.error**2)


def test_a_difference_of_equal_systems_has_no_interval_and_of_others_is_that_of_their_means() -> (
    None
):
    judgements, predictions, counts = example()
    draw = simple_draw(200, 40)
    other = np.roll(judgements, 1)
    same = difference(draw, (judgements,) * 2, (predictions,) * 2, (counts,) * 2)
    assert (same.value, same.interval) == (0, None)
    paired = difference(draw, (judgements, other), (judgements, other), (counts,) * 2)
    assert paired.value == pytest.approx(other.mean() - judgements.mean(), abs=1e-9)


def test_macro_f1_of_the_judgements_is_corrected_towards_that_of_all_rows() -> None:
    judgements, _, counts = example()
    gold = (np.arange(200) % 3 > 0).astype(int)
    cells = confusion_cells(gold, judgements)
    value = partial(macro_f1, skip_absent=True)
    draw = simple_draw(200, 40)
    perfect = bootstrap(draw, cells * counts[:, None], cells, value, 40, resamples=1000)
    assert perfect.labels_value == pytest.approx(float(value(cells[:40].sum(axis=0))))
    assert perfect.value == pytest.approx(float(value(cells.sum(axis=0))))
    assert perfect.tuning == pytest.approx(0.8)  # of 200 rows, 160 are not judged
    assert perfect.effective_labels == pytest.approx(200, rel=0.15)
    constant = np.tile([0.25, 0.25, 0.25, 0.25], (200, 1))
    useless = bootstrap(draw, cells * counts[:, None], constant, value, 40, resamples=1000)
    assert useless.interval == useless.labels_interval


def test_a_row_does_not_predict_itself() -> None:
    # Of a least-squares line through the other rows, each computed anew.
    rng = np.random.default_rng(2)
    scores = rng.normal(size=40)
    judgements = (rng.random(40) < 0.5 + 0.2 * np.tanh(scores)).astype(float)
    is_counted = np.arange(40) < 30
    expected = expected_judgements(scores, judgements, is_counted)
    for row in (0, 7, 29):
        others = is_counted & (np.arange(40) != row)
        line = np.polyfit(scores[others], judgements[others], 1)
        assert expected[row] == pytest.approx(np.clip(np.polyval(line, scores[row]), 0, 1))
    line = np.polyfit(scores[is_counted], judgements[is_counted], 1)
    assert expected[35] == pytest.approx(np.clip(np.polyval(line, scores[35]), 0, 1))
    without_scores = expected_judgements(np.full(40, np.nan), judgements, is_counted)
    assert without_scores[35] == judgements[:30].mean()


def test_intervals_of_good_scores_contain_the_truth_and_are_narrow() -> None:
    # 300 samples: 95 % has a standard error of 1.3 points.
    rng = np.random.default_rng(11)
    draw = simple_draw(500, 60)
    counts = (np.arange(500) < 60) * 1.0
    hits = 0
    widths: list[tuple[float, float]] = []
    for _ in range(300):
        judgements = (rng.random(500) < 0.6).astype(float)
        scores = judgements + 0.6 * rng.normal(size=500)
        expected = expected_judgements(scores, judgements, counts > 0)
        estimate = mean(draw, judgements, expected, counts)
        assert estimate.interval is not None and estimate.labels_interval is not None
        hits += estimate.interval.low <= 0.6 <= estimate.interval.high
        widths.append((np.ptp(estimate.interval), np.ptp(estimate.labels_interval)))
    powered_width, labels_width = np.mean(widths, axis=0)
    assert 0.91 <= hits / 300 <= 0.99
    # The scores' correlation with what people say is .63: sqrt(1 - .63**2 * 440 / 500) = .81.
    assert powered_width == pytest.approx(0.81 * labels_width, rel=0.03)


def test_as_many_labels_are_needed_as_wilson_says() -> None:
    # Without scores: 1.96**2 * .25 / .05**2 - 1.96**2 = 380.3 (Wilson's half width of 5 points).
    assert needed_labels(0.1, 0.5, 0.0, 10**6) == 381
    # A correlation of .5 saves a quarter where rows abound; of 300 rows no number is enough.
    assert needed_labels(0.1, 0.5, 0.5, 10**6) == pytest.approx(0.75 * 381, abs=2)
    assert needed_labels(0.1, 0.5, 0.0, 300) is None
