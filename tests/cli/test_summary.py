"""The short result table."""

from __future__ import annotations

import re
from typing import Any

import pytest
from demo_runs import estimates, evaluate

from figlang_tasks.cli.summary import summary_table
from figlang_tasks.scoring import OVERALL, Estimate, to_json


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
        "| figlang_mini | n |             acc ↑ |                 f1@0 ↑ |",
        "|--------------|--:|------------------:|-----------------------:|",
        "| all          | 8 | 50.0 [40.0, 60.0] | 12.3 [2.3, 22.3] (n 3) |",
        "| MuSE         | 2 | 25.0 [15.0, 35.0] |                        |",
    ]


def test_ranks_are_not_in_percent_and_some_measures_have_no_interval() -> None:
    found = {
        "p@1": {OVERALL: around(0.5)},
        "rank": {OVERALL: around(24.75)},
        "meteor": {OVERALL: Estimate(0.25), "primary": Estimate(0.125)},
        "of my own": {OVERALL: around(12.34567)},
    }
    assert summary_table(results({"metaclue": found})).splitlines() == [
        "| metaclue | n |             p@1 ↑ |               rank ↓ | meteor ↑ |            of my own |",
        "|----------|--:|------------------:|---------------------:|---------:|---------------------:|",
        "| all      |   | 50.0 [40.0, 60.0] | 24.75 [24.65, 24.85] |     25.0 | 12.35 [12.25, 12.45] |",
        "| primary  |   |                   |                      |     12.5 |                      |",
    ]


def test_parts_that_overlap_are_said_to() -> None:
    """FLUTE's paraphrases of sarcasm count in both parts: 14 of 14 + 8 + 18 rows, say, of 32."""

    def table(**parts: int) -> str:
        scopes = {OVERALL: around(0.5, 32)} | {name: around(0.5, rows) for name, rows in parts.items()}
        return summary_table(results({"figlang_mini_flute": {"acc": scopes}}))

    told = "parts overlap: a row counts in each that it belongs to"
    assert told in table(sarcasm=8, paraphrase_sarcasm=14, simile=18)
    assert told not in table(sarcasm=8, simile=24)


def test_tasks_of_others_are_left_out() -> None:
    listed = {"results": {"mine": {"acc,none": 0.5}}, "configs": {"mine": {"metadata": [{"version": 0}]}}}
    assert summary_table(listed) == summary_table({"results": {"mme": {"score,none": 1.0}, "group": {}}}) == ""


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


def test_what_was_published_stands_beneath_what_was_measured() -> None:
    found = results(
        {
            "irfl_retrieve_metaphor": {"p@k": {OVERALL: around(0.5, 34)}, "rank": {OVERALL: Estimate(2.0, rows=34)}},
            "figlang_mini_irfl_retrieve_metaphor": {"p@k": {OVERALL: around(0.5, 34)}},
        }
    )
    parts = summary_table(found).split("\n\n")
    assert len(parts) == 4
    lines = parts[0].splitlines()
    assert lines[0].startswith("| irfl_retrieve_metaphor |  n |             p@k ↑ |")
    assert lines[2].startswith("| all                    | 34 | 50.0 [40.0, 60.0] |")
    assert lines[3].startswith("| published:             |    |                   |")
    assert lines[4].startswith("| CLIP-VIT-L/14          |    |              26.0 |")
    assert len(lines) == 4 + 8
    assert parts[1] == "published, not measured here: IRFL, arXiv 2303.15445: zero-shot, matching scores"
    assert parts[2] == "irfl_retrieve_metaphor: place 1 by p@k beside 8 published models, before CLIP-RN50x64/14 (29.0)"
    assert parts[3].startswith("| figlang_mini_irfl_retrieve_metaphor |")


