"""F1@t of V-FLUTE or Acc@t of FLUTE is wrong of records with or without scores if this fails."""

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
    assert task.scheme is not None
    return task.scheme


def thresholded(task: Task) -> list[str]:
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
    record = {"task": task.name, "request": REQUESTS[task], "id": name, "data": "V-FLUTE/test:0",
              "gold": gold, "predicted": predicted, "explanation": explanation,
              "predicted_strict": predicted, "predicted_official": predicted,
              "reference": "The lawyer has fins.", "unit": name,
              "report_group": "muse" if task is VFLUTE else "idiom"}  # fmt: skip
    return record | (
        {} if score is None else {"explanation_scores": {"scorer": "x", "mean": score}}
    )


def overall(records: Sequence[dict[str, Any]], task: Task) -> dict[str, Estimate]:
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
    """Every label is right, once with each score. One that equals the threshold counts in FigLang
    2022 alone.
    """
    records = [
        row(f"{gold}{score}", gold, gold, "b", task, score) for gold in (0, 1) for score in scores
    ]
    found = overall(records, task)
    assert {name: found[name].value for name in thresholded(task)} == pytest.approx(expected)
    if task is not VFLUTE:  # shares of rows that are independent: Wilson's interval
        for name, value in expected.items():
            wilson = binomtest(round(14 * value), 14).proportion_ci(method="wilson")
            assert found[name][1:3] == pytest.approx((wilson.low, wilson.high))
    # The curve of the report has the value and the interval of each metric of its definition (FLUTE
    # has two).
    scheme = scheme_of(task)
    at = [each.at for each in scheme.thresholds if each.explained == scheme.thresholds[0].explained]
    own = [found[name] for name in thresholded(task)[: len(at)]]
    assert [each[:3] for each in curve(scheme, records, at)] == [each[:3] for each in own]
    asked = scores if task is V1 else scores * 2
    assert found["explanation_score"].value == pytest.approx(sum(asked) / len(asked))


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
    records = [row(*each, task) for each in FLUTE]
    without = overall(records, task)
    assert set(without) == {"acc@0", "acc", "acc_official", "parse_rate", "parse_disagreement"}
    assert without["acc@0"].value == 4 / 6
    explanations.score(records, scheme_of(task))
    found = overall(records, task)
    assert {name: found[name].value for name in expected} == pytest.approx(expected)
    scored = [
        record["explanation_scores"]["mean"] for record in records if "explanation_scores" in record
    ]
    assert len(scored) == (6 if task is V2 else 3)
    assert found["explanation_score"].value == pytest.approx(sum(scored) / len(scored))
    if task is V1:  # of entailments alone no score is asked for
        of_two = overall(records[:2], task)
        assert of_two["acc@60"].value == 1 and "explanation_score" not in of_two


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"gold": 2}, "row 0 has gold 2, predicted 1, must be 0 or 1"),
        ({"predicted": 7}, "predicted 7"),
        ({"explanation_scores": None}, "row 0 has no explanation score, but other"),
    ],
)
def test_a_damaged_record_is_named(changed: dict[str, Any], match: str) -> None:
    records = [row(f"{at}", 1, 1, "b", score=0.5) | (changed if at == 0 else {}) for at in range(2)]
    with pytest.raises(ValueError, match=match):
        evaluate(records, VFLUTE.measures)


def test_without_a_name_the_papers_scorer_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIGLANG_SCORER", raising=False)
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", "nowhere")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    scored = explanations.score([row("a", 0, 0, "A storm", V2)], scheme_of(V2))
    assert scored is not None and scored.name == "flute22"
    notes.noted()


def test_an_interval_of_one_class() -> None:
    """Six of eight entailments are right: tp 6, fn 2. With Wilson's limits .409 and .929 of the
    recall r (MOVER).
    """
    records = [row(str(at), 1, int(at < 6), "b") for at in range(8)]
    ends = binomtest(6, 8).proportion_ci(method="wilson")
    # Half of F1, 2 r / (1 + r)
    low, high = (recall / (1 + recall) for recall in (ends.low, ends.high))
    assert overall(records, VFLUTE)["f1@0"][:3] == pytest.approx((3 / 7, low, high))
    assert (low, high) == pytest.approx((0.290, 0.482), abs=6e-4)
    assert overall(records[:6], VFLUTE)["f1@0"].value == 1, (
        "a class that is neither gold nor predicted does not count"
    )
