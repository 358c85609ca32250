"""The headline metric of a task whose rows have several answers each (``--repeats K``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeAlias

from figlang_tasks.core.record import Record
from figlang_tasks.scoring.estimates import OVERALL, Estimates
from figlang_tasks.scoring.evaluation import Measures
from figlang_tasks.scoring.measure import Measure
from figlang_tasks.scoring.records import REPEAT, by_repeat

RepeatsSummary: TypeAlias = Mapping[str, str | int | float]
"""What `evaluate_repeats` returns, as results files hold it under ``metadata.repeats``."""


def evaluate_repeats(
    records: Sequence[Record], measures: Measures, estimates: Estimates
) -> RepeatsSummary | None:
    """The headline metric's mean over all answers, and its value by majority vote (``maj@K``).

    Returns:
        ``answers``: the number of answers to a row; ``metric``: the name of the metric; ``mean``:
        its mean over all answers. If answers are labels or options, ``maj@K`` is its value when
        each row has the answer that most of its K answers give. None if each row has one answer,
        or no measure has an estimate.
    """
    repeats = by_repeat(records)
    evaluated = [measure for measure in measures.all if measure.name in estimates]
    if len(repeats) == 1 or not evaluated:
        return None
    headline = min(evaluated, key=lambda measure: measure.order)  # the smallest is the headline
    summary: dict[str, str | int | float] = {
        "answers": len(repeats),
        "metric": headline.name,
        "mean": estimates[headline.name][OVERALL].value,
    }
    majority_value = _value_of_majority(repeats, headline)
    if majority_value is not None:
        summary[f"maj@{len(repeats)}"] = majority_value
    return summary


def _value_of_majority(repeats: Sequence[Sequence[Record]], measure: Measure) -> float | None:
    """The value of a measure when each row has its majority's answer; None where it has none."""
    if measure.answer is None:
        return None
    answers_by_row: dict[str, list[Record]] = {}
    for answers in repeats:
        for record in answers:
            answers_by_row.setdefault(record["id"], []).append(record)

    majority = [_majority_record(answers, measure.answer) for answers in answers_by_row.values()]
    statistic = measure.overall_statistic(majority)
    return None if statistic is None else statistic.total()


def _majority_record(
    answers: Sequence[Record], answer_of: Callable[[Record], Hashable]
) -> dict[str, object]:
    """The first record with the answer that most answers to its row give, without its repeat.

    Of answers given equally often the first one wins. What could not be read has no vote, unless
    nothing could be read.

    Args:
        answers: the records of all answers to one row.
        answer_of: the label or option in a record; None where none was read.
    """
    votes: Counter[Hashable] = Counter()
    for record in answers:
        answer = answer_of(record)
        if answer is not None:
            votes[answer] += 1
    # Of equal counts `most_common` takes the one counted first. Without votes the winner is None,
    # which is the answer of all records: the first of them is chosen.
    winner = votes.most_common(1)[0][0] if votes else None
    chosen = next(record for record in answers if answer_of(record) == winner)
    # Without the number of the repeat the row counts as answered once.
    return {field: content for field, content in chosen.items() if field != REPEAT}