def test_a_whole_run_ends_with_its_place_and_a_line_to_share() -> None:
    scorer = "vflute25|bertscore:microsoft/deberta-xlarge-mnli@5b07a9086c1d,layer:40|dtype:fp32"
    found = of("vflute", 723, scorer, f1_at_0=0.5, f1_at_60=0.3) | {"model_name": "lab/Model-7B"}
    found["configs"]["vflute"]["metadata"]["versions"] = {"figlang-tasks": "1.2.3"}
    assert summary_table(found).split("\n\n")[-1].splitlines() == [
        "vflute: place 6 by f1@60 beside 10 published models, after LLaVA-ZS 34B, zero-shot (31.83), before Claude-3 "
        "Opus, zero-shot (22.31)",
        "Model-7B on vflute: f1@60 30.0 [20.0, 40.0], 723 rows, scorer vflute25, dtype:fp32, figlang_tasks 1.2.3",
    ]
    cut = summary_table(found | {"config": {"limit": 8}})
    assert "place" not in cut and "Model-7B" not in cut
    labels = {task: found["configs"]["vflute"] for task in ("vflute", "vflute_sg")}
    group = found | {"configs": labels, "results": found["results"] | {"vflute_sg": {}}}
    group["group_subtasks"] = {"vflutes": list(labels)}
    *_, last = summary_table(group).split("\n\n")
    assert [line.split(":")[0] for line in last.splitlines()] == ["vflute", "vflute_sg"]


def test_only_measures_of_the_run_are_shown_as_published() -> None:
    table = summary_table(of("irfl_match_idiom", 200, acc=0.2, acc__figurative=0.1))
    assert "| Humans: figurative " in table and "figurative_literal" not in table
    assert "published" not in summary_table(of("irfl_match_idiom", 200, acc=0.2))


def test_published_figures_with_scores_stand_beside_scores_of_the_papers_scorer_alone() -> None:
    values = {"f1_at_0": 0.5, "f1_at_53": 0.4, "f1_at_60": 0.3}
    table = summary_table(of("vflute", 723, "vflute25|bertscore:...|dtype:fast", **values))
    assert re.search(r"\| GPT-4o, zero-shot +\| +\| +75.41 \| +60.97 \| +37.20 \|\n", table) and "left out" not in table
    table = summary_table(of("vflute", 723, "figlang24|bertscore:...", **values))
    assert re.search(r"\| GPT-4o, zero-shot +\| +\| +75.41 \| +\| +\|\n", table)
    *_, told, place = table.split("\n\n")
    assert told == "published f1@53, f1@60 are left out: explanations scored by vflute25, in a run by figlang24"
    assert place.startswith("vflute: place 9 by f1@0 beside 10 published models")


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        (  # single tasks that read one dataset
            ["figlang_mini_irfl_match_simile", "figlang_mini_irfl_match_idiom"],
            {"figlang_mini_irfl": (["acc", "literal_preference"], 2)},
        ),
        (  # wide: the main measure of each, and what could not be read
            ["figlang_mini_nykms"],
            {"figlang_mini_nykms": (["mc_macro_f1", "mw_em", "parse_rate", "sc_macro_f1"], 4)},
        ),
        (
            ["figlang_mini", "figlang_mini_irfl_retrieve_metaphor"],
            {
                "figlang_mini": (["f1@0", "f1@53", "f1@60", "explanation_score", "acc"], 7),
                "figlang_mini_irfl_retrieve_metaphor": (["p@k", "expected_p@k"], 1),
            },
        ),
    ],
)
def test_one_compact_table_for_each_group(tasks: list[str], expected: dict[str, tuple[list[str], int]]) -> None:
    found = evaluate(tasks, "figlang_random")
    shown = [part.splitlines() for part in summary_table(found).split("\n\n") if part.startswith("|")]
    read = [[[cell.strip() for cell in line.split("|")[1:-1]] for line in lines] for lines in shown]
    assert {rows[0][0]: ([head.rstrip(" ↑↓") for head in rows[0][2:]], len(rows) - 2) for rows in read} == expected
    (title, _, *columns), _, (label, _, *cells), *_ = read[0]
    values = estimates(found, title if title in found["configs"] else f"{title}_{label}")
    for name, text in zip(columns, cells, strict=True):
        assert not text or float(text.split()[0]) == pytest.approx(100 * values[name.rstrip(" ↑↓")].value, abs=0.0501)


def test_parsing_is_shown_where_something_could_not_be_read() -> None:
    some, good, bad = ({OVERALL: Estimate(value, rows=4)} for value in (0.25, 1.0, 0.5))
    for parse_rate, heads in ((good, ["mini", "n", "f1@60 ↑"]), (bad, ["mini", "n", "f1@60 ↑", "parse_rate ↑"])):
        table = summary_table(results({"mini": {"f1@60": some, "parse_rate": parse_rate}}))
        assert [cell.strip() for cell in table.splitlines()[0].split("|")[1:-1]] == heads
