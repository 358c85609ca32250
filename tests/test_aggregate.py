"""Aggregators: order-free, intervals around the value, and a failure that does not lose the run."""

from __future__ import annotations

import json
import math
import pickle
import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from loguru import logger

from figlang_tasks import aggregate, explanations
from figlang_tasks.explanations import Explained
from figlang_tasks.metrics.intervals import Interval

LABELS = [(1, 1)] * 30 + [(1, 0)] * 10 + [(0, 0)] * 25 + [(0, 1)] * 10 + [(0, None)] * 5
ROWS = [
    Explained(f"row {index}", gold, predicted, "The lawyer has fins.", f"It is shark number {index}.", f"claim {index}")
    for index, (gold, predicted) in enumerate(LABELS)
]


@pytest.fixture
def scored() -> Iterator[explanations.Session]:
    with explanations.session("embedded", ROWS) as session:
        yield session


@pytest.fixture
def without_scores() -> Iterator[None]:
    with explanations.session("off", ROWS):
        yield


@pytest.mark.usefixtures("without_scores")
def test_f1_at_0_without_scores_counts_labels_and_no_label_as_the_wrong_one() -> None:
    # entailment: tp 30, fp 15, fn 10; contradiction: tp 25, fp 10, fn 15
    assert aggregate.f1_at_0(ROWS) == pytest.approx((60 / 85 + 50 / 75) / 2)


@pytest.mark.usefixtures("without_scores")
@pytest.mark.parametrize("name", ["f1_at_53", "f1_at_60", "explanation_score"])
@pytest.mark.parametrize("end", ["", "_ci_low", "_ci_high"])
def test_what_needs_scores_has_no_value_without_them(name: str, end: str) -> None:
    assert getattr(aggregate, name + end)(ROWS) is None


@pytest.mark.parametrize("name", ["f1_at_0", "f1_at_53", "explanation_score"])
@pytest.mark.parametrize("end", ["", "_ci_low", "_ci_high"])
@pytest.mark.usefixtures("scored")
def test_order_of_the_records_does_not_matter(name: str, end: str) -> None:
    shuffled = random.Random(0).sample(ROWS, len(ROWS))
    assert getattr(aggregate, name + end)(ROWS) == getattr(aggregate, name + end)(shuffled)


@pytest.mark.usefixtures("scored")
@pytest.mark.parametrize(
    ("name", "records"), [("f1_at_0", ROWS), ("mean", [1.0] * 60 + [0.0] * 40), ("explanation_score", ROWS)]
)
def test_the_interval_holds_the_value(name: str, records: list) -> None:
    low, value, high = (getattr(aggregate, name + suffix)(records) for suffix in ("_ci_low", "", "_ci_high"))
    assert 0 <= low < value < high <= 1
    assert high - low < 0.25


def of_phrases(values: list[float], rows_of_each: int) -> list[aggregate.OfUnit]:
    return [aggregate.OfUnit(value, f"phrase {at // rows_of_each}") for at, value in enumerate(values)]


def interval(records: list[aggregate.OfUnit] | list[float]) -> Interval:
    low, high = aggregate.mean_ci_low(records), aggregate.mean_ci_high(records)
    assert low is not None and high is not None
    return Interval(low, high)


def test_a_mean_is_rounded_once_whatever_the_order() -> None:
    values = [0.1] * 10 + [1e16, 3.0, -1e16]
    assert aggregate.mean(values) == aggregate.mean(values[::-1]) == 4.0 / 13


@pytest.mark.parametrize("rows", [8, 100])
def test_all_right_is_no_certainty(rows: int) -> None:
    assert interval([1.0] * rows) == (pytest.approx(rows / (rows + 1.959964**2)), 1.0)  # Wilson's closed form


def test_rows_of_one_phrase_count_together() -> None:
    values = [float(at % 30 < 18) for at in range(300)]  # right or wrong by phrase
    alone, together = interval(values), interval(of_phrases(values, 6))
    assert together.low < alone.low < 0.6 < alone.high < together.high
    assert together == pytest.approx(interval(values[::6]), abs=0.01)  # 50 phrases are the evidence of 50 rows
    shuffled = random.Random(0).sample(of_phrases(values, 6), 300)
    assert interval(shuffled) == interval(of_phrases(values, 6))


@pytest.mark.usefixtures("scored")
@pytest.mark.parametrize("name", ["f1_at_0", "explanation_score"])
def test_rows_of_one_claim_count_together(name: str) -> None:
    def width(rows: list[Explained]) -> float:
        return getattr(aggregate, f"{name}_ci_high")(rows) - getattr(aggregate, f"{name}_ci_low")(rows)

    repeated = [row for row in ROWS for _ in range(4)]
    of_claims = width(repeated)
    as_if_independent = width([replace(row, unit=f"{row.unit}, {at}") for at, row in enumerate(repeated)])
    assert of_claims == pytest.approx(width(ROWS), rel=0.05)
    assert as_if_independent == pytest.approx(width(ROWS) / 2, rel=0.06)


def test_numbers_keep_their_unit_from_process_to_process() -> None:
    sent = pickle.loads(pickle.dumps(aggregate.OfUnit(1.0, "as busy as a bee")))
    assert (sent, sent.unit, json.dumps(sent)) == (1.0, "as busy as a bee", "1.0")


def test_ends_know_the_unit_too_and_records_that_are_no_numbers_stay() -> None:
    found = aggregate.with_ends({"acc": 1.0, "p@k": ROWS[0]}, "a phrase")
    assert list(found) == ["acc", "acc_ci_low", "acc_ci_high", "p@k", "p@k_ci_low", "p@k_ci_high"]
    assert found["acc_ci_low"].unit == "a phrase" and found["p@k_ci_high"] is ROWS[0]


@pytest.mark.usefixtures("without_scores")
def test_a_failure_is_logged_with_its_cause_and_gives_nan() -> None:
    messages: list[str] = []
    sink = logger.add(messages.append, format="{message}\n{exception}")
    try:
        value = aggregate.f1_at_0([Explained("x", 1, 7, "", "", "x")])
        assert value is not None and math.isnan(value)
    finally:
        logger.remove(sink)
    assert "aggregation f1_at_0 failed; its value is NaN" in messages[0]
    assert "ValueError" in messages[0]
