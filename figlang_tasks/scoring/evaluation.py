"""`evaluate`: the estimates of all measures of a task, inside a harness and outside of one.

An exception in a run would lose every model output (lmms-eval 0.7.3). So a measure that fails there
has NaN, its cause is in the log, and our ``lmms_eval`` command ends with status 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

from loguru import logger

from figlang_tasks.core import notes
from figlang_tasks.core.record import Record
from figlang_tasks.metrics import intervals
from figlang_tasks.metrics.statistic import Floats, Statistic
from figlang_tasks.scoring.estimates import OVERALL, Estimate, flat, full_name
from figlang_tasks.scoring.measure import Measure
from figlang_tasks.scoring.output_warnings import UNFINISHED
from figlang_tasks.scoring.records import by_repeat, row_of
from figlang_tasks.scoring.scopes import Scopes

STDERR_RESAMPLES = 1_000
"""Resamples of the bootstrap of a standard error: it is then known to about 2 % of itself."""

_Computed = TypeVar("_Computed")


@dataclass(frozen=True, eq=False)
class Measures:
    """All measures of one kind of task; made by `of`.

    Attributes:
        by_name: the measures, in the order of tables.
        row_of: the id of the benchmark's row that a record belongs to.
    """

    by_name: Mapping[str, Measure]
    row_of: Callable[[Record], str]

    @classmethod
    def of(cls, *measures: Measure, row_of: Callable[[Record], str] = row_of) -> Measures:
        """Collect measures in the order of tables; `UNFINISHED` is added behind ``parse_rate``.

        A measure that is given twice counts once.

        Raises:
            ValueError: two different measures have one name.
        """
        by_name: dict[str, Measure] = {}
        for measure in measures:
            known_measure = by_name.setdefault(measure.name, measure)
            if known_measure is not measure:
                raise ValueError(f"two measures of one name: {measure.name}")
            if measure.name == "parse_rate":
                by_name[UNFINISHED.name] = UNFINISHED
        return cls(by_name, row_of)

    @cached_property
    def all(self) -> tuple[Measure, ...]:
        """The measures, in the order of tables."""
        return tuple(self.by_name.values())

    @cached_property
    def in_table(self) -> tuple[Measure, ...]:
        """The measures of the harness's own table."""
        return tuple(measure for measure in self.all if measure.in_table)

    @property
    def recomputable(self) -> Measures:
        """The measures that saved records alone give (`Measure.is_recomputable`)."""
        measures = [measure for measure in self.all if measure.is_recomputable]
        return Measures.of(*measures, row_of=self.row_of)

    def values(self, record: Record) -> dict[str, Any]:
        """The record under ``sample``, and what it contributes to the mean of each metric.

        The metrics are those of the harness's table. None under one of them: the record does not
        count, or the metric is not a mean over records. ``process_results`` returns this.
        """
        values: dict[str, Any] = {"sample": record}
        for measure in self.in_table:
            if measure.omit_zero:  # left out here: the harness would print its row even at 0
                continue
            values[measure.name] = measure.number_of(record)
        return values

    def count_rows(self, records: Collection[Record]) -> int:
        """The number of the benchmark's rows that records cover.

        Rotations, pictures and repeats of a row count once. A ranking that lacks pictures because
        of a limit does not count, as measures leave it out too.
        """
        if not any("images" in record for record in records):
            return len(set(map(self.row_of, records)))
        # By row and id of the record, the number of pictures in the row. A ranking of 3 pictures
        # has a record for each: {row: {id 1: 3, id 2: 3, id 3: 3}}. Other records have None.
        pictures_by_row: dict[str, dict[str, int | None]] = {}
        for record in records:
            pictures_by_id = pictures_by_row.setdefault(self.row_of(record), {})
            pictures_by_id[record["id"]] = record.get("images")
        return sum(map(_is_whole, pictures_by_row.values()))


