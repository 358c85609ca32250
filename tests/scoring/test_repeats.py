"""``maj@K`` of rows with several answers is missing or wrong if these tests fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from sklearn.metrics import accuracy_score, f1_score

from figlang_tasks.benchmarks.flute.measures import V2
from figlang_tasks.benchmarks.irfl.measures import RETRIEVE
from figlang_tasks.benchmarks.vflute.measures import VFLUTE
from figlang_tasks.scoring import Measures, evaluate
from figlang_tasks.scoring.repeats import RepeatsSummary, evaluate_repeats

LABELS: Sequence[tuple[int, tuple[int | None, ...]]] = [
    (1, (1, 0, 0)),
    (1, (None, 1, None)),  # what could not be read has no vote
    (0, (0, 1, None)),  # of equally many the first
    (0, (1, 1, 0)),
    (1, (None, None, None)),
    (1, (1, 1, 1)),
]
"""The gold label of each row, and the labels that were read from three answers to it."""


def labelled(**fields: Any) -> list[dict[str, Any]]:
    """The records of `LABELS`."""
    records: list[dict[str, Any]] = []
    for row, (gold, labels) in enumerate(LABELS):
        for number, label in enumerate(labels, start=1):
            record = {
                "id": f"row {row}",
                "unit": f"row {row}",
                "gold": gold,
                "predicted": label,
                "predicted_strict": label,
                "reference": "It is so.",
                "explanation": None,
                "report_group": "simile",
                "status": "read",
                "repeat": number,
            }
            records.append({**record, **fields})
    return records


def majority_labels() -> tuple[list[int], list[int]]:
    """The gold labels, and the labels of the majority; the wrong one if nothing was read."""
    gold_labels: list[int] = []
    majority: list[int] = []
    for gold, labels in LABELS:
        votes = Counter(label for label in labels if label is not None)
        gold_labels.append(gold)
        majority.append(votes.most_common(1)[0][0] if votes else 1 - gold)
    return gold_labels, majority


def summarized(records: list[dict[str, Any]], measures: Measures) -> RepeatsSummary:
    """The summary of the repeats of records with three answers to each row."""
    summary = evaluate_repeats(records, measures, evaluate(records, measures, 0))
    assert summary is not None
    assert summary["answers"] == 3
    return summary


def test_labels_without_explanations_have_a_majority() -> None:
    gold, majority = majority_labels()
    vflute = summarized(labelled(asks_for_explanation=False), VFLUTE)
    assert vflute["metric"] == "f1@0"
    assert vflute["maj@3"] == pytest.approx(f1_score(gold, majority, average="macro"))
    flute = summarized(labelled(predicted_official=1), V2)
    assert flute["metric"] == "acc@0"
    assert flute["maj@3"] == pytest.approx(accuracy_score(gold, majority))


def test_scored_explanations_have_none() -> None:
    scores = {"mean": 0.9, "scorer": "vflute25"}
    summary = summarized(labelled(explanation_scores=scores), VFLUTE)
    assert summary.keys() == {"answers", "metric", "mean"}


def test_pictures_of_a_ranking_are_voted_for_one_by_one() -> None:
    """Precision at 2 of four pictures, two of them positive.

    The majority says Yes to the first picture and to the third.
    """
    pictures = [(True, (1, 1, 0)), (True, (0, 0, 1)), (False, (0, 1, 1)), (False, (0, 0, 0))]
    records: list[dict[str, Any]] = []
    for picture, (is_positive, answers) in enumerate(pictures):
        for number, answer in enumerate(answers, start=1):
            records.append(
                {
                    "id": f"row/{picture}",
                    "row": "row",
                    "unit": "phrase",
                    "images": 4,
                    "positive": is_positive,
                    "type": "figurative",
                    "value": float(answer),
                    "status": "read",
                    "repeat": number,
                    "data": "IRFL/metaphor-retrieval-task:0",
                }
            )
    assert summarized(records, RETRIEVE)["maj@3"] == 0.5
