"""The measures of all records of a task, inside a harness and outside of one.

An exception in a run would lose every model output (lmms-eval 0.7.3), so a failure is logged with
its cause, gives NaN for that metric alone, and status 1 at the end of our ``lmms_eval`` command.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from loguru import logger

from figlang_tasks.core import notes
from figlang_tasks.scoring.estimates import OVERALL, Estimate, Estimates, flat, full_name
from figlang_tasks.scoring.measure import REPEAT, Measure, Record, by_repeat, row_of
from figlang_tasks.scoring.output_warnings import UNFINISHED

STDERR_RESAMPLES = 1_000
"""Resamples of the bootstrap of a standard error: it is then known to about 2 % of itself."""

_Value = TypeVar("_Value")


@dataclass(frozen=True, eq=False)
class Measures:
    """All measures of a kind of task; made by `of`.

    Attributes:
        by_name: the measures, in the order of tables.
        row_of: the row of the benchmark that a record is of.
    """

    by_name: Mapping[str, Measure]
    row_of: Callable[[Record], str]

    @classmethod
    def of(cls, *measures: Measure, row_of: Callable[[Record], str] = row_of) -> Measures:
        """The measures, in the order of tables; beside ``parse_rate`` the share of unfinished
        answers.
        """
        by_name: dict[str, Measure] = {}
        for measure in measures:
            if by_name.setdefault(measure.name, measure) is not measure:
                raise ValueError(f"two measures of one name: {measure.name}")
            if measure.name == "parse_rate":
                by_name[UNFINISHED.name] = UNFINISHED
        return cls(by_name, row_of)

    @property
    def all(self) -> tuple[Measure, ...]:
        return tuple(self.by_name.values())

    @property
    def in_table(self) -> tuple[Measure, ...]:
        """The measures of the harness's own table."""
        return tuple(measure for measure in self.all if measure.in_table)

    def values(self, record: Record) -> dict[str, Any]:
        """What ``process_results`` returns of a document: its record under ``sample``, and its
        number by metric.

        The number is None where the record does not count, and of a metric that is no mean of
        numbers of records.
        """
        values: dict[str, Any] = {"sample": record}
        for measure in self.in_table:
            if measure.omit_zero:
                continue
            values[measure.name] = None
            if measure.value_of_record is not None and measure.applies(record):
                values[measure.name] = measure.value_of_record(record)
        return values

    @property
    def recomputable(self) -> Measures:
        """Functions of sums over records; the others may need Java, large models or a run's
        pictures.
        """
        return Measures.of(
            *(measure for measure in self.all if measure.estimate_of is None), row_of=self.row_of
        )

    def count_rows(self, records: Iterable[Record]) -> int:
        """Number of rows of the benchmark in `records`: rotations, pictures and several answers of
        a row count once.

        A ranking of which a limit has cut pictures does not count, as the measures leave it out.
        """
        found: dict[
            str, dict[str, Any]
        ] = {}  # of each row its documents, with the number of pictures of a ranking
        for record in records:
            found.setdefault(self.row_of(record), {})[record["id"]] = record.get("images")
        return sum(set(ids.values()) <= {len(ids), None} for ids in found.values())


# --- all measures of a task ---


def guarded(name: str, compute: Callable[[], _Value], otherwise: _Value) -> _Value:
    """What `compute` returns; `otherwise` if it raises, with the cause in the log and a note of the
    failure.
    """
    try:
        return compute()
    except Exception:  # whatever it is, the outputs of the run must still be written
        logger.exception(f"figlang_tasks: {name} failed; its value is NaN")
        notes.note(f"{name} failed; its value is NaN, see the log")
        return otherwise


def evaluate(
    records: Sequence[Record],
    measures: Measures,
    stderr_resamples: int = STDERR_RESAMPLES,
    in_run: bool = False,
) -> dict[str, dict[str, Estimate]]:
    """Every measure of a task, of all records and of each scope, where it has a value.

    Measures in the harness's table have a standard error, of so many resamples. In a run a measure
    that fails is :func:`guarded`, and measures warn of what they leave out.
    """
    found = {}
    for measure in measures.all:
        compute = partial(
            _in_scopes, measure, records, measures, stderr_resamples * measure.in_table, in_run
        )
        own = guarded(measure.name, compute, {OVERALL: Estimate(math.nan)}) if in_run else compute()
        if own:
            found[measure.name] = own
    return found


def _in_scopes(
    measure: Measure,
    records: Sequence[Record],
    measures: Measures,
    stderr_resamples: int,
    in_run: bool,
) -> dict[str, Estimate]:
    found: dict[str, Estimate] = {}
    for scope, own in measure.records_by_scope(records).items():
        resamples = stderr_resamples if scope == OVERALL else 0
        if in_run and measure.warn and scope == OVERALL:
            measure.warn(by_repeat(own)[0])
        estimate = measure.estimate(own, scope, resamples)
        if estimate is not None:
            found[scope] = estimate._replace(
                rows=measures.count_rows(own), stderr=estimate.stderr if resamples else None
            )
        elif scope == OVERALL:
            return {}  # what has no value has none in a scope
    return found


def headline_values(records: Sequence[Record], measures: Measures) -> dict[str, float]:
    """Values of the measures in the harness's table that are no diagnostics, by full name."""
    return {
        full_name(name, scope): estimate.value
        for name, scope, estimate in flat(evaluate(records, measures, stderr_resamples=0))
        if measures.by_name[name].in_table and not measures.by_name[name].is_diagnostic
    }


def evaluate_repeats(
    records: Sequence[Record], measures: Measures, estimates: Estimates
) -> dict[str, Any] | None:
    """The headline metric of a task whose rows were asked several times (``--repeats K``), else
    None.

    Returns:
        ``answers``: how many a row has; ``metric``: its name; ``mean``: its mean over all answers.
        And, where answers are labels or options, its value if each row has the answer of its
        majority, under ``maj@K``: of answers that were given equally often the first one; what
        could not be read has no vote, unless nothing could be read.
    """
    rounds = by_repeat(records)
    known = [measure for measure in measures.all if measure.name in estimates]
    if len(rounds) == 1 or not known:
        return None
    headline = min(known, key=lambda measure: measure.order)
    found = {
        "answers": len(rounds),
        "metric": headline.name,
        "mean": estimates[headline.name][OVERALL].value,
    }
    if headline.answer is not None:
        rows: dict[str, list[Record]] = {}
        for record in (record for answers in rounds for record in answers):
            rows.setdefault(record["id"], []).append(record)
        chosen = [_of_majority(own, headline.answer) for own in rows.values()]
        counted = [record for record in chosen if headline.counts(record)]
        statistic = headline.statistic_of(counted) if counted else None
        if statistic is not None:
            found[f"maj@{len(rounds)}"] = statistic.total()
    return found


def _of_majority(records: Sequence[Record], answer: Callable[[Record], Hashable]) -> Record:
    """The first record with the answer that most have, as if the row had been asked once."""
    votes = Counter(said for record in records if (said := answer(record)) is not None)
    winner = votes.most_common(1)[0][0] if votes else None
    chosen = next(record for record in records if answer(record) == winner)
    return {name: value for name, value in chosen.items() if name != REPEAT}
