"""The short result table."""

from __future__ import annotations

from figlang_tasks.cli.summary import summary_table

NAN = float("nan")


def values(name: str, value: float) -> dict[str, float]:
    return {f"{name},none": value, f"{name}_ci_low,none": value - 0.1, f"{name}_ci_high,none": value + 0.1}


def test_one_line_per_source_and_one_column_per_metric() -> None:
    results = values("acc", 0.5) | values("acc_muse", 0.25) | values("f1@0", 0.123) | {"acc_stderr,none": "N/A"}
    assert summary_table({"results": {"vflute": results}}).splitlines() == [
        "| vflute |               acc |             f1@0 |",
        "|--------|------------------:|-----------------:|",
        "| all    | 50.0 [40.0, 60.0] | 12.3 [2.3, 22.3] |",
        "| muse   | 25.0 [15.0, 35.0] |                  |",
    ]


def test_other_tasks_are_left_out() -> None:
    assert summary_table({"results": {"mme": {"score,none": 1.0}, "group": {}}}) == ""


def test_a_failed_metric_is_said_to_have_failed() -> None:
    failed = {"acc,none": NAN, "acc_ci_low,none": NAN, "acc_ci_high,none": NAN}
    assert "failed, see the log" in summary_table({"results": {"vflute": failed}})
