"""If these fail, a text of a run leaves its place in the report's file, or a number is lost there.

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
from saved_runs import sample_lines, saved_run, write_run

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
        """Parse a text."""
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


def html_of(
    run: Run, *sections: Section, title: str = "A report", gallery: Gallery | None = None
) -> str:
    """The report of a run with these sections and this gallery, by default that of the run."""
    if gallery is None:
        gallery = build([run], with_pictures=False)
    groups = [Group("all", "All", sections)] if sections else []
    return page.render([run], groups, gallery, title).content.decode("utf-8")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return saved_run(tmp_path_factory.mktemp("runs") / "run", "figlang_mini", count=4)


def test_what_the_script_of_the_page_reads_comes_back_and_cannot_end_its_block(run: Run) -> None:
    card: Any = {
        "text": "</script><!-- &amp; \u2028\u2029 \ud83e",
        "values": [None, True, 2**70, {"values": [0.1, math.inf]}, math.nan],
    }
    parsed = Parsed(html_of(run, gallery=Gallery([card], [], [])))
    assert len(parsed.scripts) == 2
    assert not re.search("[<>&\u2028\u2029]", parsed.scripts[0])
    finite = {**card, "values": [None, True, 2**70, {"values": [0.1, None]}, None]}
    assert json.loads(parsed.scripts[0])["cards"] == [finite]


def test_the_data_and_the_drawing_of_a_chart_come_back(run: Run) -> None:
    run_name = '"50 %" &amp; #1 é var(--no) currentColor'  # a run may have any name
    svg = f"<svg><text>{run_name}</text></svg>"
    chart = Chart("some-chart", "t", svg, svg, 'a,"b"\n#1 % ü&<')
    html = html_of(run, Section(id="one", title="t", charts=(chart,)))
    links = {}
    for _, attributes in Parsed(html).elements:
        if "download" in attributes:
            links[str(attributes["download"])] = str(attributes["href"])
    for ending, media_type, content in (
        ("csv", "text/csv", chart.csv),
        ("svg", "image/svg+xml", svg),
    ):
        head, _, data = links[f"some-chart.{ending}"].partition(",")
        assert head == f"data:{media_type};charset=utf-8"
        assert unquote(data) == content


def test_a_cell_is_a_text_in_its_whole_length(run: Run) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    cells = pd.DataFrame({"model": [evil], "f1": ["1.0 [0.5, 1.5]"], evil: ["y" * 500]})
    html = html_of(run, Section(id="one", title="t", tables=(Table("t", cells),)))
    assert "<script>alert" not in html
    assert "onerror=alert(2)&gt;" in html
    assert "1.0 [0.5,\u00a01.5]" in html
    assert "y" * 500 in html
    # The policy allows none
    assert not any("style" in attributes for _, attributes in Parsed(html).elements)


def test_the_head_of_a_column_says_what_its_metric_means_and_nothing_in_it_is_markup(
    run: Run,
) -> None:
    meaning = 'Share of "right" <i>answers</i>.'
    tooltips = {"f1 <b> ↑": meaning, "n": "Rows."}
    cells = pd.DataFrame(
        {"model": ["<th>n</th>"], "n": ["4"], "f1 <b> ↑": ["1.0"], "acc ↑": ["1.0"]}
    )
    table = Table("t", cells, tooltips=tooltips)
    html = html_of(run, Section(id="one", title="t", tables=(table,)))
    heads = [attributes for element, attributes in Parsed(html).elements if element == "th"]
    assert [head.get("title") for head in heads] == [None, "Rows.", meaning, None, None]


def test_a_partial_run_is_told_at_the_top(tmp_path: Path, run: Run) -> None:
    samples = {"figlang_mini": sample_lines("figlang_mini", 8)}
    counts = {"figlang_mini": {"original": 76, "effective": 8}}
    folder = write_run(tmp_path / "partial", samples, {"limit": 8.0}, **{"n-samples": counts})
    html = html_of(read(str(folder)))
    assert "Not a whole run." in html and "limit 8" in html
    assert "Not a whole run." not in html_of(run)


@pytest.mark.parametrize("excess", [0.125, 0.0])
def test_results_that_the_samples_contradict_are_told_at_the_top(
    excess: float, tmp_path: Path
) -> None:
    samples = {"figlang_mini": sample_lines("figlang_mini", 8)}
    accuracy = sum(sample["acc"] for sample in samples["figlang_mini"]) / 8
    task_run = read(str(write_run(tmp_path / "plain", samples))).tasks["figlang_mini"]
    estimates = evaluate(task_run.records, task_run.measures)
    overall = estimates["acc"][OVERALL]._replace(value=accuracy + excess)
    reported = {**estimates, "acc": {**estimates["acc"], OVERALL: overall}}
    configs = {"figlang_mini": {"metadata": {"measures": to_json(reported)}}}
    run = read(str(write_run(tmp_path / "run", samples, configs=configs)))

    report = page.render([run], [], Gallery([], [], []), "A title")
    warning = (
        f"run, results of figlang_mini: acc {accuracy + excess:.6f} (its samples: {accuracy:.6f})"
    )
    warnings = [text.partition(": are these")[0] for text in report.warnings]
    assert warnings == ([warning] if excess else [])
    html = report.content.decode()
    assert (f"contradict each other.</strong> {warning}" in html) == bool(excess)
