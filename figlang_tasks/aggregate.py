"""Aggregators that task YAML files name: pure metrics of ``figlang_tasks.metrics`` over the harness's records.

The harness calls an aggregator once per metric with that metric's records in any order. An exception inside one
would lose every model output of the run (facts of lmms-eval 0.7.3), so a failure is logged with its cause and gives
NaN for that metric alone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from loguru import logger

from figlang_tasks import explanations
from figlang_tasks.explanations import Estimate, Explained
from figlang_tasks.metrics.resampling import bootstrap_mean

_Records = TypeVar("_Records")
ExplainedAggregator = Callable[[Sequence[Explained]], "float | None"]
_Value = TypeVar("_Value", bound="float | None")


def aggregator(function: Callable[[_Records], _Value]) -> Callable[[_Records], _Value | float]:
    """Turn a function of all records into an aggregator that never loses a finished run."""

    @functools.wraps(function)
    def safe(records: _Records) -> _Value | float:
        try:
            return function(records)
        except Exception:  # whatever it is, the outputs of the run must still be written
            logger.exception(f"figlang_tasks: aggregation {function.__name__} failed; its value is NaN")
            return float("nan")

    return safe


@aggregator
def mean(records: Sequence[float]) -> float:
    """Mean of per-sample values."""
    return math.fsum(records) / len(records)  # exactly rounded, so the order of the records does not matter


@aggregator
def mean_ci_low(records: Sequence[float]) -> float:
    """Lower end of the 95 % bootstrap interval of the mean."""
    return bootstrap_mean(records).low


@aggregator
def mean_ci_high(records: Sequence[float]) -> float:
    """Upper end of the 95 % bootstrap interval of the mean."""
    return bootstrap_mean(records).high


# --- explanations: None takes a metric out of the results (the scorer is off, or could not run) ------------------


def _explained(name: str, estimate: Callable[[Sequence[Explained]], Estimate | None]) -> list[ExplainedAggregator]:
    """Aggregators of a metric's value and of the ends of its 95 % bootstrap interval."""

    def reading(end: str, suffix: str) -> ExplainedAggregator:
        def read(records: Sequence[Explained]) -> float | None:
            found = estimate(records)
            return None if found is None else float(getattr(found, end))

        read.__name__ = name + suffix
        return aggregator(read)

    return [reading("value", ""), reading("low", "_ci_low"), reading("high", "_ci_high")]


def _f1_at(threshold: float) -> Callable[[Sequence[Explained]], Estimate | None]:
    def estimate(records: Sequence[Explained]) -> Estimate | None:
        scores = explanations.current(records).scores(records)
        if scores is None and threshold > 0:
            return None
        return explanations.f1_at(records, scores, threshold)

    return estimate


def _mean_score(records: Sequence[Explained]) -> Estimate | None:
    scores = explanations.current(records).scores(records)
    return None if scores is None else explanations.mean_score(scores)


f1_at_0, f1_at_0_ci_low, f1_at_0_ci_high = _explained("f1_at_0", _f1_at(explanations.THRESHOLDS["f1@0"]))
f1_at_53, f1_at_53_ci_low, f1_at_53_ci_high = _explained("f1_at_53", _f1_at(explanations.THRESHOLDS["f1@53"]))
f1_at_60, f1_at_60_ci_low, f1_at_60_ci_high = _explained("f1_at_60", _f1_at(explanations.THRESHOLDS["f1@60"]))
explanation_score, explanation_score_ci_low, explanation_score_ci_high = _explained("explanation_score", _mean_score)
