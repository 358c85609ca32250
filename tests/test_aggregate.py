"""Aggregators: order-free, intervals around the value, and a failure that does not lose the run."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import pytest
from loguru import logger

from figlang_tasks import aggregate, explanations
from figlang_tasks.explanations import Explained

LABELS = [(1, 1)] * 30 + [(1, 0)] * 10 + [(0, 0)] * 25 + [(0, 1)] * 10 + [(0, None)] * 5
ROWS = [
    Explained(f"row {index}", gold, predicted, "The lawyer has fins.", f"It is shark number {index}.")
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


@pytest.mark.usefixtures("without_scores")
def test_a_failure_is_logged_with_its_cause_and_gives_nan() -> None:
    messages: list[str] = []
    sink = logger.add(messages.append, format="{message}\n{exception}")
    try:
        value = aggregate.f1_at_0([Explained("x", 1, 7, "", "")])
        assert value is not None and math.isnan(value)
    finally:
        logger.remove(sink)
    assert "aggregation f1_at_0 failed; its value is NaN" in messages[0]
    assert "ValueError" in messages[0]
