"""`Measure`: one metric, declared once.

From one declaration come the value of a task, its standard error and 95 % interval, its value in every scope, the
paired tests of ``figlang compare``, the tables of the report and what ``figlang submit`` writes. A benchmark's
``measures`` module declares its measures; task files name them:
``metric_list: !function figlang_tasks.benchmarks.irfl.measures.DETECT``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, TypeAdapter, ValidationError

from figlang_tasks.core.card import Record
from figlang_tasks.core.text import HALF_A_PAIR
from figlang_tasks.metrics import intervals
from figlang_tasks.metrics.intervals import Interval
from figlang_tasks.metrics.significance import Statistic

OVERALL = "all"
"""The scope of all rows."""

REPEAT = "repeat"
"""The field with the number of an answer, from 1, where each row was asked several times (``--repeats``)."""

Floats = npt.NDArray[np.float64]


class IntervalMethod(NamedTuple):
    """How the 95 % interval of a statistic is made, None where there is no sound one.

    Attributes:
        name: for people and for what ``figlang submit`` writes.
        of: not called for a measure with an `own` value.
        resamples: of its bootstrap; None where nothing is resampled.
    """

    name: str
    of: Callable[[Statistic], Interval | None]
    resamples: int | None = None


WILSON = IntervalMethod("Wilson, over units", lambda found: intervals.share(*found.rows.T))
"""Of a share: rows of the statistic are hits and totals."""

TWO_CLASSES = IntervalMethod(
    "MOVER of Wilson limits over units", lambda found: intervals.of_two_classes(found.rows, found.value)
)
"""Of a score of two classes: rows of the statistic are ``tn, fp, fn, tp``."""

BOOTSTRAP = IntervalMethod(
    "bootstrap over units, percentiles with tails of t",
    lambda found: intervals.bootstrap(found.rows, found.value),
    intervals.RESAMPLES,
)
"""Of any function of sums."""


class Estimate(NamedTuple):
    """The value of a measure in one scope; None is not known.

    Attributes:
        value: on the measure's own scale.
        low, high: ends of its 95 % interval; None also where there is no sound one.
        stderr: standard error, by the bootstrap over units; of scopes it is not computed.
        rows: number of rows of the benchmark that it was taken over.
    """

    value: float
    low: float | None = None
    high: float | None = None
    stderr: float | None = None
    rows: int | None = None

    @classmethod
    def of(cls, value: float, interval: Interval | None, stderr: float | None = None) -> Estimate:
        low, high = interval or (None, None)
        return cls(value, low, high, stderr)

    @classmethod
    def mean(cls, parts: Sequence[Estimate]) -> Estimate:
        """The mean of estimates from the same rows; that of their ends is an interval that may be too wide."""
        value = float(np.mean([each.value for each in parts]))
        ends = [(each.low, each.high) for each in parts if each.low is not None and each.high is not None]
        return cls.of(value, Interval(*np.mean(ends, axis=0).tolist()) if len(ends) == len(parts) else None)


Estimates: TypeAlias = Mapping[str, Mapping[str, Estimate]]
"""By measure, then by scope."""


class Scopes(NamedTuple):
    """Parts of a benchmark that a measure has a value of its own for.

    Attributes:
        names: all scopes, in the order of tables.
        of: the scopes of a record.
        seen: the record as it counts in a scope, where that is a part of each record (one part of a caption).
        averaged: whether the value of all rows is the unweighted mean of those of the scopes, which repeat one
            measurement (folds, wordings of a prompt).
    """

    names: tuple[str, ...]
    of: Callable[[Record], Iterable[str]]
    seen: Callable[[Record, str], Record] = lambda record, scope: record
    averaged: bool = False

    def split(self, records: Sequence[Record]) -> dict[str, list[Record]]:
        """The records of each scope that has any, in the order of tables."""
        found: dict[str, list[Record]] = {name: [] for name in self.names}
        for record in records:
            for scope in self.of(record):
                if not isinstance(scope, str) or HALF_A_PAIR.search(scope):
                    raise ValueError(f"row {record['id']} counts in the part {scope!r:.80}, which must be a text")
                found.setdefault(scope, []).append(self.seen(record, scope))
        return {scope: own for scope, own in found.items() if own}


def by_field(field: str, names: Sequence[str]) -> Scopes:
    """A scope for each value of a field of the records."""
    return Scopes(tuple(names), lambda record: (record[field],))


def unit_of(record: Record) -> str:
    """What is resampled: what dependent records share, else the document itself."""
    return str(record.get("unit", record["id"]))


def row_of(record: Record) -> str:
    """The row of the benchmark, which several documents may share (rotations, the pictures of a ranking)."""
    return str(record.get("row", record["id"]))


def by_repeat(records: Sequence[Record]) -> list[list[Record]]:
    """The first answers to all rows, the second ones, and so on; a single list where each row was asked once."""
    found: dict[int, list[Record]] = {}
    for record in records:
        found.setdefault(record.get(REPEAT, 1), []).append(record)
    return [found[number] for number in sorted(found)]


@dataclass(frozen=True, eq=False)
class Measure:
    """One metric. Exactly one of `each`, `statistic` and `own` is given.

    Attributes:
        name: as the paper has it, and results files.
        each: the number of a record, whose mean is the value; None where the record does not count.
        statistic: of records that count, at least one: rows of numbers whose sums decide the value; None where the
            records say nothing (no whole ranking).
        own: value and interval of records that count, in a scope; for what is no function of sums. None: no value.
        interval: how the interval is made; by default that of a share: `each` is 0 or 1 by its nature.
        applies: whether a record counts, as `each` says by None.
        scopes: parts of the benchmark with a value of their own.
        higher_is_better: whether more is better.
        percent: whether it is from 0 to 1 and people read it in percent.
        bounds: its least and its greatest possible value.
        main: it stands for the whole task where one measure has to (`figlang_tasks.results.measures.headline`).
        diagnostic: it tells how a run went, not how good a model is. It is never tested.
        headline: whether the harness's own table has it; else it stands in the metadata of the results alone.
        rare: it has no value where that would be 0, and so no line in tables.
        answer: the label or option behind the number of a record, None where none was read: several answers to one row
            can be put to the vote. None: answers are words.
        remark: says in the log what of the records that count is left out of the value; called once in a run.
    """

    name: str
    each: Callable[[Record], float | None] | None = None
    statistic: Callable[[Sequence[Record]], Statistic | None] | None = None
    own: Callable[[Sequence[Record], str], Estimate | None] | None = None
    interval: IntervalMethod = WILSON
    applies: Callable[[Record], bool] = lambda record: True
    scopes: Scopes | None = None
    higher_is_better: bool = True
    percent: bool = True
    bounds: tuple[float, float] = (0.0, 1.0)
    main: bool = False
    diagnostic: bool = False
    headline: bool = True
    rare: bool = False
    answer: Callable[[Record], Hashable] | None = None
    remark: Callable[[Sequence[Record]], None] | None = None

    def __post_init__(self) -> None:
        if sum(given is not None for given in (self.each, self.statistic, self.own)) != 1:
            raise ValueError(f"measure {self.name} must have exactly one of each, statistic and own")

    @property
    def standing(self) -> tuple[bool, bool]:
        """The least of a task is that of its headline metric: one that is declared as `main`, or is not diagnostic."""
        return not self.main, self.diagnostic

    @property
    def averaged(self) -> bool:
        """Whether the value of all rows is the unweighted mean of those of the scopes."""
        return self.scopes is not None and self.scopes.averaged

    def counts(self, record: Record) -> bool:
        """Whether a record counts for the value."""
        return self.applies(record) and (self.each is None or self.each(record) is not None)

    def in_scopes(self, records: Sequence[Record]) -> dict[str, list[Record]]:
        """The records that count, by scope: all first, then in the order of tables; scopes without any are left out."""
        counted = [record for record in records if self.counts(record)]
        found = {OVERALL: counted} if counted else {}
        return found | (self.scopes.split(counted) if self.scopes is not None else {})

    def repeats(self, records: Sequence[Record]) -> list[list[Record]]:
        """The records in parts of which the value is the unweighted mean: several answers to each row, or scopes.

        Answers that have a number each are not parted: their mean is that of all.
        """
        answers = by_repeat(records)
        if len(answers) > 1 and self.each is None:
            return answers
        if self.scopes is not None and self.scopes.averaged:
            return list(self.scopes.split(records).values())
        return [list(records)]

    def statistic_of(self, records: Sequence[Record]) -> Statistic | None:
        """The statistic of records that count; None where it has no value, and of a measure with an `own` one."""
        repeats = self.repeats(records)
        if len(repeats) > 1:
            parts = [part for own in repeats if (part := self.statistic_of(own)) is not None]
            return over_parts(parts, np.mean) if len(parts) == len(repeats) else None
        if self.each is not None:
            numbers = [self.each(record) for record in records]
            if self.interval is WILSON and not set(numbers) <= {0, 1}:
                at = next(place for place, number in enumerate(numbers) if number not in (0, 1))
                raise ValueError(
                    f"{self.name} of row {records[at]['id']} is {numbers[at]}: a share counts 0 or 1 of each record; a "
                    f"mean of other numbers has interval=BOOTSTRAP"
                )
            found: Statistic | None = ratio(map(unit_of, records), numbers)
        else:
            found = self.statistic(records) if self.statistic else None
        if found is None or not np.isfinite(found.total()) or (self.rare and not found.total()):
            return None
        return found

    def statistics(self, records: Sequence[Record]) -> dict[str, Statistic]:
        """The statistic of each scope that has a value; none has where the whole has none."""
        made = ((scope, self.statistic_of(own)) for scope, own in self.in_scopes(records).items())
        found = {scope: statistic for scope, statistic in made if statistic is not None}
        return found if OVERALL in found else {}

    def estimate(self, records: Sequence[Record], scope: str = OVERALL, stderr_resamples: int = 0) -> Estimate | None:
        """The value of records of a scope that count, at least one, with its interval; None where there is no value."""
        if self.own is not None:
            parts = [self.own(answers, scope) for answers in by_repeat(records)]
            known = [part for part in parts if part is not None]
            return (known[0] if len(known) == 1 else Estimate.mean(known)) if len(known) == len(parts) else None
        found = self.statistic_of(records)
        if found is None:
            return None
        stderr = intervals.standard_error(found.rows, found.value, stderr_resamples) if stderr_resamples else None
        return Estimate.of(found.total(), self._interval(found, records), stderr)

    def _interval(self, found: Statistic, records: Sequence[Record]) -> Interval | None:
        """The interval of a statistic; of a mean of scopes without a common unit that of independent values."""
        repeats = self.repeats(records)
        if len(repeats) == 1:
            return self.interval.of(found)
        if sum(len(set(map(unit_of, own))) for own in repeats) > len(found.units):
            return BOOTSTRAP.of(found)
        parts = [each for own in repeats if (each := self.estimate(own))]  # each has a value, as their mean has
        ends = [Interval(each.low, each.high) for each in parts if each.low is not None and each.high is not None]
        return intervals.of_mean([each.value for each in parts], ends) if len(ends) == len(parts) else None

    @property
    def arrow(self) -> str:
        """Where better values are, for the heads of tables."""
        return "\N{UPWARDS ARROW}" if self.higher_is_better else "\N{DOWNWARDS ARROW}"

    def text(self, value: float) -> str:
        """A value as people read it."""
        return f"{100 * value:.1f}" if self.percent else f"{value:.2f}"


ratio = Statistic.ratio_of
"""The ratio of two sums, by default the mean of numerators; records of one unit are added up."""


def grouped(units: Iterable[str], rows: npt.ArrayLike, value: Callable[[Floats], Floats]) -> Statistic:
    """A statistic whose rows of one unit are added up."""
    return Statistic(tuple(units), np.asarray(rows, dtype=np.float64), value)


def over_parts(parts: Sequence[Statistic], combine: Callable[..., Any]) -> Statistic:
    """A function (``numpy.mean``, say) of the values of several statistics, over the units of all of them."""
    units = sorted({unit for part in parts for unit in part.units})
    ends = np.cumsum([part.rows.shape[1] for part in parts])
    rows = np.zeros((len(units), ends[-1]))
    places = {unit: place for place, unit in enumerate(units)}
    for part, columns in zip(parts, np.split(rows, ends[:-1], axis=1), strict=True):
        columns[[places[unit] for unit in part.units]] = part.rows

    def value(sums: Floats) -> Floats:
        shares = np.split(sums, ends[:-1], axis=-1)
        found: Floats = combine([part.value(own) for part, own in zip(parts, shares, strict=True)], axis=0)
        return found

    return Statistic(tuple(units), rows, value)


def full_name(measure: str, scope: str) -> str:
    """Measure and scope in one word, as command lines take it: ``f1@60_muse``; of all rows ``f1@60``."""
    return measure if scope == OVERALL else f"{measure}_{scope}"


def flat(estimates: Estimates) -> Iterator[tuple[str, str, Estimate]]:
    """Measure, scope and estimate, one after another."""
    for measure, scopes in estimates.items():
        for scope, estimate in scopes.items():
            yield measure, scope, estimate


# --- in results files ---

FORMAT = 1
"""Version of the shape that `to_json` writes."""

_SAVED = TypeAdapter(dict[str, dict[str, Estimate]], config=ConfigDict(strict=True, allow_inf_nan=False))


def to_json(estimates: Estimates) -> dict[str, Any]:
    """Estimates as results files hold them under ``configs.<task>.metadata.measures``.

    Returns:
        ``{"format": 1, "values": {measure: {scope: {"value": ..., "low": ..., "high": ..., "stderr": ..., "rows":
        ...}}}, "failed": [measure]}``; the scope of all rows is ``all``. What is not known is left out; ``failed`` are
        those whose value is no number.
    """
    values: dict[str, dict[str, Any]] = {}
    lost: dict[str, None] = {}
    for measure, scope, estimate in flat(estimates):
        if math.isfinite(estimate.value):
            known = {key: number for key, number in estimate._asdict().items() if number is not None}
            values.setdefault(measure, {})[scope] = known
        else:
            lost[measure] = None
    return {"format": FORMAT, "failed": list(lost), "values": values}


def from_json(content: Any) -> dict[str, dict[str, Estimate]]:
    """Estimates of what :func:`to_json` returned."""
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise ValueError(f"measures do not have the format {FORMAT}: did another version of figlang_tasks write them?")
    try:
        return _SAVED.validate_python(content.get("values"))
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"measures are damaged ({'.'.join(map(str, first['loc']))}: {first['msg']})") from error


def failed(content: Mapping[str, Any]) -> tuple[str, ...]:
    """The measures whose computation failed, of what :func:`to_json` returned."""
    return tuple(map(str, content.get("failed") or ()))
