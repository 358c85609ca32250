"""The records of answers to AdMIRe's two subtasks, as a run saves them."""

from __future__ import annotations

from typing import Literal

from figlang_tasks.core.record import SharedFields


class _FieldsOfBothSubtasks(SharedFields):
    """The fields of records of both subtasks. The resampling unit is the compound.

    Attributes:
        shown: whether the prompt shows pictures, or their captions.
        sense: the sense of the compound: ``idiomatic`` or ``literal``.
        names: the file names of the candidates, in the order in which the prompt shows them.
    """

    shown: Literal["pictures", "captions"]
    sense: str
    names: list[str]


class RankingRecord(_FieldsOfBothSubtasks):
    """The record of a ranking (subtask A).

    Attributes:
        gold: the file names in the expected order, the best first.
        predicted: the file names as the model ranks them; None where no ranking was read.
        scores: the score of each picture in the order shown; None for an answer in words.
    """

    gold: list[str]
    predicted: list[str] | None
    scores: list[float] | None


class SequenceRecord(_FieldsOfBothSubtasks):
    """The record of the picture that ends a sequence, and of the sense (subtask B).

    Attributes:
        gold: the file name of the expected picture.
        predicted: the file name of the picture that the model chooses; None where none was read.
        predicted_sense: the sense that the model names; None where none was read.
    """

    gold: str
    predicted: str | None
    predicted_sense: str | None
