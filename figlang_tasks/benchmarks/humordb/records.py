"""The records of HumorDB's tasks, as a run saves them.

The resampling unit of a record is its pair, or else its picture.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from figlang_tasks.core.record import SharedFields

Kind: TypeAlias = Literal["original", "edited", ""]
"""Whether a picture is as it was found, or an edited one; "" if that is not known."""

YesOrNo: TypeAlias = Literal["Yes", "No"]

Position: TypeAlias = Literal["first", "second"]
"""One of two pictures, by its place in the prompt."""


class PictureFields(SharedFields):
    """The fields of all records.

    Attributes:
        kind: what the picture is.
        pair: the names of the two pictures of its pair, one of which is funny; "" if it has no
            such pair, or if that is not known.
    """

    kind: Kind
    pair: str


class BinaryRecord(PictureFields):
    """The record of an answer to "Is the image funny?" or "Is the image not funny?".

    Attributes:
        question: which of the two was asked.
        gold: the right answer to this question.
        predicted: the answer that was read; None if none was.
    """

    question: Literal["funny", "not_funny"]
    gold: YesOrNo
    predicted: YesOrNo | None


class RangeRecord(PictureFields):
    """The record of a rating from 1 to 10.

    Attributes:
        gold: the mean rating of people.
        predicted: the rating that was read; None if none was.
    """

    gold: float
    predicted: float | None


class ComparisonRecord(PictureFields):
    """The record of an answer to which of two pictures is funnier.

    Attributes:
        anchor: the name of the anchor, which is the second picture.
        gold: the picture that people found funnier.
        predicted: the picture that was read; None if none was.
    """

    anchor: str
    gold: Position
    predicted: Position | None
