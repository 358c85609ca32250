"""IRFL's rows as cards of the report (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from figlang_tasks.benchmarks.irfl.rows import LETTERS, figurative_type
from figlang_tasks.core.card import OPEN, Answer, Card, Document, Record, no_choice, outcome
from figlang_tasks.core.data_id import DataId


def card(data: DataId, records: Sequence[Record], document: Document) -> Card:
    """A row as a card: the phrase, the pictures with their roles, and which are right."""
    record = records[0]
    if "positive" in record:
        shown = [(each["uuid"], str(place), each["role"], each["positive"]) for place, each in enumerate(records, 1)]
        gold: list[tuple[str, Any]] = [("right images", f"{sum(each[3] for each in shown)} of {len(shown)}")]
    else:
        each = zip(record["candidates"], record["roles"], strict=True)
        shown = [(uuid, LETTERS[place], role, place == record["answer"]) for place, (uuid, role) in enumerate(each)]
        gold = [("image", LETTERS[record["answer"]])]
    known = document or {}
    kind = figurative_type(data.part) or data.part
    return {
        "source": f"{kind}, {record['type'].replace('_', ' + ')}",
        "facts": [("phrase", known.get("phrase")), ("meaning", "; ".join(known.get("definitions") or []))],
        "gold": gold,
        "pictures": [
            {"name": uuid, "label": label, "role": role} | ({"right": True} if right else {})
            for uuid, label, role, right in shown
        ],
    }


def answer(records: Sequence[Record]) -> Answer:
    """The choice among the pictures, or precision@k of their ranking."""
    from figlang_tasks.metrics.ranking import precision_at_k

    record = records[0]
    if "positive" in record:
        values, positives = [float(each["value"]) for each in records], [bool(each["positive"]) for each in records]
        whole = len(records) == record["images"] and any(positives)
        reached = precision_at_k(values, positives) if whole else None
        k = sum(positives)
        found: Answer = {"score": reached, "score_name": "precision@k"} if reached is not None else {}
        return found | {
            "predicted": "row cut by a limit"
            if reached is None
            else f"{round(k * reached)} of {k} right images on top",
            "outcome": OPEN if reached is None else outcome(reached == 1),
            "values": values,
            "ranked": True,
        }
    chosen = record["chosen"]
    found = {"values": record["scores"]} if record["scores"] else {}
    predicted, answered = (
        no_choice(record) if chosen is None else (f"{LETTERS[chosen]}: {record['roles'][chosen]}", True)
    )
    return found | {
        "predicted": predicted,
        "outcome": outcome(chosen == record["answer"], answered),
        "chosen": chosen,
    }
