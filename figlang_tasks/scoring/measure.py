"""`Measure`: one metric, declared once.

From one declaration come the value of a task, its standard error and 95 % interval, its value in
every scope, the paired tests of ``figlang compare``, the tables of the report and what ``figlang
submit`` writes. A benchmark's ``measures`` module declares its measures; task files name them:
``metric_list: !function figlang_tasks.benchmarks.irfl.measures.DETECT``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from figlang_tasks.core.record import Record
from figlang_tasks.core.text import HALF_A_PAIR
from figlang_tasks.metrics import intervals
from figlang_tasks.metrics.intervals import Interval
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring.estimates import OVERALL, Estimate

REPEAT = "repeat"
"""The field with the number of an answer, from 1, where each row was asked several times
(``--repeats``).
"""

Floats = npt.NDArray[np.float64]


Role: TypeAlias = Literal["headline", "secondary", "diagnostic"]
"""What a measure is for.

- headline: it stands for its task where one number has to
  (`figlang_tasks.results.measures.headline_metric`). Where a task has none, or that has no value,
  the first that is secondary does.
- secondary: it says as well how good the model is.
- diagnostic: it says how a run went, not how good the model is. It is never tested.
"""


class IntervalMethod(NamedTuple):
    """How the 95 % interval of a statistic is made.

    Attributes:
        name: for people and for what ``figlang submit`` writes.
        interval_of: returns None where there is no sound interval. Not called for a measure with
            `estimate_of`.
        resamples: number of resamples of its bootstrap; None where nothing is resampled.
    """

    name: str
    interval_of: Callable[[Statistic], Interval | None]
    resamples: int | None = None


def _wilson_interval(statistic: Statistic) -> Interval | None:
    """The Wilson interval of a share; rows of the statistic are hits and totals."""
    hits, totals = statistic.rows.T
    return intervals.share(hits, totals)


def _two_class_interval(statistic: Statistic) -> Interval | None:
    """The interval of a score of two classes; rows of the statistic are ``tn, fp, fn, tp``."""
    return intervals.of_two_classes(statistic.rows, statistic.value)


def _bootstrap_interval(statistic: Statistic) -> Interval | None:
    """The bootstrap interval of any function of sums."""
    return intervals.bootstrap(statistic.rows, statistic.value)


WILSON = IntervalMethod("Wilson, over units", _wilson_interval)
TWO_CLASSES = IntervalMethod("MOVER of Wilson limits over units", _two_class_interval)
BOOTSTRAP = IntervalMethod(
    "bootstrap over units, percentiles with tails of t", _bootstrap_interval, intervals.RESAMPLES
)


def _unchanged(record: Record, scope: str) -> Record:
    """The record, which counts in a scope as it is."""
    return record


class Scopes(NamedTuple):
    """Parts of a benchmark that a measure has a value of its own for.

    Attributes:
        names: all scopes, in the order of tables.
        scopes_of: the scopes that a record counts in.
        record_in: the record as it counts in a scope, where that is a part of each record (one part
            of a caption).
        averaged: whether the value of all rows is the unweighted mean of those of the scopes, which
            repeat one measurement (folds, wordings of a prompt).
    """

    names: tuple[str, ...]
    scopes_of: Callable[[Any], Iterable[str]]
    record_in: Callable[[Record, str], Record] = _unchanged
    averaged: bool = False

    def split(self, records: Sequence[Record]) -> dict[str, list[Record]]:
        """The records of each scope that has any, in the order of tables."""
        records_by_scope: dict[str, list[Record]] = {name: [] for name in self.names}
        for record in records:
            for scope in self.scopes_of(record):
                if not isinstance(scope, str) or HALF_A_PAIR.search(scope):
                    raise ValueError(
                        f"row {record['id']} counts in the part {scope!r:.80}, which must be a text"
                    )
                records_by_scope.setdefault(scope, []).append(self.record_in(record, scope))
        return {scope: members for scope, members in records_by_scope.items() if members}


def by_field(field: str, names: Sequence[str]) -> Scopes:
    """One scope for each value of a record field."""
    return Scopes(tuple(names), lambda record: (record[field],))


def unit_of(record: Record) -> str:
    """The resampling unit of a record: what dependent records share, else its document alone."""
    return str(record.get("unit", record["id"]))


def row_of(record: Record) -> str:
    """The row of the benchmark, which several documents may share (rotations, the pictures of a
    ranking).
    """
    return str(record.get("row", record["id"]))


def by_repeat(records: Sequence[Record]) -> list[list[Record]]:
    """The first answers to all rows, the second ones, and so on; a single list where each row was
    asked once.
    """
    answers_by_number: dict[int, list[Record]] = {}
    for record in records:
        answers_by_number.setdefault(record.get(REPEAT, 1), []).append(record)
    return [answers_by_number[number] for number in sorted(answers_by_number)]


def _always(record: Record) -> bool:
    """True: every record counts."""
    return True


@dataclass(frozen=True, eq=False)
class Measure:
    """One metric. Exactly one of `value_of_record`, `statistic` and `estimate_of` is given.

    Its functions take records of the kind of task that it is for: mypy checks them by the
    `TypedDict` that they name.

    Attributes:
        name: as the paper has it, and results files.
        description: what a value of it says, in one line of plain English.
        source: the paper's section or table, or the program, that defines it; ``figlang_tasks``
            where we do.
        value_of_record: the number of a record, whose mean is the value; None where the record does
            not count.
        statistic: of records that count, at least one: rows of numbers whose sums decide the value;
            None where the records say nothing (no whole ranking).
        estimate_of: value and interval of records that count, in a scope; for what is no function
            of sums. None where there is no value.
        interval: how the interval is made; by default that of a share: `value_of_record` is 0 or 1
            by its nature.
        applies: whether a record counts, as `value_of_record` says by None.
        scopes: parts of the benchmark with a value of their own.
        role: what it is for, see `Role`.
        in_table: whether the harness's own table has it, with a standard error; if not, it stands
            in the metadata of the results alone.
        omit_zero: whether it has no value, and so no line in tables, where that would be 0.
        higher_is_better: whether more is better.
        percent: whether it is from 0 to 1 and people read it in percent.
        bounds: its least and its greatest possible value.
        answer: the label or option behind the number of a record, None where none was read: several
            answers to one row can be put to the vote. None: answers are words.
        warn: logs what of the records that count is left out of the value; called once in a run.
    """

    name: str
    description: str
    source: str
    value_of_record: Callable[[Any], float | None] | None = None
    statistic: Callable[[Sequence[Any]], Statistic | None] | None = None
    estimate_of: Callable[[Sequence[Any], str], Estimate | None] | None = None
    interval: IntervalMethod = WILSON
    applies: Callable[[Any], bool] = _always
    scopes: Scopes | None = None
    role: Role = "secondary"
    in_table: bool = True
    omit_zero: bool = False
    higher_is_better: bool = True
    percent: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    answer: Callable[[Any], Hashable] | None = None
    warn: Callable[[Sequence[Any]], None] | None = None

    def __post_init__(self) -> None:
        for field in ("description", "source"):
            text = getattr(self, field)
            if not text.strip() or "\n" in text:
                raise ValueError(
                    f"measure {self.name} must have a {field} in one line, has {text!r}"
                )
        computations = (self.value_of_record, self.statistic, self.estimate_of)
        if sum(computation is not None for computation in computations) != 1:
            raise ValueError(
                f"measure {self.name} must have exactly one of value_of_record, statistic and"
                " estimate_of"
            )

    @property
    def meaning(self) -> str:
        """Description and source in one text."""
        return f"{self.description} ({self.source})"

    @property
    def order(self) -> tuple[bool, bool]:
        """Sort key that puts the headline metric of a task first, and its diagnostic ones last."""
        return self.role != "headline", self.is_diagnostic

    @property
    def is_diagnostic(self) -> bool:
        """Whether it says how a run went, not how good the model is."""
        return self.role == "diagnostic"

    @property
    def averaged(self) -> bool:
        """Whether the value of all rows is the unweighted mean of those of the scopes."""
        return self.scopes is not None and self.scopes.averaged

    def counts(self, record: Record) -> bool:
        """Whether a record counts for the value."""
        if not self.applies(record):
            return False
        return self.value_of_record is None or self.value_of_record(record) is not None

    def records_by_scope(self, records: Sequence[Record]) -> dict[str, list[Record]]:
        """The records that count, by scope: all first, then in the order of tables; scopes without
        any are left out.
        """
        counted = [record for record in records if self.counts(record)]
        if not counted:
            return {}
        records_by_scope = {OVERALL: counted}
        if self.scopes is not None:
            records_by_scope.update(self.scopes.split(counted))
        return records_by_scope

    def averaged_groups(self, records: Sequence[Record]) -> list[list[Record]]:
        """The parts of which the value is the unweighted mean: several answers to each row, or
        averaged scopes.

        Answers with a number each are not parted: their mean is that of all.
        """
        answers = by_repeat(records)
        if len(answers) > 1 and self.value_of_record is None:
            return answers
        if self.scopes is not None and self.scopes.averaged:
            return list(self.scopes.split(records).values())
        return [list(records)]

    def statistic_of(self, records: Sequence[Record]) -> Statistic | None:
        """The statistic of records that count; None where it has no value, and of a measure with
        `estimate_of`.
        """
        parts = self.averaged_groups(records)
        if len(parts) > 1:
            return self._mean_statistic(parts)
        if self.value_of_record is not None:
            statistic: Statistic | None = self._mean_of_records(records, self.value_of_record)
        elif self.statistic is not None:
            statistic = self.statistic(records)
        else:
            return None
        if statistic is None or not np.isfinite(statistic.total()):
            return None
        if self.omit_zero and not statistic.total():
            return None
        return statistic

    def _mean_statistic(self, parts: Sequence[Sequence[Record]]) -> Statistic | None:
        """The mean over parts; None where one has no value."""
        statistics: list[Statistic] = []
        for records in parts:
            statistic = self.statistic_of(records)
            if statistic is None:
                return None
            statistics.append(statistic)
        return combine_statistics(statistics, np.mean)

    def _mean_of_records(
        self, records: Sequence[Record], value_of_record: Callable[[Record], float | None]
    ) -> Statistic:
        """The mean of the numbers of records; a `ValueError` where a share counts other numbers
        than 0 and 1.
        """
        numbers = [value_of_record(record) for record in records]
        if self.interval is WILSON:
            for record, number in zip(records, numbers, strict=True):
                if number not in (0, 1):
                    raise ValueError(
                        f"{self.name} of row {record['id']} is {number}: a share counts 0 or 1 of"
                        " each record; a mean of other numbers has interval=BOOTSTRAP"
                    )
        return ratio(map(unit_of, records), numbers)

    def statistics_by_scope(self, records: Sequence[Record]) -> dict[str, Statistic]:
        """The statistic of each scope that has a value; none has where the whole has none."""
        statistic_by_scope: dict[str, Statistic] = {}
        for scope, members in self.records_by_scope(records).items():
            statistic = self.statistic_of(members)
            if statistic is not None:
                statistic_by_scope[scope] = statistic
            elif scope == OVERALL:
                return {}
        return statistic_by_scope

    def estimate(
        self, records: Sequence[Record], scope: str = OVERALL, stderr_resamples: int = 0
    ) -> Estimate | None:
        """The value of records of a scope that count, at least one, with its interval; None where
        there is no value.
        """
        if self.estimate_of is not None:
            estimates = [self.estimate_of(answers, scope) for answers in by_repeat(records)]
            known = [estimate for estimate in estimates if estimate is not None]
            if len(known) < len(estimates):
                return None
            return known[0] if len(known) == 1 else Estimate.mean(known)
        statistic = self.statistic_of(records)
        if statistic is None:
            return None
        stderr = None
        if stderr_resamples:
            stderr = intervals.standard_error(statistic.rows, statistic.value, stderr_resamples)
        return Estimate.of(statistic.total(), self._interval(statistic, records), stderr)

    def _interval(self, statistic: Statistic, records: Sequence[Record]) -> Interval | None:
        """The interval of a statistic; of a mean of scopes without a common unit that of
        independent values.
        """
        parts = self.averaged_groups(records)
        if len(parts) == 1:
            return self.interval.interval_of(statistic)
        units_of_parts = sum(len(set(map(unit_of, part))) for part in parts)
        if units_of_parts > len(statistic.units):  # a unit is in several parts
            return BOOTSTRAP.interval_of(statistic)
        estimates: list[Estimate] = []
        for part in parts:
            estimate = self.estimate(part)
            if estimate is not None:  # each has a value, as their mean has
                estimates.append(estimate)
        limits = [estimate.limits for estimate in estimates if estimate.limits is not None]
        if len(limits) < len(estimates):
            return None
        return intervals.of_mean([estimate.value for estimate in estimates], limits)

    @property
    def arrow(self) -> str:
        """Where better values are, for the heads of tables."""
        return "\N{UPWARDS ARROW}" if self.higher_is_better else "\N{DOWNWARDS ARROW}"

    def text(self, value: float) -> str:
        """A value as people read it."""
        return f"{100 * value:.1f}" if self.percent else f"{value:.2f}"


ratio = Statistic.ratio_of
"""The ratio of two sums, by default the mean of numerators; records of one unit are added up."""


def grouped(
    units: Iterable[str], rows: npt.ArrayLike, value: Callable[[Floats], Floats]
) -> Statistic:
    """A statistic whose rows of one unit are added up."""
    return Statistic(tuple(units), np.asarray(rows, dtype=np.float64), value)


def combine_statistics(parts: Sequence[Statistic], combine: Callable[..., Any]) -> Statistic:
    """A function (``numpy.mean``, say) of the values of several statistics, over the units of all
    of them.
    """
    units = sorted(set().union(*(part.units for part in parts)))
    ends = np.cumsum([part.rows.shape[1] for part in parts])
    rows = np.zeros((len(units), ends[-1]))
    row_of_unit = {unit: place for place, unit in enumerate(units)}
    for part, columns in zip(parts, np.split(rows, ends[:-1], axis=1), strict=True):
        columns[[row_of_unit[unit] for unit in part.units]] = part.rows

    def value(sums: Floats) -> Floats:
        sums_by_part = np.split(sums, ends[:-1], axis=-1)
        values = [part.value(sums) for part, sums in zip(parts, sums_by_part, strict=True)]
        combined: Floats = combine(values, axis=0)
        return combined

    return Statistic(tuple(units), rows, value)