def _is_whole(pictures_by_id: Mapping[str, int | None]) -> bool:
    """Whether a row has as many records as pictures; ``--limit`` may have cut some of them off.

    A row that is no ranking is always whole.

    Args:
        pictures_by_id: by the id of each record of the row, how many pictures it says that the row
            has; None where the row is no ranking.
    """
    known_ids = len(pictures_by_id)
    return all(pictures is None or pictures == known_ids for pictures in pictures_by_id.values())


class RecordsOfScope(NamedTuple):
    """The records that count in one scope, and the number of the benchmark's rows they cover."""

    records: list[Record]
    rows: int


class RecordsByScope:
    """The records of a task by scope, for one measure after the other.

    Most measures count all records, and are split into scopes and counted once for all of these.
    """

    def __init__(self, records: Sequence[Record], measures: Measures) -> None:
        """Take all records of a task, and its measures, which know how to count its rows."""
        self._records = records
        self._measures = measures
        self._of_all_records: dict[Scopes | None, dict[str, RecordsOfScope]] = {}

    def of(self, measure: Measure) -> dict[str, RecordsOfScope]:
        """The records that count for a measure, by scope (`Measure.records_by_scope`)."""
        counted = measure.counted(self._records)
        if len(counted) < len(self._records):
            return self._split(measure, counted)
        if measure.scopes not in self._of_all_records:
            self._of_all_records[measure.scopes] = self._split(measure, counted)
        return self._of_all_records[measure.scopes]

    def _split(self, measure: Measure, counted: list[Record]) -> dict[str, RecordsOfScope]:
        """The records that count for a measure, by scope, with their numbers of rows."""
        records_by_scope: dict[str, RecordsOfScope] = {}
        for scope, records in measure.split(counted).items():
            records_by_scope[scope] = RecordsOfScope(records, self._measures.count_rows(records))
        return records_by_scope


def guarded(
    name: str,
    compute: Callable[[], _Computed],
    fallback: _Computed,
    consequence: str = "its value is NaN",
) -> _Computed:
    """What `compute` returns; `fallback` if it raises, with the cause in the log.

    The failure is also noted for the end of the run.

    Args:
        name: what is computed, for the message.
        compute: called once, without arguments.
        fallback: returned in place of a value.
        consequence: what a failure means for the results, for the message.
    """
    try:
        return compute()
    except Exception:  # Whatever it is, the outputs of the run must still be written.
        logger.exception(f"figlang_tasks: {name} failed; {consequence}")
        notes.note_failure(f"{name} failed; {consequence}, see the log")
        return fallback


def evaluate(
    records: Sequence[Record],
    measures: Measures,
    stderr_resamples: int = STDERR_RESAMPLES,
    in_run: bool = False,
) -> dict[str, dict[str, Estimate]]:
    """The estimates of all measures by name and scope; without those that have no value.

    Args:
        records: all records of a task.
        measures: those of its kind of task.
        stderr_resamples: resamples of the standard error, which measures of the harness's table
            have; 0 for none.
        in_run: whether a run waits for the values: then a measure that fails has NaN (`guarded`),
            and measures log a warning of what they leave out. Else a failure raises.
    """
    estimates: dict[str, dict[str, Estimate]] = {}
    overall_statistics: dict[str, Statistic] = {}
    records_by_scope = RecordsByScope(records, measures)
    for measure in measures.all:
        if in_run:
            evaluated = _evaluate_in_run(measure, records_by_scope)
        else:
            evaluated = _evaluate_scopes(measure, records_by_scope)
        if not evaluated.estimates:
            continue
        estimates[measure.name] = evaluated.estimates
        has_error = measure.in_table and stderr_resamples > 0
        if not has_error:
            _set_error(evaluated.estimates, None)
        elif evaluated.overall_statistic is not None:
            overall_statistics[measure.name] = evaluated.overall_statistic

    compute_errors = partial(_standard_errors, overall_statistics, stderr_resamples, in_run)
    errors: dict[str, float | None] = {}
    if in_run:
        consequence = "no metric has a standard error"
        errors = guarded("the bootstrap of all metrics", compute_errors, errors, consequence)
    else:
        errors = compute_errors()
    for name, stderr in errors.items():
        _set_error(estimates[name], stderr)
    return estimates


