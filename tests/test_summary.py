"""The short result table."""

from __future__ import annotations

import re
from typing import Any

from figlang_tasks.cli.summary import summary_table

NAN = float("nan")


def values(name: str, value: float) -> dict[str, float]:
    return {f"{name},none": value, f"{name}_ci_low,none": value - 0.1, f"{name}_ci_high,none": value + 0.1}


def test_one_line_per_source_and_one_column_per_metric() -> None:
    results = values("acc", 0.5) | values("acc_muse", 0.25) | values("f1@0", 0.123) | {"acc_stderr,none": "N/A"}
    configs = {"of_a_source": {"metadata": {"counts": {"acc": 8, "acc_muse": 2, "f1@0": 3}}}}
    assert summary_table({"results": {"of_a_source": results}, "configs": configs}).splitlines() == [
        "| of_a_source | n |               acc |                   f1@0 |",
        "|-------------|--:|------------------:|-----------------------:|",
        "| all         | 8 | 50.0 [40.0, 60.0] | 12.3 [2.3, 22.3] (n 3) |",
        "| muse        | 2 | 25.0 [15.0, 35.0] |                        |",
    ]


def test_other_tasks_are_left_out() -> None:
    assert summary_table({"results": {"mme": {"score,none": 1.0}, "group": {}}}) == ""


def test_ranks_are_no_shares_and_some_metrics_have_no_interval() -> None:
    results = values("p@1", 0.5) | values("rank", 24.75) | {"meteor,none": 0.25, "meteor_primary,none": 0.125}
    assert summary_table({"results": {"metaclue": results}}).splitlines() == [
        "| metaclue | n |               p@1 |                 rank | meteor |",
        "|----------|--:|------------------:|---------------------:|-------:|",
        "| all      |   | 50.0 [40.0, 60.0] | 24.75 [24.65, 24.85] |   25.0 |",
        "| primary  |   |                   |                      |   12.5 |",
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


def counted(results: dict[str, dict[str, float]], n: int, **metadata: str) -> dict[str, Any]:
    """What a run of those metrics returns that counted `n` rows."""
    counts = {task: {name.partition(",")[0]: n for name in of if "_ci_" not in name} for task, of in results.items()}
    configs = {task: {"metadata": {"counts": of, **metadata}} for task, of in counts.items()}
    return {"results": results, "configs": configs, "config": {"limit": None}}


def test_what_was_published_stands_below_the_table_of_its_task() -> None:
    results = {
        "irfl_retrieve_metaphor": values("p@k", 0.5) | {"rank,none": 2.0},
        "figlang_mini_irfl_retrieve_metaphor": values("p@k", 0.5),
    }
    parts = summary_table(counted(results, 34)).split("\n\n")
    assert len(parts) == 4
    assert parts[0].startswith("| irfl_retrieve_metaphor |  n |")
    assert parts[1] == "published, not measured here (IRFL, arXiv 2303.15445: zero-shot, matching scores; n = 34):"
    lines = parts[2].splitlines()
    assert lines[0] == "| published       |  p@k |"
    assert lines[2] == "| CLIP-VIT-L/14   | 26.0 |"
    assert len(lines) == 2 + 8
    assert parts[3].startswith("| figlang_mini_irfl_retrieve_metaphor |")


def test_only_metrics_of_the_run_are_shown_as_published() -> None:
    table = summary_table(counted({"irfl_match_idiom": values("acc", 0.2) | values("acc_figurative", 0.1)}, 200))
    assert "97.0" in table and "acc_figurative_literal" not in table
    assert "published" not in summary_table(counted({"irfl_match_idiom": values("acc", 0.2)}, 200))


def test_published_figures_are_left_out_beside_a_run_that_was_cut_short() -> None:
    found = counted({"irfl_match_metaphor": values("acc", 0.2)}, 8)
    *_, told = summary_table(found | {"config": {"limit": 8.0}}).split("\n\n")
    assert told == "published figures are left out: they are of all rows, and a run was cut short (limit 8)"
    *_, told = summary_table(found).split("\n\n")  # fewer rows in the data, say
    assert told == "published figures are left out: they are of 333 rows, a run has 8"
    assert "| Humans " in summary_table(counted({"irfl_match_metaphor": values("acc", 0.2)}, 333))


def test_published_figures_with_scores_stand_beside_scores_of_the_papers_scorer_alone() -> None:
    results = {"vflute": values("f1@0", 0.5) | values("f1@53", 0.4) | values("f1@60", 0.3)}
    table = summary_table(counted(results, 723, explanation_scorer="vflute25|bertscore:...|dtype:fast"))
    assert re.search(r"\| published +\|  f1@0 \| f1@53 \| f1@60 \|", table) and "left out" not in table
    for scorer in ("embedded (not a published metric)", "figlang24", "vflute25 (with other models)"):
        table = summary_table(counted(results, 723, explanation_scorer=f"{scorer}|bertscore:..."))
        assert re.search(r"\| published +\|  f1@0 \|\n", table)
        told = f"published f1@53, f1@60 are left out: explanations scored by vflute25, in a run by {scorer}"
        assert table.splitlines()[-1] == told


def test_no_table_of_ours_no_published_table() -> None:
    assert summary_table({"results": {"irfl_match_idiom": {"acc_figurative,none": 0.5}}}) == ""
