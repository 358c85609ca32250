"""The tables at the end of a run: their values, and which published values stand beside them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from commands import cells
from demo_runs import FixedAnswers, estimates, evaluate, mini_tasks

from figlang_tasks.cli.summary import next_commands, summary_table
from figlang_tasks.scoring import OVERALL, Estimate, Estimates, to_json

Results: TypeAlias = dict[str, Any]


def around(value: float, rows: int | None = None) -> Estimate:
    """An estimate with an interval that reaches 0.1 to both sides."""
    return Estimate(value, value - 0.1, value + 0.1, rows=rows)


def results_of(estimates_by_task: Mapping[str, Estimates], **metadata: Any) -> Results:
    """What a run returns that has these estimates."""
    results: Results = {"results": {}, "configs": {}, "config": {"limit": None}}
    for task, task_estimates in estimates_by_task.items():
        table = {}
        for metric, scopes in task_estimates.items():
            if OVERALL in scopes:
                table[f"{metric},none"] = scopes[OVERALL].value
        results["results"][task] = table
        measures = to_json(task_estimates)
        results["configs"][task] = {"metadata": {"measures": measures, **metadata}}
    return results


def paragraphs(results: Results) -> list[str]:
    return summary_table(results).split("\n\n")


def test_one_line_per_scope_and_one_column_per_metric() -> None:
    """Ranks are not in percent, and some metrics have no interval."""
    results = results_of(
        {
            "figlang_mini": {
                "acc": {OVERALL: around(0.5, 8), "muse": around(0.25, 2)},
                "f1@0": {OVERALL: around(0.123, 3)},
                "rank": {OVERALL: around(24.75)},
                "meteor": {OVERALL: Estimate(0.25)},
            }
        }
    )
    # fmt: off
    assert summary_table(results).splitlines() == [
        "| figlang_mini | n |             acc ↑ |                 f1@0 ↑ |               rank ↓ | meteor ↑ |",  # noqa: E501
        "|--------------|--:|------------------:|-----------------------:|---------------------:|---------:|",
        "| all          | 8 | 50.0 [40.0, 60.0] | 12.3 [2.3, 22.3] (n 3) | 24.75 [24.65, 24.85] |     25.0 |",  # noqa: E501
        "| MuSE         | 2 | 25.0 [15.0, 35.0] |                        |                      |          |",  # noqa: E501
    ]
    # fmt: on


@pytest.mark.parametrize(("sarcasm_rows", "do_overlap"), [(14, True), (8, False)])
def test_parts_that_overlap_are_said_to(sarcasm_rows: int, do_overlap: bool) -> None:
    """FLUTE's paraphrases of sarcasm count in both parts."""
    scopes = {
        OVERALL: around(0.5, 32),
        "simile": around(0.5, 24),
        "sarcasm": around(0.5, sarcasm_rows),
    }
    table = summary_table(results_of({"figlang_mini_flute": {"acc": scopes}}))
    assert ("scopes overlap: a row counts in each that it belongs to" in table) == do_overlap


def test_the_scorers_signature_stands_below_the_table_of_its_task() -> None:
    results = results_of(
        {"vflute_val": {"f1@53": {OVERALL: around(0.5)}}, "mini": {"f1@0": {OVERALL: around(0.5)}}}
    )
    results["configs"]["vflute_val"]["metadata"]["explanation_scorer"] = "vflute25|..."
    second_words = [paragraph.split()[1] for paragraph in paragraphs(results)]
    assert second_words == ["vflute_val", "scorer:", "mini"]
    assert paragraphs(results)[1] == "explanation scorer: vflute25|..."


