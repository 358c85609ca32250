"""Measures that several benchmarks report: how many outputs were read, how many ties there were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from figlang_tasks.metrics import ranking
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring.measure import Measure, Record, Scopes
from figlang_tasks.scoring.readings import has_answer


def parse_rate(
    is_parsed: Callable[[Any], bool] = has_answer, scopes: Scopes | None = None
) -> Measure:
    """The share of outputs that an answer was read from, or that are scores.

    Args:
        is_parsed: whether the output of a record counts as read.
    """

    def value_of_record(record: Record) -> float:
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
    """Whether several options share the highest score; None for an answer in words."""
    scores = record["scores"]
    return None if scores is None else float(ranking.tied_at_top(scores))


def tie_rate(
    description: str,
    value_of_record: Callable[[Any], float | None] | None = None,
    statistic: Callable[[Sequence[Any]], Statistic | None] | None = None,
    scopes: Scopes | None = None,
    in_table: bool = True,
) -> Measure:
    """The share of rows with scores in which a tie matters; by default one of the highest scores of
    a record.
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


def _is_dissent(record: Record) -> float:
    """Whether a careful reader takes the output for another label."""
    return float(record["predicted"] != record["predicted_strict"])


PARSE_DISAGREEMENT = Measure(
    "parse_disagreement",
    description=(
        "Share of outputs that a careful reader takes for another label than the paper's rules."
    ),
    source="figlang_tasks",
    value_of_record=_is_dissent,
    role="diagnostic",
    higher_is_better=False,
)
