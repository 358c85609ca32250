"""Macro scores of two classes are not NYK-MS's, or not scikit-learn's, if this fails."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, precision_score, recall_score

import figlang_tasks
from figlang_tasks.metrics import classification

PUBLISHED = Path(figlang_tasks.__file__).parent / "benchmarks" / "nykms" / "published.json"
SCORES = (classification.macro_precision, classification.macro_recall, classification.macro_f1)

# NYK-MS, Tables 8 and 11: counts tn, fp, fn, tp that give accuracy, macro P, R and F1. They were
# found by search over all class sizes. Of LLaVA and GPT-3.5 they are of all rows; MC runs have
# 1,580 of the 1,583 rows of Table 6 (689 of 692 positives). GPT-4V's fit 158 rows. Other rows of
# Table 11 are means of 5 runs, which no counts give.
COUNTS_OF = {
    "mc LLaVA": (145, 746, 82, 607),
    "mc GPT-3.5": (108, 783, 41, 648),
    "mc GPT-4V": (17, 70, 4, 67),
    "sc LLaVA": (1, 890, 0, 687),
    "sc GPT-3.5": (107, 784, 63, 624),
    "sc GPT-4": (1, 229, 0, 186),
    "sc GPT-4V": (1, 98, 0, 59),
    "mc Baseline (Image-only)": (54, 48, 20, 35),
    "mc Baseline + Contrastive": (74, 28, 30, 25),
    "sc Baseline (Text-only)": (56, 28, 35, 38),
    "sc Baseline (Image-only)": (48, 36, 31, 42),
}


def figures(counts: tuple[int, ...]) -> list[float]:
    """Macro precision, recall and F1 in percent."""
    return [100 * float(score(counts)) for score in SCORES]


def test_published_counts_give_the_published_figures() -> None:
    records = json.loads(PUBLISHED.read_text(encoding="utf-8"))["records"]
    printed = {f"{record['metric']} {record['model']}": 100 * record["value"] for record in records}
    for name, counts in COUNTS_OF.items():
        task, _, model = name.partition(" ")
        macro_scores = [printed[f"{task}_{score.__name__} {model}"] for score in SCORES]
        assert figures(counts) == pytest.approx(macro_scores, abs=0.00501)
        tn, fp, fn, tp = counts
        accuracy = 100 * (tn + tp) / (tn + fp + fn + tp)
        assert accuracy == pytest.approx(printed[f"{task}_acc {model}"], abs=0.00501)


COUNTS = st.tuples(*[st.integers(0, 40)] * 4).filter(any)


@given(st.lists(COUNTS, min_size=1, max_size=5))
def test_equals_scikit_learn(sets: list[tuple[int, int, int, int]]) -> None:
    for score in SCORES:  # many sets of counts at once
        assert score(sets).tolist() == [float(score(counts)) for counts in sets]
    tn, fp, fn, tp = sets[0]
    gold = [0] * (tn + fp) + [1] * (fn + tp)
    predicted = [0] * tn + [1] * fp + [0] * fn + [1] * tp
    right = [label == true for true, label in zip(gold, predicted, strict=True)]
    assert classification.confusion_cells(gold, right).sum(axis=0).tolist() == list(sets[0])
    expected: list[float] = []
    for score in (precision_score, recall_score, f1_score):
        value = score(gold, predicted, average="macro", labels=[0, 1], zero_division=0)
        expected.append(100 * value)
    assert figures(sets[0]) == pytest.approx(expected)
    over_labels_that_occur = f1_score(gold, predicted, average="macro", zero_division=0)
    macro_f1 = classification.macro_f1(sets[0], skip_absent=True)
    assert macro_f1 == pytest.approx(over_labels_that_occur)


def test_a_model_that_always_says_1_has_a_macro_recall_of_one_half() -> None:
    """ "(0% + 100%)/2 = 50%" (section 4.1)."""
    assert figures((0, 891, 0, 687)) == pytest.approx((21.77, 50, 30.33), abs=0.005)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((1, 2, 3), r"shape \[\.\.\., 4\]"),
        (3, r"shape \[\.\.\., 4\]"),
        ([[1, 2, 3, 4], [0, 0, 0, 0]], "all zero"),
        ((1, 2, 3, math.nan), "finite and not negative"),
        ((1, math.inf, 3, 4), "finite and not negative"),
        ((1, 2, -3, 4), "finite and not negative"),
    ],
)
def test_counts_that_are_none_are_refused(counts: object, message: str) -> None:
    for score in SCORES:
        with pytest.raises(ValueError, match=message):
            score(counts)


def test_a_threshold_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="threshold is nan"):
        classification.counts_as_right([1], [True], [0.5], math.nan)


@pytest.mark.parametrize("value", [math.nan, math.inf, 2, None, "yes"])
def test_what_is_neither_1_nor_0_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="gold must hold 1 and 0 alone"):
        classification.confusion_cells(gold=[value, 1], right=[True, True])
    with pytest.raises(ValueError, match="right must hold 1 and 0 alone"):
        classification.confusion_cells(gold=[0, 1], right=[value, True])
    with pytest.raises(ValueError, match="right must hold 1 and 0 alone"):
        classification.counts_as_right([0, 1], [value, True], [0.5, 0.5], 0.1)
