"""NYK-MS's rows as cards of the report (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.core.card import OPEN, WRONG, YES, Answer, Card, Document, Record, outcome
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
    """A row as a card: the cartoon or its description, the caption, and the annotated answers."""
    record, known = records[0], document or {}
    shown = record["modality"] == "image"
    return {
        "source": "metaphor" if any(name.startswith("M") for name in record["gold"]) else "sarcasm",
        "facts": [("caption", known.get("caption")), ("cartoon", known.get("description"))],
        "gold": [(NAMES[name], YES.get(value, value)) for name, value in record["gold"].items()],
        "pictures": [{"name": record["id"], "label": "", "role": ""}] if shown else [],
    }


def answer(records: Sequence[Record]) -> Answer:
    """The predicted label or words, and the BLEU-4 of the words."""
    record = records[0]
    predicted = record["predicted"]
    name, value = next(iter(predicted.items()))
    is_label = isinstance(value, int)
    is_right = value == record["gold"][name] if is_label else record["words"].get(name, {}).get("em") == 1
    scores = {f"{NAMES[each]}, BLEU-4": float(found["bleu4"]) for each, found in record["words"].items()}
    made: Answer = {
        "predicted": YES.get(value, value) if value != "" else "nothing",
        "outcome": outcome(is_right, record["status"] == "read", WRONG if is_label else OPEN),
        "said": [(NAMES[each], YES.get(text, text)) for each, text in predicted.items()],
    }
    if scores:
        name, score = list(scores.items())[-1]
        made |= {"score": score, "score_name": name, "scores": scores}
    return made
