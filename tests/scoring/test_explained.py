"""F1@t of V-FLUTE or Acc@t of FLUTE is wrong of records with or without scores if this fails."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from scipy.stats import binomtest

from figlang_tasks.benchmarks.flute.measures import V1, V2
from figlang_tasks.benchmarks.vflute.measures import VFLUTE
from figlang_tasks.core import notes
from figlang_tasks.scoring import OVERALL, Estimate, Measures, evaluate, explanations
from figlang_tasks.scoring.explained import SCHEMES, curve

MEASURES: dict[str, Measures] = {"f1": VFLUTE, "all": V2, "contradiction": V1}
THRESHOLDED = {name: [each.name for each in scheme.thresholds] for name, scheme in SCHEMES.items()}


def row(
    name: str, gold: int, predicted: int | None, explanation: str | None, scheme: str = "f1", score: float | None = None
) -> dict[str, Any]:
    record = {"id": name, "data": "V-FLUTE/test:0", "gold": gold, "predicted": predicted, "explanation": explanation,
              "predicted_strict": predicted, "reference": "The lawyer has fins.", "unit": name,
              "report_group": "idiom" if scheme != "f1" else "muse"}  # fmt: skip
    record |= {} if scheme == "f1" else {"explained": scheme}
    return record | ({} if score is None else {"explanation_scores": {"scorer": "x", "mean": score}})


def overall(records: Sequence[dict[str, Any]], scheme: str) -> dict[str, Estimate]:
    return {name: scopes[OVERALL] for name, scopes in evaluate(records, MEASURES[scheme]).items()}


BETWEEN = [0, 0.49, 0.5, 0.51, 0.59, 0.6, 0.61]


@pytest.mark.parametrize(
    ("scheme", "scores", "expected"),
    [
        # Of 8 right rows of each label k are kept: tp = k, fn = fp = 8 - k, so F1 is k/8. An empty explanation
        # (score 0) costs a row at F1@0, not at Acc@0, which "is equivalent to simply reporting label accuracy" (FLUTE).
        ("f1", [0, 0.05, 0.52, 0.53, 0.54, 0.59, 0.6, 0.61], {"f1@0": 7 / 8, "f1@53": 4 / 8, "f1@60": 1 / 8}),
        (
            "all",
            BETWEEN,
            {"acc@0": 1, "acc@50": 10 / 14, "acc@60": 4 / 14, "v1_acc@50": 11 / 14, "v1_acc@60": 8 / 14},
        ),
        ("contradiction", BETWEEN, {"acc@0": 1, "acc@50": 11 / 14, "acc@60": 8 / 14}),
    ],
)
def test_thresholds_of_the_papers(scheme: str, scores: list[float], expected: dict[str, float]) -> None:
    """Every label is right, once with each score. One that equals the threshold counts in FigLang 2022 alone."""
    records = [row(f"{gold}{score}", gold, gold, "b", scheme, score) for gold in (0, 1) for score in scores]
    found = overall(records, scheme)
    assert {name: found[name].value for name in THRESHOLDED[scheme]} == pytest.approx(expected)
    if scheme != "f1":  # shares of rows that are independent: Wilson's interval
        for name, value in expected.items():
            wilson = binomtest(round(14 * value), 14).proportion_ci(method="wilson")
            assert found[name][1:3] == pytest.approx((wilson.low, wilson.high))
    # The curve of the report has the value and the interval of each metric of its definition (`all` has two).
    at = [each.at for each in SCHEMES[scheme].thresholds if each.explained == SCHEMES[scheme].thresholds[0].explained]
    own = [found[name] for name in THRESHOLDED[scheme][: len(at)]]
    assert [each[:3] for each in curve(records, at)] == [each[:3] for each in own]
    asked = scores if scheme == "contradiction" else scores * 2
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
    ("scheme", "expected"),
    [
        ("all", {"acc@0": 4 / 6, "acc@50": 2 / 6, "acc@60": 2 / 6, "v1_acc@50": 3 / 6, "v1_acc@60": 3 / 6}),
        ("contradiction", {"acc@0": 4 / 6, "acc@50": 3 / 6, "acc@60": 3 / 6}),
    ],
)
def test_accuracies_of_flute_with_scores_of_a_scorer(scheme: str, expected: dict[str, float]) -> None:
    records = [row(*each, scheme) for each in FLUTE]
    without = overall(records, scheme)
    assert set(without) == {"acc@0", "acc", "acc_official", "parse_rate", "parse_disagreement"}
    assert without["acc@0"].value == 4 / 6
    explanations.score(records)
    found = overall(records, scheme)
    assert {name: found[name].value for name in expected} == pytest.approx(expected)
    scored = [record["explanation_scores"]["mean"] for record in records if "explanation_scores" in record]
    assert len(scored) == (6 if scheme == "all" else 3)
    assert found["explanation_score"].value == pytest.approx(sum(scored) / len(scored))
    if scheme == "contradiction":  # of entailments alone no score is asked for
        of_two = overall(records[:2], scheme)
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
        evaluate(records, VFLUTE)


def test_without_a_name_the_papers_scorer_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIGLANG_SCORER", raising=False)
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", "nowhere")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    scored = explanations.score([row("a", 0, 0, "A storm", "all")])
    assert scored is not None and scored.name == "flute22"
    notes.noted()


def test_an_interval_of_one_class() -> None:
    """Six of eight entailments are right: tp 6, fn 2. With Wilson's limits .409 and .929 of the recall r (MOVER)."""
    records = [row(str(at), 1, int(at < 6), "b") for at in range(8)]
    ends = binomtest(6, 8).proportion_ci(method="wilson")
    low, high = (recall / (1 + recall) for recall in (ends.low, ends.high))  # half of F1, 2 r / (1 + r)
    assert overall(records, "f1")["f1@0"][:3] == pytest.approx((3 / 7, low, high))
    assert (low, high) == pytest.approx((0.290, 0.482), abs=6e-4)
    assert overall(records[:6], "f1")["f1@0"].value == 1, "a class that is neither gold nor predicted does not count"
