"""F1@t, Acc@t or macro F1 of labels is not V-FLUTE's, or not FLUTE's, if this fails."""

from __future__ import annotations

import json
import math
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import figlang_tasks
from figlang_tasks.metrics.classification import (
    CURVE_THRESHOLDS,
    counts_as_right,
    f1_at,
    f1_curve,
    macro_f1,
    macro_f1_of_labels,
)

# --- literals ---

BENCHMARKS = Path(figlang_tasks.__file__).parent / "benchmarks"
macro_f1_of = partial(macro_f1, skip_absent=True)

GOLD = [1, 1, 1, 0, 0, 0]
PREDICTED: list[int | None] = [1, 0, None, 0, 1, None]
SCORES = [0.5, 0.9, 0.9, 0.6, 0.1, -0.3]


# --- errors ---


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": [], "predicted": []}, "gold has 0 labels and predicted 0"),
        ({"predicted": PREDICTED[1:]}, "gold has 6 labels and predicted 5"),
        ({"gold": [2, *GOLD[1:]]}, r"gold\[0\] is 2, must be one of \(0, 1\)"),
        (
            {"predicted": ["entailment", *PREDICTED[1:]]},
            r"predicted\[0\] is 'entailment', must be one of",
        ),
        ({"scores": SCORES[1:]}, r"scores has shape \(5,\), gold has 6 rows"),
        ({"scores": [*SCORES[:5], float("nan")]}, r"scores\[5\] is nan, must be a finite number"),
        ({"threshold": 1.01}, r"threshold is 1.01, must lie in \[0, 1\]"),
        ({"threshold": float("nan")}, "must lie in"),
    ],
)
def test_rows_that_are_none_are_refused(change: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {
        "gold": GOLD,
        "predicted": PREDICTED,
        "scores": SCORES,
        "threshold": 0.5,
    } | change
    with pytest.raises(ValueError, match=message):
        f1_at(**arguments)


# --- published numbers ---


# One choice of counts for each subset of the 99 rows that gives the printed F1@0 of LLaVA-7B
# eViL+VF (Table 7).
TABLE_7 = {
    "vismet": ([7, 0, 2, 3], 81.25),
    "irfl_metaphor_simile": ([7, 2, 2, 7], 77.78),
    "irfl_idiom": ([4, 3, 4, 3], 49.74),
    "muse": ([5, 2, 0, 7], 85.42),
    "memecap": ([8, 6, 0, 15], 78.03),
    "nycartoons": ([0, 0, 1, 11], 47.83),
}


def test_table_7_from_counts_and_the_overall_from_their_sum() -> None:
    for name, (counts, printed) in TABLE_7.items():
        assert round(100 * float(macro_f1_of(counts)), 2) == printed, name
    total = np.sum([counts for counts, _ in TABLE_7.values()], axis=0)
    assert total.sum() == 99
    assert round(100 * float(macro_f1_of(total)), 2) == 77.26


def test_every_overall_number_can_come_from_723_rows() -> None:
    """Some counts of 405 + 318 rows give each number of Tables 4, 17 and 18.

    A wrong formula misses some.
    """
    content = json.loads((BENCHMARKS / "vflute" / "published.json").read_text(encoding="utf-8"))
    printed: set[float] = set()
    for record in content["records"]:
        is_overall = record["table"] in ("Table 4", "Table 17", "Table 18")
        if is_overall and re.fullmatch(r"f1@\d\d?", record["metric"]):
            printed.add(round(100 * record["value"], 2))
    tp, tn = np.meshgrid(np.arange(406), np.arange(319), indexing="ij")
    possible = np.round(100 * macro_f1_of(np.stack([tn, 318 - tn, 405 - tp, tp], axis=-1)), 2)
    assert len(printed) > 40
    assert printed <= set(possible.ravel().tolist())


# --- properties ---

LABELS = st.sampled_from([0, 1])
ROWS = st.lists(
    st.tuples(
        LABELS,
        st.one_of(st.none(), LABELS),
        st.one_of(
            st.integers(-20, 130).map(lambda i: i / 100), st.floats(-2, 2, allow_subnormal=True)
        ),
    ),
    min_size=1,
    max_size=60,
)
Row = tuple[int, "int | None", float]


def published_labels(rows: list[Row], threshold: float) -> list[int]:
    """The labels that the published scorer counts.

    A label that is missing, or whose score is not above the threshold, becomes the wrong one.
    """
    labels: list[int] = []
    for gold, label, score in rows:
        if label is None or score <= threshold:
            labels.append(1 - gold)
        else:
            labels.append(label)
    return labels


@given(ROWS, st.sampled_from(CURVE_THRESHOLDS))
def test_f1_at_equals_the_published_scorer(rows: list[Row], threshold: float) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    gold, predicted, scores = (list(column) for column in zip(*rows, strict=True))
    labels = published_labels(rows, threshold)
    expected = metrics.f1_score(gold, labels, average="macro", zero_division=0)
    f1 = f1_at(gold, predicted, scores, threshold)
    assert f1 == pytest.approx(expected, abs=1e-12)
    assert f1_curve(gold, predicted, scores)[round(100 * threshold)] == f1
    all_explained = [1.0] * len(rows)
    f1_of_labels = f1_at(gold, predicted, all_explained, threshold / 2)
    assert macro_f1_of_labels(gold, predicted) == f1_of_labels


def test_a_score_that_equals_the_threshold_is_not_enough() -> None:
    # 0.5299999713897705 as a double: below the literal
    assert f1_at([1], [1], [np.float32(0.53)], 0.53) == 0
    assert f1_at([1], [1], [1.0], 1.0) == 0
    assert f1_at([1], [1], [1.0], 0.5) == 1  # the other class does not occur


# --- FLUTE's Acc@k ---


SCORE = st.floats(-0.5, 1.5, width=32)


@given(SCORE, SCORE, st.sampled_from([50, 60]), st.integers(-3, 3))
def test_acc_at_k_is_that_of_the_organisers_script(
    bertscore: float, bleurt: float, k: int, ulps: int
) -> None:
    """``int((F1[i]+BLEURTscores[i])*50.0)`` and ``>= k``.

    The organisers' scores are whole points, ours are not.
    """
    near = k / 50 - bertscore  # a BLEURT that puts the sum at k, and its neighbours
    for _ in range(abs(ulps)):
        near = math.nextafter(near, math.inf if ulps > 0 else -math.inf)
    for score in (bleurt, near):
        is_right_for_organisers = int((bertscore + score) * 50.0) >= k
        # As metrics/explanation/scorers.py takes the mean.
        means = (np.array([bertscore]) + np.array([score])) / 2
        is_right = counts_as_right([1], [True], means, k / 100, "all")[0]
        assert is_right == is_right_for_organisers


def test_in_the_first_version_contradictions_alone_need_a_score_higher_than_k() -> None:
    scores = [math.nan, 0.5, 0.51]
    is_right = counts_as_right([1, 0, 0], [True] * 3, scores, 0.5, "contradiction")
    assert is_right.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("n", "counts", "printed"),
    [  # sarcasm, simile, metaphor
        (900, (736, 397, 279), (81.8, 44.1, 31.0)),
        (250, (149, 73, 35), (59.6, 29.2, 14.0)),
        (250, (190, 115, 87), (76.0, 46.0, 34.8)),
    ],
)
def test_flute_table_7_from_counts_over_all_rows(
    n: int, counts: tuple[int, ...], printed: tuple[float, ...]
) -> None:
    """Table 7 of arXiv 2205.12404v1: accuracy at 0, 50, 60.

    These are the only counts that the figures leave.
    """
    right, at_50, at_60 = counts
    gold = [0] * n
    scores = (
        [0.7] * at_60 + [0.55] * (at_50 - at_60) + [0.4] * (right - at_50) + [0.9] * (n - right)
    )
    is_right = [True] * right + [False] * (n - right)
    for threshold, count, value in zip((0.0, 0.5, 0.6), counts, printed, strict=True):
        assert [k for k in range(n + 1) if round(100 * k / n, 1) == value] == [count]
        accuracy = counts_as_right(gold, is_right, scores, threshold, "contradiction").mean()
        assert round(100 * float(accuracy), 1) == value
