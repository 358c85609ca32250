"""The records of AdMIRe."""

from __future__ import annotations

from typing import Literal

from figlang_tasks.core.record import SharedFields


class _BothFields(SharedFields):
    """The fields of records of both kinds; the unit is the compound.

    Attributes:
        shown: what the prompt shows.
        sense: the sense of the compound.
        names: the files in the order shown.
    """

    shown: Literal["pictures", "captions"]
    sense: str
    names: list[str]


class RankingRecord(_BothFields):
    """The record of a ranking.

    Attributes:
        gold: the file names, the best first.
        predicted: the same by the model; None where no ranking was read.
        scores: of the pictures in the order shown; None of an answer in words.
    """

    gold: list[str]
    predicted: list[str] | None
    scores: list[float] | None


class SequenceRecord(_BothFields):
    """The record of the picture that ends a sequence.

    Attributes:
        gold: its file name.
        predicted: the same by the model; None where no picture was read.
        predicted_sense: the sense by the model; None where none was read.
    """

    gold: str
    predicted: str | None
    predicted_sense: str | None
