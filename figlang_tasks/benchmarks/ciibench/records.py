"""The record of an answer to a question of CII-Bench, as a run saves it."""

from __future__ import annotations

from figlang_tasks.core.record import SharedFields


class ImplicationRecord(SharedFields):
    """The record of an answer. Its resampling unit is the picture, by a digest of its file.

    Attributes:
        scopes: the scopes that the row counts in; several image types and rhetorics are possible.
        gold: the right letter, A to F.
        predicted: the letter that our reader reads; None if it reads none.
        predicted_official: the letter that the released rule reads, A to H; None if it reads none.
    """

    scopes: list[str]
    gold: str
    predicted: str | None
    predicted_official: str | None
