"""How MetaCLUE's answers are judged: the record of an answer, by task (sections 3.1 to 3.4).

A document is a row of `figlang_tasks.benchmarks.metaclue.rows`. An output is the model's answer as
text; None if there is none.
"""

from __future__ import annotations

import re
from pathlib import Path

from loguru import logger

from figlang_tasks.answers.choices import Choices
from figlang_tasks.answers.next_question import whole
from figlang_tasks.answers.option import option
from figlang_tasks.answers.verdict import Read, Status
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.metaclue import generated
from figlang_tasks.benchmarks.metaclue.boxes import Boxes, Convention, PixelBox, parse_boxes
from figlang_tasks.benchmarks.metaclue.captions import (
    Statement,
    in_one_line,
    parse_caption,
    parse_official,
)
from figlang_tasks.benchmarks.metaclue.records import (
    BoxesRecord,
    CaptionRecord,
    ClassificationRecord,
    PictureRecord,
    QuestionRecord,
    RetrievalRecord,
    image_of,
)
from figlang_tasks.benchmarks.metaclue.resizing import resized
from figlang_tasks.core import score_requests
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.prompting import render
from figlang_tasks.metrics import captions, ranking
from figlang_tasks.scoring.task import Document

# --- section 3.1: is this a metaphor? ---

METAPHOR = "metaphors?|metaphorical"
"""Expression for what an answer in words speaks of: "there is no metaphor in this image"."""


def classification_record(doc: Document, output: str | None) -> ClassificationRecord:
    """The record of an answer; one that is neither yes nor no is wrong."""
    reading = yes_no(output, about=METAPHOR)
    return {
        "id": doc["id"],
        "data": doc["data"],
        "unit": image_of(doc),
        "gold": int(doc["metaphor"]),
        "predicted": None if reading.value is None else int(reading.value),
        "status": reading.status,
        "rule": reading.rule,
    }


# --- section 3.2, Table 2: which of K statements is this image's? ---

_SCORES = re.compile(r"\s*\{\s*\"scores\"")
"""How the JSON of a scoring backend begins."""


def retrieval_record(doc: Document, output: str | None) -> RetrievalRecord:
    """The record of a choice in words, which has no rank, or of scores that cannot be used.

    Scores come here only if they cannot be used: they are damaged, or not one per candidate. No
    number in them is a choice.
    """
    # Whole JSON of scores, or the beginning of it that is no JSON.
    has_unusable_scores = (
        score_requests.read_answer(output) is not None or _SCORES.match(output or "") is not None
    )
    if has_unusable_scores:
        return _retrieval_record(doc, chosen=None, rank=None, status="unreadable", rule="scores")
    statements = tuple(doc["candidates"])
    reading = option(output, Choices(len(statements), names="numbers", texts=statements))
    return _retrieval_record(
        doc, chosen=reading.value, rank=None, status=reading.status, rule=reading.rule
    )


def retrieval_record_of_scores(doc: Document, scores: list[float]) -> RetrievalRecord:
    """The record of a choice by the score of each candidate; a tie for the best is no choice."""
    is_right = [index == doc["answer"] for index in range(len(scores))]
    return _retrieval_record(
        doc,
        chosen=ranking.index_of_best(scores),
        rank=ranking.best_rank(scores, is_right),
        status="scores",
        rule="argmax",
    )


def _retrieval_record(
    doc: Document, chosen: int | None, rank: int | None, status: Status, rule: str
) -> RetrievalRecord:
    """The record of a choice.

    Args:
        doc: the document.
        chosen: the index of the chosen candidate; None if none was chosen, or several tie.
        rank: the rank of the right candidate; None for an answer in words.
        status, rule: how the choice was read.
    """
    statements = doc["candidates"]
    answer = doc["answer"]
    return {
        "id": doc["id"],
        "data": doc["data"],
        "unit": image_of(doc),
        "candidates": len(statements),
        "answer": answer,
        "chosen": chosen,
        "answer_text": statements[answer],
        "chosen_text": None if chosen is None else statements[chosen],
        "rank": rank,
        "status": status,
        "rule": rule,
    }


# --- section 3.2, Table 3: what is compared with what? ---


def caption_record(doc: Document, output: str | None) -> CaptionRecord:
    """The record of a caption as the paper reads it: the whole output is the statement.

    A next question that the model invents belongs to it too.
    """
    answer = whole(output)
    return _caption_record(doc, answer, parse_official(answer))


def careful_caption_record(doc: Document, output: str | None) -> CaptionRecord:
    """The record of a caption without the words that a model puts around the statement."""
    return _caption_record(doc, output, parse_caption(output))


