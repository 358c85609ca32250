"""ROUGE-L of one pair of texts, as the package ``evaluate`` computes it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rouge_score.rouge_scorer import RougeScorer


def rouge_l(candidate: str, reference: str) -> float:
    """ROUGE-L F1 of one pair of texts, 0 to 1, by rouge_score without stemming."""
    score = _rouge_scorer().score(reference, candidate)["rougeL"]
    return float(score.fmeasure)


@cache
def _rouge_scorer() -> RougeScorer:
    """The scorer of rouge_score, made once."""
    # Imported here, since few tasks need it.
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"])
