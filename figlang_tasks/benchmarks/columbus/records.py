"""The records of COLUMBUS."""

from __future__ import annotations

from typing import Literal

from figlang_tasks.core.record import SharedFields


class PuzzleRecord(SharedFields):
    """The record of an answer to a rebus; its unit is the phrase.

    Attributes:
        kind: what the rebus is made of.
        overlap: whether the phrase is there in both kinds.
        gold: the right letter.
        predicted: the letter that our reader reads; None if none, or if several have the highest
            score.
        predicted_official: the letter that the released rule reads; None if none.
        scores: of the options; None of an answer in words.
    """

    kind: Literal["text", "icon"]
    overlap: bool
    gold: str
    predicted: str | None
    predicted_official: str | None
    scores: list[float] | None
