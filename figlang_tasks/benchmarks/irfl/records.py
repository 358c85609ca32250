"""The records of answers to IRFL."""

from __future__ import annotations

from figlang_tasks.answers.verdict import Status
from figlang_tasks.core.record import SharedFields
from figlang_tasks.scoring.task import Document


class DetectionRecord(SharedFields):
    """The record of a choice among images (section 4.1). Its unit is the phrase.

    Attributes:
        type: the category of the right image, ``figurative`` or ``figurative_literal``.
        candidates: the uuids of the images in the order in which they were shown.
        roles: what each candidate is: ``answer``, ``literal``, ``source``, ``target``, ``random``.
        answer: the index of the right candidate.
        chosen: the index of the chosen candidate; None if there is no choice, as where several
            share the highest score.
        scores: the matching score of each candidate; None for an answer in words.
    """

    type: str
    candidates: list[str]
    roles: list[str]
    answer: int
    chosen: int | None
    scores: list[float] | None


class RetrievalRecord(SharedFields):
    """The record of one image of a ranking (section 4.2). Its unit is the phrase.

    Attributes:
        type: the category of the positive images, ``figurative`` or ``figurative_literal``.
        role: what the image is: ``answer`` (a positive), ``literal``, ``source`` or ``target``.
        positive: whether the image shows the figurative meaning.
        uuid: of the image.
        value: what the images of a row are ranked by: the matching score; for an answer in words
            1 for Yes and 0 for No.
    """

    type: str
    role: str
    positive: bool
    uuid: str
    value: float


def new_detection_record(
    doc: Document, *, choice: int | None, status: Status, rule: str, scores: list[float] | None
) -> DetectionRecord:
    """The record of a choice.

    Args:
        doc: the row.
        choice: the index of the chosen candidate; None if none was chosen.
        status: what became of the output.
        rule: which rule read it.
        scores: the matching scores; None for an answer in words.
    """
    return {
        "id": doc["id"],
        "data": doc["data"],
        "row": doc["row"],
        "type": doc["type"],
        "candidates": doc["candidates"],
        "roles": doc["roles"],
        "answer": doc["answer"],
        "unit": doc["phrase"],  # rows of one phrase depend on each other
        "chosen": choice,
        "status": status,
        "rule": rule,
        "scores": scores,
    }


def new_retrieval_record(doc: Document, value: float, status: Status, rule: str) -> RetrievalRecord:
    """The record of one image of a row.

    Args:
        doc: the image, as a document.
        value: what the images of the row are ranked by.
        status: what became of the output.
        rule: which rule read it.
    """
    return {
        "id": doc["id"],
        "data": doc["data"],
        "row": doc["row"],
        "type": doc["type"],
        "role": doc["role"],
        "positive": doc["positive"],
        "images": doc["images"],
        "unit": doc["phrase"],  # rows of one phrase depend on each other
        "uuid": doc["candidates"][0],
        "value": value,
        "status": status,
        "rule": rule,
    }
