"""MetaCLUE's rows as cards of the report (:mod:`figlang_tasks.core.card`), by kind of task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from figlang_tasks.benchmarks.metaclue import tasks
from figlang_tasks.benchmarks.metaclue.records import (
    BoxesRecord,
    CaptionRecord,
    ClassificationRecord,
    PictureRecord,
    QuestionRecord,
    RetrievalRecord,
    image_of,
)
from figlang_tasks.core.card import NO_ANSWER, OPEN, YES, Answer, Card, no_choice, outcome
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.record import Document, Record


def card(data: DataId, records: Sequence[Record], document: Document) -> Card:
    """A row as a card: the picture, what is asked about it, and the right answer."""
    record = records[0]
    shown: Card = {
        "source": "",
        "facts": [],
        "gold": [],
        "pictures": [{"name": image_of(record), "label": "", "role": ""}],
        "boxes": [],
    }
    shown.update(_CARDS[record["task"]](record, document))
    return shown


def answer(records: Sequence[Record]) -> Answer:
    """What the model answered, and whether that is right where one answer is."""
    record = records[0]
    return _ANSWERS[record["task"]](record)


# --- is this a metaphor? ---


def _classification_card(record: ClassificationRecord, document: Document) -> Card:
    source = "metaphor" if record["gold"] else "no metaphor"
    return {"source": source, "gold": [("metaphor?", YES[record["gold"]])]}


def _classification(record: ClassificationRecord) -> Answer:
    predicted = record["predicted"]
    if predicted is None:
        return {"predicted": "none", "outcome": NO_ANSWER}
    return {"predicted": YES[predicted], "outcome": outcome(predicted == record["gold"])}


# --- which statement? ---


def _retrieval_card(record: RetrievalRecord, document: Document) -> Card:
    return {
        "facts": [("candidates", record["candidates"])],
        "gold": [("statement", record["answer_text"])],
    }


def _retrieval(record: RetrievalRecord) -> Answer:
    if record["chosen_text"] is None:
        predicted, is_answered = no_choice(record)
    else:
        predicted, is_answered = record["chosen_text"], True
    return {
        "predicted": predicted,
        "outcome": outcome(record["chosen"] == record["answer"], is_answered),
        "said": [("rank of the right one", record["rank"])],
    }


# --- what is compared with what? ---


def _caption_card(record: CaptionRecord, document: Document) -> Card:
    references = (document or {}).get("references") or []
    return {"gold": [("statements", "\n".join(references))]}


def _caption(record: CaptionRecord) -> Answer:
    caption = record["caption"]
    return {
        "predicted": caption or "nothing",
        "outcome": outcome(bool(record["em"]), bool(caption), OPEN),
        "said": [
            ("primary", record["primary"]),
            ("relationship", record["relationship"]),
            ("secondary", record["secondary"]),
        ],
    }


def _question_card(record: QuestionRecord, document: Document) -> Card:
    return {
        "source": record["role"],
        "facts": [("question", record["question"])],
        "gold": [("right answers", "\n".join(record["references"]))],
    }


def _question(record: QuestionRecord) -> Answer:
    words = record["answer"]
    return {
        "predicted": words or "nothing",
        "outcome": outcome(bool(record["em"]), bool(words), OPEN),
    }


# --- where are the concepts? ---


def _boxes_card(record: BoxesRecord, document: Document) -> Card:
    boxes = [
        f"{kind} {_box(box)}" for box, kind in zip(record["truth"], record["types"], strict=True)
    ]
    return {
        "source": record["role"],
        "facts": [("concept", record["concept"])],
        "gold": [("boxes", ", ".join(boxes))],
        "boxes": record["truth"],
    }


def _boxes(record: BoxesRecord) -> Answer:
    boxes = record["predicted"]
    return {
        "predicted": "1 box" if len(boxes) == 1 else f"{len(boxes)} boxes",
        "outcome": OPEN if boxes else NO_ANSWER,
        "said": [("boxes", ", ".join(map(_box, boxes))), ("left out", record["dropped"] or "")],
        "boxes": boxes,
    }


def _box(edges: Sequence[float]) -> str:
    left, top, right, bottom = edges
    return f"({left:.0f}, {top:.0f}) to ({right:.0f}, {bottom:.0f})"


# --- draw it ---


def _picture_card(record: PictureRecord, document: Document) -> Card:
    return {"facts": [("asked for", record["prompt"])]}


def _picture(record: PictureRecord) -> Answer:
    return {
        "predicted": record["file"] or "no picture",
        "outcome": OPEN if record["file"] else NO_ANSWER,
    }


_CARDS: Mapping[str, Callable[[Any, Document], Card]] = {
    tasks.CLASSIFY.name: _classification_card,
    tasks.RETRIEVE.name: _retrieval_card,
    tasks.CAPTION.name: _caption_card,
    tasks.VQA.name: _question_card,
    tasks.LOCALIZE.name: _boxes_card,
    tasks.GENERATE.name: _picture_card,
}
_ANSWERS: Mapping[str, Callable[[Any], Answer]] = {
    tasks.CLASSIFY.name: _classification,
    tasks.RETRIEVE.name: _retrieval,
    tasks.CAPTION.name: _caption,
    tasks.VQA.name: _question,
    tasks.LOCALIZE.name: _boxes,
    tasks.GENERATE.name: _picture,
}
