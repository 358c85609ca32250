"""The one table of results: if it fails, a person reads another number, name or n than the files hold."""

from __future__ import annotations

from figlang_tasks.results import frame, published, tables
from figlang_tasks.scoring import OVERALL, Estimate

FOUND = frame.values(
    [
        (
            run,
            {
                "vflute": {
                    "f1@60": {OVERALL: Estimate(value, value - 0.1, value + 0.1, rows=723)},
                    "acc": {OVERALL: Estimate(value, rows=700), "vismet": Estimate(value / 2, rows=150)},
                    "meteor": {OVERALL: Estimate(float("nan"))},
                }
            },
        )
        for run, value in (("a|", 0.5), ("b", 0.25))
    ]
)


def test_a_line_for_each_run_and_a_column_for_each_metric() -> None:
    whole = FOUND[FOUND.scope == OVERALL]
    shown = tables.wide(whole, "run", ["acc", "f1@60", "meteor"])
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


def test_parts_have_the_name_that_papers_print() -> None:
    shown = tables.wide(FOUND, ["run", "scope"], ["acc"])
    assert shown["scope"].tolist() == ["all", "HAIVMet (vismet)"] * 2
    assert shown["acc"].tolist() == ["50.0 (n 700)", "25.0", "25.0 (n 700)", "12.5"]


def test_published_figures_have_the_columns_of_the_table() -> None:
    shown = tables.wide(FOUND, "run", ["f1@60", "acc"])
    (gpt,) = [row for row in published.rows("vflute", ["f1@60"]) if row.label.startswith("GPT-4o, zero-shot")]
    beneath = tables.of_published([(gpt.label, dict(gpt.values))], shown)
    assert beneath.to_dict("records") == [{"run": gpt.label, "n": "", "f1@60": "37.2", "acc": ""}]
