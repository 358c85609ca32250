"""The records of IRFL."""

from __future__ import annotations

from figlang_tasks.core.record import SharedFields


class DetectionRecord(SharedFields):
    """The record of a choice among images; its unit is the phrase.

    Attributes:
        type: of the figurative phrase.
        candidates: the images in the order shown.
        roles: what each of them is: ``answer``, ``literal``, ``source`` ...
        answer: place of the right one.
        chosen: place of the chosen one; None: no choice, as where several have the highest score.
        scores: of the images; None of an answer in words.
    """

    type: str
    candidates: list[str]
    roles: list[str]
    answer: int
    chosen: int | None
    scores: list[float] | None


class RetrievalRecord(SharedFields):
    """The record of one image of a row, which has `images` of them; its unit is the phrase.

    Attributes:
        type: of the figurative phrase.
        role: what the image is.
        positive: whether it shows the figurative meaning.
        uuid: its name.
        value: what the ranking goes by: a matching score, or 1 for Yes and 0 for No.
    """

    type: str
    role: str
    positive: bool
    uuid: str
    value: float
