"""The records of answers to the New Yorker Caption Contest. Their unit is the contest."""

from __future__ import annotations

from figlang_tasks.core.record import SharedFields
from figlang_tasks.scoring.explained import ExplainedRecord


class ChoiceRecord(SharedFields):
    """The record of a choice among captions.

    Attributes:
        fold: the cross-validation fold, 0 to 4.
        gold: the right letter.
        predicted: the letter that counts; None without an answer, or if several captions have the
            highest score.
        predicted_strict: the letter that the common reader alone reads; None if it reads none.
        predicted_official: the letter by the released rules, which guess one from pixels; None if
            they find none.
        scores: the scores of the captions; None for an answer in words.
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
        winner_source: who chose the better one: ``crowd_winner``, or else the editors. Records of
            matching have none.
    """

    winner_source: str


class ExplanationRecord(ExplainedRecord):
    """The record of an explanation. Its label says whether there is one.

    Attributes:
        fold: the cross-validation fold, 0 to 4.
        bleu_sums: its ten counts, whose sums over explanations give BLEU-4 of a corpus.
        rouge_l: ROUGE-L F1, 0 to 1.
    """

    fold: int
    bleu_sums: list[int]
    rouge_l: float
