"""The records of answers about YesBut's pictures, as a run saves them."""

from __future__ import annotations

from typing import Literal

from figlang_tasks.core.record import SharedFields
from figlang_tasks.scoring.explained import ExplainedRecord

Label = Literal["Y", "N"]
"""Whether a picture is satirical, in the letters that the prompt asks for."""


class DetectionRecord(SharedFields):
    """The record of a picture that is called satirical or not. Its unit is the comic.

    Attributes:
        stage: ``2``, ``3`` or ``4``, in which the paper's authors made the picture.
        style: how the left and the right half are drawn: ``stick_orig``.
        gold: the annotated label.
        predicted: the label that was read; None if none was.
    """

    stage: str
    style: str
    gold: Label
    predicted: Label | None


class UnderstandingRecord(ExplainedRecord):
    """The record of an explanation. Its label says whether there is one; its unit is the comic.

    Attributes:
        stage: ``2``, ``3``, ``4``, or ``3_or_4``; None where the data does not tell it.
        difficulty: ``easy``, ``medium`` or ``hard``; "" where the data does not tell it.
        has_text: whether there is text in either half; None where the data does not tell it.
        sentence_bleu, rouge_l: of the explanation and the reference, 0 to 1.
        sentence_meteor: likewise; None where WordNet is not installed.
    """

    stage: str | None
    difficulty: str
    has_text: bool | None
    sentence_bleu: float
    rouge_l: float
    sentence_meteor: float | None
