"""The short result table."""

from __future__ import annotations

from figlang_tasks.cli.summary import summary_table

NAN = float("nan")


def values(name: str, value: float) -> dict[str, float]:
    return {f"{name},none": value, f"{name}_ci_low,none": value - 0.1, f"{name}_ci_high,none": value + 0.1}


def test_one_line_per_source_and_one_column_per_metric() -> None:
    results = values("acc", 0.5) | values("acc_muse", 0.25) | values("f1@0", 0.123) | {"acc_stderr,none": "N/A"}
    assert summary_table({"results": {"of_a_source": results}}).splitlines() == [
        "| of_a_source |               acc |             f1@0 |",
        "|-------------|------------------:|-----------------:|",
        "| all         | 50.0 [40.0, 60.0] | 12.3 [2.3, 22.3] |",
        "| muse        | 25.0 [15.0, 35.0] |                  |",
    ]


def test_other_tasks_are_left_out() -> None:
    assert summary_table({"results": {"mme": {"score,none": 1.0}, "group": {}}}) == ""


def test_ranks_are_no_shares_and_some_metrics_have_no_interval() -> None:
    results = values("p@1", 0.5) | values("rank", 24.75) | {"meteor,none": 0.25, "meteor_primary,none": 0.125}
    assert summary_table({"results": {"metaclue": results}}).splitlines() == [
        "| metaclue |               p@1 |                 rank | meteor |",
        "|----------|------------------:|---------------------:|-------:|",
        "| all      | 50.0 [40.0, 60.0] | 24.75 [24.65, 24.85] |   25.0 |",
        "| primary  |                   |                      |   12.5 |",
    ]
    assert summary_table({"results": {"coco_cap": {"meteor,none": 0.25}}}) == ""


def test_a_failed_metric_is_said_to_have_failed() -> None:
    failed = {"acc,none": NAN, "acc_ci_low,none": NAN, "acc_ci_high,none": NAN}
    assert "failed, see the log" in summary_table({"results": {"vflute": failed}})


def test_the_scorers_signature_stands_below_the_table_of_its_task() -> None:
    configs = {"vflute_val": {"metadata": {"version": "2-0", "explanation_scorer": "vflute25|..."}}, "mini": {}}
    results = {"vflute_val": values("f1@53", 0.5), "mini": values("f1@0", 0.5), "listed": values("acc", 0.5)}
    lines = summary_table({"results": results, "configs": configs | {"listed": {"metadata": [{"version": 0}]}}})
    parts = lines.split("\n\n")
    assert [part.split()[1] for part in parts] == ["vflute_val", "scorer:", "mini", "listed"]
    assert parts[1] == "explanation scorer: vflute25|..."


def test_what_was_published_stands_below_the_table_of_its_task() -> None:
    results = {
        "irfl_retrieve_metaphor": values("p@k", 0.5) | {"rank,none": 2.0},
        "figlang_mini_irfl_retrieve_metaphor": values("p@k", 0.5),
    }
    parts = summary_table({"results": results}).split("\n\n")
    assert len(parts) == 4
    assert parts[0].startswith("| irfl_retrieve_metaphor |")
    assert parts[1] == "published, not measured here (IRFL, arXiv 2303.15445: zero-shot, matching scores):"
    lines = parts[2].splitlines()
    assert lines[0] == "| published       |  p@k |"
    assert lines[2] == "| CLIP-VIT-L/14   | 26.0 |"
    assert len(lines) == 2 + 8
    assert parts[3].startswith("| figlang_mini_irfl_retrieve_metaphor |")


def test_only_metrics_of_the_run_are_shown_as_published() -> None:
    table = summary_table({"results": {"irfl_match_idiom": values("acc", 0.2) | values("acc_figurative", 0.1)}})
    assert "97.0" in table and "acc_figurative_literal" not in table
    assert "published" not in summary_table({"results": {"irfl_match_idiom": values("acc", 0.2)}})


def test_no_table_of_ours_no_published_table() -> None:
    assert summary_table({"results": {"irfl_match_idiom": {"acc_figurative,none": 0.5}}}) == ""
