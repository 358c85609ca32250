"""Macro scores of two classes: the published tables, scikit-learn, edge cases, intervals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

import figlang_tasks
from figlang_tasks.metrics import classification

PACKAGE = Path(figlang_tasks.__file__).parent
METRICS = ("acc", "macro_precision", "macro_recall", "macro_f1")
Figures = tuple[float, float, float, float]
NEAR = 0.0000501  # what rounding to two places of a percentage leaves

# NYK-MS, Tables 8 and 11 (accuracy, macro P, R, F1 in percent) beside counts that give them: tn, fp, fn, tp.
# The counts were found by search (`matching_counts`), not by this package. Of LLaVA and GPT-3.5 they are of all rows;
# the paper's MC runs have 1,580 of the 1,583 rows of Table 6 (689 of 692 positives). GPT-4V's fit 158 rows. The
# fine-tuned ones of Table 11 are said to be means of 5 runs; these four are the scores of one table of 157 rows.
PUBLISHED: list[tuple[str, Figures, tuple[int, int, int, int]]] = [
    ("MC LLaVA", (47.59, 54.37, 52.19, 42.70), (145, 746, 82, 607)),
    ("MC GPT-3.5", (47.85, 58.88, 53.09, 40.95), (108, 783, 41, 648)),
    ("MC GPT-4V", (53.16, 64.93, 56.95, 47.95), (17, 70, 4, 67)),
    ("SC LLaVA", (43.60, 71.78, 50.06, 30.46), (1, 890, 0, 687)),
    ("SC GPT-3.5", (46.32, 53.63, 51.42, 39.87), (107, 784, 63, 624)),
    ("SC GPT-4", (44.95, 72.41, 50.22, 31.38), (1, 229, 0, 186)),
    ("SC GPT-4V", (37.97, 68.79, 50.51, 28.31), (1, 98, 0, 59)),
    ("MC Baseline (Image-only)", (56.69, 57.57, 58.29, 56.04), (54, 48, 20, 35)),
    ("MC Baseline + Contrastive", (63.06, 59.16, 59.00, 59.07), (74, 28, 30, 25)),
    ("SC Baseline (Text-only)", (59.87, 59.56, 59.36, 59.34), (56, 28, 35, 38)),
    ("SC Baseline (Image-only)", (57.32, 57.30, 57.34, 57.26), (48, 36, 31, 42)),
]


def figures(counts: tuple[float, ...]) -> list[float]:
    return [100 * float(classification.STATISTICS[name](counts)) for name in METRICS]


@pytest.mark.parametrize(("name", "published", "counts"), PUBLISHED, ids=[row[0] for row in PUBLISHED])
def test_published_counts_give_the_published_figures(
    name: str, published: Figures, counts: tuple[int, int, int, int]
) -> None:
    assert figures(counts) == pytest.approx(published, abs=0.00501)


def matching_counts(published: Figures, positives: np.ndarray, negatives: np.ndarray) -> set[tuple[int, int, int, int]]:
    """All tn, fp, fn, tp that give the four rounded figures, for the class sizes given; by its own formulas.

    Accuracy and macro recall are two linear equations in tp and tn; what is near their solution is tried out.
    """
    accuracy, precision, recall, f1 = (figure / 100 for figure in published)
    p, n = (axis.ravel().astype(float) for axis in np.meshgrid(positives, negatives))
    p, n = p[p != n], n[p != n]
    hits = accuracy * (p + n)
    base, right = np.round((2 * recall - hits / n) / (1 / p - 1 / n)), np.round(hits)
    found = set()
    for wobble in (-1, 0, 1):
        sizes = np.abs((right + wobble) / (p + n) - accuracy) <= NEAR  # few: the other figures are for these alone
        for shift in range(-3, 4):
            tp, own_p, own_n = base[sizes] + shift, p[sizes], n[sizes]
            tn = right[sizes] + wobble - tp
            with np.errstate(divide="ignore", invalid="ignore"):
                p1, p0 = tp / (tp + own_n - tn), tn / (tn + own_p - tp)
                r1, r0 = tp / own_p, tn / own_n
                computed = np.stack([(p1 + p0) / 2, (r1 + r0) / 2, p1 * r1 / (p1 + r1) + p0 * r0 / (p0 + r0)])
            near = np.abs(computed - np.array([[precision], [recall], [f1]])) <= NEAR
            possible = (tp >= 0) & (tp <= own_p) & (tn >= 0) & (tn <= own_n) & near.all(axis=0)
            solved = np.stack([tn, own_n - tn, own_p - tp, tp])[:, possible].astype(int)
            found |= {(int(a), int(b), int(c), int(d)) for a, b, c, d in solved.T}
    return found


def published_rows() -> dict[str, Figures]:
    """The four figures of each model of NYK-MS's tables 8 and 11."""
    content = json.loads((PACKAGE / "benchmarks" / "nykms" / "published.json").read_text(encoding="utf-8"))
    found: dict[str, dict[str, float]] = {}
    for record in content["records"]:
        kind, _, metric = record["metric"].partition("_")
        if kind in ("mc", "sc"):
            found.setdefault(f"{kind.upper()} {record['model']}", {})[metric] = 100 * record["value"]
    return {name: tuple(row[metric] for metric in METRICS) for name, row in found.items()}  # type: ignore[misc]


