"""How the answers of a task were read: how many by which rule, and how many were left unread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TypedDict, get_args

from figlang_tasks.answers.verdict import Status
from figlang_tasks.core.card import Record

WITHOUT_WORDS = ("empty", "missing")
"""Statuses of answers that hold nothing to read."""

UNREAD = tuple(status for status in get_args(Status) if status != "read")
"""Statuses of answers that were not read."""


class Readings(TypedDict):
    """How many answers of a task were read and how many were left; names with higher counts first.

    Attributes:
        read: counts of answers in words, by the rule that read them.
        left: counts of answers in words that were not read, by status; see `Status`.
        scores: how many answers are scores of a backend, which need no reading.
    """

    read: dict[str, int]
    left: dict[str, int]
    scores: int


def is_unread(record: Record) -> bool:
    """Whether a record is of an answer in words that was not read."""
    return record.get("status") in UNREAD


def count_readings(records: Iterable[Record]) -> Readings | None:
    """Counts answers by the rule that read them, and those that were left by status; None if none is in words.

    Records without a status are of outputs that nobody reads, such as captions.
    """
    read: Counter[str] = Counter()
    left: Counter[str] = Counter()
    scores = 0
    for record in records:
        status = record.get("status")
        if status == "read":
            read[str(record.get("rule", ""))] += 1
        elif status == "scores":
            scores += 1
        elif is_unread(record):
            left[str(status)] += 1
    if not (read or left):
        return None
    return Readings(read=highest_first(read), left=highest_first(left), scores=scores)


def highest_first(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts in descending order; of equal ones in alphabetical order of their names."""
    names = sorted(counts, key=lambda name: (-counts[name], name))
    return {name: counts[name] for name in names}


def counts_text(counts: Mapping[str, int]) -> str:
    """Counts as people read them: ``3 unreadable, 1 out of range``."""
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
