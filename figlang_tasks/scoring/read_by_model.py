"""A task's headline metric once more, with a language model's readings of unread answers.

``figlang judge read`` writes the field `READ_BY` into each record of a task: a `Reading`, or None
where our own reading stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias, TypedDict, TypeVar

from figlang_tasks.core.record import Record
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring.evaluation import Measures
from figlang_tasks.scoring.measure import Measure, StatisticOfRecords
from figlang_tasks.scoring.readings import READ_BY
from figlang_tasks.scoring.records import AnyRecord

SUFFIX: Final = "_read_by_model"
"""Ends the name of a metric that takes these readings."""

ReadingStatus: TypeAlias = Literal["read", "none", "unreadable", "failed"]
"""What came of asking a language model which option an answer chooses.

- read: it names one of the options; only then is there a value.
- none: it finds that the answer chooses none of them.
- unreadable: it says something else.
- failed: the request failed.
"""

_Returned = TypeVar("_Returned")


class Reading(TypedDict):
    """What a language model read in an answer.

    Attributes:
        model: the language model.
        status: what came of asking it.
        value: the label of the option that it names, as it was told the options.
        fields: the fields of the record that say the same.
    """

    model: str
    status: ReadingStatus
    value: str | None
    fields: Mapping[str, Any]


def with_reading(record: Record) -> Record:
    """The record as if our own rules had read its answer the way the language model did."""
    reading: Reading | None = record.get(READ_BY)
    if reading is None:
        return record
    return {**record, **reading["fields"]}


def read_by_model(measure: Measure) -> Measure:
    """A copy of a measure that takes a language model's readings where our readers read nothing.

    Its name ends in `SUFFIX`.

    Args:
        measure: has to be recomputable (`Measure.is_recomputable`): an `estimate_of` would not see
            the readings.
    """
    value_of_record = measure.value_of_record
    statistic = measure.statistic
    answer = measure.answer
    return replace(
        measure,
        name=f"{measure.name}{SUFFIX}",
        description=(
            f"{measure.description} A language model read the answers that our readers left."
        ),
        source=f"{measure.source}; readings: figlang_tasks",
        value_of_record=None if value_of_record is None else _of_reading(value_of_record),
        statistic=None if statistic is None else _of_readings(statistic),
        applies=_of_reading(measure.applies),
        answer=None if answer is None else _of_reading(answer),
        # The headline metric of the task stays that of our own readings.
        role="diagnostic" if measure.is_diagnostic else "secondary",
        warn=None,  # the measure itself warns of what is left out
    )


def _of_reading(function: Callable[[AnyRecord], _Returned]) -> Callable[[AnyRecord], _Returned]:
    """A function of one record that sees the language model's reading in it."""

    def function_of_reading(record: Record) -> _Returned:
        return function(with_reading(record))

    return function_of_reading


def _of_readings(statistic: StatisticOfRecords) -> StatisticOfRecords:
    """A statistic of records that sees the language model's readings in them."""

    def statistic_of_readings(records: Sequence[Record]) -> Statistic | None:
        return statistic([with_reading(record) for record in records])

    return statistic_of_readings


def headline_measure(measures: Measures, records: Sequence[Record]) -> Measure | None:
    """The headline measure if records give it a value, else the first secondary one that has one.

    None if only diagnostic measures have a value. Measures that need more than the records, such as
    large models, are passed over.
    """
    # The headline measure, then secondary ones in the order of tables, then diagnostic ones.
    for measure in sorted(measures.all, key=lambda measure: measure.order):
        if measure.is_diagnostic:  # and so are all that follow
            return None
        if measure.is_recomputable and measure.overall_statistic(records) is not None:
            return measure
    return None


def with_read_by_model(measures: Measures, records: Sequence[Record]) -> Measures:
    """The measures of a task, with a copy of its headline measure by `read_by_model` behind it.

    The measures stay as they are if no language model has read the records.
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
