"""F1@t of V-FLUTE or Acc@t of FLUTE is wrong, with or without scores, if these tests fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from scipy.stats import binomtest

from figlang_tasks.benchmarks.flute.tasks import V1, V2
from figlang_tasks.benchmarks.vflute.tasks import VFLUTE
from figlang_tasks.core import notes
from figlang_tasks.scoring import OVERALL, Estimate, Task, evaluate, explanations
from figlang_tasks.scoring.explained import Scheme, curve

REQUESTS = {
    VFLUTE: "V-FLUTE,split=test",
    V1: "FLUTE,part=heldout,prompt=v1",
    V2: "FLUTE,part=heldout",
}


def scheme_of(task: Task) -> Scheme:
    """The scheme of a task with explanations."""
    assert task.scheme is not None
    return task.scheme


def threshold_metrics(task: Task) -> list[str]:
    """The metrics of thresholds, in the order of their declaration."""
    return [threshold.name for threshold in scheme_of(task).thresholds]


def row(
    name: str,
    gold: int,
    predicted: int | None,
    explanation: str | None,
    task: Task = VFLUTE,
    score: float | None = None,
) -> dict[str, Any]:
    """The record of a row, with an explanation score if one is given."""
    record: dict[str, Any] = {
        "task": task.name,
        "request": REQUESTS[task],
        "id": name,
        "data": "V-FLUTE/test:0",
        "gold": gold,
        "predicted": predicted,
        "explanation": explanation,
        "predicted_strict": predicted,
        "predicted_official": predicted,
        "reference": "The lawyer has fins.",
        "unit": name,
        "report_group": "muse" if task is VFLUTE else "idiom",
    }
    if score is not None:
        record["explanation_scores"] = {"scorer": "x", "mean": score}
    return record


def overall(records: Sequence[dict[str, Any]], task: Task) -> dict[str, Estimate]:
    """The estimates of all rows, by metric."""
    return {name: scopes[OVERALL] for name, scopes in evaluate(records, task.measures).items()}


BETWEEN = [0, 0.49, 0.5, 0.51, 0.59, 0.6, 0.61]


@pytest.mark.parametrize(
    ("task", "scores", "expected"),
    [
        # Of 8 right rows of each label k are kept: tp = k, fn = fp = 8 - k, so F1 is k/8. An empty
        # explanation (score 0) costs a row at F1@0, not at Acc@0, which "is equivalent to simply
        # reporting label accuracy" (FLUTE).
        (
            VFLUTE,
            [0, 0.05, 0.52, 0.53, 0.54, 0.59, 0.6, 0.61],
            {"f1@0": 7 / 8, "f1@53": 4 / 8, "f1@60": 1 / 8},
        ),
        (
            V2,
            BETWEEN,
            {
                "acc@0": 1,
                "acc@50": 10 / 14,
                "acc@60": 4 / 14,
                "v1_acc@50": 11 / 14,
                "v1_acc@60": 8 / 14,
            },
        ),
        (V1, BETWEEN, {"acc@0": 1, "acc@50": 11 / 14, "acc@60": 8 / 14}),
    ],
)
def test_thresholds_of_the_papers(
    task: Task, scores: list[float], expected: dict[str, float]
) -> None:
    """Every label is right, once with each score.

    A score that equals the threshold counts in FigLang 2022 alone.
    """
    records: list[dict[str, Any]] = []
    for gold in (0, 1):
        records += [row(f"{gold}{score}", gold, gold, "b", task, score) for score in scores]
    estimates = overall(records, task)
    values = {name: estimates[name].value for name in threshold_metrics(task)}
    assert values == pytest.approx(expected)
    if task is not VFLUTE:  # shares of rows that are independent: Wilson's interval
        for name, value in expected.items():
            wilson = binomtest(round(14 * value), 14).proportion_ci(method="wilson")
            assert estimates[name][1:3] == pytest.approx((wilson.low, wilson.high))

    scheme = scheme_of(task)
    definition = scheme.thresholds[0].explained  # FLUTE has two definitions; the curve the first
    first_thresholds = [item for item in scheme.thresholds if item.explained == definition]
    points = curve(scheme, records, [threshold.at for threshold in first_thresholds])
    for point, threshold in zip(points, first_thresholds, strict=True):
        assert point[:3] == estimates[threshold.name][:3]

    counted_scores = scores if task is V1 else scores * 2
    mean_score = sum(counted_scores) / len(counted_scores)
    assert estimates["explanation_score"].value == pytest.approx(mean_score)


FLUTE = [
    ("right", 1, 1, "The lawyer has fins."),
    ("unexplained", 1, 1, None),
    ("also right", 0, 0, "The lawyer has fins."),
    ("badly explained", 0, 0, "A storm"),
    ("wrong", 0, 1, "The lawyer has fins."),
    ("no label", 1, None, "The lawyer has fins."),
]


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (
            V2,
            {
                "acc@0": 4 / 6,
                "acc@50": 2 / 6,
                "acc@60": 2 / 6,
                "v1_acc@50": 3 / 6,
                "v1_acc@60": 3 / 6,
            },
        ),
        (V1, {"acc@0": 4 / 6, "acc@50": 3 / 6, "acc@60": 3 / 6}),
    ],
)
def test_accuracies_of_flute_with_scores_of_a_scorer(
    task: Task, expected: dict[str, float]
) -> None:
    records = [row(*fields, task) for fields in FLUTE]
    without = overall(records, task)
    assert set(without) == {"acc@0", "acc", "acc_official", "parse_rate", "parse_disagreement"}
    assert without["acc@0"].value == 4 / 6
    explanations.score(records, scheme_of(task))
    estimates = overall(records, task)
    assert {name: estimates[name].value for name in expected} == pytest.approx(expected)
    scored_records = [record for record in records if "explanation_scores" in record]
    scores = [record["explanation_scores"]["mean"] for record in scored_records]
    assert len(scores) == (6 if task is V2 else 3)
    assert estimates["explanation_score"].value == pytest.approx(sum(scores) / len(scores))
    if task is V1:  # entailments need no score
        of_entailments = overall(records[:2], task)
        assert of_entailments["acc@60"].value == 1
        assert "explanation_score" not in of_entailments


@pytest.mark.parametrize(
    ("damage", "match"),
    [
        ({"gold": 2}, "row 0 has gold 2, predicted 1, must be 0 or 1"),
        ({"predicted": 7}, "predicted 7"),
        ({"explanation_scores": None}, "row 0 has no explanation score, but other"),
    ],
)
def test_a_damaged_record_is_named(damage: dict[str, Any], match: str) -> None:
    records = [row("0", 1, 1, "b", score=0.5), row("1", 1, 1, "b", score=0.5)]
    records[0].update(damage)
    with pytest.raises(ValueError, match=match):
        evaluate(records, VFLUTE.measures)


def test_without_a_name_the_papers_scorer_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIGLANG_SCORER", raising=False)
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", "nowhere")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    scored = explanations.score([row("a", 0, 0, "A storm", V2)], scheme_of(V2))
    assert scored is not None
    assert scored.name == "flute22"
    notes.take_failures()


def test_an_interval_of_one_class() -> None:
    """Six of eight entailments are right: tp 6, fn 2.

    The limits follow from Wilson's limits .409 and .929 of the recall (MOVER).
    """
    records = [row(str(number), 1, int(number < 6), "b") for number in range(8)]
    recall = binomtest(6, 8).proportion_ci(method="wilson")
    # Macro F1 is half of the entailments' F1, which is 2 recall / (1 + recall).
    low = recall.low / (1 + recall.low)
    high = recall.high / (1 + recall.high)
    assert overall(records, VFLUTE)["f1@0"][:3] == pytest.approx((3 / 7, low, high))
    assert (low, high) == pytest.approx((0.290, 0.482), abs=6e-4)
    assert overall(records[:6], VFLUTE)["f1@0"].value == 1, (
        "a class that is neither gold nor predicted does not count"
    )
