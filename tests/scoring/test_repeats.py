"""``maj@K`` of rows that were asked several times is missing or wrong if this fails."""

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

# Of each row the gold label and what was read from three answers to it.
LABELS: Sequence[tuple[int, tuple[int | None, ...]]] = [
    (1, (1, 0, 0)),
    (1, (None, 1, None)),  # what could not be read has no vote
    (0, (0, 1, None)),  # of equally many the first
    (0, (1, 1, 0)),
    (1, (None, None, None)),
    (1, (1, 1, 1)),
]


def labelled(**fields: Any) -> list[dict[str, Any]]:
    """The records of `LABELS`."""
    return [
        {"id": f"row {row}", "unit": f"row {row}", "gold": gold, "predicted": label,
         "predicted_strict": label, "reference": "It is so.", "explanation": None,
         "report_group": "simile", "status": "read", "repeat": number, **fields}
        for row, (gold, answers) in enumerate(LABELS)
        for number, label in enumerate(answers, start=1)
    ]  # fmt: skip


def voted() -> tuple[list[int], list[int]]:
    """Gold labels, and the labels of the majority; without one the wrong label."""
    gold, labels = [], []
    for label, answers in LABELS:
        votes = Counter(answer for answer in answers if answer is not None)
        gold.append(label)
        labels.append(votes.most_common(1)[0][0] if votes else 1 - label)
    return gold, labels


def summarized(records: list[dict[str, Any]], measures: Measures) -> RepeatsSummary:
    """The summary of the repeats of records with three answers to each row."""
    summary = evaluate_repeats(records, measures, evaluate(records, measures, 0))
    assert summary is not None
    assert summary["answers"] == 3
    return summary


def test_labels_without_explanations_have_a_majority() -> None:
    vflute = summarized(labelled(asks_for_explanation=False), VFLUTE)
    assert vflute["metric"] == "f1@0" and vflute["maj@3"] == pytest.approx(
        f1_score(*voted(), average="macro")
    )
    flute = summarized(labelled(predicted_official=1), V2)
    assert flute["metric"] == "acc@0" and flute["maj@3"] == pytest.approx(accuracy_score(*voted()))


def test_scored_explanations_have_none() -> None:
    scores = {"mean": 0.9, "scorer": "vflute25"}
    assert summarized(labelled(explanation_scores=scores), VFLUTE).keys() == {
        "answers",
        "metric",
        "mean",
    }


def test_pictures_of_a_ranking_are_voted_for_one_by_one() -> None:
    """Precision at 2 of four pictures, two of them positive: the majority says Yes to the first and
    the third.
    """
    said = [(True, (1, 1, 0)), (True, (0, 0, 1)), (False, (0, 1, 1)), (False, (0, 0, 0))]
    records = [
        {"id": f"row/{place}", "row": "row", "unit": "phrase", "images": 4, "positive": positive,
         "type": "figurative", "value": float(value), "status": "read", "repeat": number,
         "data": "IRFL/metaphor-retrieval-task:0"}
        for place, (positive, answers) in enumerate(said)
        for number, value in enumerate(answers, start=1)
    ]  # fmt: skip
    assert summarized(records, RETRIEVE)["maj@3"] == 0.5
