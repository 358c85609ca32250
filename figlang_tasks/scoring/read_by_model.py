"""A task's headline metric once more, with what a language model read in answers that our readers
left.

``figlang judge read`` writes `READ_BY` into each record of a task: None where our reading stands,
else a `Reading`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias, TypedDict

from figlang_tasks.scoring.estimates import OVERALL
from figlang_tasks.scoring.evaluation import Measures
from figlang_tasks.scoring.measure import Measure, Record
from figlang_tasks.scoring.readings import READ_BY

SUFFIX: Final = "_read_by_model"
"""Ends the name of a metric that takes these readings."""

ReadingStatus: TypeAlias = Literal["read", "none", "unreadable", "failed"]
"""Outcome of asking a language model what an answer chooses; there is a value if and only if it is
`read`.

- read: it names one of the options.
- none: it finds that the answer chooses none of them.
- unreadable: it says something else.
- failed: the request failed.
"""


class Reading(TypedDict):
    """What a language model read in an answer.

    `value` is the label of an option as the model was told of it, `fields` are those of the record
    that say the same.
    """

    model: str
    status: ReadingStatus
    value: str | None
    fields: Mapping[str, Any]


def with_reading(record: Record) -> Record:
    """The record as if its answer had been read as the language model read it."""
    reading: Reading | None = record.get(READ_BY)
    if reading is None:
        return record
    return {**record, **reading["fields"]}


def read_by_model(measure: Measure) -> Measure:
    """The same measure of records with the readings of a language model in place of missing
    ones.
    """
    return replace(
        measure,
        name=f"{measure.name}{SUFFIX}",
        description=(
            f"{measure.description} A language model read the answers that our readers left."
        ),
        source=f"{measure.source}; readings: figlang_tasks",
        value_of_record=_of_readings(measure.value_of_record),
        statistic=_of_all_readings(measure.statistic),
        applies=_of_readings(measure.applies),
        answer=_of_readings(measure.answer),
        role="diagnostic" if measure.is_diagnostic else "secondary",
        warn=None,
    )


def _of_readings(function: Any) -> Any:
    """A function of a record, called with what the language model read in it; None for None."""
    if function is None:
        return None

    def of_reading(record: Record) -> Any:
        return function(with_reading(record))

    return of_reading


def _of_all_readings(function: Any) -> Any:
    """The same for a function of several records."""
    if function is None:
        return None

    def of_readings(records: Sequence[Record]) -> Any:
        return function([with_reading(record) for record in records])

    return of_readings


def headline_measure(measures: Measures, records: Sequence[Record]) -> Measure | None:
    """The measure that stands for a task among those that records give a value by sums; None
    without any.
    """
    for measure in sorted(measures.all, key=lambda measure: measure.order):
        if measure.is_diagnostic:
            return None
        if measure.estimate_of is None and OVERALL in measure.statistics_by_scope(records):
            return measure
    return None


def with_read_by_model(measures: Measures, records: Sequence[Record]) -> Measures:
    """The measures, and behind the headline one that of a language model's readings, if one has
    read the records.
    """
    if not any(READ_BY in record for record in records):
        return measures
    headline = headline_measure(measures, records)
    extended: list[Measure] = []
    for measure in measures.all:
        extended.append(measure)
        if measure is headline:
            extended.append(read_by_model(measure))
    return Measures.of(*extended, row_of=measures.row_of)