def test_published_values_stand_beneath_what_was_measured() -> None:
    results = results_of(
        {
            "irfl_retrieve_metaphor": {
                "p@k": {OVERALL: around(0.5, 34)},
                "rank": {OVERALL: Estimate(2.0, rows=34)},
            },
            "figlang_mini_irfl_retrieve_metaphor": {"p@k": {OVERALL: around(0.5, 34)}},
        }
    )
    table, protocol, placement, mini_table = paragraphs(results)
    lines = table.splitlines()
    assert lines[0].startswith("| irfl_retrieve_metaphor |  n |             p@k ↑ |")
    assert lines[2].startswith("| all                    | 34 | 50.0 [40.0, 60.0] |")
    assert lines[3].startswith("| published:             |    |                   |")
    assert lines[4].startswith("| CLIP-VIT-L/14          |    |              26.0 |")
    assert len(lines) == 4 + 8
    assert protocol == "published, not measured here: IRFL, arXiv 2303.15445: zero-shot"
    assert placement == (
        "irfl_retrieve_metaphor: place 1 by p@k beside 8 published models,"
        " before CLIP-RN50x64/14 (29.0)"
    )
    assert mini_table.startswith("| figlang_mini_irfl_retrieve_metaphor |")


def test_a_whole_run_ends_with_its_place_and_a_line_to_quote() -> None:
    scorer = "vflute25|bertscore:microsoft/deberta-xlarge-mnli@5b07a9086c1d,layer:40|dtype:fp32"
    results = results_of(
        {"vflute": {"f1@0": {OVERALL: around(0.5, 723)}, "f1@60": {OVERALL: around(0.3, 723)}}},
        explanation_scorer=scorer,
        versions={"figlang-tasks": "1.2.3"},
    )
    results["model_name"] = "lab/Model-7B"
    assert paragraphs(results)[-1].splitlines() == [
        (
            "vflute: place 6 by f1@60 beside 10 published models, after LLaVA-ZS 34B, zero-shot"
            " (31.83), before Claude-3 Opus, zero-shot (22.31)"
        ),
        (
            "Model-7B on vflute: f1@60 30.0 [20.0, 40.0], 723 rows, scorer vflute25, dtype:fp32,"
            " figlang_tasks 1.2.3"
        ),
    ]

    partial = summary_table({**results, "config": {"limit": 8}})
    assert "place" not in partial
    assert "Model-7B" not in partial
    warning = "limit 8: rows in the order of the task, not a random sample."
    assert partial.split("\n\n")[-1].startswith(warning)
    counts = {"n-samples": {"vflute": {"original": 723, "effective": 723}}}
    whole = summary_table({**results, **counts, "config": {"limit": 1000}})
    assert "random sample" not in whole

    config = results["configs"]["vflute"]
    group = {
        **results,
        "configs": {"vflute": config, "vflute_sg": config},
        "results": {**results["results"], "vflute_sg": {}},
        "group_subtasks": {"vflutes": ["vflute", "vflute_sg"]},
    }
    placements = paragraphs(group)[-1].splitlines()
    assert [line.partition(":")[0] for line in placements] == ["vflute", "vflute_sg"]


RANK_TASK = "metaclue_retrieve_random50"


@pytest.mark.parametrize(
    ("task", "metric", "rows", "value", "placement"),
    [
        (
            RANK_TASK,
            "rank",
            1331,
            3.0,
            "place 4 by rank beside 9 published models, after FT CLIP (ViT-B/32), fine-tuned"
            " (2.82), before CLIP (ViT-L/14), zero-shot (3.17)",
        ),
        (
            RANK_TASK,
            "rank",
            1331,
            1.78,
            "place 1 by rank beside 9 published models, before FT CLIP (ViT-L/14), fine-tuned"
            " (1.78)",
        ),
        (
            "nycc_match",
            "acc",
            2691,
            0.0,
            "place 6 by acc beside 5 published models, after Caption Only (T5-11B finetuned),"
            " fine-tuned (19.4)",
        ),
    ],
)
def test_the_place_among_models(
    task: str, metric: str, rows: int, value: float, placement: str
) -> None:
    results = results_of({task: {metric: {OVERALL: Estimate(value, rows=rows)}}})
    assert f"{task}: {placement}" in paragraphs(results)


def test_a_task_with_a_published_value_of_chance_alone_has_no_place() -> None:
    estimate = Estimate(0.5, rows=2691)
    results = results_of({"nycc_match_5shot": {"acc": {OVERALL: estimate}}})
    assert "place" not in summary_table(results)


def test_published_values_are_shown_for_the_scopes_of_the_run_alone() -> None:
    scopes = {OVERALL: around(0.2, 200), "figurative": around(0.1, 200)}
    table = summary_table(results_of({"irfl_match_idiom": {"acc": scopes}}))
    assert "| Humans: figurative " in table
    assert "figurative_literal" not in table


