"""If these fail, a text of a run leaves its place in the report's file, or a number is lost on the
way into it.

That nothing of it runs, and that its policy stops scripts, is asked of Chromium (test_browser.py).
"""

from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas as pd
import pytest
from report_runs import lines_of, run_of, write_run

from figlang_tasks.report import page
from figlang_tasks.report.charts import Chart
from figlang_tasks.report.gallery import Gallery, build
from figlang_tasks.report.sections import Group, Section, Table
from figlang_tasks.results.runs import read
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring import OVERALL, evaluate, to_json


class Parsed(HTMLParser):
    """Elements with attributes, and the text within each script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] == "script":
            self.scripts[-1] += data


def text_of(
    run: Run, *sections: Section, title: str = "A report", gallery: Gallery | None = None
) -> str:
    shown = build([run], pictures=False) if gallery is None else gallery
    groups = [Group("all", "All", sections)] if sections else []
    return page.render([run], groups, shown, title).content.decode("utf-8")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_of(tmp_path_factory.mktemp("runs") / "run", "figlang_mini", count=4)


def test_what_the_script_of_the_page_reads_comes_back_and_cannot_end_its_block(run: Run) -> None:
    facts: Any = {
        "text": "</script><!-- &amp; \u2028\u2029 \ud83e",
        "of": [None, True, 2**70, {"of": [0.1, math.inf]}, math.nan],
    }
    parsed = Parsed(text_of(run, gallery=Gallery([facts], [], [])))
    assert len(parsed.scripts) == 2 and not re.search("[<>&\u2028\u2029]", parsed.scripts[0])
    finite = facts | {"of": [None, True, 2**70, {"of": [0.1, None]}, None]}
    assert json.loads(parsed.scripts[0])["cards"] == [finite]


def test_the_data_and_the_drawing_of_a_chart_come_back(run: Run) -> None:
    named = '"50 %" &amp; #1 é var(--no) currentColor'  # a run may have any name
    svg = f"<svg><text>{named}</text></svg>"
    made = Chart("some-chart", "t", svg, 'a,"b"\n#1 % ü&<', False, svg)
    text = text_of(run, Section("one", "t", "", charts=(made,)))
    links = {
        str(each["download"]): str(each["href"])
        for _, each in Parsed(text).elements
        if "download" in each
    }
    for name, kind, content in (("csv", "text/csv", made.csv), ("svg", "image/svg+xml", svg)):
        head, _, found = links[f"some-chart.{name}"].partition(",")
        assert head == f"data:{kind};charset=utf-8" and unquote(found) == content


def test_a_cell_is_a_text_in_its_whole_length(run: Run) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    table = Table("t", pd.DataFrame({"model": [evil], "f1": ["1.0 [0.5, 1.5]"], evil: ["y" * 500]}))
    text = text_of(run, Section("one", "t", "", tables=(table,)))
    assert "<script>alert" not in text and "onerror=alert(2)&gt;" in text
    assert "1.0 [0.5,\u00a01.5]" in text and "y" * 500 in text
    # The policy allows none
    assert not any("style" in attributes for _, attributes in Parsed(text).elements)


def test_the_head_of_a_column_says_what_its_metric_means_and_nothing_in_it_is_markup(
    run: Run,
) -> None:
    tooltips = {"f1 <b> ↑": 'Share of "right" <i>answers</i>.', "n": "Rows."}
    shown = pd.DataFrame(
        {"model": ["<th>n</th>"], "n": ["4"], "f1 <b> ↑": ["1.0"], "acc ↑": ["1.0"]}
    )
    text = text_of(run, Section("one", "t", "", tables=(Table("t", shown, tooltips=tooltips),)))
    heads = [attributes for element, attributes in Parsed(text).elements if element == "th"]
    assert [head.get("title") for head in heads] == [
        None,
        "Rows.",
        *list(tooltips.values())[:1],
        None,
        None,
    ]


def test_a_cut_run_is_told_at_the_top(tmp_path: Path, run: Run) -> None:
    lines = {"figlang_mini": lines_of("figlang_mini", 8)}
    counts = {"figlang_mini": {"original": 76, "effective": 8}}
    cut = read(str(write_run(tmp_path / "cut", lines, {"limit": 8.0}, **{"n-samples": counts})))
    assert "Not a whole run." in text_of(cut) and "limit 8" in text_of(cut)
    assert "Not a whole run." not in text_of(run)


def test_results_that_the_samples_contradict_are_told_at_the_top(tmp_path: Path) -> None:
    lines = lines_of("figlang_mini", 8)
    right = sum(line["acc"] for line in lines) / 8
    alone = read(str(write_run(tmp_path / "alone", {"figlang_mini": lines}))).tasks["figlang_mini"]
    estimates = alone.compute_from_records(lambda measures, records: evaluate(records, measures))
    for name, acc in (("wrong", right + 0.125), ("right", right)):
        of_acc = {**estimates["acc"], OVERALL: estimates["acc"][OVERALL]._replace(value=acc)}
        configs = {
            "figlang_mini": {"metadata": {"measures": to_json({**estimates, "acc": of_acc})}}
        }
        run = read(str(write_run(tmp_path / name, {"figlang_mini": lines}, configs=configs)))
        made = page.render([run], [], Gallery([], [], []), "A title")
        told = f"{name}, results of figlang_mini: acc {acc:.6f} (its samples: {right:.6f})"
        assert [each.partition(": are these")[0] for each in made.notices] == (
            [told] if name == "wrong" else []
        )
        assert (f"contradict each other.</strong> {told}" in made.content.decode()) == (
            name == "wrong"
        )
