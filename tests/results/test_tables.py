"""The one table of results: if it fails, a person reads another number, name or n than the files hold."""

from __future__ import annotations

from figlang_tasks.results import frame, tables
from figlang_tasks.scoring import OVERALL, Estimate


def estimates(value: float) -> dict[str, dict[str, Estimate]]:
    return {
        "f1@60": {OVERALL: Estimate(value, value - 0.1, value + 0.1, rows=723)},
        "acc": {OVERALL: Estimate(value, rows=700)},
        "meteor": {OVERALL: Estimate(float("nan"))},
    }


def test_a_line_for_each_run_and_a_column_for_each_metric() -> None:
    found = frame.values([("a|", {"vflute": estimates(0.5)}), ("b", {"vflute": estimates(0.25)})])
    shown = tables.wide(found, "run", ["acc", "f1@60", "meteor"])
    assert shown.to_numpy().tolist() == [
        ["a|", "723", "50.0 (n 700)", "50.0 [40.0, 60.0]", "failed, see the log"],
        ["b", "723", "25.0 (n 700)", "25.0 [15.0, 35.0]", "failed, see the log"],
    ]
    assert tables.markdown(tables.with_arrows(shown[["run", "acc"]])).splitlines() == [
        "| run |        acc ↑ |",
        "|-----|-------------:|",
        r"| a\| | 50.0 (n 700) |",
        "| b   | 25.0 (n 700) |",
    ]
