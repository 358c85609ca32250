"""The short result table."""

from __future__ import annotations

import re
from typing import Any

from figlang_tasks.cli.summary import summary_table
from figlang_tasks.scoring import OVERALL, Estimate, to_json

NAN = float("nan")


def around(value: float, rows: int | None = None) -> Estimate:
    return Estimate(value, value - 0.1, value + 0.1, rows=rows)


def results(tasks: dict[str, dict[str, dict[str, Estimate]]], **metadata: Any) -> dict[str, Any]:
    """What a run returns."""
    return {
        "results": {
            task: {f"{name},none": scopes[OVERALL].value for name, scopes in of.items() if OVERALL in scopes}
            for task, of in tasks.items()
        },
        "configs": {task: {"metadata": {"measures": to_json(of), **metadata}} for task, of in tasks.items()},
        "config": {"limit": None},
    }


def test_one_line_per_scope_and_one_column_per_measure() -> None:
    found = {
        "acc": {OVERALL: around(0.5, 8), "muse": around(0.25, 2)},
        "f1@0": {OVERALL: around(0.123, 3)},
    }
    assert summary_table(results({"figlang_mini": found})).splitlines() == [
        "| figlang_mini | n |               acc |                   f1@0 |",
        "|--------------|--:|------------------:|-----------------------:|",
        "| all          | 8 | 50.0 [40.0, 60.0] | 12.3 [2.3, 22.3] (n 3) |",
        "| muse         | 2 | 25.0 [15.0, 35.0] |                        |",
    ]


def test_ranks_are_not_in_percent_and_some_measures_have_no_interval() -> None:
    found = {
        "p@1": {OVERALL: around(0.5)},
        "rank": {OVERALL: around(24.75)},
        "meteor": {OVERALL: Estimate(0.25), "primary": Estimate(0.125)},
        "of my own": {OVERALL: around(12.34567)},
    }
    assert summary_table(results({"metaclue": found})).splitlines() == [
        "| metaclue | n |               p@1 |                 rank | meteor |            of my own |",
        "|----------|--:|------------------:|---------------------:|-------:|---------------------:|",
        "| all      |   | 50.0 [40.0, 60.0] | 24.75 [24.65, 24.85] |   25.0 | 12.35 [12.25, 12.45] |",
        "| primary  |   |                   |                      |   12.5 |                      |",
    ]


def test_tasks_of_others_are_left_out() -> None:
    assert summary_table({"results": {"mme": {"score,none": 1.0}, "group": {}}}) == ""
    assert summary_table({"results": {"coco_cap": {"meteor,none": 0.25}}}) == ""
    listed = {"results": {"mine": {"acc,none": 0.5}}, "configs": {"mine": {"metadata": [{"version": 0}]}}}
    assert summary_table(listed) == ""


def test_a_failed_measure_is_said_to_have_failed() -> None:
    failed = results({"vflute": {"acc": {OVERALL: around(0.5)}, "f1@0": {OVERALL: Estimate(NAN)}}})
    assert "| 50.0 [40.0, 60.0] | failed, see the log |" in summary_table(failed)


def test_the_scorers_signature_stands_below_the_table_of_its_task() -> None:
    found = results({"vflute_val": {"f1@53": {OVERALL: around(0.5)}}, "mini": {"f1@0": {OVERALL: around(0.5)}}})
    found["configs"]["vflute_val"]["metadata"]["explanation_scorer"] = "vflute25|..."
    parts = summary_table(found).split("\n\n")
    assert [part.split()[1] for part in parts] == ["vflute_val", "scorer:", "mini"]
    assert parts[1] == "explanation scorer: vflute25|..."


def of(task: str, rows: int, scorer: str | None = None, **values: float) -> dict[str, Any]:
    """A run of a task that counted `rows` rows; a scope behind two underscores."""
    found: dict[str, dict[str, Estimate]] = {}
    for name, value in values.items():
        measure, _, scope = name.replace("_at_", "@").partition("__")
        found.setdefault(measure, {})[scope or OVERALL] = around(value, rows)
    return results({task: found}, **({"explanation_scorer": scorer} if scorer else {}))


def test_what_was_published_stands_below_the_table_of_its_task() -> None:
    found = results(
        {
            "irfl_retrieve_metaphor": {"p@k": {OVERALL: around(0.5, 34)}, "rank": {OVERALL: Estimate(2.0, rows=34)}},
            "figlang_mini_irfl_retrieve_metaphor": {"p@k": {OVERALL: around(0.5, 34)}},
        }
    )
    parts = summary_table(found).split("\n\n")
    assert len(parts) == 4
    assert parts[0].startswith("| irfl_retrieve_metaphor |  n |")
    assert parts[1] == "published, not measured here (IRFL, arXiv 2303.15445: zero-shot, matching scores; n = 34):"
    lines = parts[2].splitlines()
    assert lines[0] == "| published       |  p@k |"
    assert lines[2] == "| CLIP-VIT-L/14   | 26.0 |"
    assert len(lines) == 2 + 8
    assert parts[3].startswith("| figlang_mini_irfl_retrieve_metaphor |")


def test_only_measures_of_the_run_are_shown_as_published() -> None:
    table = summary_table(of("irfl_match_idiom", 200, acc=0.2, acc__figurative=0.1))
    assert "97.0" in table and "figurative_literal" not in table
    assert "published" not in summary_table(of("irfl_match_idiom", 200, acc=0.2))


def test_published_figures_are_left_out_beside_a_run_that_was_cut_short() -> None:
    found = of("irfl_match_metaphor", 8, acc=0.2)
    *_, told = summary_table(found | {"config": {"limit": 8.0}}).split("\n\n")
    assert told == "published figures are left out: they are of all rows, and a run was cut short (limit 8)"
    *_, told = summary_table(found).split("\n\n")  # fewer rows in the data, say
    assert told == "published figures are left out: they are of 333 rows, a run has 8"
    assert "| Humans " in summary_table(of("irfl_match_metaphor", 333, acc=0.2))


def test_published_figures_with_scores_stand_beside_scores_of_the_papers_scorer_alone() -> None:
    values = {"f1_at_0": 0.5, "f1_at_53": 0.4, "f1_at_60": 0.3}
    table = summary_table(of("vflute", 723, "vflute25|bertscore:...|dtype:fast", **values))
    assert re.search(r"\| published +\|  f1@0 \| f1@53 \| f1@60 \|", table) and "left out" not in table
    for scorer in ("embedded (not a published metric)", "figlang24", "vflute25 (with other models)"):
        table = summary_table(of("vflute", 723, f"{scorer}|bertscore:...", **values))
        assert re.search(r"\| published +\|  f1@0 \|\n", table)
        told = f"published f1@53, f1@60 are left out: explanations scored by vflute25, in a run by {scorer}"
        assert table.splitlines()[-1] == told
