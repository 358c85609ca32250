"""Finds measures by the names that command lines and data files use, and writes their values for
people.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.scoring import OVERALL, Estimate, Estimates, Measure, full_name
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
    """All measures of all benchmarks, each also of a language model's readings.

    Several may share a name, and then agree in all but descriptions, sources and scopes.
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
def _by_full_name() -> Mapping[str, tuple[Measure, str]]:
    """Measure and scope of every full name; of measures that share a name the first."""
    found: dict[str, tuple[Measure, str]] = {}
    for measure in all_measures():
        scopes = measure.scopes.names if measure.scopes else ()
        for scope in (OVERALL, *scopes):
            found.setdefault(full_name(measure.name, scope), (measure, scope))
    return found


def find_measure(name: str) -> tuple[Measure, str] | None:
    """Measure and scope that a full name means (``f1@60_muse``); None if no benchmark has it."""
    return _by_full_name().get(name)


def measure_of(name: str) -> Measure:
    """The measure that a full name means; one of the user's own is no share, and more of it is
    better.
    """
    measure_and_scope = find_measure(name)
    if measure_and_scope is not None:
        return measure_and_scope[0]
    return Measure(
        name,
        description="A metric of your own.",
        source="your task file",
        estimate_of=lambda records, scope: None,
        percent=False,
    )


def headline_metric(names: Iterable[str], declared: Mapping[str, Measure] | None = None) -> str:
    """The metric that stands for a task in tables, comparisons, reports and model cards; "" without
    any.

    It is the one whose declared role is headline. Where that has no value (F1@60 without
    explanation scores), or none is declared, it is the first that is not diagnostic.

    Args:
        declared: the measures of the task by name, where it is known.
    """

    def order(name: str) -> tuple[bool, bool]:
        measure = measure_of(name) if declared is None else declared[name]
        return measure.order

    return min(names, key=order, default="")


def name_text(name: str) -> str:
    """A metric as people read it: ``f1@60``; of a part of the rows ``f1@60 of MuSE``."""
    measure_and_scope = find_measure(name)
    if measure_and_scope is None:
        return name
    measure, scope = measure_and_scope
    return name if scope == OVERALL else f"{measure.name} of {scope_text(scope)}"


def name_with_arrow(name: str) -> str:
    """A name as the head of a column, with an arrow to better values; of a measure of the user's
    own without.
    """
    if find_measure(name) is None:
        return name
    return f"{name_text(name)} {measure_of(name).arrow}"


def scope_text(scope: str) -> str:
    """A part of a benchmark as people read it: ``HAIVMet (vismet)``; as it is where no benchmark
    names it.
    """
    return _scope_texts().get(scope, scope)


@cache
def _scope_texts() -> Mapping[str, str]:
    """The names of parts that benchmarks declare, by scope; of several the first."""
    text_by_scope: dict[str, str] = {}
    for benchmark in benchmarks().values():
        for scope, part in benchmark.parts.of.items():
            text_by_scope.setdefault(scope, part.name)
    return text_by_scope


def scopes_overlap(estimates: Estimates) -> bool:
    """Whether a row counts in several parts."""
    for scopes in estimates.values():
        rows = {scope: estimate.rows or 0 for scope, estimate in scopes.items()}
        if 0 < rows.pop(OVERALL, 0) < sum(rows.values()):
            return True
    return False


def value_text(measure: str, value: float) -> str:
    """A value as people read it."""
    return measure_of(measure).text(value)


def estimate_text(measure: str, estimate: Estimate, n: int | None = None) -> str:
    """A value with its interval, as people read it: ``57.0 [55.1, 58.9]``."""
    if math.isnan(estimate.value):
        return "failed, see the log"
    words = value_text(measure, estimate.value)
    limits = [
        value_text(measure, limit) for limit in (estimate.low, estimate.high) if limit is not None
    ]
    if limits:
        words += f" [{', '.join(limits)}]"
    if n is not None and estimate.rows not in (None, n):
        words += f" (n {estimate.rows})"
    return words
