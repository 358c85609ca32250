"""Finds measures by the names that command lines and data files use; writes values for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from loguru import logger

from figlang_tasks.core.benchmark import Benchmark, benchmarks
from figlang_tasks.core.errors import ForeignCodeError
from figlang_tasks.scoring import OVERALL, Estimate, Estimates, Measure, Record, full_name
from figlang_tasks.scoring.read_by_model import SUFFIX, read_by_model

if TYPE_CHECKING:
    from figlang_tasks.core.presentation import Parts
    from figlang_tasks.metrics.significance import Statistic
    from figlang_tasks.scoring.task import Task


class MetricScope(NamedTuple):
    """A metric, and the scope that it has a value in: ``f1@60`` and ``muse``."""

    metric: str
    scope: str

    @property
    def name(self) -> str:
        """Both in one word: ``f1@60_muse``; ``f1@60`` for all rows."""
        return full_name(self.metric, self.scope)


def statistics_by_metric_scope(
    measures: Iterable[Measure], records: Sequence[Record]
) -> dict[MetricScope, Statistic]:
    """The statistic of each measure in each scope; those without a value are left out."""
    statistics: dict[MetricScope, Statistic] = {}
    for measure in measures:
        for scope, statistic in measure.statistics_by_scope(records).items():
            statistics[MetricScope(measure.name, scope)] = statistic
    return statistics


def all_measures() -> Iterator[Measure]:
    """All measures of all benchmarks, also those of leaderboards and of answers read by a model.

    Several may share a name; they then agree in all but descriptions, sources and scopes. A
    benchmark of another package whose code does not work is left out.
    """
    for benchmark in benchmarks().values():
        for task in _working_tasks(benchmark):
            for measure in task.measures.all:
                yield measure
                # `figlang judge read` recomputes values from records, so other metrics have no
                # variant for the answers that a language model has read.
                if measure.is_recomputable:
                    yield read_by_model(measure)
            for leaderboard in task.boards:
                yield from leaderboard.all


@cache
def _working_tasks(benchmark: Benchmark) -> tuple[Task, ...]:
    """The kinds of tasks of a benchmark; none, and a warning, if the code of others fails."""
    try:
        return benchmark.tasks
    except ForeignCodeError as error:
        logger.warning(f"figlang_tasks: {error}")
        return ()


@cache
def _measures_by_name() -> Mapping[str, tuple[Measure, str]]:
    """The measure and the scope of each metric name; the first measure if several share it."""
    measures: dict[str, tuple[Measure, str]] = {}
    for measure in all_measures():
        scopes = measure.scopes.names if measure.scopes else ()
        for scope in (OVERALL, *scopes):
            name = full_name(measure.name, scope)
            first_measure, _ = measures.setdefault(name, (measure, scope))
            # One warning for a metric, none for its scopes and its variant.
            is_plain = scope == OVERALL and not name.endswith(SUFFIX)
            if is_plain and _direction(first_measure) != _direction(measure):
                logger.warning(
                    f"figlang_tasks: two benchmarks have a metric {name}, and its direction or unit"
                    " differs. Tables, comparisons and leaderboards take that of the first:"
                    f" rename the one of {measure.source}"
                )
    return measures


def _direction(measure: Measure) -> tuple[bool, bool]:
    """What a ranking and a table need of a measure: its direction, and whether it is a share."""
    return measure.higher_is_better, measure.percent


def find_measure(name: str) -> tuple[Measure, str] | None:
    """The measure and scope that a name stands for: ``f1@60_muse``; None if no benchmark has it."""
    return _measures_by_name().get(name)


def measure_of(name: str) -> Measure:
    """The measure that a metric name stands for; for an unknown name one with defaults.

    An unknown name is a metric of the user's own: its values are no shares, and higher is better.
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


def headline_metric(
    names: Iterable[str], measures_by_name: Mapping[str, Measure] | None = None
) -> str:
    """The metric that stands for a task: the headline one, else the first secondary one.

    The headline metric may have no value (F1@60 without explanation scores), or none may be
    declared. If all metrics are diagnostic, it is the first of these; "" if `names` is empty.

    Args:
        names: the metrics that have a value, in the order of tables.
        measures_by_name: the declared measures of the task; None to look names up in all
            benchmarks.
    """

    def order(name: str) -> tuple[bool, bool]:
        measure = measure_of(name) if measures_by_name is None else measures_by_name[name]
        # (is no headline, is diagnostic); False is before True, so the headline metric is the
        # smallest, then come secondary ones, then diagnostic ones.
        return measure.order

    return min(names, key=order, default="")  # the first of several that are equally good


# --- texts for people ---


def name_text(name: str) -> str:
    """A metric as people read it: ``f1@60``, or ``f1@60 of MuSE`` for one scope."""
    measure_and_scope = find_measure(name)
    if measure_and_scope is None:
        return name
    measure, scope = measure_and_scope
    return name if scope == OVERALL else f"{measure.name} of {scope_text(scope)}"


def name_with_arrow(name: str) -> str:
    """A metric as the head of a column: ``f1@60 ↑`` if higher is better, else ``rank ↓``.

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
    """The text of each scope; the first one if several benchmarks name a scope."""
    text_by_scope: dict[str, str] = {}
    for benchmark in benchmarks().values():
        try:
            parts: Parts = benchmark.parts
        except ForeignCodeError as error:
            logger.warning(f"figlang_tasks: {error}")
            continue
        for scope, part in parts.by_scope.items():
            text_by_scope.setdefault(scope, part.name)
    return text_by_scope


def scopes_overlap(estimates: Estimates) -> bool:
    """Whether some row counts in several scopes of a metric: the scopes have more rows than all."""
    for estimate_by_scope in estimates.values():
        overall_rows = 0  # unknown
        rows_of_scopes = 0
        for scope, estimate in estimate_by_scope.items():
            if scope == OVERALL:
                overall_rows = estimate.rows or 0
            else:
                rows_of_scopes += estimate.rows or 0
        if overall_rows and rows_of_scopes > overall_rows:
            return True
    return False


def value_text(metric: str, value: float) -> str:
    """The value of a metric as people read it: ``57.0`` for a share of 0.57."""
    return measure_of(metric).text(value)


def estimate_text(metric: str, estimate: Estimate, usual_rows: int | None = None) -> str:
    """The value of a metric with its interval, if it has one: ``57.0 [55.1, 58.9]``.

    A value of NaN gives ``failed, see the log``.

    Args:
        usual_rows: the number of rows that the table or sentence around the text states. If the
            estimate has another one, the text says so: ``57.0 (n 12)``. None to say nothing.
    """
    if math.isnan(estimate.value):
        return "failed, see the log"
    text = value_text(metric, estimate.value)
    # Both limits are known, or none. But a results file by hand may have one alone.
    known_limits = [limit for limit in (estimate.low, estimate.high) if limit is not None]
    if known_limits:
        text += f" [{', '.join(value_text(metric, limit) for limit in known_limits)}]"
    has_other_rows = estimate.rows is not None and estimate.rows != usual_rows
    if usual_rows is not None and has_other_rows:
        text += f" (n {estimate.rows})"
    return text
