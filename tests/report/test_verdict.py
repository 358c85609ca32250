"""If these fail, the sentence about two runs has another number, sign or p than their table."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from saved_runs import METADATA, sample_lines, write_run

from figlang_tasks.report.difference import p_text
from figlang_tasks.report.run_warnings import run_warnings
from figlang_tasks.report.verdict import verdicts
from figlang_tasks.results.comparison import Difference, adjust_p_values
from figlang_tasks.results.runs import read


def make_difference(
    difference: float, low: float | None, high: float | None, p: float | None, **changes: Any
) -> Difference:
    """The difference of B against A on 76 rows of V-FLUTE, with `changes` of its fields."""
    fields: dict[str, Any] = {
        "task": "vflute",
        "name": "f1@60",
        "metric": "f1@60",
        "scope": "all",
        "baseline": "A",
        "candidate": "B",
        "baseline_value": 0.5,
        "candidate_value": 0.5 + difference,
        "difference": difference,
        "low": low,
        "high": high,
        "p_randomization": p,
        "baseline_rows": 76,
        "candidate_rows": 76,
    }
    return Difference(**{**fields, **changes})


OTHERS = [make_difference(0.3, 0.2, 0.4, 0.9, name=f"acc@{at}", metric="acc") for at in range(4)]
"""Four more tests of the call, none significant."""


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        (
            [*OTHERS, make_difference(0.287, 0.186, 0.394, 0.0001)],
            (
                "B is better than A on vflute: f1@60 +28.7 [18.6, 39.4], p = .0005 (adjusted for 5"
                " tests)"
            ),
        ),
        (
            # The sign is that of the table, where B stands against A
            [make_difference(-0.287, -0.394, -0.186, 0.0001)],
            "B is worse than A on vflute: f1@60 -28.7 [-39.4, -18.6], p = .0001",
        ),
        (
            [make_difference(0.03, -0.05, 0.11, 0.48, smallest_detectable=0.169)],
            (
                "Cannot tell B from A on vflute with 76 rows: f1@60 +3.0 [-5.0, 11.0], p = .480; "
                "differences below 16.9 points do not show"
            ),
        ),
        (
            # The interval says otherwise than the test
            [make_difference(-0.5, -0.909, -0.091, 0.251, baseline_rows=8, candidate_rows=8)],
            (
                "Cannot tell B from A on vflute with 8 rows: f1@60 -50.0 [-90.9, -9.1], p = .251; "
                "the interval is approximate with so few rows, and p decides"
            ),
        ),
        (
            [make_difference(0.0, 0.0, 0.0, 1.0)],
            (
                "Cannot tell B from A on vflute with 76 rows: f1@60 0.0 [0.0, 0.0], p = 1.000; too"
                " few rows differ"
            ),
        ),
        (
            [
                make_difference(0.2, 0.05, 0.35, 0.02, smallest_detectable=0.169),
                *OTHERS,
            ],  # alone it would be below .05
            (
                "Cannot tell B from A on vflute with 76 rows: f1@60 +20.0 [5.0, 35.0], p = .100"
                " (adjusted for 5 tests); p = .020 alone, but there are too many tests at once"
            ),
        ),
        (
            [make_difference(-1.5, -2.0, -1.0, 0.001, task="swap", name="rank", metric="rank")],
            "B is better than A on swap: rank -1.50 [-2.00, -1.00] (lower is better), p = .0010",
        ),
        (
            [
                make_difference(
                    0.1,
                    None,
                    None,
                    0.3,
                    task="x / y",
                    baseline_rows=12,
                    candidate_rows=15,
                    smallest_detectable=0.4,
                )
            ],
            (
                "Cannot tell B from A on x / y with 12 / 15 rows: f1@60 +10.0, p = .300; "
                "differences below 40.0 points do not show"
            ),
        ),
        (
            [make_difference(0.125, None, None, None, name="meteor", metric="meteor")],
            "No test of B against A on vflute: meteor +12.5",
        ),
    ],
)
def test_a_verdict_is_one_sentence(differences: list[Difference], expected: str) -> None:
    assert verdicts(adjust_p_values(differences)) == [expected]


VALUES = {"A": 0.5, "B": 0.75, "C": 0.7, "D": 0.3}


@pytest.mark.parametrize(
    ("not_significant", "conclusion"),
    [
        ([], "All differ (p <"),
        (["AB", "AC", "AD", "BC", "BD", "CD"], "Cannot be told apart: B, C, A, D (p ≥"),
        (["BC"], "Cannot be told apart: B, C (p ≥"),
        (["BC", "AC"], "Cannot be told apart: B, C; C, A (p ≥"),  # B and A differ
        (["BC", "AD"], "Cannot be told apart: B, C; A, D (p ≥"),
        (["BD"], "Cannot be told apart: B, D (p ≥"),  # also of runs that are no neighbours
    ],
)
def test_more_than_two_runs_are_ranked(not_significant: list[str], conclusion: str) -> None:
    differences = []
    for baseline, candidate in combinations("ABCD", 2):
        p = 0.4 if baseline + candidate in not_significant else 0.0001
        difference = VALUES[candidate] - VALUES[baseline]
        differences.append(
            make_difference(
                difference,
                None,
                None,
                p,
                baseline=baseline,
                candidate=candidate,
                baseline_value=VALUES[baseline],
                candidate_value=VALUES[candidate],
            )
        )
    significant_elsewhere = make_difference(0.2, 0.1, 0.3, 0.0001, task="irfl")
    not_elsewhere = make_difference(0.2, -0.1, 0.3, 0.4, task="first")
    sentences = verdicts(adjust_p_values([not_elsewhere, *differences, significant_elsewhere]))

    ranking_start = "Ranking on vflute by f1@60: B 75.0; C 70.0; A 50.0; D 30.0. "
    starts = ["B is better than A on irfl: ", "Cannot tell "]  # what differs comes first
    is_any_significant = len(not_significant) < 6
    starts.insert(0 if is_any_significant else 2, ranking_start)
    for sentence, start in zip(sentences, starts, strict=True):
        assert sentence.startswith(start)
    (ranking,) = (sentence for sentence in sentences if "Ranking" in sentence)
    assert ranking.endswith(f" D 30.0. {conclusion} 0.05, adjusted for 8 tests)")

    by_rank = [replace(difference, name="rank", metric="rank") for difference in differences]
    ranking = verdicts(adjust_p_values(by_rank))[0]
    assert ranking.startswith("Ranking on vflute by rank: D 0.30; A 0.50; ")


def test_runs_are_not_ranked_if_a_pair_was_not_compared() -> None:
    differences = []
    for candidate in "BC":  # nothing is known of B against C
        value = VALUES[candidate]
        difference = make_difference(value - 0.5, 0.1, 0.3, 0.0001, candidate=candidate)
        differences.append(replace(difference, candidate_value=value))
    sentences = verdicts(adjust_p_values(differences))
    assert [sentence.partition(" on ")[0] for sentence in sentences] == [
        "B is better than A",
        "C is better than A",
    ]


def test_a_part_has_the_name_that_papers_print() -> None:
    difference = make_difference(0.2, 0.1, 0.3, 0.001, name="f1@60_vismet", scope="vismet")
    (sentence,) = verdicts(adjust_p_values([difference]))
    assert sentence.startswith(
        "B is better than A on vflute: f1@60 of HAIVMet (vismet) +20.0 [10.0, 30.0], p = .0010"
    )


def test_a_name_cannot_steer_the_terminal() -> None:
    difference = make_difference(0.2, 0.1, 0.3, 0.01, candidate="\x1b[31mB")
    (sentence,) = verdicts(adjust_p_values([difference]))
    assert "\x1b" not in sentence


def test_a_p_value_has_the_digits_of_the_table() -> None:
    texts = {
        1.0: "= 1.000",
        0.01: "= .010",
        0.0035: "= .0035",
        0.00099: "= .0010",
        5e-5: "= .0001",
        4.99e-5: "< .0001",
    }
    assert {p: p_text(p) for p in texts} == texts


def test_what_stands_above_the_numbers_of_a_run(tmp_path: Path) -> None:
    task = "figlang_mini_irfl_detect_idiom"
    lines = sample_lines(task, 8)
    for line in lines[:2]:
        line["filtered_resps"] = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] Connection error."
    config = {"task": task, "metadata": METADATA, "generation_kwargs": {"temperature": 0.7}}
    folder = write_run(tmp_path / "run", {task: lines}, {"offset": 3}, configs={task: config})
    warnings = run_warnings([read(str(folder))])
    assert warnings[:2] == [
        "run was cut short: offset 3",
        f"run, {task}: 2 of 8 rows have no answer and count as wrong",
    ]
    assert (
        warnings[-1]
        == f"run, {task}: answers were sampled (temperature 0.7); another run gives other answers"
    )
