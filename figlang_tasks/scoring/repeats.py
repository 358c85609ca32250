"""What several answers to each row say of a model (``--repeats K``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from figlang_tasks.scoring.measure import OVERALL, REPEAT, Estimates, Measure, Record, by_repeat


def summary(records: Sequence[Record], measures: Iterable[Measure], estimates: Estimates) -> dict[str, Any] | None:
    """The headline metric of a task whose rows were asked several times; None where each was asked once.

    Returns:
        ``answers``: how many a row has; ``metric``: its name; ``mean``: its mean over all answers. And, where answers
        are labels or options, its value if each row has the answer of its majority, under ``maj@K``.
    """
    count = len(by_repeat(records))
    known = [measure for measure in measures if measure.name in estimates]
    if count == 1 or not known:
        return None
    headline = min(known, key=lambda measure: measure.standing)
    found = {"answers": count, "metric": headline.name, "mean": estimates[headline.name][OVERALL].value}
    if headline.answer is not None:
        counted = [record for record in majority(records, headline.answer) if headline.counts(record)]
        statistic = headline.statistic_of(counted) if counted else None
        if statistic is not None:
            found[f"maj@{count}"] = statistic.total()
    return found


def majority(records: Sequence[Record], answer: Callable[[Record], Hashable]) -> list[Record]:
    """Of each row the first record with the answer of the majority.

    Of answers that were given equally often it is the first one. What could not be read has no vote, unless nothing
    could be read.
    """
    rows: dict[str, list[Record]] = {}
    for record in (record for answers in by_repeat(records) for record in answers):
        rows.setdefault(record["id"], []).append(record)
    found: list[Record] = []
    for own in rows.values():
        votes = Counter(said for record in own if (said := answer(record)) is not None)
        winner = votes.most_common(1)[0][0] if votes else None
        chosen = next(record for record in own if answer(record) == winner)
        found.append({name: value for name, value in chosen.items() if name != REPEAT})
    return found
