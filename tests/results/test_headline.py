"""Which metric stands for a task: declared once, the same in tables, comparisons, reports and model cards."""

from __future__ import annotations

import csv
import re
from dataclasses import replace

import pytest
import varied_runs

from figlang_tasks.cli.summary import summary_table
from figlang_tasks.report.sections.overview import overview
from figlang_tasks.report.sections.results import by_task
from figlang_tasks.report.verdict import headline
from figlang_tasks.results import comparison, measures, runs
from figlang_tasks.submit import model_card

HEADLINES = {
    "figlang_mini": "f1@60",
    "figlang_mini_flute": "acc@60",
    "figlang_mini_irfl_retrieve_metaphor": "p@k",
    "figlang_mini_nykms_metaphor": "mc_macro_f1",
}


@pytest.mark.slow
def test_one_metric_stands_for_a_task_everywhere() -> None:
    whole = [runs.read(f"weak={varied_runs.weak()}"), runs.read(f"strong={varied_runs.strong()}")]
    pair = [replace(run, tasks={task: run.tasks[task] for task in HEADLINES}) for run in whole]
    for every in (False, True):
        differences = comparison.compare(pair, overall=True, resamples=100, every=every)
        pairs = {task: [each for each in differences if each.task == task] for task in HEADLINES}
        assert {task: headline(own).metric for task, own in pairs.items()} == HEADLINES

    card = model_card.section(pair[:1])
    bold = {part.partition("`")[0]: re.findall(r"\*\*(.+?) [↑↓]\*\*", part) for part in card.split("### `")[1:]}
    assert bold == {task: [name] for task, name in HEADLINES.items()}

    shown = overview(pair, by_task(pair), [])
    assert shown is not None
    drawn = {row["category"].partition(" ")[::2] for row in csv.DictReader(shown.charts[0].csv.splitlines())}
    assert len(drawn) == len(HEADLINES)
    for short, name in drawn:
        assert name in {of for task, of in HEADLINES.items() if task.endswith(short)}

    results = {
        **pair[0].results,
        "group_subtasks": {"group": list(HEADLINES)},
    }  # wide: of each task its headline metric
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in summary_table(results).splitlines()]
    for task, name in HEADLINES.items():
        (row,) = [row for row in rows if row[:1] == [task]]
        filled = [head.partition(" ")[0] for head, cell in zip(rows[0], row, strict=True) if cell]  # without arrows
        assert [head for head in filled if head in HEADLINES.values()] == [name], task


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["f1@0", "f1@53", "f1@60", "acc", "parse_rate"], "f1@60"),
        (["f1@0", "acc", "parse_rate"], "f1@0"),  # explanations were not scored
        (["parse_rate", "acc"], "acc"),
        (["bleu4", "rouge_l", "explained@0", "explained@60"], "bleu4"),  # NYCC: those of thresholds are no paper's
        (["parse_rate", "of my own"], "of my own"),
        ([], ""),
    ],
)
def test_the_headline_of_what_has_a_value(names: list[str], expected: str) -> None:
    assert measures.headline(names) == expected
