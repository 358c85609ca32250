"""Aggregators that task YAML files name: pure metrics of ``figlang_tasks.metrics`` over the harness's records.

The harness calls an aggregator once per metric with that metric's records in any order. An exception inside one
would lose every model output of the run (facts of lmms-eval 0.7.3), so a failure is logged with its cause, gives
NaN for that metric alone, and status 1 at the end of our ``lmms_eval`` command.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from loguru import logger

from figlang_tasks import explanations, failures
from figlang_tasks.explanations import Explained
from figlang_tasks.metrics import intervals
from figlang_tasks.metrics.intervals import Estimated

_Records = TypeVar("_Records")
ExplainedAggregator = Callable[[Sequence[Explained]], "float | None"]
_Value = TypeVar("_Value", bound="float | str | None")


def aggregator(function: Callable[[_Records], _Value]) -> Callable[[_Records], _Value | float]:
    """Turn a function of all records into an aggregator that never loses a finished run."""

    @functools.wraps(function)
    def safe(records: _Records) -> _Value | float:
        try:
            return function(records)
        except Exception:  # whatever it is, the outputs of the run must still be written
            logger.exception(f"figlang_tasks: aggregation {function.__name__} failed; its value is NaN")
            failures.note(f"aggregation {function.__name__} failed; its value is NaN, see the log")
            return float("nan")

    return safe


class OfUnit(float):
    """A number of one row, and the unit of the row: what is independent of all other units (a phrase, a claim)."""

    unit: str

    def __new__(cls, value: float, unit: str) -> OfUnit:
        number = super().__new__(cls, value)
        number.unit = unit
        return number

    def __reduce__(self) -> tuple[type[OfUnit], tuple[float, str]]:  # processes send their records to the first one
        return type(self), (float(self), self.unit)


def units_of(records: Sequence[float]) -> list[str]:
    """The unit of each record; a plain number, of a task of the user's own, is a unit of its own."""
    return [record.unit if isinstance(record, OfUnit) else f"row {at}" for at, record in enumerate(records)]


@aggregator
def mean(records: Sequence[float]) -> float:
    """Mean of per-sample values."""
    return math.fsum(records) / len(records)  # exactly rounded, so the order of the records does not matter


@aggregator
def mean_ci_low(records: Sequence[float]) -> float | None:
    """Lower end of the 95 % interval of a share: of the mean of what is 0 or 1 in every row."""
    return _end(records, True, 0)


@aggregator
def mean_ci_high(records: Sequence[float]) -> float | None:
    """Upper end of the 95 % interval of a share."""
    return _end(records, True, 1)


@aggregator
def number_ci_low(records: Sequence[float]) -> float | None:
    """Lower end of the 95 % interval of the mean of any number of each row (a rank, a BLEU score)."""
    return _end(records, False, 0)


@aggregator
def number_ci_high(records: Sequence[float]) -> float | None:
    """Upper end of the 95 % interval of the mean of any number of each row."""
    return _end(records, False, 1)


def _end(records: Sequence[float], is_share: bool, place: int) -> float | None:
    interval = _interval(tuple(map(float, records)), tuple(units_of(records)), is_share)
    return None if interval is None else interval[place]


_interval = functools.lru_cache(maxsize=4)(intervals.mean)  # both ends of an interval are of one bootstrap


# --- metrics of all records at once: the value and the ends of its interval ----------------------------------------

Aggregator = Callable[[Any], "float | None"]


def with_ends(values: Mapping[str, Any], unit: str) -> dict[str, Any]:
    """Return values under their metric's name and those of the ends of its interval, as the harness wants them.

    Args:
        values: of one row, by metric.
        unit: what the row shares with the rows that it is not independent of (a phrase, a claim, an image).
    """
    numbered = {name: OfUnit(value, unit) if isinstance(value, float) else value for name, value in values.items()}
    return {f"{name}{end}": value for name, value in numbered.items() for end in ("", "_ci_low", "_ci_high")}