def _caption_record(doc: Document, output: str | None, reading: Read[Statement]) -> CaptionRecord:
    """The record of a caption and of each of its parts.

    Args:
        doc: the document.
        output: the model's answer, which is the caption if no statement could be read in it.
        reading: the statement that was read. A part that could not be read has no exact match.
    """
    statement = reading.value
    caption = in_one_line(output) if statement is None else statement.text
    primary = relationship = secondary = None
    if statement is not None:
        primary = statement.primary
        relationship = statement.relationship
        secondary = statement.secondary
    return {
        "id": doc["id"],
        "data": doc["data"],
        "unit": image_of(doc),
        "caption": caption,
        "references": list(doc["references"]),
        "status": reading.status,
        "rule": reading.rule,
        "em": captions.exact_match(caption, doc["references"]),
        "primary": primary,
        "references_primary": list(doc["references_primary"]),
        "em_primary": captions.exact_match(primary or "", doc["references_primary"]),
        "relationship": relationship,
        "references_relationship": list(doc["references_relationship"]),
        "em_relationship": captions.exact_match(relationship or "", doc["references_relationship"]),
        "secondary": secondary,
        "references_secondary": list(doc["references_secondary"]),
        "em_secondary": captions.exact_match(secondary or "", doc["references_secondary"]),
    }


def vqa_record(doc: Document, output: str | None) -> QuestionRecord:
    """The record of an answer to a question: the output without thoughts and special tokens."""
    answer = in_one_line(output)
    references = list(doc["references"])
    return {
        "id": doc["id"],
        "data": doc["data"],
        "unit": image_of(doc),
        "role": doc["role"],
        "question": doc["question"],
        "answer": answer,
        "references": references,
        "em": captions.exact_match(answer, references),
    }


# --- section 3.3, Table 4: where are the concepts? ---


def localization_record(doc: Document, output: str | None) -> BoxesRecord:
    """The record of the boxes of one concept; boxes of the other concept are dropped.

    A model is asked for one concept at a time, as the paper passes "the primary or secondary
    concept as input phrase" to its phrase-grounding model.
    """
    role = doc["role"]
    width, height = doc["width"], doc["height"]
    convention: Convention = doc["convention"]  # "pixel28" is handled below
    seen_width, seen_height = width, height
    if doc["convention"] == "pixel28":
        # Boxes are in pixels of the picture in the size in which Qwen2.5-VL sees it.
        convention = "pixel"
        seen_width, seen_height = resized(width, height)
    reading = parse_boxes(
        output, convention, seen_width, seen_height, role=role, names={doc["concept"]: role}
    )
    boxes = reading.value or Boxes(primary=(), secondary=())  # without a value there is no box
    if role == "primary":
        predicted, boxes_of_other_concept = boxes.primary, boxes.secondary
    else:
        predicted, boxes_of_other_concept = boxes.secondary, boxes.primary

    x_scale = width / seen_width
    y_scale = height / seen_height
    return {
        "id": doc["id"],
        "data": doc["data"],
        "unit": image_of(doc),
        "role": role,
        "concept": doc["concept"],
        "convention": doc["convention"],
        "truth": [[float(edge) for edge in box] for box in doc["boxes"]],
        "types": list(doc["types"]),
        "predicted": [_scaled(box, x_scale, y_scale) for box in predicted],
        "dropped": boxes.dropped + len(boxes_of_other_concept),
        "status": reading.status,
        "rule": reading.rule,
    }


def _scaled(box: PixelBox, x_scale: float, y_scale: float) -> list[float]:
    """Left, top, right and bottom of a box in a picture of another size."""
    left, top, right, bottom = box
    return [left * x_scale, top * y_scale, right * x_scale, bottom * y_scale]


# --- section 3.4: draw it ---


def generation_record(doc: Document, output: str | None) -> PictureRecord:
    """The record of the picture that an output names (`generated.generated_picture`).

    A picture that cannot be opened counts as none, and a warning says so.
    """
    path = generated.generated_picture(output, doc["number"])
    if path is not None and not _can_be_opened(path, doc["id"]):
        path = None
    return {
        "id": doc["id"],
        "data": doc["data"],
        "unit": image_of(doc),
        "prompt": render("metaclue/draw.jinja", doc=doc),
        "file": None if path is None else str(path),
    }


def _can_be_opened(path: Path, document_id: str) -> bool:
    """Whether a generated picture can be opened; if not, the reason is logged."""
    try:
        generated.open_picture(path)
    except (DataError, OSError) as error:
        logger.warning(f"figlang_tasks: {document_id}: counts as no picture: {error}")
        return False
    return True
