"""How the answers of a task were read: how many by which rule, and how many were left unread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypedDict, get_args

from figlang_tasks.answers.verdict import Status, UnreadStatus
from figlang_tasks.core.benchmark import parse_request
from figlang_tasks.core.record import Record

WITHOUT_WORDS: tuple[UnreadStatus, ...] = ("empty", "missing")
"""Statuses of answers that hold nothing to read."""

ANSWERED: tuple[Status, ...] = ("read", "scores")
"""Statuses of outputs with an answer."""

UNREAD: tuple[UnreadStatus, ...] = get_args(UnreadStatus)
"""Statuses of answers that were not read."""

READ_BY = "read_by"
"""The field that ``figlang judge read`` adds to the records of a run."""

COUNTS_AS: Final = "unread_counts_as"
"""The field with the label that an unread answer counts as by the rules of its paper, if any."""


class Readings(TypedDict):
    """How many answers of a task were read, and how many were left.

    Attributes:
        read: counts of answers in words, by the rule that read them; the highest first.
        left: counts of answers in words that were not read, by status (`Status`); the highest
            first.
        scores: how many answers are given by scores of a backend and not by text, and so need no
            reading.
        left_count_as: what the answers that were left count as in the task's metrics: ``wrong``, or
            a label.
    """

    read: dict[str, int]
    left: dict[str, int]
    scores: int
    left_count_as: str


def has_answer(record: Record) -> bool:
    """Whether a record has an answer: it was read from words, or it is scores."""
    return record["status"] in ANSWERED


def is_unread(record: Record) -> bool:
    """Whether a record's answer is in words and was not read."""
    return record.get("status") in UNREAD


def has_unread_words(record: Record) -> bool:
    """Whether a record's answer was not read although it is not empty."""
    return is_unread(record) and record["status"] not in WITHOUT_WORDS


def count_readings(records: Iterable[Record]) -> Readings | None:
    """Count answers by the rule that read them, and unread ones by status.

    Records without a status are of outputs that nobody reads, such as captions, and do not count;
    nor do words where only scores count (`no_scores`).

    Returns:
        The counts; None if no answer was read or left unread, as where all answers are scores.
    """
    read: Counter[str] = Counter()
    left: Counter[str] = Counter()
    scores = 0
    left_count_as = "wrong"
    for record in records:
        status = record.get("status")
        if status == "read":
            read[str(record.get("rule", ""))] += 1
        elif status == "scores":
            scores += 1
        elif is_unread(record):  # not so `no_scores`: words where only scores count
            left[str(status)] += 1
            # By the rules of its paper, an unread answer of NYK-MS counts as "No". The field is the
            # same for all records of a task.
            left_count_as = str(record.get(COUNTS_AS, left_count_as))
    if not read and not left:
        return None
    return Readings(
        read=highest_first(read),
        left=highest_first(left),
        scores=scores,
        left_count_as=left_count_as,
    )


def readings_metadata(records: Sequence[Record]) -> dict[str, Any]:
    """The entries ``readings`` and ``offers_choice`` for the metadata of a task in a results file.

    They are the counts (`count_readings`), and whether the task offers a choice (`offers_choice`).
    {} if no answer was read or left unread.
    """
    readings = count_readings(records)
    if readings is None:
        return {}
    # Either all records of a task offer a choice or none does.
    return {"readings": readings, "offers_choice": offers_choice(records[0])}


def offers_choice(record: Record) -> bool:
    """Whether the task of a record offers a choice of answers.

    If so, a language model can read what our readers left unread (``figlang judge read``).
    """
    benchmark, _ = parse_request(record["request"])
    return benchmark.choice(record) is not None


def highest_first(counts: Mapping[str, int]) -> dict[str, int]:
    """Sort counts in descending order, and equal ones by their names."""

    def sort_key(name: str) -> tuple[int, str]:
        return -counts[name], name

    return {name: counts[name] for name in sorted(counts, key=sort_key)}


def counts_text(counts: Mapping[str, int]) -> str:
    """Counts as people read them: ``3 unreadable, 1 out of range``."""
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counts.items())
