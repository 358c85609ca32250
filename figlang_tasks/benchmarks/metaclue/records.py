"""The records of MetaCLUE; their unit is the image.

An id is the path of an image, and ``#`` with what is asked about it.
"""

from __future__ import annotations

from figlang_tasks.core.record import SharedFields


class ClassificationRecord(SharedFields):
    """The record of Yes or No.

    Attributes:
        gold: 1: a metaphor.
        predicted: None: neither yes nor no.
    """

    gold: int
    predicted: int | None


class RetrievalRecord(SharedFields):
    """The record of a choice among statements.

    Attributes:
        candidates: their number.
        answer: place of the right one.
        chosen: place of the chosen one; None: none, or several have the highest score.
        answer_text: the right statement.
        chosen_text: the chosen statement.
        rank: of the right one, 1 the best; None of an answer in words.
    """

    candidates: int
    answer: int
    chosen: int | None
    answer_text: str
    chosen_text: str | None
    rank: int | None


class CaptionRecord(SharedFields):
    """The record of a statement.

    Attributes:
        caption: the whole statement; "" if there is none.
        references: the annotated statements.
        em: whether the statement is one of them.
        primary, relationship, secondary: its parts; None: not read. Each has `references` and `em`
            of its own.
    """

    caption: str
    references: list[str]
    em: float
    primary: str | None
    references_primary: list[str]
    em_primary: float
    relationship: str | None
    references_relationship: list[str]
    em_relationship: float
    secondary: str | None
    references_secondary: list[str]
    em_secondary: float


class QuestionRecord(SharedFields):
    """The record of an answer in words.

    Attributes:
        role: what is asked about: the primary concept, the secondary one, or their relationship.
        question: in words.
        answer: the model's.
        references: the right answers.
        em: whether the answer is one of them.
    """

    role: str
    question: str
    answer: str
    references: list[str]
    em: float


class BoxesRecord(SharedFields):
    """The record of the boxes of one concept.

    Attributes:
        role: of the concept: ``primary`` or ``secondary``.
        concept: in words.
        convention: in which boxes were asked for.
        truth: the annotated boxes in pixels: left, top, right and bottom.
        types: of these boxes.
        predicted: the model's, in the order of the output.
        dropped: how many were left out; those of the other concept are among them.
    """

    role: str
    concept: str
    convention: str
    truth: list[list[float]]
    types: list[str]
    predicted: list[list[float]]
    dropped: int


class PictureRecord(SharedFields):
    """The record of a picture that a model made.

    Attributes:
        prompt: the model's.
        file: path of the picture; None: no picture, or a damaged one.
    """

    prompt: str
    file: str | None
