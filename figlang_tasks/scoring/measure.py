"""`Measure`: one metric, declared once.

From one declaration come the value of a task, its standard error and 95 % interval, its value in
every scope, the paired tests of ``figlang compare``, the tables of the report and the files of
``figlang submit``. A benchmark's ``measures`` module declares its measures.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from figlang_tasks.core.record import Record
from figlang_tasks.metrics import intervals
from figlang_tasks.metrics.intervals import Interval
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring.estimates import OVERALL, Estimate
from figlang_tasks.scoring.interval_methods import BOOTSTRAP, WILSON, IntervalMethod
from figlang_tasks.scoring.records import AnyRecord, by_repeat, unit_of
from figlang_tasks.scoring.scopes import Scopes
from figlang_tasks.scoring.statistics import combine_statistics, ratio

Role: TypeAlias = Literal["headline", "secondary", "diagnostic"]
"""What a measure is for.

- headline: stands for its task where one number has to
  (`figlang_tasks.results.measures.headline_metric`). If a task declares none, or that has no value,
  the first secondary one does.
- secondary: also says how good the model is.
- diagnostic: says how a run went, not how good the model is. It is never tested.
"""

ValueOfRecord: TypeAlias = Callable[[AnyRecord], float | None]
"""``(record) -> number``; None where the record does not count."""

StatisticOfRecords: TypeAlias = Callable[[Sequence[AnyRecord]], Statistic | None]
"""``(records of one scope) -> statistic``; None where they give no value."""

EstimateOfRecords: TypeAlias = Callable[[Sequence[AnyRecord], str], Estimate | None]
"""``(records of one scope, name of the scope) -> estimate``; None where there is no value."""


def _always(record: Record) -> bool:
    """True: every record counts."""
    return True


@dataclass(frozen=True, eq=False)
class Measure:
    """One metric. Exactly one of `value_of_record`, `statistic` and `estimate_of` is given.

    Its functions take records of one kind of task: mypy checks them by the `TypedDict` that they
    name.

    Attributes:
        name: as in the paper and in results files.
        description: what a value of it says, in one line of plain English.
        source: the paper's section or table, or the program, that defines it; ``figlang_tasks``
            where we do.
        value_of_record: the number of a record; the mean of these numbers is the value. None where
            the record does not count.
        statistic: of the records that count, at least one: rows of numbers whose sums decide the
            value. None where the records say nothing (no whole ranking).
        estimate_of: the estimate of the records that count in a scope, by the name of the scope;
            for a metric that is no function of sums over rows. None where there is no value.
        interval: how the interval is made; by default that of a share, whose `value_of_record` is
            always 0 or 1.
        applies: whether a record counts; `value_of_record` can also say so by None.
        scopes: the parts of the benchmark with a value of their own.
        role: what it is for, see `Role`.
        in_table: whether the harness's own table has it, with a standard error; otherwise only the
            metadata of the results does.
        omit_zero: whether it is left out of tables when it is 0.
        higher_is_better: whether more is better.
        percent: whether it lies between 0 and 1 and people read it in percent.
        bounds: its smallest and its largest possible value.
        answer: the label or option behind a record's number, None where none was read. With it
            several answers to one row can be put to the vote; without it answers are words.
        warn: logs which of the records that count are left out of the value; called once in a run.
    """

    name: str
    description: str
    source: str
    value_of_record: ValueOfRecord | None = None
    statistic: StatisticOfRecords | None = None
    estimate_of: EstimateOfRecords | None = None
    interval: IntervalMethod = WILSON
    applies: Callable[[AnyRecord], bool] = _always
    scopes: Scopes | None = None
    role: Role = "secondary"
    in_table: bool = True
    omit_zero: bool = False
    higher_is_better: bool = True
    percent: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    answer: Callable[[AnyRecord], Hashable] | None = None
    warn: Callable[[Sequence[AnyRecord]], None] | None = None

    def __post_init__(self) -> None:
        """Refuse a declaration without description, source or exactly one computation."""
        for field, text in (("description", self.description), ("source", self.source)):
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

    # --- what it is ---

    @property
    def meaning(self) -> str:
        """Description and source in one text."""
        return f"{self.description} ({self.source})"

    @property
    def order(self) -> tuple[bool, bool]:
        """Sort key that puts a task's headline metric first and its diagnostic ones last."""
        return self.role != "headline", self.is_diagnostic

    @property
    def is_diagnostic(self) -> bool:
        """Whether it says how a run went, not how good the model is."""
        return self.role == "diagnostic"

    @property
    def is_recomputable(self) -> bool:
        """Whether records alone give its value, without Java, large models or a run's pictures."""
        return self.estimate_of is None

    @property
    def averaged(self) -> bool:
        """Whether the value of all rows is the unweighted mean of the scopes' values."""
        return self.scopes is not None and self.scopes.averaged

    @property
    def arrow(self) -> str:
        """An arrow towards better values, for the heads of tables."""
        return "\N{UPWARDS ARROW}" if self.higher_is_better else "\N{DOWNWARDS ARROW}"

    def text(self, value: float) -> str:
        """A value as people read it: in percent with one decimal, or with two decimals."""
        return f"{100 * value:.1f}" if self.percent else f"{value:.2f}"

    # --- which records count ---

    def number_of(self, record: Record) -> float | None:
        """What a record contributes to the mean of the metric; None where it does not count.

        It is also None for a measure that is not a mean over records.
        """
        if self.value_of_record is None or not self.applies(record):
            return None
        return self.value_of_record(record)

    def records_by_scope(self, records: Sequence[Record]) -> dict[str, list[Record]]:
        """The records that count, by scope: first those of all rows, then in the order of tables.

        Scopes without records are left out; the result is empty if no record counts.
        """
        return self.split(self.counted(records))

    def counted(self, records: Sequence[Record]) -> list[Record]:
        """The records that count for the value."""
        if self.applies is not _always:
            records = [record for record in records if self.applies(record)]
        if self.value_of_record is None:
            return list(records)
        value_of_record = self.value_of_record
        return [record for record in records if value_of_record(record) is not None]

    def split(self, counted: list[Record]) -> dict[str, list[Record]]:
        """Records that all count, by scope (`records_by_scope`)."""
        if not counted:
            return {}
        records_by_scope = {OVERALL: counted}
        if self.scopes is not None:
            records_by_scope.update(self.scopes.split(counted))
        return records_by_scope

    def averaged_groups(self, records: Sequence[Record]) -> list[list[Record]]:
        """Groups of these records whose values are averaged; a single one if none are averaged.

        Each group has the same weight.

        The groups are the repeats if rows have several answers, or else the scopes if these are
        averaged (`Scopes.averaged`). Where both hold, the value of each repeat is in turn the mean
        of its scopes. A mean of numbers of records is the same over repeats as over all records,
        which are therefore not split by repeat.
        """
        if self.value_of_record is None:
            repeats = by_repeat(records)
            if len(repeats) > 1:
                return repeats
        if self.scopes is not None and self.scopes.averaged:
            return list(self.scopes.split(records).values())
        return [list(records)]

    # --- its value ---

    def statistic_of(self, records: Sequence[Record]) -> Statistic | None:
        """The statistic of records of one scope; its `total()` is the value. None without a value.

        There is no value where it is undefined (0/0), and where it is 0 and `omit_zero` is set. It
        is also None for a measure with `estimate_of`, which has no statistic.
        """
        return self._statistic_of_groups(records, self.averaged_groups(records))

    def _statistic_of_groups(
        self, records: Sequence[Record], groups: Sequence[Sequence[Record]]
    ) -> Statistic | None:
        """The statistic of records, given in groups that are averaged (`averaged_groups`) too."""
        if len(groups) > 1:
            return self._mean_of_groups(groups)  # calls this method for each group
        if self.value_of_record is not None:
            statistic: Statistic | None = self._mean_of_records(records, self.value_of_record)
        elif self.statistic is not None:
            statistic = self.statistic(records)
        else:
            return None
        if statistic is None:
            return None
        value = statistic.total()
        if not np.isfinite(value) or (self.omit_zero and value == 0):
            return None
        return statistic

    def overall_statistic(self, records: Sequence[Record]) -> Statistic | None:
        """The statistic over all rows, of those records that count; None without a value.

        It is ``statistics_by_scope(records)["all"]`` without the work for the other scopes. Records
        are still split into them, so that a damaged scope raises the same error.
        """
        counted = self.records_by_scope(records).get(OVERALL)
        return None if counted is None else self.statistic_of(counted)

    def _mean_of_groups(self, groups: Sequence[Sequence[Record]]) -> Statistic | None:
        """The statistic of the unweighted mean of the groups' values; None if a group has none."""
        statistics: list[Statistic] = []
        for records in groups:
            statistic = self.statistic_of(records)
            if statistic is None:
                return None
            statistics.append(statistic)
        return combine_statistics(statistics, np.mean)

    def _mean_of_records(
        self, records: Sequence[Record], value_of_record: ValueOfRecord
    ) -> Statistic:
        """The statistic of the mean of the numbers of records.

        Raises:
            ValueError: a number of a share, which has Wilson's interval, is neither 0 nor 1.
        """
        numbers = [value_of_record(record) for record in records]
        if self.interval is WILSON:
            self._check_shares(records, numbers)
        return ratio(map(unit_of, records), numbers)

    def _check_shares(self, records: Sequence[Record], numbers: list[float | None]) -> None:
        """Raise a `ValueError` that names the first record whose number is neither 0 nor 1."""
        if numbers.count(0) + numbers.count(1) == len(numbers):
            return
        for record, number in zip(records, numbers, strict=True):
            if number not in (0, 1):
                raise ValueError(
                    f"{self.name} of row {record['id']} is {number}: a share counts 0 or 1 of"
                    " each record; a mean of other numbers has interval=BOOTSTRAP"
                )

    def statistics_by_scope(self, records: Sequence[Record]) -> dict[str, Statistic]:
        """The statistic by scope, for all rows under ``all``; empty if all rows have no value.

        Scopes without a value are left out.
        """
        statistics: dict[str, Statistic] = {}
        for scope, scope_records in self.records_by_scope(records).items():
            statistic = self.statistic_of(scope_records)
            if statistic is not None:
                statistics[scope] = statistic
            elif scope == OVERALL:
                return {}
        return statistics

    def estimate(self, scope_records: Sequence[Record], scope: str = OVERALL) -> Estimate | None:
        """The value of one scope with its 95 % interval; None where there is no value.

        Args:
            scope_records: the records that count in this scope (`records_by_scope`), at least one.
            scope: the name of the scope; only `estimate_of` takes it.
        """
        estimate, _ = self.estimate_and_statistic(scope_records, scope)
        return estimate

    def estimate_and_statistic(
        self, scope_records: Sequence[Record], scope: str = OVERALL
    ) -> tuple[Estimate | None, Statistic | None]:
        """The estimate of one scope (`estimate`), and the statistic behind it.

        A measure with `estimate_of` has no statistic: it makes its own estimate of each repeat, and
        their mean is returned.

        Args:
            scope_records, scope: as for `estimate`.
        """
        if self.estimate_of is not None:
            return self._mean_of_repeats(scope_records, scope, self.estimate_of), None
        groups = self.averaged_groups(scope_records)
        statistic = self._statistic_of_groups(scope_records, groups)
        if statistic is None:
            return None, None
        return Estimate.of(statistic.total(), self._interval(statistic, groups)), statistic

    def _mean_of_repeats(
        self, scope_records: Sequence[Record], scope: str, estimate_of: EstimateOfRecords
    ) -> Estimate | None:
        """The mean of the estimates of all repeats; None if one of them has no value.

        The limits of its interval are the means of theirs (`Estimate.mean`). A single repeat has
        its estimate unchanged.

        Args:
            scope: the name of the scope, which `estimate_of` takes.
        """
        estimates: list[Estimate] = []
        for records_of_repeat in by_repeat(scope_records):
            estimate = estimate_of(records_of_repeat, scope)
            if estimate is None:
                return None
            estimates.append(estimate)
        return estimates[0] if len(estimates) == 1 else Estimate.mean(estimates)

    def _interval(
        self, statistic: Statistic, groups: Sequence[Sequence[Record]]
    ) -> Interval | None:
        """The 95 % interval of the value of one scope, by the method that suits its groups.

        A single group has the interval of the measure's own method. Groups that share units depend
        on each other: their mean has the bootstrap over units. Groups without a common unit are
        independent: the interval of their mean follows from theirs (MOVER, Zou & Donner 2008).

        Returns:
            None where the method gives none (the bootstrap of a single unit), and for independent
            groups if one of them has none.

        Args:
            statistic: that of the records; each of its units is one unit of the records.
            groups: the groups of records that the statistic averages (`averaged_groups`).
        """
        if len(groups) == 1:
            return self.interval.interval_of(statistic)
        # A unit in two groups is counted twice in this sum, but is one unit of the statistic.
        units_of_groups = sum(len(set(map(unit_of, group))) for group in groups)
        groups_share_units = units_of_groups > len(statistic.units)
        if groups_share_units:
            return BOOTSTRAP.interval_of(statistic)

        values: list[float] = []
        limits: list[Interval] = []
        for group in groups:
            # `estimate` calls `_interval` again, and this ends: at most the groups are first
            # repeats, then the scopes of each repeat, and a scope is a single group.
            estimate = self.estimate(group)
            if estimate is None or estimate.limits is None:
                return None
            values.append(estimate.value)
            limits.append(estimate.limits)
        return intervals.of_mean(values, limits)
