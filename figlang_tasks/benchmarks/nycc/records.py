"""The records of the New Yorker Caption Contest; their unit is the contest."""

from __future__ import annotations

from figlang_tasks.core.record import SharedFields
from figlang_tasks.scoring.explained import ExplainedRecord


class ChoiceRecord(SharedFields):
    """The record of a choice among captions.

    Attributes:
        fold: 0 to 4.
        gold: the right letter.
        predicted: None: no answer, or several captions have the highest score.
        predicted_strict: the letter that the common reader alone reads.
        predicted_official: that of the released rules, which guess one.
        scores: of the captions; None of an answer in words.
    """

    fold: int
    gold: str
    predicted: str | None
    predicted_strict: str | None
    predicted_official: str | None
    scores: list[float] | None


class RankingRecord(ChoiceRecord, total=False):
    """The record of a choice between two captions.

    Attributes:
        winner_source: who chose the better one: ``crowd_winner``, or the editors. Matching has
            none.
    """

    winner_source: str


class ExplanationRecord(ExplainedRecord):
    """The record of an explanation. Its labels say whether there is one.

    Attributes:
        fold: 0 to 4.
        bleu_sums: the ten numbers that BLEU-4 of a corpus sums.
        rouge_l: ROUGE-L F1.
    """

    fold: int
    bleu_sums: list[int]
    rouge_l: float
