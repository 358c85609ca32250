"""NYK-MS's rows as cards of the report (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.core.card import OPEN, YES, Answer, Card, Document, Record, outcome
from figlang_tasks.core.data_id import DataId

NAMES = {
    "MC": "metaphor?",
    "MW": "metaphorical word",
    "ME": "explanation of the metaphor",
    "SC": "sarcasm?",
    "SW": "sarcastic word",
    "ST": "target of the sarcasm",
    "SE": "explanation of the sarcasm",
}


def card(data: DataId, records: Sequence[Record], document: Document) -> Card:
    record, known = records[0], document or {}
    shown = record["modality"] == "image"
    return {
        "source": "metaphor" if any(name.startswith("M") for name in record["gold"]) else "sarcasm",
        "facts": [("caption", known.get("caption")), ("cartoon", known.get("description"))],
        "gold": [(NAMES[name], YES.get(value, value)) for name, value in record["gold"].items()],
        "pictures": [{"name": record["id"], "label": "", "role": ""}] if shown else [],
    }


def answer(records: Sequence[Record]) -> Answer:
    record = records[0]
    fields = list(record["predicted"].items())
    name, value = fields[0]
    if isinstance(value, int):
        result = outcome(value == record["gold"][name], record["status"] == "read")
    else:
        is_match = record["words"].get(name, {}).get("em") == 1
        result = outcome(is_match, record["status"] == "read", OPEN)
    scores = {
        f"{NAMES[each]}, BLEU-4": float(record["words"][each]["bleu4"]) for each, _ in fields if each in record["words"]
    }
    made: Answer = {
        "predicted": YES.get(value, value) if value != "" else "nothing",
        "outcome": result,
        "said": [(NAMES[each], YES.get(text, text)) for each, text in fields],
    }
    if scores:
        name, score = list(scores.items())[-1]
        made |= {"score": score, "score_name": name, "scores": scores}
    return made
