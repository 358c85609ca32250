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

import numpy as np
from loguru import logger

from figlang_tasks.metrics.entailment import confusion_counts, macro_f1_from_counts
from figlang_tasks.metrics.resampling import bootstrap_macro_f1, bootstrap_mean

_Records = TypeVar("_Records")
LabelPair = tuple[int, "int | None"]  # gold, predicted


def aggregator(function: Callable[[_Records], float]) -> Callable[[_Records], float]:
    """Turn a function of all records into an aggregator that never loses a finished run."""

    @functools.wraps(function)
    def safe(records: _Records) -> float:
        try:
            return float(function(records))
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


@aggregator
def macro_f1(records: Sequence[LabelPair]) -> float:
    """Macro F1 over (gold, predicted) pairs; a prediction of None counts as the wrong label."""
    return float(macro_f1_from_counts(_counts(records)))


@aggregator
def macro_f1_ci_low(records: Sequence[LabelPair]) -> float:
    """Lower end of the 95 % bootstrap interval of macro F1."""
    return bootstrap_macro_f1(_counts(records)).low


@aggregator
def macro_f1_ci_high(records: Sequence[LabelPair]) -> float:
    """Upper end of the 95 % bootstrap interval of macro F1."""
    return bootstrap_macro_f1(_counts(records)).high


def _counts(records: Sequence[LabelPair]) -> np.ndarray:
    gold, predicted = zip(*records, strict=True)
    return confusion_counts(gold, predicted)
