"""The record of an answer to a rebus of COLUMBUS, as a run saves it."""

from __future__ import annotations

from typing import Literal

from figlang_tasks.core.record import SharedFields


class PuzzleRecord(SharedFields):
    """The record of an answer to a rebus. Its resampling unit is the phrase that the rebus conveys.

    Attributes:
        kind: whether the rebus is made of letters alone, or has an icon.
        overlap: whether the same puzzle is in the data in both kinds.
        gold: the right letter.
        predicted: the letter that our reader reads; None if it reads none, or if several options
            share the highest score.
        predicted_official: the letter that the released rule reads; None if it reads none.
        scores: the score of each option, A to D; None for an answer in words.
    """

    kind: Literal["text", "icon"]
    overlap: bool
    gold: str
    predicted: str | None
    predicted_official: str | None
    scores: list[float] | None
