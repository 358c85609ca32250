"""The table at the end of a run has a wrong number, hides one, or stands beside wrong published
ones if this fails.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import cells
from demo_runs import estimates, evaluate, mini_tasks

from figlang_tasks.cli.summary import next_commands, summary_table
from figlang_tasks.scoring import OVERALL, Estimate, to_json


def around(value: float, rows: int | None = None) -> Estimate:
    return Estimate(value, value - 0.1, value + 0.1, rows=rows)


def results(tasks: dict[str, dict[str, dict[str, Estimate]]], **metadata: Any) -> dict[str, Any]:
    """What a run returns."""
    return {
        "results": {
            task: {
                f"{name},none": scopes[OVERALL].value
                for name, scopes in of.items()
                if OVERALL in scopes
            }
            for task, of in tasks.items()
        },
        "configs": {
            task: {"metadata": {"measures": to_json(of), **metadata}} for task, of in tasks.items()
        },
        "config": {"limit": None},
    }


def test_one_line_per_scope_and_one_column_per_measure() -> None:
    """Ranks are not in percent, and some measures have no interval."""
    found = {
        "acc": {OVERALL: around(0.5, 8), "muse": around(0.25, 2)},
        "f1@0": {OVERALL: around(0.123, 3)},
        "rank": {OVERALL: around(24.75)},
        "meteor": {OVERALL: Estimate(0.25)},
    }
    assert summary_table(results({"figlang_mini": found})).splitlines() == [
        (
            "| figlang_mini | n |             acc ↑ |                 f1@0 ↑ |               rank ↓"
            " | meteor ↑ |"
        ),
        "|--------------|--:|------------------:|-----------------------:|---------------------:|---------:|",
        (
            "| all          | 8 | 50.0 [40.0, 60.0] | 12.3 [2.3, 22.3] (n 3) | 24.75 [24.65, 24.85]"
            " |     25.0 |"
        ),
        (
            "| MuSE         | 2 | 25.0 [15.0, 35.0] |                        |                     "
            " |          |"
        ),
    ]


def test_parts_that_overlap_are_said_to() -> None:
    """FLUTE's paraphrases of sarcasm count in both parts."""
    for rows, overlap in ((14, True), (8, False)):
        scopes = {OVERALL: around(0.5, 32), "simile": around(0.5, 24), "sarcasm": around(0.5, rows)}
        table = summary_table(results({"figlang_mini_flute": {"acc": scopes}}))
        assert ("parts overlap: a row counts in each that it belongs to" in table) == overlap


def test_the_scorers_signature_stands_below_the_table_of_its_task() -> None:
    found = results(
        {"vflute_val": {"f1@53": {OVERALL: around(0.5)}}, "mini": {"f1@0": {OVERALL: around(0.5)}}}
    )
    found["configs"]["vflute_val"]["metadata"]["explanation_scorer"] = "vflute25|..."
    parts = summary_table(found).split("\n\n")
    assert [part.split()[1] for part in parts] == ["vflute_val", "scorer:", "mini"]
    assert parts[1] == "explanation scorer: vflute25|..."


