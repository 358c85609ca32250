"""The form of a card of the report's gallery: plain data, which the page's script shows as text."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any, TypeAlias, TypedDict

from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.record import Record, RowIfKnown

Texts: TypeAlias = list[tuple[str, Any]]
"""Texts with their names; the page leaves out those that are None or empty."""


class CardPicture(TypedDict, total=False):
    """A picture of a card.

    Attributes:
        name: the name by which its benchmark finds it.
        label: what stands beside it: its letter or position.
        role: what it is in its row.
        right: whether it is right; missing for pictures that are neither right nor wrong.
        picture: its number in the gallery, which the report writes in place of `name`; None if the
            picture is not at hand.
    """

    name: str
    label: str
    role: str
    right: bool
    picture: Any


class Card(TypedDict, total=False):
    """A row of a task. The report adds `task`, `id`, `prompt`, `answers` and `bucket`.

    Attributes:
        source: the part of the benchmark that the row is from.
        facts: what was asked.
        gold: what is right.
        reference: the reference explanation.
        pictures: the pictures of the row.
        boxes: the annotated boxes: left, top, right and bottom of each.
        task: the name of the task.
        id: the id of the row.
        prompt: what the model was asked, word for word.
        answers: the answer of each run that has the row.
        bucket: what a second run changes (`figlang_tasks.report.buckets`); missing for other rows.
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
    bucket: str


class Answer(TypedDict, total=False):
    """An answer to a row.

    The report adds `run`, `output`, and `prompt` if it differs from that of the card.

    Attributes:
        predicted: what was read in the answer, in short.
        outcome: one of the outcomes below.
        status: what became of the output.
        rule: the name of the rule that read it.
        said: other texts about it, with their names.
        explanation: the model's explanation.
        score: the score of the answer, 0 to 1.
        score_name: the name of that score.
        scores: the scores that `score` is made of, by name.
        chosen: the position of the chosen picture; None if none was chosen.
        values: the values that the model gave to pictures, by position.
        ranked: whether these values order the pictures.
        boxes: the boxes that the model gave.
        run: the number of the run.
        prompt: what the model was asked.
        output: the whole output.
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


RIGHT = "right"
WRONG = "wrong"
NO_ANSWER = "no answer"
OPEN = "open"
"""The outcome of an answer in words that no exact comparison decides."""
YES = {1: "yes", 0: "no"}

_LONGEST = 6000  # characters of a text; scores of 1,000 candidates are longer


def clip(text: object, most: int = _LONGEST) -> str:
    """A text of at most `most` characters; a longer one ends in a note of how many more it has."""
    full_text = str(text)
    if len(full_text) <= most:
        return full_text
    return f"{full_text[:most]} … ({len(full_text) - most:,} more characters)"


def no_choice(record: Record) -> tuple[str, bool]:
    """What a card shows for a record without a choice, and whether the model has answered.

    That is ``("none: a tie", True)`` for scores that tie, and ``("none", False)`` for all others.
    """
    if record["status"] == "scores":
        return "none: a tie", True
    return "none", False


def outcome(is_right: bool, is_answered: bool = True, otherwise: str = WRONG) -> str:
    """The outcome of an answer; `otherwise` is that of an answer that is not right."""
    if not is_answered:
        return NO_ANSWER
    return RIGHT if is_right else otherwise


def plain_card(data: DataId, records: Sequence[Record], document: RowIfKnown) -> Card:
    """The card of a row with its texts, its options, its gold label and its picture.

    For benchmarks that show nothing else. They all take the same arguments.

    Args:
        data: not used.
        records: those of the row, of which the first is taken.
        document: None if the row is not at hand; the card then has no texts.
    """
    record = records[0]
    facts: Texts = []
    for name, text in (document or {}).items():
        if isinstance(text, str) and name not in ("id", "data", "request", "answer"):
            facts.append((name, text))
    options = options_of(document)
    facts.extend(zip(ascii_uppercase, options, strict=False))
    return {
        "facts": facts,
        "gold": [("gold", _label_text(record["gold"], options))] if "gold" in record else [],
        "pictures": [{"name": record["id"], "label": "", "role": ""}],
    }


def options_of(document: RowIfKnown) -> list[str]:
    """The texts in a row's column ``options``; none where it has no such list."""
    options = (document or {}).get("options")
    if isinstance(options, list) and all(isinstance(option, str) for option in options):
        return options
    return []


def _label_text(label: Any, options: Sequence[str]) -> Any:
    """A label as people read it: ``D`` for the number 3 of an option, ``yes`` for True."""
    if isinstance(label, bool):
        return YES[label]
    if isinstance(label, int) and 0 <= label < len(options):
        return ascii_uppercase[label]
    return label


def plain_answer(record: Record, answer_field: str, document: RowIfKnown = None) -> Answer:
    """The answer of a record with what was read in it, for benchmarks that show nothing else.

    It is right if the record says so or it is the gold label, and open without a gold label.

    Args:
        record: the record.
        answer_field: its field with what was read; None in it is no answer.
        document: the row, whose options have letters; None if it is not at hand.
    """
    predicted = record[answer_field]
    is_answered = predicted is not None
    if "gold" in record:
        is_right = record.get("is_right", predicted == record["gold"])
        answer_outcome = outcome(is_right, is_answered)
    else:
        answer_outcome = outcome(False, is_answered, otherwise=OPEN)  # neither right nor wrong
    shown = _label_text(predicted, options_of(document)) if is_answered else "none"
    return {"predicted": shown, "outcome": answer_outcome}
