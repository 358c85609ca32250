"""What a card of the report's gallery is: plain data, which the page's script shows as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypedDict

from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.record import Document, Record

Texts: TypeAlias = list[tuple[str, Any]]
"""Texts with their names; one that is None or empty is not shown."""


class CardPicture(TypedDict, total=False):
    """A picture of a card.

    Attributes:
        name: by which its benchmark finds it.
        label: what stands beside it: its letter or place.
        role: what it is in its row.
        right: whether it is right; not there for others.
        picture: its number in the gallery in place of `name`, which the report adds; None if it is
            not at hand.
    """

    name: str
    label: str
    role: str
    right: bool
    picture: Any


class Card(TypedDict, total=False):
    """A row of a task. The report adds `task`, `id`, `prompt` and `answers`.

    Attributes:
        source: which part of the benchmark the row is of.
        facts: what was asked.
        gold: what is right.
        reference: the reference explanation.
        pictures: what is shown.
        boxes: the annotated boxes: left, top, right and bottom of each.
        answers: of each run that has the row.
    """

    source: str
    facts: Texts
    gold: Texts
    reference: str
    pictures: list[CardPicture]
    boxes: Sequence[Sequence[float]]
    task: str
    id: str
    prompt: str
    answers: list[Answer]


class Answer(TypedDict, total=False):
    """An answer to a row. The report adds `run`, `prompt` (if it is another than the card's) and
    `output`.

    Attributes:
        predicted: what was read, in short.
        outcome: one of the outcomes below.
        status: how it was read.
        rule: which rule read it.
        said: what else there is to say of it.
        explanation: the model's.
        score: of the answer, 0 to 1.
        score_name: what the score is of.
        scores: its parts.
        chosen: the place of the chosen picture; None if none was chosen.
        values: of each picture, by place.
        ranked: whether these values order the pictures.
        boxes: the model's.
        run: number of the run.
    """

    predicted: Any
    outcome: str
    status: str
    rule: str
    said: Texts
    explanation: str
    score: float
    score_name: str
    scores: dict[str, float]
    chosen: int | None
    values: list[float]
    ranked: bool
    boxes: Sequence[Sequence[float]]
    run: int
    prompt: str
    output: str


RIGHT, WRONG, NO_ANSWER, OPEN = "right", "wrong", "no answer", "open"
"""Outcomes; ``open``: an answer in words that no exact comparison decides."""
YES = {1: "yes", 0: "no"}

_LONGEST = 6000  # characters of a text; scores of 1,000 candidates are longer


def clip(text: Any, most: int = _LONGEST) -> str:
    """A text, its end left out where it is too long."""
    whole = str(text)
    return (
        whole if len(whole) <= most else f"{whole[:most]} … ({len(whole) - most:,} more characters)"
    )


def no_choice(record: Record) -> tuple[str, bool]:
    """What is shown of a record without a choice, and whether the model answered: scores that tie
    are an answer.
    """
    return ("none: a tie", True) if record["status"] == "scores" else ("none", False)


def outcome(is_right: bool, is_answered: bool = True, otherwise: str = WRONG) -> str:
    """The outcome of an answer; `otherwise` is that of one which is not right."""
    if not is_answered:
        return NO_ANSWER
    return RIGHT if is_right else otherwise


def plain_card(data: DataId, records: Sequence[Record], document: Document) -> Card:
    """A row as a card of its texts, for benchmarks that show nothing else."""
    record = records[0]
    texts = [(name, text) for name, text in (document or {}).items() if isinstance(text, str)]
    return {
        "facts": [(name, text) for name, text in texts if name not in ("id", "data")],
        "gold": [("gold", record["gold"])] if "gold" in record else [],
        "pictures": [{"name": record["id"], "label": "", "role": ""}],
    }


def plain_answer(record: Record, answer_field: str) -> Answer:
    """What was read from an answer, which is right if it is the gold label, for benchmarks that
    show nothing else.
    """
    predicted = record[answer_field]
    is_answered = predicted is not None
    if "gold" in record:
        judged = outcome(predicted == record["gold"], is_answered)
    else:
        judged = outcome(False, is_answered, OPEN)
    return {"predicted": predicted if is_answered else "none", "outcome": judged}
