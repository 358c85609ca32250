"""MetaCLUE's records: what is known of an answer once it is judged.

An id begins with the path of the image in the Pitt Ads. Where a task asks several questions about
an image, ``#`` and the question's name follow: ``3/10.jpg``, ``3/10.jpg#secondary-1-2``. The field
`unit` (`SharedFields`), which is resampled, is the image.
"""

from __future__ import annotations

from figlang_tasks.core.record import Record, SharedFields


def image_of(record: Record) -> str:
    """The path of the image that a record or a document is about, from its id: ``3/10.jpg``."""
    return str(record["id"]).partition("#")[0]


class ClassificationRecord(SharedFields):
    """The record of an answer to the question whether an image is a visual metaphor.

    Attributes:
        gold: 1 if the image is a metaphor, else 0.
        predicted: 1 for Yes, 0 for No; None if the answer is neither.
    """

    gold: int
    predicted: int | None


class RetrievalRecord(SharedFields):
    """The record of a choice among candidate statements, which count from 0.

    Attributes:
        candidates: how many candidates there are.
        answer: the index of the right candidate.
        chosen: the index of the chosen candidate; None if none was chosen, or if several share the
            highest score.
        answer_text: the right statement.
        chosen_text: the chosen statement; None if `chosen` is.
        rank: the rank of the right candidate, 1 is the best; None for an answer in words.
    """

    candidates: int
    answer: int
    chosen: int | None
    answer_text: str
    chosen_text: str | None
    rank: int | None


class CaptionRecord(SharedFields):
    """The record of a statement that puts a metaphor into words.

    Attributes:
        caption: the whole statement; "" if there is none.
        references: the annotated statements.
        em: 1 if the caption equals a reference, else 0 (exact match).
        primary, relationship, secondary: the parts of the statement; None if they were not read.
            Each part has references and an exact match of its own.
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
    """The record of an answer to a question about a part of a metaphor.

    Attributes:
        role: the part that is the answer: ``primary``, ``secondary`` or ``relationship``.
        question: the question in words.
        answer: the model's answer.
        references: the right answers.
        em: 1 if the answer equals a reference, else 0 (exact match).
    """

    role: str
    question: str
    answer: str
    references: list[str]
    em: float


class BoxesRecord(SharedFields):
    """The record of the boxes around what stands for one concept.

    A box is left, top, right and bottom in pixels of the upright picture.

    Attributes:
        role: which concept it is: ``primary`` or ``secondary``.
        concept: the concept in words.
        convention: how the prompt asks for the numbers of boxes: ``thousand``, say.
        truth: the annotated boxes.
        types: the type of each annotated box.
        predicted: the model's boxes, in the order of the output.
        dropped: how many of its boxes were left out; those of the other concept are among them.
    """

    role: str
    concept: str
    convention: str
    truth: list[list[float]]
    types: list[str]
    predicted: list[list[float]]
    dropped: int


class PictureRecord(SharedFields):
    """The record of a picture that a model drew.

    Attributes:
        prompt: the prompt that the model got.
        file: the path of the picture; None if there is none, or if it is damaged.
    """

    prompt: str
    file: str | None
