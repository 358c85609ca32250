"""NYK-MS's rows as cards of the report's gallery (`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from figlang_tasks.benchmarks.nykms.parse import LABELS
from figlang_tasks.benchmarks.nykms.records import WordScores
from figlang_tasks.core.card import OPEN, WRONG, YES, Answer, Card, CardPicture, outcome
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.record import Record, RowIfKnown

NAMES = {
    "MC": "metaphor?",
    "MW": "metaphorical word",
    "ME": "explanation of the metaphor",
    "SC": "sarcasm?",
    "SW": "sarcastic word",
    "ST": "target of the sarcasm",
    "SE": "explanation of the sarcasm",
}
"""The answers by field, as the gallery names them."""


def card(data: DataId, records: Sequence[Record], document: RowIfKnown) -> Card:
    """The card of a row: the cartoon or its description, the caption, and the annotated answers.

    Args:
        data: the data that the row is of.
        records: records of answers to this row, at least one.
        document: the row; None if the data is not at hand.
    """
    record = records[0]
    texts = document or {}
    is_about_metaphor = any(field.startswith("M") for field in record["gold"])  # MC, MW, ME
    pictures: list[CardPicture] = []
    if record["modality"] == "image":
        pictures.append({"name": record["id"], "label": "", "role": ""})
    return {
        "source": "metaphor" if is_about_metaphor else "sarcasm",
        "facts": [("caption", texts.get("caption")), ("cartoon", texts.get("description"))],
        "gold": _named_answers(record["gold"]),
        "pictures": pictures,
    }


def answer(records: Sequence[Record]) -> Answer:
    """The predicted answers of a record, and the BLEU-4 of those in words.

    The first answer decides whether it is right. Words that differ from the annotated ones may
    still be right, so that such an outcome is open.

    Args:
        records: the records of a run's answer to a row; the first one is shown.
    """
    record = records[0]
    predicted = record["predicted"]
    word_scores: Mapping[str, WordScores] = record["words"]
    first_field, first_answer = next(iter(predicted.items()))
    if first_field in LABELS:
        is_right = first_answer == record["gold"][first_field]
        outcome_if_not_right = WRONG
    else:
        is_right = word_scores.get(first_field, {}).get("em") == 1
        outcome_if_not_right = OPEN

    is_answered = record["status"] == "read"
    card_answer: Answer = {
        "predicted": "nothing" if first_answer == "" else _shown_answer(first_answer),
        "outcome": outcome(is_right, is_answered, outcome_if_not_right),
        "said": _named_answers(predicted),
    }
    bleu4_by_name: dict[str, float] = {}
    for field, scores in word_scores.items():
        bleu4_by_name[f"{NAMES[field]}, BLEU-4"] = float(scores["bleu4"])
    if bleu4_by_name:
        # The last answer is the explanation, if the question asks for one.
        last_name = list(bleu4_by_name)[-1]
        card_answer["score"] = bleu4_by_name[last_name]
        card_answer["score_name"] = last_name
        card_answer["scores"] = bleu4_by_name
    return card_answer


def _named_answers(answers: Mapping[str, int | str]) -> list[tuple[str, int | str]]:
    """The answers with their names: ``("metaphor?", "yes")``."""
    return [(NAMES[field], _shown_answer(value)) for field, value in answers.items()]


def _shown_answer(value: int | str) -> int | str:
    """``yes`` or ``no`` for a label, else the text."""
    return YES.get(value, value) if isinstance(value, int) else value
