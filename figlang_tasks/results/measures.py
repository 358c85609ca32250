"""Finds measures: of the records of a run, and by the names that command lines and data files use."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator
from functools import cache

from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.scoring import OVERALL, Estimate, Estimates, Measure, Measures, full_name
from figlang_tasks.scoring.read_by_model import read_by_model


def every() -> Iterator[Measure]:
    """All measures of all benchmarks, each also of a language model's readings.

    Several may share a name, and then agree in all but scopes.
    """
    for benchmark in benchmarks().values():
        for found in vars(sys.modules[benchmark.measures.__module__]).values():
            if isinstance(found, Measures):
                for measure in found.all:
                    yield measure
                    if measure.estimate_of is None:
                        yield read_by_model(measure)


@cache
def named(name: str) -> tuple[Measure, str] | None:
    """Measure and scope that a full name tells (``f1@60_muse``); None if the measure does not exist."""
    for measure in every():
        for scope in (OVERALL, *(measure.scopes.names if measure.scopes else ())):
            if name == full_name(measure.name, scope):
                return measure, scope
    return None


def of(name: str) -> Measure:
    """The measure that a full name tells; one of the user's own is no share, and more of it is better."""
    found = named(name)
    if found is not None:
        return found[0]
    return Measure(
        name, "A metric of your own.", "your task file", estimate_of=lambda records, scope: None, percent=False
    )


def headline(names: Iterable[str]) -> str:
    """The metric that stands for a task in tables, comparisons, reports and model cards; "" without any.

    It is the one whose declared role is headline. Where that has no value (F1@60 without explanation scores), or none
    is declared, it is the first that is not diagnostic.
    """
    return min(names, key=lambda name: of(name).order, default="")


def name_text(name: str) -> str:
    """A metric as people read it: ``f1@60``; of a part of the rows ``f1@60 of MuSE``."""
    found = named(name)
    if found is None or found[1] == OVERALL:
        return name
    return f"{found[0].name} of {scope_text(found[1])}"


def with_arrow(name: str) -> str:
    """A name as the head of a column, with an arrow to better values; of a measure of the user's own without."""
    found = named(name)
    return name if found is None else f"{name_text(name)} {found[0].arrow}"


def scope_text(scope: str) -> str:
    """A part of a benchmark as people read it: ``HAIVMet (vismet)``; as it is where no benchmark names it."""
    for benchmark in benchmarks().values():
        if scope in benchmark.parts.of:
            return benchmark.parts.of[scope].name
    return scope


def overlap(estimates: Estimates) -> bool:
    """Whether a row counts in several parts."""
    for scopes in estimates.values():
        rows = {scope: each.rows or 0 for scope, each in scopes.items()}
        if 0 < rows.pop(OVERALL, 0) < sum(rows.values()):
            return True
    return False


def text(measure: str, value: float) -> str:
    """A value as people read it."""
    return of(measure).text(value)


def estimate_text(measure: str, estimate: Estimate, n: int | None = None) -> str:
    """A value with its interval, as people read it: ``57.0 [55.1, 58.9]``."""
    if math.isnan(estimate.value):
        return "failed, see the log"
    ends = [text(measure, end) for end in (estimate.low, estimate.high) if end is not None]
    fewer = "" if estimate.rows is None or n is None or estimate.rows == n else f" (n {estimate.rows})"
    return text(measure, estimate.value) + (f" [{', '.join(ends)}]" if ends else "") + fewer
