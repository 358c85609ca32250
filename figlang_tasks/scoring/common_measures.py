"""Measures that several benchmarks report: parsed outputs, ties, and readers that disagree."""

from __future__ import annotations

from collections.abc import Callable

from figlang_tasks.core.record import Record
from figlang_tasks.metrics import ranking
from figlang_tasks.scoring.measure import Measure, StatisticOfRecords, ValueOfRecord
from figlang_tasks.scoring.readings import has_answer
from figlang_tasks.scoring.records import AnyRecord
from figlang_tasks.scoring.scopes import Scopes


def parse_rate(
    is_parsed: Callable[[AnyRecord], bool] = has_answer, scopes: Scopes | None = None
) -> Measure:
    """The measure ``parse_rate``: the share of outputs with an answer, in words or as scores.

    Args:
        is_parsed: whether an answer was read from the output of a record.
        scopes: the parts of the benchmark with a value of their own.
    """

    def value_of_record(record: Record) -> float:
        """1 if the output of a record has an answer, else 0."""
        return float(is_parsed(record))

    return Measure(
        "parse_rate",
        description="Share of outputs with an answer.",
        source="figlang_tasks",
        value_of_record=value_of_record,
        scopes=scopes,
        role="diagnostic",
    )


def is_tied_at_top(record: Record) -> float | None:
    """1 if several options share the highest score, else 0; None for an answer in words."""
    scores = record["scores"]
    if scores is None:
        return None
    return float(ranking.tied_at_top(scores))


def tie_rate(
    description: str,
    value_of_record: ValueOfRecord | None = None,
    statistic: StatisticOfRecords | None = None,
    scopes: Scopes | None = None,
    in_table: bool = True,
) -> Measure:
    """The measure ``tie_rate``: the share of rows with scores in which a tie matters.

    Args:
        description: says which ties are counted.
        value_of_record: 1 for a record with such a tie, else 0. If this and `statistic` are None,
            ties of the highest scores are counted (`is_tied_at_top`).
        statistic: counts ties that several records of a row decide.
        scopes: the parts of the benchmark with a value of their own.
        in_table: whether the harness's own table has it.
    """
    if value_of_record is None and statistic is None:
        value_of_record = is_tied_at_top
    return Measure(
        "tie_rate",
        description=description,
        source="figlang_tasks",
        value_of_record=value_of_record,
        statistic=statistic,
        scopes=scopes,
        role="diagnostic",
        in_table=in_table,
        higher_is_better=False,
    )


def _is_disputed(record: Record) -> float:
    """1 if a careful reader reads another label than the paper's rules do, else 0."""
    return float(record["predicted"] != record["predicted_strict"])


PARSE_DISAGREEMENT = Measure(
    "parse_disagreement",
    description=(
        "Share of outputs that a careful reader takes for another label than the paper's rules."
    ),
    source="figlang_tasks",
    value_of_record=_is_disputed,
    role="diagnostic",
    higher_is_better=False,
)
