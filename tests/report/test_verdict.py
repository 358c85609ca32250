"""The sentence that says which of two runs is better: its number, sign, interval and p are those of
the table.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from report_runs import METADATA, lines_of, write_run

from figlang_tasks.report.verdict import caveats, p_text, verdicts
from figlang_tasks.results.comparison import Difference, adjust_p_values
from figlang_tasks.results.runs import read


def of(
    difference: float, low: float | None, high: float | None, p: float | None, **more: Any
) -> Difference:
    values = {
        "task": "vflute",
        "name": "f1@60",
        "metric": "f1@60",
        "scope": "all",
        "baseline": "A",
        "candidate": "B",
    }
    numbers = {
        "baseline_value": 0.5,
        "candidate_value": 0.5 + difference,
        "difference": difference,
        "low": low,
        "high": high,
    }
    return Difference(
        **(
            values
            | numbers
            | {"p_randomization": p, "baseline_rows": 76, "candidate_rows": 76}
            | more
        )
    )


OTHERS = [of(0.3, 0.2, 0.4, 0.9, name=f"acc@{at}", metric="acc") for at in range(4)]
"""Four more tests of the call, which tell nothing."""


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (
            [*OTHERS, of(0.287, 0.186, 0.394, 0.0001)],
            (
                "B is better than A on vflute: f1@60 +28.7 [18.6, 39.4], p = .0005 (adjusted for 5"
                " tests)"
            ),
        ),
        (
            # The sign is that of the table, where B stands against A
            [of(-0.287, -0.394, -0.186, 0.0001)],
            "B is worse than A on vflute: f1@60 -28.7 [-39.4, -18.6], p = .0001",
        ),
        (
            [of(0.03, -0.05, 0.11, 0.48, smallest=0.169)],
            (
                "Cannot tell B from A on vflute with 76 rows: f1@60 +3.0 [-5.0, 11.0], p = .480; "
                "differences below 16.9 points do not show"
            ),
        ),
        (
            # The interval says otherwise than the test
            [of(-0.5, -0.909, -0.091, 0.251, baseline_rows=8, candidate_rows=8)],
            (
                "Cannot tell B from A on vflute with 8 rows: f1@60 -50.0 [-90.9, -9.1], p = .251; "
                "the interval is approximate with so few rows, and p decides"
            ),
        ),
        (
            [of(0.0, 0.0, 0.0, 1.0)],
            (
                "Cannot tell B from A on vflute with 76 rows: f1@60 0.0 [0.0, 0.0], p = 1.000; too"
                " few rows differ"
            ),
        ),
        (
            [of(0.2, 0.05, 0.35, 0.02, smallest=0.169), *OTHERS],  # alone it would be below .05
            (
                "Cannot tell B from A on vflute with 76 rows: f1@60 +20.0 [5.0, 35.0], p = .100"
                " (adjusted for 5 tests); p = .020 alone, but there are too many tests at once"
            ),
        ),
        (
            [of(-1.5, -2.0, -1.0, 0.001, task="swap", name="rank", metric="rank")],
            "B is better than A on swap: rank -1.50 [-2.00, -1.00] (lower is better), p = .0010",
        ),
        (
            [
                of(
                    0.1,
                    None,
                    None,
                    0.3,
                    task="x / y",
                    baseline_rows=12,
                    candidate_rows=15,
                    smallest=0.4,
                )
            ],
            (
                "Cannot tell B from A on x / y with 12 / 15 rows: f1@60 +10.0, p = .300; "
                "differences below 40.0 points do not show"
            ),
        ),
        (
            [of(0.125, None, None, None, name="meteor", metric="meteor")],
            "No test of B against A on vflute: meteor +12.5",
        ),
    ],
)
def test_a_verdict_is_one_sentence(found: list[Difference], expected: str) -> None:
    assert verdicts(adjust_p_values(found)) == [expected]


VALUES = {"A": 0.5, "B": 0.75, "C": 0.7, "D": 0.3}


@pytest.mark.parametrize(
    ("alike", "told"),
    [
        ([], "All differ (p <"),
        (["AB", "AC", "AD", "BC", "BD", "CD"], "Cannot be told apart: B, C, A, D (p ≥"),
        (["BC"], "Cannot be told apart: B, C (p ≥"),
        (["BC", "AC"], "Cannot be told apart: B, C; C, A (p ≥"),  # B and A differ
        (["BC", "AD"], "Cannot be told apart: B, C; A, D (p ≥"),
        (["BD"], "Cannot be told apart: B, D (p ≥"),  # also of runs that are no neighbours
    ],
)
def test_more_than_two_runs_are_ranked(alike: list[str], told: str) -> None:
    found = []
    for one, two in combinations("ABCD", 2):
        values = {
            "baseline_value": VALUES[one],
            "candidate_value": VALUES[two],
            "baseline": one,
            "candidate": two,
        }
        p = 0.4 if one + two in alike else 0.0001
        found.append(of(VALUES[two] - VALUES[one], None, None, p, **values))
    other = of(0.2, 0.1, 0.3, 0.0001, task="irfl")
    no_other = of(0.2, -0.1, 0.3, 0.4, task="first")
    shown = verdicts(adjust_p_values([no_other, *found, other]))
    starts = ["B is better than A on irfl: ", "Cannot tell "]  # what differs comes first
    starts.insert(
        0 if len(alike) < 6 else 2, "Ranking on vflute by f1@60: B 75.0; C 70.0; A 50.0; D 30.0. "
    )
    for each, start in zip(shown, starts, strict=True):
        assert each.startswith(start)
    (ranking,) = (each for each in shown if "Ranking" in each)
    assert ranking.endswith(f" D 30.0. {told} 0.05, adjusted for 8 tests)")
    lower = [replace(each, name="rank", metric="rank") for each in found]
    assert verdicts(adjust_p_values(lower))[0].startswith(
        "Ranking on vflute by rank: D 0.30; A 0.50; "
    )


def test_a_part_has_the_name_that_papers_print() -> None:
    (told,) = verdicts(
        adjust_p_values([of(0.2, 0.1, 0.3, 0.001, name="f1@60_vismet", scope="vismet")])
    )
    assert told.startswith(
        "B is better than A on vflute: f1@60 of HAIVMet (vismet) +20.0 [10.0, 30.0], p = .0010"
    )


def test_a_name_cannot_steer_the_terminal() -> None:
    assert (
        "\x1b" not in verdicts(adjust_p_values([of(0.2, 0.1, 0.3, 0.01, candidate="\x1b[31mB")]))[0]
    )


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
    lines = lines_of(task, 8)
    for line in lines[:2]:
        line["filtered_resps"] = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] Connection error."
    config = {"task": task, "metadata": METADATA, "generation_kwargs": {"temperature": 0.7}}
    folder = write_run(tmp_path / "run", {task: lines}, {"offset": 3}, configs={task: config})
    warnings = caveats(read(str(folder)))
    assert warnings[:2] == [
        "run was cut short: offset 3",
        f"run, {task}: 2 of 8 rows have no answer and count as wrong",
    ]
    assert (
        warnings[-1]
        == f"run, {task}: answers were sampled (temperature 0.7); another run gives other answers"
    )
