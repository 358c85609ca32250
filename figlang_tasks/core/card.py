"""What a card of the report's gallery is: plain data, which the page's script shows as text.

A card is a dict: ``source``; ``facts``, ``gold`` (texts with their names: what was asked, and what is right);
``reference`` (explanation); ``pictures`` (each with ``name``, by which its benchmark finds it, ``label``, ``role``, and
``right`` for the right ones); ``boxes`` (annotated ones). The report adds ``task``, ``id``, ``prompt`` and ``answers``.

An answer is a dict: ``predicted`` (short); ``outcome``; ``status`` and ``rule`` of parsing; ``said`` (texts with their
names); ``explanation``; ``score`` (0 to 1, with ``score_name``: what it is of) and ``scores`` (its parts); ``chosen``
(a picture's place), ``values`` (of each picture, by place), ``boxes``. The report adds ``run`` and ``output``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from figlang_tasks.core.data_id import DataId

Card = dict[str, Any]
Answer = dict[str, Any]
Record = Mapping[str, Any]
"""What ``process_results`` returns of one document under ``sample``, and the harness writes to ``samples.jsonl``."""
Document = Mapping[str, Any] | None
"""None where it is not at hand."""

RIGHT, WRONG, NO_ANSWER, OPEN = "right", "wrong", "no answer", "open"
"""Outcomes; ``open``: an answer in words that no exact comparison decides."""
YES = {1: "yes", 0: "no"}

_LONGEST = 6000  # characters of a text; scores of 1,000 candidates are longer


def clip(text: Any, most: int = _LONGEST) -> str:
    """A text, its end left out where it is too long."""
    whole = str(text)
    return whole if len(whole) <= most else f"{whole[:most]} … ({len(whole) - most:,} more characters)"


def no_choice(record: Record) -> tuple[str, bool]:
    """What is shown of a record without a choice, and whether the model answered: scores that tie are an answer."""
    return ("none: a tie", True) if record["status"] == "scores" else ("none", False)


def outcome(right: bool, answered: bool = True, otherwise: str = WRONG) -> str:
    return NO_ANSWER if not answered else RIGHT if right else otherwise


def plain_card(data: DataId, records: Sequence[Record], document: Document) -> Card:
    """A row as a card of its texts, for benchmarks that show nothing else."""
    record = records[0]
    texts = [(name, text) for name, text in (document or {}).items() if isinstance(text, str)]
    return {
        "facts": [(name, text) for name, text in texts if name not in ("id", "data")],
        "gold": [("gold", record["gold"])] if "gold" in record else [],
        "pictures": [{"name": record["id"], "label": "", "role": ""}],
    }


def plain_answer(records: Sequence[Record]) -> Answer:
    """An answer as it was read, which is right if it is the gold label."""
    record = records[0]
    predicted = record.get("predicted")
    return {
        "predicted": "none" if predicted is None else predicted,
        "outcome": outcome(predicted == record.get("gold"), predicted is not None, WRONG if "gold" in record else OPEN),
    }
