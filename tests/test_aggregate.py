"""Aggregators: order-free, intervals around the value, and a failure that does not lose the run."""

from __future__ import annotations

import math
import random

import pytest
from loguru import logger

from figlang_tasks import aggregate

PAIRS = [(1, 1)] * 30 + [(1, 0)] * 10 + [(0, 0)] * 25 + [(0, 1)] * 10 + [(0, None)] * 5


def test_macro_f1_counts_no_label_as_the_wrong_one() -> None:
    # entailment: tp 30, fp 15, fn 10; contradiction: tp 25, fp 10, fn 15
    assert aggregate.macro_f1(PAIRS) == pytest.approx((60 / 85 + 50 / 75) / 2)


@pytest.mark.parametrize("name", ["macro_f1", "macro_f1_ci_low", "macro_f1_ci_high"])
def test_order_of_the_records_does_not_matter(name: str) -> None:
    shuffled = random.Random(0).sample(PAIRS, len(PAIRS))
    assert getattr(aggregate, name)(PAIRS) == getattr(aggregate, name)(shuffled)


@pytest.mark.parametrize(("name", "records"), [("macro_f1", PAIRS), ("mean", [1.0] * 60 + [0.0] * 40)])
def test_the_interval_holds_the_value(name: str, records: list) -> None:
    low, value, high = (getattr(aggregate, name + suffix)(records) for suffix in ("_ci_low", "", "_ci_high"))
    assert 0 <= low < value < high <= 1
    assert high - low < 0.25


def test_a_failure_is_logged_with_its_cause_and_gives_nan() -> None:
    messages: list[str] = []
    sink = logger.add(messages.append, format="{message}\n{exception}")
    try:
        assert math.isnan(aggregate.macro_f1([(1, 7)]))
    finally:
        logger.remove(sink)
    assert "aggregation macro_f1 failed; its value is NaN" in messages[0]
    assert "ValueError" in messages[0]
