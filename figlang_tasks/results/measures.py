"""Finds measures by the names that command lines and data files use; writes values for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.scoring import OVERALL, Estimate, Estimates, Measure, Record, full_name
from figlang_tasks.scoring.read_by_model import read_by_model


class MetricScope(NamedTuple):
    """A metric, and the scope that it has a value in: ``f1@60`` and ``muse``."""

    metric: str
    scope: str

    @property
    def name(self) -> str:
        """Both in one word: ``f1@60_muse``; ``f1@60`` for all rows."""
        return full_name(self.metric, self.scope)


def all_measures() -> Iterator[Measure]:
    """All measures of all benchmarks, each also as computed from a language model's readings.

    Several may share a name; they then agree in all but descriptions, sources and scopes.
    """
    for benchmark in benchmarks().values():
        for task in benchmark.tasks:
            for measure in task.measures.all:
                yield measure
                if measure.estimate_of is None:
                    yield read_by_model(measure)
            for board in task.boards:
                yield from board.all


@cache
def _measures_by_name() -> Mapping[str, tuple[Measure, str]]:
    """The measure and scope behind each metric name; of measures with one name the first."""
    measures: dict[str, tuple[Measure, str]] = {}
    for measure in all_measures():
        scopes = measure.scopes.names if measure.scopes else ()
        for scope in (OVERALL, *scopes):
            measures.setdefault(full_name(measure.name, scope), (measure, scope))
    return measures


def find_measure(name: str) -> tuple[Measure, str] | None:
    """The measure and scope that a name stands for: ``f1@60_muse``; None if no benchmark has it."""
    return _measures_by_name().get(name)


def measure_of(name: str) -> Measure:
    """The measure that a metric name stands for; any other name is a metric of the user's own.

    Such a metric is no share, and more of it is better.
    """
    measure_and_scope = find_measure(name)
    if measure_and_scope is not None:
        return measure_and_scope[0]
    return Measure(
        name,
        description="A metric of your own.",
        source="your task file",
        estimate_of=_no_estimate,
        percent=False,
    )


def _no_estimate(records: Sequence[Record], scope: str) -> Estimate | None:
    """No estimate: how a metric of the user's own is computed is unknown here."""
    return None


def headline_metric(names: Iterable[str], declared: Mapping[str, Measure] | None = None) -> str:
    """The metric that stands for a task in tables, reports and model cards; "" without any.

    It is the one whose declared role is headline. If that has no value (F1@60 without explanation
    scores), or none is declared, it is the first that is not diagnostic.

    Args:
        names: the metrics that have a value.
        declared: the measures of the task by name, if it is known.
    """

    def order(name: str) -> tuple[bool, bool]:
        measure = measure_of(name) if declared is None else declared[name]
        return measure.order

    return min(names, key=order, default="")


# --- texts for people ---


def name_text(name: str) -> str:
    """A metric as people read it: ``f1@60``, or ``f1@60 of MuSE`` for one scope."""
    measure_and_scope = find_measure(name)
    if measure_and_scope is None:
        return name
    measure, scope = measure_and_scope
    return name if scope == OVERALL else f"{measure.name} of {scope_text(scope)}"


def name_with_arrow(name: str) -> str:
    """A metric as the head of a column, with an arrow that points to better values.

    A metric of the user's own has no arrow.
    """
    if find_measure(name) is None:
        return name
    return f"{name_text(name)} {measure_of(name).arrow}"


def scope_text(scope: str) -> str:
    """A scope as people read it: ``HAIVMet (vismet)``; unchanged if no benchmark names it."""
    return _scope_texts().get(scope, scope)


@cache
def _scope_texts() -> Mapping[str, str]:
    """The names that benchmarks give to scopes; the first of several."""
    text_by_scope: dict[str, str] = {}
    for benchmark in benchmarks().values():
        for scope, part in benchmark.parts.of.items():
            text_by_scope.setdefault(scope, part.name)
    return text_by_scope


def scopes_overlap(estimates: Estimates) -> bool:
    """Whether a row counts in several scopes of a metric."""
    for estimate_by_scope in estimates.values():
        rows_by_scope = {scope: estimate.rows or 0 for scope, estimate in estimate_by_scope.items()}
        overall_rows = rows_by_scope.pop(OVERALL, 0)
        if 0 < overall_rows < sum(rows_by_scope.values()):
            return True
    return False


def value_text(metric: str, value: float) -> str:
    """The value of a metric as people read it: shares in percent."""
    return measure_of(metric).text(value)


def estimate_text(metric: str, estimate: Estimate, n: int | None = None) -> str:
    """The value of a metric with its interval: ``57.0 [55.1, 58.9]``.

    Args:
        n: the number of rows that the reader assumes; another one is added: ``57.0 (n 12)``.
    """
    if math.isnan(estimate.value):
        return "failed, see the log"
    text = value_text(metric, estimate.value)
    known_limits = [limit for limit in (estimate.low, estimate.high) if limit is not None]
    if known_limits:
        text += f" [{', '.join(value_text(metric, limit) for limit in known_limits)}]"
    if n is not None and estimate.rows not in (None, n):
        text += f" (n {estimate.rows})"
    return text
