"""Explanation scores: BERTScore and BLEURT of a predicted against a reference explanation.

For example::

    # in figlang-metrics: figlang_metrics.explanation
    from figlang_tasks.metrics.explanation import get_scorer

    scores = get_scorer("vflute25").score(
        references=["The lawyer has fins."], candidates=["He looks like a shark."]
    )
    scores.mean, scores.signature
"""

from .scorers import SCORERS, ExplanationScores, Scorer, get_scorer
from .weights import WeightsError

__all__ = ["SCORERS", "ExplanationScores", "Scorer", "WeightsError", "get_scorer"]
