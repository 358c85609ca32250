"""Published results: the data files, what of them may stand beside a run, and how."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from task_metrics import reported

from figlang_tasks.benchmarks.metaclue.counts import PAPER
from figlang_tasks.cli.tasks import definitions
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.results import measures
from figlang_tasks.results.published import (
    PublishedFigure,
    RunConditions,
    comparable_metrics,
    figures_of_task,
    published_rows,
    table_lines,
)

PRINTED = yaml.safe_load(
    Path(__file__).with_name("printed_tables.yaml").read_text(encoding="utf-8")
)


def content(benchmark: str) -> Any:
    return json.loads(
        (benchmarks()[benchmark].folder / "published.json").read_text(encoding="utf-8")
    )


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        ("zero-shot; matching scores", True),
        ("zero-shot; matching scores; v1, where precision at k is called F1", False),
        ("supervised; fine-tuned", False),
    ],
)
def test_what_is_not_comparable_is_kept_and_not_shown(setting: str, shown: bool) -> None:
    assert PublishedFigure("P", "1", "M", "acc", setting, "s", value=0.5).is_in_short_table == shown


# --- rows and settings ---


def test_a_row_is_a_model_in_a_setting() -> None:
    found = [
        row
        for row in published_rows("nykms_metaphor", ["me_bleu4", "mc_acc", "mw_em", "none"])
        if row.label.startswith("GPT-4,")
    ]
    assert [(row.kind, row.paper) for row in found] == [
        ("zero-shot with the description", "NYK-MS, arXiv 2409.01037")
    ]
    assert found[0].table == "Table 8, Table 9, Table 10"
    values = [(metric, figure.value) for metric, figure in found[0].values.items()]
    assert values == [("me_bleu4", 0.1011), ("mc_acc", 0.4378), ("mw_em", 0.4471)]


def test_no_two_rows_look_alike_and_no_figure_is_lost() -> None:
    for task, metrics in reported().items():
        found = published_rows(task, metrics)
        labels = [row.label for row in found]
        assert len(set(labels)) == len(labels), task
        figures = [id(figure) for row in found for figure in row.values.values()]
        assert sorted(figures) == sorted(
            id(p) for p in figures_of_task(task) if p.is_in_short_table
        )


# --- what may stand beside a run ---


def test_the_rows_of_the_figures_are_those_of_the_tasks() -> None:
    counts = {
        task: count
        for name in ("flute", "irfl", "metaclue", "nykms", "vflute")
        for task, count in content(name)["rows"].items()
    }
    defined = definitions()
    known = {task: defined[task].rows for task in counts}
    known["metaclue_vqa"] = PAPER["metaphor"]  # images; their questions depend on the annotations
    assert {task: known[task] for task, count in counts.items() if isinstance(count, int)} == {
        task: count for task, count in counts.items() if isinstance(count, int)
    }
    assert {task for task, count in counts.items() if isinstance(count, str)} == {
        *("flute", "flute_v1", "metaclue_generate"),
        *(task for task in defined if re.match(r"irfl_random\d_", task) and figures_of_task(task)),
    }


USER_ROWS = RunConditions(723, has_user_rows=True)


@pytest.mark.parametrize(
    ("task", "metrics", "runs", "kept", "told"),
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
            "of 723 released rows, a run has 723 rows of your own",
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
    ],
)
def test_figures_stand_beside_runs_of_their_rows_and_scorer(
    task: str, metrics: list[str], runs: list[RunConditions], kept: list[str], told: str
) -> None:
    shown, line = comparable_metrics(task, metrics, runs)
    assert (shown, bool(line)) == (kept, bool(told))
    assert re.search(told if ".*" in told else re.escape(told), line) and "\n" not in line


# --- the table ---


def test_figures_have_the_digits_of_the_paper_and_a_scope_has_a_line_of_its_own() -> None:
    found = {
        label: figures["f1@0"].text()
        for label, _, figures in table_lines("vflute_label", ["acc", "f1@0", "f1@53"])
    }
    trained = {
        "fine-tuned, prediction only": "80.85",
        "fine-tuned, multi-task with explanations": "83.26",
    }
    assert found == {"Random Baseline": "49.82", **trained}
    drawn = [
        of["fid"].text()
        for _, _, of in table_lines("metaclue_generate", ["clip_similarity", "fid"])
    ]
    assert drawn == ["153.1", "161.6", "154.3"]  # as it is: no share
    kinds = ("paraphrase_sarcasm", "simile", "metaphor")
    of_kinds = table_lines("flute_v1", [f"acc@{t}_{kind}" for t in (0, 50, 60) for kind in kinds])
    assert [(scope, list(of), of["acc@0"].text()) for _, scope, of in of_kinds] == [
        (kind, ["acc@0", "acc@50", "acc@60"], text)
        for kind, text in zip(kinds, ("81.8", "59.6", "76.0"), strict=True)
    ]
    (interval,) = {
        p.text()
        for p in figures_of_task("irfl_random4_idiom_figurative_literal_phrase_only")
        if p.is_in_short_table
    }
    assert interval == "65.0-78.0"


@given(st.integers(0, 10_000))
def test_percent_is_exact(hundredths: int) -> None:
    figure = PublishedFigure("P", "1", "M", "acc", "zero-shot", "s", value=hundredths / 10_000)
    assert figure.text(2) == f"{hundredths // 100}.{hundredths % 100:02d}"
    assert figure.text() in (figure.text(2), figure.text(2).removesuffix("0"))


# --- the data files ---


@pytest.mark.parametrize("name", PRINTED)
def test_figures_are_those_of_the_papers_tables(name: str) -> None:
    found: dict[str, dict[str, list[Any]]] = {}
    for record in content(name)["records"]:
        task = record["task"] if isinstance(record["task"], str) else record["task"][0]
        scale = 100 if measures.measure_of(record["metric"]).percent else 1
        numbers = [
            round(scale * record[n], 4) for n in ("value", "low", "high", "std") if n in record
        ]
        columns = found.setdefault(record["table"], {})
        columns.setdefault(f"{task} {record['metric']}", []).append([record["model"], *numbers])
    assert found == PRINTED[name]
