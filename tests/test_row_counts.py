"""How many rows a metric was taken over: by what aggregators take, by samples files, and in tables."""

from __future__ import annotations

from typing import Any

import pytest
import varied_runs
from demo_runs import evaluate

from figlang_tasks import row_counts, runs

# Counted by hand in the data of the mini benchmarks.
ROWS = {
    "figlang_mini_irfl_detect_idiom_circular": 12,
    "figlang_mini_irfl_retrieve_metaphor": 5,
    "figlang_mini_metaclue_vqa": 40,
    "figlang_mini_nykms_metaphor": 12,
}


def test_a_run_tells_how_many_rows_each_metric_was_taken_over_without_saved_samples_too() -> None:
    results = evaluate(list(ROWS), "figlang_random", log_samples=False)
    counts = {task: results["configs"][task]["metadata"]["counts"] for task in ROWS}
    assert {task: max(of.values()) for task, of in counts.items()} == ROWS
    positives = counts["figlang_mini_nykms_metaphor"]["mw_em"]
    by_kind = [counts["figlang_mini_nykms_metaphor"][f"mw_em_{kind}"] for kind in ("word", "object", "image", "free")]
    assert 0 < positives == sum(by_kind) < 12


def test_samples_tell_the_same() -> None:
    run = runs.read(str(varied_runs.strong()))
    for task, of in run.tasks.items():
        told = run.results["configs"][task]["metadata"]["counts"]
        assert {name: of.counts[name] for name in told} == told, task
        assert of.rows == max(told.values())


def test_a_ranking_that_a_limit_has_cut_does_not_count() -> None:
    rows: list[dict[str, Any]] = [{"id": f"{row}-{n}", "row": row, "images": 3} for row in "ab" for n in range(3)]
    assert row_counts.of_samples(rows) == 2
    assert row_counts.of_samples(rows[:-1]) == 1


@pytest.mark.parametrize(("explained", "expected"), [("all", 2), ("contradiction", 1)])
def test_scores_count_the_rows_that_are_to_be_explained(explained: str, expected: int) -> None:
    lines = [
        {
            "explanation_score_ci_low": 0,
            "acc_ci_low": 0,
            "sample": {"id": str(gold), "gold": gold, "explained": explained},
        }
        for gold in (0, 1)
    ]
    assert row_counts.of_lines(lines) == {"explanation_score": expected, "acc": 2}
