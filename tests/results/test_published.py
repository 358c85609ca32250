"""Published results: the data files, which figures may stand beside a run, and how."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tasks_without_harness import reported_metrics

from figlang_tasks.benchmarks.metaclue.counts import PAPER
from figlang_tasks.cli.tasks import definitions
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.results import measures
from figlang_tasks.results.published import (
    PublishedFigure,
    RunConditions,
    comparable_metrics,
    figures_of_task,
)
from figlang_tasks.results.published_tables import published_rows, table_lines

PRINTED = yaml.safe_load(
    Path(__file__).with_name("printed_tables.yaml").read_text(encoding="utf-8")
)


def content(benchmark: str) -> Any:
    return json.loads(
        (benchmarks()[benchmark].folder / "published.json").read_text(encoding="utf-8")
    )


@pytest.mark.parametrize(
    ("setting", "is_comparable"),
    [
        ("zero-shot; matching scores", True),
        ("zero-shot; matching scores; v1, where precision at k is called F1", False),
        ("supervised; fine-tuned", False),
    ],
)
def test_what_is_not_comparable_is_kept_and_not_shown(setting: str, is_comparable: bool) -> None:
    figure = PublishedFigure("P", "1", "M", "acc", setting, "s", value=0.5)
    assert figure.is_in_short_table == is_comparable


# --- rows and settings ---


def test_a_row_is_a_model_in_a_setting() -> None:
    rows = published_rows("nykms_metaphor", ["me_bleu4", "mc_acc", "mw_em", "none"])
    (row,) = [row for row in rows if row.label.startswith("GPT-4,")]
    assert row.kind == "zero-shot with the description"
    assert row.paper == "NYK-MS, arXiv 2409.01037"
    assert row.table == "Table 8, Table 9, Table 10"
    values = [(metric, figure.value) for metric, figure in row.values.items()]
    assert values == [("me_bleu4", 0.1011), ("mc_acc", 0.4378), ("mw_em", 0.4471)]


def test_no_two_rows_look_alike_and_no_figure_is_lost() -> None:
    for task, metrics in reported_metrics().items():
        labels = []
        figures_in_rows = []
        for row in published_rows(task, metrics):
            labels.append(row.label)
            figures_in_rows += [id(figure) for figure in row.values.values()]
        assert len(set(labels)) == len(labels), task
        figures = [id(figure) for figure in figures_of_task(task) if figure.is_in_short_table]
        assert sorted(figures_in_rows) == sorted(figures)


def test_many_published_lines_are_those_of_all_rows_alone() -> None:
    """18 models with 27 scopes each had 483 lines below the table of a run of CII-Bench."""
    metrics = [figure.metric for figure in figures_of_task("ciibench")]
    scopes = [line.scope for line in table_lines("ciibench", metrics)]
    assert scopes == ["all"] * 18
    few_scopes = {line.scope for line in table_lines("ciibench", [metrics[0], metrics[1]])}
    assert few_scopes == {"all", "life"}


# --- what may stand beside a run ---


def test_the_rows_of_the_figures_are_those_of_the_tasks() -> None:
    counts: dict[str, int] = {}
    tasks_of_other_rows = set()
    for name in ("flute", "irfl", "metaclue", "nykms", "vflute"):
        for task, count in content(name)["rows"].items():
            if isinstance(count, int):
                counts[task] = count
            else:
                tasks_of_other_rows.add(task)
    task_definitions = definitions()
    rows_of_tasks = {task: task_definitions[task].rows for task in counts}
    # The figures count images; the number of their questions depends on the annotations.
    rows_of_tasks["metaclue_vqa"] = PAPER["metaphor"]
    assert counts == rows_of_tasks

    expected = {"flute", "flute_v1", "metaclue_generate"}
    for task in task_definitions:
        if re.match(r"irfl_random\d_", task) and figures_of_task(task):
            expected.add(task)
    assert tasks_of_other_rows == expected


USER_ROWS = RunConditions(723, has_user_rows=True)


@pytest.mark.parametrize(
    ("task", "metrics", "runs", "comparable", "sentence"),
    [
        (
            "vflute",
            ["acc", "f1@0", "f1@60"],
            [RunConditions(723, None, "vflute25")],
            ["f1@0", "f1@60"],
            "",
        ),
        ("vflute", ["f1@0"], [RunConditions(723)], ["f1@0"], ""),
        (
            "vflute",
            ["f1@0"],
            [RunConditions(723), RunConditions(8, data="V-FLUTE/x")],
            [],
            "a run has 8 rows (V-FLUTE/x)",
        ),
        ("vflute", ["f1@0"], [RunConditions(723, "offset 4")], [], "a run has 723 rows (offset 4)"),
        (
            "vflute",
            ["f1@0"],
            [USER_ROWS],
            [],
            "for 723 released rows; a run has 723 rows of your own",
        ),
        (
            "vflute",
            ["f1@60"],
            [RunConditions(723)],
            [],
            "f1@60 are left out: .* vflute25, in a run by no known scorer",
        ),
        ("vflute", ["acc"], [RunConditions(8, "limit 8")], [], ""),  # nothing to leave out
        (
            "irfl_random2_simile",
            ["acc"],
            [RunConditions(99)],
            [],
            "random candidates, which were not released",
        ),
        # How many can be swapped is not published
        ("metaclue_retrieve_swap", ["p@1"], [RunConditions(99)], ["p@1"], ""),
        ("metaclue_retrieve_swap", ["p@1"], [RunConditions(9, "limit 9")], [], "limit 9"),
        ("figlang_mini", ["f1@0"], [RunConditions(76)], [], ""),
        ("columbus", ["acc_official_text"], [RunConditions(1008)], ["acc_official_text"], ""),
        # Prompt 4 was published for v2 alone.
        (
            "columbus_graph",
            ["acc_official_text"],
            [RunConditions(1008, data="COLUMBUS/v1-graph")],
            [],
            "they are for v2 (1,005 rows); this run used v1 (1,008 rows)",
        ),
        (
            "columbus",
            ["acc_official_text"],
            [RunConditions(1005), RunConditions(1008)],
            [],
            "they are for v2 (1,005 rows); this run used v1 (1,008 rows)",
        ),
        (
            "columbus",
            ["acc_official_text"],
            [RunConditions(8, "limit 8", data="COLUMBUS/v1")],
            [],
            "for v1 (1,008 rows) or v2 (1,005 rows); this run used 8 rows (COLUMBUS/v1, limit 8)",
        ),
    ],
)
def test_figures_stand_beside_runs_of_their_rows_and_scorer(
    task: str, metrics: list[str], runs: list[RunConditions], comparable: list[str], sentence: str
) -> None:
    metrics_beside, reason, _ = comparable_metrics(task, metrics, runs)
    assert (metrics_beside, bool(reason)) == (comparable, bool(sentence))
    pattern = sentence if ".*" in sentence else re.escape(sentence)
    assert re.search(pattern, reason) and "\n" not in reason


@pytest.mark.parametrize(("rows", "gpt_4o"), [(1008, "81.4"), (1005, "80.89")])
def test_a_run_of_columbus_stands_beside_the_figures_of_its_release(rows: int, gpt_4o: str) -> None:
    """The figures are Table 2's, of the paper's first and second version."""
    metric = "acc_official_text"
    comparable = comparable_metrics("columbus", [metric], [RunConditions(rows)])
    texts: dict[str, str] = {}
    for row in published_rows("columbus", comparable.names, comparable.release):
        texts[row.label] = row.values[metric].text()
    assert texts["GPT-4o"] == gpt_4o
    assert len(texts) == 14


# --- the table ---


def test_figures_have_the_digits_of_the_paper_and_a_scope_has_a_line_of_its_own() -> None:
    label_lines = table_lines("vflute_label", ["acc", "f1@0", "f1@53"])
    assert {line.label: line.figures["f1@0"].text() for line in label_lines} == {
        "Random Baseline": "49.82",
        "fine-tuned, prediction only": "80.85",
        "fine-tuned, multi-task with explanations": "83.26",
    }

    image_lines = table_lines("metaclue_generate", ["clip_similarity", "fid"])
    fids = [line.figures["fid"].text() for line in image_lines]
    assert fids == ["153.1", "161.6", "154.3"]  # no share, so not in percent

    kinds = ("paraphrase_sarcasm", "simile", "metaphor")
    metrics: list[str] = []
    for threshold in (0, 50, 60):
        metrics += [f"acc@{threshold}_{kind}" for kind in kinds]
    kind_lines = table_lines("flute_v1", metrics)
    assert [(line.scope, line.figures["acc@0"].text()) for line in kind_lines] == [
        ("paraphrase_sarcasm", "81.8"),
        ("simile", "59.6"),
        ("metaphor", "76.0"),
    ]
    for line in kind_lines:
        assert list(line.figures) == ["acc@0", "acc@50", "acc@60"]

    figures = figures_of_task("irfl_random4_idiom_figurative_literal_phrase_only")
    texts = {figure.text() for figure in figures if figure.is_in_short_table}
    assert texts == {"65.0-78.0"}


@given(st.integers(0, 10_000))
def test_percent_is_exact(hundredths: int) -> None:
    figure = PublishedFigure("P", "1", "M", "acc", "zero-shot", "s", value=hundredths / 10_000)
    assert figure.text(2) == f"{hundredths // 100}.{hundredths % 100:02d}"
    assert figure.text() in (figure.text(2), figure.text(2).removesuffix("0"))


# --- the data files ---


@pytest.mark.parametrize("name", PRINTED)
def test_figures_are_those_of_the_papers_tables(name: str) -> None:
    tables: dict[str, dict[str, list[Any]]] = {}
    for record in content(name)["records"]:
        task = record["task"]
        if isinstance(task, list):  # one figure of several of our tasks
            task = task[0]
        scale = 100 if measures.measure_of(record["metric"]).percent else 1
        numbers = []
        for key in ("value", "low", "high", "std"):
            if key in record:
                numbers.append(round(scale * record[key], 4))
        columns = tables.setdefault(record["table"], {})
        columns.setdefault(f"{task} {record['metric']}", []).append([record["model"], *numbers])
    assert tables == PRINTED[name]