def test_what_was_published_stands_beneath_what_was_measured() -> None:
    found = results(
        {
            "irfl_retrieve_metaphor": {
                "p@k": {OVERALL: around(0.5, 34)},
                "rank": {OVERALL: Estimate(2.0, rows=34)},
            },
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
    assert parts[1] == "published, not measured here: IRFL, arXiv 2303.15445: zero-shot"
    assert (
        parts[2] == "irfl_retrieve_metaphor: place 1 by p@k beside 8 published models, before"
        " CLIP-RN50x64/14 (29.0)"
    )
    assert parts[3].startswith("| figlang_mini_irfl_retrieve_metaphor |")


def test_a_whole_run_ends_with_its_place_and_a_line_to_share() -> None:
    measured = {"f1@0": {OVERALL: around(0.5, 723)}, "f1@60": {OVERALL: around(0.3, 723)}}
    scorer = "vflute25|bertscore:microsoft/deberta-xlarge-mnli@5b07a9086c1d,layer:40|dtype:fp32"
    told = {"explanation_scorer": scorer, "versions": {"figlang-tasks": "1.2.3"}}
    found = results({"vflute": measured}, **told) | {"model_name": "lab/Model-7B"}
    assert summary_table(found).split("\n\n")[-1].splitlines() == [
        (
            "vflute: place 6 by f1@60 beside 10 published models, after LLaVA-ZS 34B, zero-shot"
            " (31.83), before Claude-3 Opus, zero-shot (22.31)"
        ),
        (
            "Model-7B on vflute: f1@60 30.0 [20.0, 40.0], 723 rows, scorer vflute25, dtype:fp32,"
            " figlang_tasks 1.2.3"
        ),
    ]
    cut = summary_table(found | {"config": {"limit": 8}})
    assert "place" not in cut and "Model-7B" not in cut
    labels = {task: found["configs"]["vflute"] for task in ("vflute", "vflute_sg")}
    group = found | {"configs": labels, "results": found["results"] | {"vflute_sg": {}}}
    group["group_subtasks"] = {"vflutes": list(labels)}
    *_, last = summary_table(group).split("\n\n")
    assert [line.split(":")[0] for line in last.splitlines()] == ["vflute", "vflute_sg"]


@pytest.mark.parametrize(
    ("task", "metric", "rows", "value", "told"),
    [
        ("metaclue_retrieve_random50", "rank", 1331, 3.0,
         "place 4 by rank beside 9 published models, after FT CLIP (ViT-B/32), fine-tuned"
         " (2.82), before CLIP (ViT-L/14), zero-shot (3.17)"),
        ("metaclue_retrieve_random50", "rank", 1331, 1.78,
         "place 1 by rank beside 9 published models, before FT CLIP (ViT-L/14), fine-tuned"
         " (1.78)"),
        ("nycc_match", "acc", 2691, 0.0,
         "place 6 by acc beside 5 published models, after Caption Only (T5-11B finetuned),"
         " fine-tuned (19.4)"),
        ("nycc_match_5shot", "acc", 2691, 0.5, ""),  # chance alone
    ],
)  # fmt: skip
def test_the_place_among_models(task: str, metric: str, rows: int, value: float, told: str) -> None:
    table = summary_table(results({task: {metric: {OVERALL: Estimate(value, rows=rows)}}}))
    assert (f"{task}: {told}" in table.split("\n\n")) == bool(told) == ("place" in table)


def test_parts_of_the_run_alone_are_shown_as_published() -> None:
    table = summary_table(
        results(
            {
                "irfl_match_idiom": {
                    "acc": {OVERALL: around(0.2, 200), "figurative": around(0.1, 200)}
                }
            }
        )
    )
    assert "| Humans: figurative " in table and "figurative_literal" not in table


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        (
            ["figlang_mini_irfl"],
            {"figlang_mini_irfl": (["acc", "literal_preference", "p@k", "expected_p@k"], 4)},
        ),
        # Single tasks that read one dataset; wide: the main measure of each, and what could not be
        # read
        (
            ["figlang_mini_nykms_metaphor", "mini_nykms_mw"],
            {"figlang_mini_nykms": (["mc_macro_f1", "mw_em", "parse_rate"], 2)},
        ),
    ],
)
def test_one_compact_table_for_each_group(
    tasks: list[str], expected: dict[str, tuple[list[str], int]]
) -> None:
    found = evaluate(tasks, "figlang_random", include_path=mini_tasks())
    read = [cells(part) for part in summary_table(found).split("\n\n") if part.startswith("|")]
    assert {
        rows[0][0]: ([head.rstrip(" ↑↓") for head in rows[0][2:]], len(rows) - 2) for rows in read
    } == expected
    (title, _, *columns), _, (label, _, *texts), *_ = read[0]
    values = estimates(found, title if title in found["configs"] else f"{title}_{label}")
    for name, text in zip(columns, texts, strict=True):
        assert not text or float(text.split()[0]) == pytest.approx(
            100 * values[name.rstrip(" ↑↓")].value, abs=0.0501
        )


def test_parsing_is_shown_where_something_could_not_be_read() -> None:
    """Or where there is nothing else, as of blind rows."""
    some, good, bad = ({OVERALL: Estimate(value, rows=4)} for value in (0.25, 1.0, 0.5))
    for found, heads in (
        ({"f1@60": some, "parse_rate": good}, ["f1@60 ↑"]),
        ({"f1@60": some, "parse_rate": bad}, ["f1@60 ↑", "parse_rate ↑"]),
        ({"parse_rate": good}, ["parse_rate ↑"]),
    ):
        assert cells(summary_table(results({"mini": found})))[0] == ["mini", "n", *heads]


@pytest.mark.parametrize(
    ("left", "told"),
    [
        ({}, ""),
        ({"ambiguous": 1}, ""),  # a twentieth
        (
            {"ambiguous": 2, "empty": 1},
            (
                "The score is a lower bound: 3 of 22 answers could not be read and count as wrong"
                " (2 ambiguous, 1 empty)"
            ),
        ),
        ({"empty": 3}, ""),  # there is nothing to read
        (
            {"refused": 30},
            "No answer could be read in 30 of 49 outputs: these scores say nothing about the model",
        ),
    ],
)
def test_unread_answers_are_told_below_the_table_with_the_command_that_reads_them(
    left: dict[str, int], told: str
) -> None:
    readings = {"read": {"alone": 19}, "left": left, "scores": 0, "left_count_as": "wrong"}
    found = results({"mini": {"acc": {OVERALL: around(0.5, 20)}}}, readings=readings)
    _, *below = summary_table(found).split("\n\n")
    assert below == ([f"mini: {told}"] if told else [])
    report, *read = next_commands([found], Path("my runs/a")).splitlines()
    assert report == "next: figlang report 'my runs/a' -o report.html"
    command = "to have a language model read what is left: figlang judge read 'my runs/a'"
    assert read == ([command] if told else [])
