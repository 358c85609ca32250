"""NYK-MS's rows as cards of the report (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.benchmarks.nykms.parse import LABELS
from figlang_tasks.core.card import OPEN, WRONG, YES, Answer, Card, CardPicture, outcome
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.record import Document, Record

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
    record = records[0]
    document = document or {}
    picture: CardPicture = {"name": record["id"], "label": "", "role": ""}
    return {
        "source": "metaphor" if any(name.startswith("M") for name in record["gold"]) else "sarcasm",
        "facts": [("caption", document.get("caption")), ("cartoon", document.get("description"))],
        "gold": [(NAMES[name], YES.get(value, value)) for name, value in record["gold"].items()],
        "pictures": [picture] if record["modality"] == "image" else [],
    }


def answer(records: Sequence[Record]) -> Answer:
    """The predicted label or words, and the BLEU-4 of the words."""
    record = records[0]
    predicted = record["predicted"]
    field, value = next(iter(predicted.items()))
    if field in LABELS:
        is_right, otherwise = value == record["gold"][field], WRONG
    else:
        is_right, otherwise = record["words"].get(field, {}).get("em") == 1, OPEN
    shown: Answer = {
        "predicted": YES.get(value, value) if value != "" else "nothing",
        "outcome": outcome(is_right, record["status"] == "read", otherwise),
        "said": [(NAMES[name], YES.get(text, text)) for name, text in predicted.items()],
    }
    scores = {
        f"{NAMES[name]}, BLEU-4": float(words["bleu4"]) for name, words in record["words"].items()
    }
    if scores:
        score_name, score = list(scores.items())[-1]
        shown.update({"score": score, "score_name": score_name, "scores": scores})
    return shown