@pytest.mark.parametrize(
    ("tasks", "title", "metrics", "line_count"),
    [
        (
            ["figlang_mini_irfl"],
            "figlang_mini_irfl",
            ["acc", "literal_preference", "p@k", "expected_p@k"],
            4,
        ),
        # These single tasks read one dataset. Their table is wide, so it has the main metric of
        # each, and what could not be read.
        (
            ["figlang_mini_nykms_metaphor", "mini_nykms_mw"],
            "figlang_mini_nykms",
            ["mc_macro_f1", "mw_em", "parse_rate"],
            2,
        ),
    ],
)
def test_one_compact_table_for_each_group(
    tasks: list[str], title: str, metrics: list[str], line_count: int
) -> None:
    results = evaluate(tasks, "figlang_random", include_path=mini_tasks())
    (table,) = [paragraph for paragraph in paragraphs(results) if paragraph.startswith("|")]
    head, _, first_line, *_ = cells(table)
    assert head[0] == title
    assert [name.rstrip(" ↑↓") for name in head[2:]] == metrics
    assert len(cells(table)) == 2 + line_count

    label, _, *texts = first_line
    task = title if title in results["configs"] else f"{title}_{label}"
    task_estimates = estimates(results, task)
    for metric, text in zip(metrics, texts, strict=True):
        if text:
            percent = 100 * task_estimates[metric].value
            assert float(text.split()[0]) == pytest.approx(percent, abs=0.0501)


def test_the_parse_rate_is_shown_where_something_could_not_be_read() -> None:
    """It is also shown if there is nothing else, as for blind rows."""
    quarter = {OVERALL: Estimate(0.25, rows=4)}
    all_read = {OVERALL: Estimate(1.0, rows=4)}
    half_read = {OVERALL: Estimate(0.5, rows=4)}
    for task_estimates, columns in (
        ({"f1@60": quarter, "parse_rate": all_read}, ["f1@60 ↑"]),
        ({"f1@60": quarter, "parse_rate": half_read}, ["f1@60 ↑", "parse_rate ↑"]),
        ({"parse_rate": all_read}, ["parse_rate ↑"]),
    ):
        table = summary_table(results_of({"mini": task_estimates}))
        assert cells(table)[0] == ["mini", "n", *columns]


@pytest.mark.parametrize(
    ("left", "warning"),
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
        ({"empty": 3}, ""),  # Nobody can read an empty answer.
        (
            {"refused": 30},
            "No answer could be read in 30 of 49 outputs: these scores say nothing about the model",
        ),
    ],
)
def test_a_warning_about_unread_answers_comes_with_the_command_that_reads_them(
    left: dict[str, int], warning: str
) -> None:
    readings = {"read": {"alone": 19}, "left": left, "scores": 0, "left_count_as": "wrong"}
    estimates = {"mini": {"acc": {OVERALL: around(0.5, 20)}}}
    results = results_of(estimates, readings=readings, offers_choice=True)
    _, *below = paragraphs(results)
    report, *other_commands = next_commands([results], Path("my runs/a")).splitlines()
    assert report == "next: figlang report 'my runs/a' -o report.html"
    if warning:
        assert below == [f"mini: {warning}"]
        command = "to have a language model read what is left: figlang judge read 'my runs/a'"
        assert other_commands == [command]
    else:
        assert below == []
        assert other_commands == []


@pytest.mark.parametrize(
    ("task", "offers_choice"),
    [
        ("figlang_mini_metaclue_classify_literal", True),
        ("figlang_mini_metaclue_localize", False),
    ],
)
def test_a_language_model_is_offered_for_a_choice_alone(task: str, offers_choice: bool) -> None:
    """`figlang judge read` refuses a task that offers none, as where boxes are asked for."""
    results = evaluate(task, FixedAnswers("Perhaps."), limit=4)
    left = results["configs"][task]["metadata"]["readings"]["left"]
    assert left == {"unreadable": 4}
    assert ("figlang judge read" in next_commands([results], Path("a"))) == offers_choice