def aggregators(estimate: Callable[[Any], Estimated | None], name: str | None = None) -> list[Aggregator]:
    """Aggregators of a metric's value and of the ends of its interval; None leaves the metric out.

    Args:
        estimate: of all records as a sorted tuple of tuples; memoised, so that the three share its work.
        name: for messages; default that of `estimate`.
    """

    def reading(place: int) -> Aggregator:
        def read(records: Sequence[Any]) -> float | None:
            found = estimate(tuple(sorted(tuple(record) for record in records)))
            return None if found is None else found[place]

        read.__name__ = (name or estimate.__name__) + ("", "_ci_low", "_ci_high")[place]
        return aggregator(read)

    return [reading(place) for place in range(3)]


def estimate_mean(values: Sequence[float], units: Sequence[str] | None = None, is_share: bool = False) -> Estimated:
    """The mean of values, with its interval; `units`, `is_share` as of ``figlang_tasks.metrics.intervals.mean``."""
    return Estimated.of(mean(values), intervals.mean(values, units, is_share))


def estimate_ratio(numerators: Sequence[float], denominators: Sequence[float], units: Sequence[str]) -> Estimated:
    """The share of all rows' hits among all rows' totals, with its interval."""
    _, sums = intervals.sums_by_unit(units, list(zip(numerators, denominators, strict=True)))
    return Estimated.of(math.fsum(numerators) / sum(denominators), intervals.share(*sums.T))


# --- explanations: None takes a metric out of the results (the scorer is off, or could not run) ------------------


def _explained(name: str, estimate: Callable[[Sequence[Explained]], Estimated | None]) -> list[ExplainedAggregator]:
    """Aggregators of a metric's value and of the ends of its 95 % interval."""

    def reading(place: int, suffix: str) -> ExplainedAggregator:
        def read(records: Sequence[Explained]) -> float | None:
            found = estimate(records)
            return None if found is None else found[place]

        read.__name__ = name + suffix
        return aggregator(read)

    return [reading(place, suffix) for place, suffix in enumerate(("", "_ci_low", "_ci_high"))]


def _metric(name: str) -> Callable[[Sequence[Explained]], Estimated | None]:
    def estimate(records: Sequence[Explained]) -> Estimated | None:
        return explanations.metric(name, records, explanations.current(records).scores(records))

    return estimate


f1_at_0, f1_at_0_ci_low, f1_at_0_ci_high = _explained("f1_at_0", _metric("f1@0"))
f1_at_53, f1_at_53_ci_low, f1_at_53_ci_high = _explained("f1_at_53", _metric("f1@53"))
f1_at_60, f1_at_60_ci_low, f1_at_60_ci_high = _explained("f1_at_60", _metric("f1@60"))
acc_at_0, acc_at_0_ci_low, acc_at_0_ci_high = _explained("acc_at_0", _metric("acc@0"))
acc_at_50, acc_at_50_ci_low, acc_at_50_ci_high = _explained("acc_at_50", _metric("acc@50"))
acc_at_60, acc_at_60_ci_low, acc_at_60_ci_high = _explained("acc_at_60", _metric("acc@60"))
v1_acc_at_50, v1_acc_at_50_ci_low, v1_acc_at_50_ci_high = _explained("v1_acc_at_50", _metric("v1_acc@50"))
v1_acc_at_60, v1_acc_at_60_ci_low, v1_acc_at_60_ci_high = _explained("v1_acc_at_60", _metric("v1_acc@60"))
explanation_score, explanation_score_ci_low, explanation_score_ci_high = _explained(
    "explanation_score", _metric(explanations.MEAN_SCORE)
)


# --- lm-eval: every key of process_results is aggregated, and nothing but aggregators can say what a number is from ---


@aggregator
def data(records: Sequence[Mapping[str, Any]]) -> str:
    """What was read: dataset, part and digest of the texts, and the revision where the records say it."""
    found = {record["data"] + (f" ({record['revision']})" if "revision" in record else "") for record in records}
    return ", ".join(sorted(found))


@aggregator
def explanation_scorer(records: Sequence[Explained]) -> str:
    """Signature of the scorer behind the scores, or what was counted without one."""
    scoring = explanations.current(records)
    scoring.scores(records)
    return scoring.signature or scoring.scheme.without_scorer