def _set_error(estimates: dict[str, Estimate], stderr: float | None) -> None:
    """Give the estimate of all rows a standard error, or take it away."""
    estimates[OVERALL] = estimates[OVERALL]._replace(stderr=stderr)


def _standard_errors(
    statistics: Mapping[str, Statistic], resamples: int, in_run: bool
) -> dict[str, float | None]:
    """The standard errors of statistics, by the name of the metric; None where there is none.

    Args:
        statistics: those of all rows, by the name of the metric.
        resamples: of the bootstrap, drawn once for all statistics.
        in_run: whether a run waits for them: then a metric whose error fails has none (`guarded`).
    """
    tables = [statistic.rows for statistic in statistics.values()]
    sums_of_statistics = intervals.resampled_sums(tables, resamples)
    errors: dict[str, float | None] = {}
    for (name, statistic), sums in zip(statistics.items(), sums_of_statistics, strict=True):
        compute = partial(_standard_error, statistic, sums)
        if in_run:
            consequence = "it has no standard error"
            errors[name] = guarded(f"the bootstrap of {name}", compute, None, consequence)
        else:
            errors[name] = compute()
    return errors


def _standard_error(statistic: Statistic, sums: Floats) -> float | None:
    """The standard error of a statistic from its sums in the resamples, [resamples, columns]."""
    return intervals.error_of_resamples(statistic.value_of(sums), len(statistic.units))


class _Evaluated(NamedTuple):
    """What one measure gives.

    Attributes:
        estimates: by scope; empty without a value over all rows. Only that of all rows may have a
            standard error, if `Measure.estimate_of` gave it one.
        overall_statistic: the statistic behind the estimate of all rows; None where there is none.
    """

    estimates: dict[str, Estimate]
    overall_statistic: Statistic | None = None


def _evaluate_in_run(measure: Measure, records_by_scope: RecordsByScope) -> _Evaluated:
    """The estimates of one measure by scope; if it fails, NaN over all rows alone.

    A failure is logged, and so is what the measure leaves out.
    """

    def compute() -> _Evaluated:
        return _evaluate_scopes(measure, records_by_scope, logs_warning=True)

    failed = _Evaluated({OVERALL: Estimate(math.nan)})
    return guarded(measure.name, compute, fallback=failed)


def _evaluate_scopes(
    measure: Measure, records_by_scope: RecordsByScope, logs_warning: bool = False
) -> _Evaluated:
    """The estimates of one measure by scope; none if it has no value over all rows.

    Args:
        measure: the measure.
        records_by_scope: all records of a task.
        logs_warning: whether the measure warns of what it leaves out.
    """
    estimates: dict[str, Estimate] = {}
    overall_statistic: Statistic | None = None
    for scope, (scope_records, rows) in records_by_scope.of(measure).items():
        is_overall = scope == OVERALL
        if is_overall and logs_warning and measure.warn is not None:
            # Of several answers to a row only the first: a warning counts rows.
            first_answers = by_repeat(scope_records)[0]
            measure.warn(first_answers)

        estimate, statistic = measure.estimate_and_statistic(scope_records, scope)
        if estimate is None and is_overall:  # the first scope: nothing is computed yet
            return _Evaluated({})
        if estimate is None:
            continue
        if is_overall:
            overall_statistic = statistic
        else:
            estimate = estimate._replace(stderr=None)
        estimates[scope] = estimate._replace(rows=rows)
    return _Evaluated(estimates, overall_statistic)


def headline_values(records: Sequence[Record], measures: Measures) -> dict[str, float]:
    """The values of the headline and the secondary metrics in the harness's table, by full name.

    Each metric has its value over all rows, and its values in scopes: ``{"f1@60": 0.57,
    "f1@60_muse": 0.61}``.
    """
    values: dict[str, float] = {}
    for name, scope, estimate in flat(evaluate(records, measures, stderr_resamples=0)):
        measure = measures.by_name[name]
        if measure.in_table and not measure.is_diagnostic:
            values[full_name(name, scope)] = estimate.value
    return values