def test_every_published_row_that_counts_can_give_is_given_by_them() -> None:
    """Class sizes up to those of the data set for the zero-shot rows, up to 180 for the fine-tuned ones."""
    rows = published_rows()
    assert len(rows) == 21
    solved = {}
    for name, row in rows.items():
        most = (180, 180) if "Baseline" in name else (692, 891) if name.startswith("MC") else (687, 891)
        found = matching_counts(row, np.arange(1, most[0] + 1), np.arange(1, most[1] + 1))
        for counts in found:
            assert figures(counts) == pytest.approx(row, abs=0.00501)
        if found:
            solved[name] = found
    # GPT-4's MC row and nine rows of Table 11 (means of runs) are given by no counts at all.
    assert set(solved) == {name for name, _, _ in PUBLISHED}
    for name, row, counts in PUBLISHED:
        assert rows[name] == pytest.approx(row) and counts in solved[name]
    # All 1,578 rows on sarcasm; but for metaphor 689 positives, and no solution with the 692 of Table 6.
    for name, positives in (("SC LLaVA", 687), ("SC GPT-3.5", 687), ("MC LLaVA", 689), ("MC GPT-3.5", 689)):
        assert max(fn + tp for _, _, fn, tp in solved[name]) == positives


COUNTS = st.tuples(*[st.integers(0, 40)] * 4).filter(any)


@given(COUNTS)
def test_equals_scikit_learn(counts: tuple[int, int, int, int]) -> None:
    tn, fp, fn, tp = counts
    gold = [0] * (tn + fp) + [1] * (fn + tp)
    predicted = [0] * tn + [1] * fp + [0] * fn + [1] * tp
    assert classification.confusion_counts(gold, predicted).tolist() == list(counts)
    shared = {"average": "macro", "labels": [0, 1], "zero_division": 0}
    expected = [accuracy_score(gold, predicted)]
    expected += [score(gold, predicted, **shared) for score in (precision_score, recall_score, f1_score)]
    assert figures(counts) == pytest.approx([100 * value for value in expected])


@given(st.lists(COUNTS, min_size=1, max_size=5))
def test_many_sets_of_counts_at_once(sets: list[tuple[int, int, int, int]]) -> None:
    for name in METRICS:
        statistic = classification.STATISTICS[name]
        assert statistic(sets).tolist() == [float(statistic(counts)) for counts in sets]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((0, 0, 0, 5), (100, 50, 50, 50)),  # one class alone: the other one counts 0
        ((5, 0, 0, 0), (100, 50, 50, 50)),
        ((0, 891, 0, 687), (43.54, 21.77, 50, 30.33)),  # always 1: "(0% + 100%)/2 = 50%" (section 4.1)
        ((0, 3, 3, 0), (0, 0, 0, 0)),
        ((1, 1, 1, 1), (50, 50, 50, 50)),
    ],
)
def test_edges(counts: tuple[int, ...], expected: Figures) -> None:
    assert figures(counts) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((0, 0, 0, 0), "all zero"),
        ((1, 2, 3), r"shape \[\.\.\., 4\]"),
        (3, r"shape \[\.\.\., 4\]"),
        ([[1, 2, 3, 4], [0, 0, 0, 0]], "all zero"),
    ],
)
def test_bad_counts(counts: object, message: str) -> None:
    for statistic in classification.STATISTICS.values():
        with pytest.raises(ValueError, match=message):
            statistic(counts)
