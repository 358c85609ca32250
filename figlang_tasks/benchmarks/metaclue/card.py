"""MetaCLUE's rows as cards of the report (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.core.card import NO_ANSWER, OPEN, YES, Answer, Card, Document, Record, no_choice, outcome
from figlang_tasks.core.data_id import DataId


def card(data: DataId, records: Sequence[Record], document: Document) -> Card:
    """A row as a card: the picture, what is asked about it, and the right answer."""
    record, known = records[0], document or {}
    facts, gold, source = [], [], ""
    if "gold" in record:
        source = "metaphor" if record["gold"] else "no metaphor"
        gold = [("metaphor?", YES[record["gold"]])]
    elif "chosen_text" in record:
        facts = [("candidates", record["candidates"])]
        gold = [("statement", record["answer_text"])]
    elif "question" in record:
        source = record["role"]
        facts = [("question", record["question"])]
        gold = [("right answers", "\n".join(record["references"]))]
    elif "truth" in record:
        source = record["role"]
        facts = [("concept", record["concept"])]
        each = zip(record["truth"], record["types"], strict=True)
        gold = [("boxes", ", ".join(f"{kind} {_box(box)}" for box, kind in each))]
    elif "caption" in record:
        gold = [("statements", "\n".join(known.get("references") or []))]
    else:
        facts = [("asked for", record["prompt"])]
    return {
        "source": source,
        "facts": facts,
        "gold": gold,
        "pictures": [{"name": record["id"].partition("#")[0], "label": "", "role": ""}],
        "boxes": record.get("truth", []),
    }


def answer(records: Sequence[Record]) -> Answer:
    """What the model answered, and whether that is right where one answer is."""
    record = records[0]
    if "gold" in record:
        predicted = record["predicted"]
        return {
            "predicted": YES.get(predicted, "none"),
            "outcome": outcome(predicted == record["gold"], predicted is not None),
        }
    if "chosen_text" in record:
        chosen = record["chosen"]
        predicted, answered = no_choice(record) if chosen is None else (record["chosen_text"], True)
        return {
            "predicted": predicted,
            "outcome": outcome(chosen == record["answer"], answered),
            "said": [("rank of the right one", record["rank"])],
        }
    if "question" in record:
        words = record["answer"]
        return {"predicted": words or "nothing", "outcome": outcome(record["em"], bool(words), OPEN)}
    if "truth" in record:
        boxes = record["predicted"]
        return {
            "predicted": f"{len(boxes)} box{'es' * (len(boxes) != 1)}",
            "outcome": OPEN if boxes else NO_ANSWER,
            "said": [("boxes", ", ".join(map(_box, boxes))), ("left out", record["dropped"] or "")],
            "boxes": boxes,
        }
    if "caption" in record:
        words = record["caption"]
        parts = [(part, record[part]) for part in ("primary", "relationship", "secondary")]
        return {"predicted": words or "nothing", "outcome": outcome(record["em"], bool(words), OPEN), "said": parts}
    return {"predicted": record["file"] or "no picture", "outcome": OPEN if record["file"] else NO_ANSWER}


def _box(edges: Sequence[float]) -> str:
    left, top, right, bottom = edges
    return f"({left:.0f}, {top:.0f}) to ({right:.0f}, {bottom:.0f})"
