"""The value of five folds, its interval or a comparison by it is wrong if this fails."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from figlang_tasks.benchmarks.nycc.tasks import MATCHING
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.request import Request
from figlang_tasks.results import comparison
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import evaluate

DATA = "NYCC/matching_from_pixels:000000000000"
ROWS = (60, 12, 10, 10, 8)
"""Rows of each fold: one is larger, as in the release."""


def records(hits: Sequence[int]) -> list[dict[str, Any]]:
    """Records of all folds, of which so many in each fold are right."""
    fold_records: list[dict[str, Any]] = []
    for fold, row_count in enumerate(ROWS):
        for row in range(row_count):
            fold_records.append(
                {
                    "id": f"{fold}-{row}",
                    "unit": f"contest {fold}-{row}",
                    "data": DATA,
                    "fold": fold,
                    "gold": "A",
                    "predicted": "A" if row < hits[fold] else "B",
                    "predicted_strict": "A",
                    "predicted_official": "A",
                    "scores": None,
                    "status": "read",
                    "rule": "alone",
                }
            )
    return fold_records


def run(name: str, hits: Sequence[int]) -> Run:
    """A run of which so many rows in each fold are right."""
    lines: list[dict[str, Any]] = []
    for record in records(hits):
        lines.append({"sample": record, "filtered_resps": [record["predicted"]]})
    task = TaskRun(
        task="nycc_match",
        path=Path(name),
        saved_sha256="",
        kind=MATCHING,
        request=Request.of("NYCC", config="matching_from_pixels", fold="all"),
        data=DataId.parse(DATA),
        samples=tuple(lines),
        reported={},
        config={},
        scorer=None,
        signature=None,
    )
    return Run(name, Path(name), {"nycc_match": task}, {})


def wilson(hits: int, rows: int) -> tuple[float, float]:
    """Wilson's interval of a share, by scipy."""
    interval = stats.binomtest(hits, rows).proportion_ci(method="wilson")
    return float(interval.low), float(interval.high)


FEW = (12, 6, 5, 6, 5)
MANY = (57, 7, 5, 5, 4)


def test_the_value_is_the_mean_of_the_folds_and_its_interval_of_independent_values() -> None:
    shares = [hits / rows for hits, rows in zip(FEW, ROWS, strict=True)]
    estimates = evaluate(records(FEW), MATCHING.measures, 0)["acc"]
    assert [estimates[f"fold_{fold}"].value for fold in range(5)] == pytest.approx(shares)
    value = sum(shares) / 5
    assert estimates["all"].value == pytest.approx(value)
    share_of_all_rows = sum(FEW) / sum(ROWS)
    assert value != pytest.approx(share_of_all_rows, abs=0.05)
    # MOVER, Zou & Donner 2008, of Wilson's intervals by scipy.
    limits = [wilson(hits, rows) for hits, rows in zip(FEW, ROWS, strict=True)]
    below = math.dist(shares, [low for low, _ in limits]) / 5
    above = math.dist(shares, [high for _, high in limits]) / 5
    assert (estimates["all"].low, estimates["all"].high) == pytest.approx(
        (value - below, value + above)
    )


def test_a_comparison_is_of_the_mean_of_the_folds() -> None:
    """The second run is better in one large fold alone: the mean of the folds differs less."""
    runs = [run("few", FEW), run("many", MANY)]
    (acc,) = comparison.compare(runs, ["acc"], resamples=2000)
    before, after = (np.mean(np.array(hits) / ROWS) for hits in (FEW, MANY))
    assert (acc.scope, acc.baseline_value, acc.candidate_value) == (
        "all",
        pytest.approx(before),
        pytest.approx(after),
    )
    # Rows change places at random: each counts for its fold.
    changes = []
    for few, many, rows in zip(FEW, MANY, ROWS, strict=True):
        differing = abs(many - few)
        changes += [np.sign(many - few) / rows / 5] * differing
    signs = np.random.default_rng(0).choice([-1, 1], size=(20_000, len(changes)))
    expected = (abs(signs @ np.array(changes)) >= abs(sum(changes)) - 1e-12).mean()
    assert acc.p_randomization == pytest.approx(expected, abs=0.02)
    (fold,) = comparison.compare(runs, ["acc_fold_0"], resamples=100)
    assert (fold.scope, fold.difference) == ("fold_0", pytest.approx(45 / 60))
    differences = comparison.compare(runs, all_metrics=True, resamples=100)
    assert {difference.scope for difference in differences} == {"all"}
