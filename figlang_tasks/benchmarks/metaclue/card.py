"""MetaCLUE's rows as cards of the report's gallery (`figlang_tasks.core.card`), by task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

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
from figlang_tasks.core.card import (
    NO_ANSWER,
    OPEN,
    YES,
    Answer,
    Card,
    CardPicture,
    no_choice,
    outcome,
)
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.record import Record, RowIfKnown
from figlang_tasks.scoring.records import AnyRecord


def card(data: DataId, records: Sequence[Record], document: RowIfKnown) -> Card:
    """The card of a row: the picture, what is asked about it, and the right answer.

    Args:
        data: the data that the row is of.
        records: the record of the row in one run.
        document: the row; None if the data is not at hand.
    """
    record = records[0]
    row_card: Card = {
        "source": "",
        "facts": [],
        "gold": [],
        "pictures": [CardPicture(name=image_of(record), label="", role="")],
        "boxes": [],
    }
    row_card.update(_CARD_BY_TASK[record["task"]](record, document))
    return row_card


def answer(records: Sequence[Record]) -> Answer:
    """A model's answer to a row, and whether it is right where an exact comparison decides.

    Args:
        records: the record of the row in one run.
    """
    record = records[0]
    return _ANSWER_BY_TASK[record["task"]](record)


# --- is this a metaphor? ---


def _classification_card(record: ClassificationRecord, document: RowIfKnown) -> Card:
    """The fields of a card that say whether the image is a metaphor."""
    source = "metaphor" if record["gold"] else "no metaphor"
    return {"source": source, "gold": [("metaphor?", YES[record["gold"]])]}


def _classification_answer(record: ClassificationRecord) -> Answer:
    """Yes or No as an answer; "none" if it was neither."""
    predicted = record["predicted"]
    if predicted is None:
        return {"predicted": "none", "outcome": NO_ANSWER}
    return {"predicted": YES[predicted], "outcome": outcome(predicted == record["gold"])}


# --- which statement? ---


def _retrieval_card(record: RetrievalRecord, document: RowIfKnown) -> Card:
    """The fields of a card with the right statement."""
    return {
        "facts": [("candidates", record["candidates"])],
        "gold": [("statement", record["answer_text"])],
    }


def _retrieval_answer(record: RetrievalRecord) -> Answer:
    """The chosen statement and the rank of the right one."""
    predicted = record["chosen_text"]
    is_answered = True
    if predicted is None:
        predicted, is_answered = no_choice(record)  # a tie of scores is an answer
    return {
        "predicted": predicted,
        "outcome": outcome(record["chosen"] == record["answer"], is_answered),
        "said": [("rank of the right one", record["rank"])],
    }


# --- what is compared with what? ---


def _caption_card(record: CaptionRecord, document: RowIfKnown) -> Card:
    """The fields of a card with the annotated statements; without them if there is no document."""
    references = (document or {}).get("references") or []
    return {"gold": [("statements", "\n".join(references))]}


def _caption_answer(record: CaptionRecord) -> Answer:
    """The caption and its parts; right if it equals a reference, else open."""
    caption = record["caption"]
    is_right = bool(record["em"])
    return {
        "predicted": caption or "nothing",
        "outcome": outcome(is_right, is_answered=bool(caption), otherwise=OPEN),
        "said": [
            ("primary", record["primary"]),
            ("relationship", record["relationship"]),
            ("secondary", record["secondary"]),
        ],
    }


def _question_card(record: QuestionRecord, document: RowIfKnown) -> Card:
    """The fields of a card with the question and its right answers."""
    return {
        "source": record["role"],
        "facts": [("question", record["question"])],
        "gold": [("right answers", "\n".join(record["references"]))],
    }


def _question_answer(record: QuestionRecord) -> Answer:
    """The answer in words; right if it equals a reference, else open."""
    text = record["answer"]
    is_right = bool(record["em"])
    return {
        "predicted": text or "nothing",
        "outcome": outcome(is_right, is_answered=bool(text), otherwise=OPEN),
    }


# --- where are the concepts? ---


def _boxes_card(record: BoxesRecord, document: RowIfKnown) -> Card:
    """The fields of a card with the concept and its annotated boxes."""
    boxes: list[str] = []
    for edges, box_type in zip(record["truth"], record["types"], strict=True):
        boxes.append(f"{box_type} {_corners(edges)}")
    return {
        "source": record["role"],
        "facts": [("concept", record["concept"])],
        "gold": [("boxes", ", ".join(boxes))],
        "boxes": record["truth"],
    }


def _boxes_answer(record: BoxesRecord) -> Answer:
    """The model's boxes, and how many were left out."""
    boxes = record["predicted"]
    return {
        "predicted": "1 box" if len(boxes) == 1 else f"{len(boxes)} boxes",
        "outcome": OPEN if boxes else NO_ANSWER,
        "said": [
            ("boxes", ", ".join(_corners(edges) for edges in boxes)),
            ("left out", record["dropped"] or ""),
        ],
        "boxes": boxes,
    }


def _corners(edges: Sequence[float]) -> str:
    """The corners of a box: ``(10, 20) to (90, 80)``."""
    left, top, right, bottom = edges
    return f"({left:.0f}, {top:.0f}) to ({right:.0f}, {bottom:.0f})"


# --- draw it ---


def _picture_card(record: PictureRecord, document: RowIfKnown) -> Card:
    """The fields of a card with the prompt of a text-to-image model."""
    return {"facts": [("asked for", record["prompt"])]}


def _picture_answer(record: PictureRecord) -> Answer:
    """The path of the picture that a model drew."""
    return {
        "predicted": record["file"] or "no picture",
        "outcome": OPEN if record["file"] else NO_ANSWER,
    }


# --- all tasks ---

_CARD_BY_TASK: Mapping[str, Callable[[AnyRecord, RowIfKnown], Card]] = {
    tasks.CLASSIFY.name: _classification_card,
    tasks.RETRIEVE.name: _retrieval_card,
    tasks.CAPTION.name: _caption_card,
    tasks.VQA.name: _question_card,
    tasks.LOCALIZE.name: _boxes_card,
    tasks.GENERATE.name: _picture_card,
}
_ANSWER_BY_TASK: Mapping[str, Callable[[AnyRecord], Answer]] = {
    tasks.CLASSIFY.name: _classification_answer,
    tasks.RETRIEVE.name: _retrieval_answer,
    tasks.CAPTION.name: _caption_answer,
    tasks.VQA.name: _question_answer,
    tasks.LOCALIZE.name: _boxes_answer,
    tasks.GENERATE.name: _picture_answer,
}
