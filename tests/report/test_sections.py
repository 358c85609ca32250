"""If these fail, a table or chart of a report has a number that its runs do not have.

Or it says the number of something else.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import demo_runs
import pytest
import saved_runs

from figlang_tasks.report import sections
from figlang_tasks.report.charts import Chart
from figlang_tasks.report.charts.forest import BETTER, WORSE
from figlang_tasks.report.difference import p_text
from figlang_tasks.report.sections import Group, Section, Table
from figlang_tasks.report.sections.differences import compare_pairs
from figlang_tasks.results import comparison, runs
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring import Estimate
from figlang_tasks.scoring.readings import READ_BY

HOSTILE = '</td><script>alert("$1$")</script>'
NOT_NEEDED = re.compile("flute$|random4|caption|swap|vqa|_mw$")


@cache
def weak_and_strong() -> list[Run]:
    """A weak and a strong model on tasks of each dataset."""
    both = runs.read_all([f"{HOSTILE}={demo_runs.weak_run()}", f"strong={demo_runs.strong_run()}"])
    tasks = [task for task in both[0].tasks if not NOT_NEEDED.search(task)]
    return [with_tasks(run, *tasks) for run in both]


def with_tasks(run: Run, *tasks: str) -> Run:
    """The run with these tasks alone."""
    return replace(run, tasks={task: run.tasks[task] for task in tasks})


@cache
def report() -> list[Group]:
    """The report of both runs."""
    return sections.build(weak_and_strong())


@cache
def report_beside_papers() -> list[Group]:
    """The report of a run with as many rows as published figures are of, but for one task."""
    strong = weak_and_strong()[1]
    tasks = {}
    for name, mini_task, count in (
        ("vflute", "figlang_mini", 723),
        ("irfl_match_simile", "mini_irfl_match_simile", 277),
        ("irfl_detect_idiom", "figlang_mini_irfl_detect_idiom", 12),
    ):
        task_run = strong.tasks[mini_task]
        samples = []
        for number, sample in zip(range(count), cycle(task_run.samples), strict=False):
            record = {**sample["sample"], "id": f"x-{number}", "row": f"x-{number}"}
            samples.append({**sample, "sample": record})
        signature = "vflute25|bertscore:..." if name == "vflute" else None
        tasks[name] = replace(task_run, task=name, samples=tuple(samples), signature=signature)
    return sections.build([replace(strong, name="ours", tasks=tasks)])


# --- parts of a report ---


def all_sections(groups: Sequence[Group]) -> list[Section]:
    """The sections of all groups, in the order of the page."""
    sections_of_page: list[Section] = []
    for group in groups:
        sections_of_page += group.sections
    return sections_of_page


def rows_of_charts(charts: Sequence[Chart]) -> list[dict[str, str]]:
    """The data of several charts, a dictionary for each line."""
    rows: list[dict[str, str]] = []
    for chart in charts:
        rows += csv_rows(chart)
    return rows


def section_of(groups: Sequence[Group], id_end: str) -> Section:
    """The sections of one kind, of all datasets, as one."""
    first, *others = [section for section in all_sections(groups) if section.id.endswith(id_end)]
    joined = first
    for section in others:
        joined = replace(
            joined,
            tables=joined.tables + section.tables,
            charts=joined.charts + section.charts,
            notes=joined.notes + section.notes,
        )
    return joined


def chart_of(groups: Sequence[Group], title: str) -> Chart:
    """The first chart with these words in its title."""
    for section in all_sections(groups):
        for chart in section.charts:
            if title in chart.title:
                return chart
    raise AssertionError(f"no chart {title}")


def csv_rows(chart: Chart) -> list[dict[str, str]]:
    """The data of a chart, a dictionary for each line."""
    return list(csv.DictReader(io.StringIO(chart.csv, newline="")))


def shares(row: Mapping[str, str], value: str = "value") -> list[float]:
    """Value and interval of a line of a chart's data, as shares; NaN for what is not there."""
    return [float(row[name] or "nan") / 100 for name in (value, "low", "high")]


def table_of(section: Section, caption: str) -> Table:
    """The one table of a section with this caption."""
    (table,) = (table for table in section.tables if table.caption == caption)
    return table


def without_arrows(table: Table) -> Any:
    """The cells of a table, without arrows in its head."""
    return table.cells.rename(columns=lambda name: re.sub(" [↑↓]$", "", name))


# --- tests ---


def test_all_that_belongs_to_a_dataset_stands_together() -> None:
    assert [group.title for group in report()] == [
        "Overview",
        "figlang_mini_flute",
        "figlang_mini_irfl",
        "figlang_mini_metaclue",
        "figlang_mini_nykms",
        "figlang_mini (V-FLUTE)",
        "Differences between runs",
        "Parsing",
    ]


def test_ids_are_unique_and_nothing_is_empty() -> None:
    ids = []
    for section in all_sections(report()):
        ids += [section.id, *(chart.id for chart in section.charts)]
        assert section.title
        assert section.tables or section.charts or section.notes
        assert all(map(csv_rows, section.charts))
        for table in section.tables:
            assert table.cells.size
            is_text = table.cells.map(lambda cell: isinstance(cell, str))
            assert is_text.all(axis=None), table.caption
    assert len(ids) == len(set(ids))


def test_the_overview_has_the_main_metric_of_each_task_beside_what_was_published() -> None:
    rows = csv_rows(chart_of(report(), "main metric of each task"))
    f1_rows = [row for row in rows if row["category"] == "figlang_mini f1@60"]
    (row,) = (row for row in f1_rows if row["name"] == "strong")
    reported = weak_and_strong()[1].tasks["figlang_mini"].reported
    assert shares(row) == pytest.approx(reported["f1@60"]["all"][:3])

    rows = csv_rows(chart_of(report_beside_papers(), "main metric"))
    references = {row["name"]: row for row in rows if row["kind"] != "run"}
    gpt = references["GPT-4o, zero-shot"]
    assert (gpt["category"], gpt["value"]) == ("vflute f1@60", "37.2")
    assert "Random Baseline" not in references  # chance has no f1@60
    assert references["Humans"]["kind"] == "published people"


def test_the_table_of_metrics_has_the_reported_values_in_percent() -> None:
    table = table_of(section_of(report(), "-numbers"), "figlang_mini")
    reported = weak_and_strong()[1].tasks["figlang_mini"].reported
    value, low, high = (100 * (number or 0) for number in reported["f1@60"]["all"][:3])
    cells = without_arrows(table).set_index(["run", "source"])
    assert cells.loc[("strong", "all"), "f1@60"] == f"{value:.1f} [{low:.1f}, {high:.1f}]"
    assert cells.loc[(HOSTILE, "all"), "n"] == "76"
    assert "Explanation scorer: embedded" in table.note
    muse = 100 * reported["f1@53"]["muse"].value
    assert cells.loc[("strong", "MuSE"), "f1@53"].startswith(f"{muse:.1f} [")
    assert "NYCartoons is all entailment" in table.note
    assert (
        table.tooltips["f1@60 ↑"]
        == "Macro F1, with a label counted as right only if its explanation scores above 0.6."
        " (V-FLUTE, arXiv 2405.01474, section 4.2 and Table 4)"
    )
    assert table.tooltips.keys() <= set(table.cells.columns)


def test_a_metric_that_only_a_later_run_has_is_in_the_table_of_metrics() -> None:
    """As where `figlang judge read` was run on a later run alone."""
    task = "figlang_mini_irfl_detect_idiom"
    not_judged, strong = [with_tasks(run, task) for run in weak_and_strong()]
    samples = []
    for sample in strong.tasks[task].samples:
        samples.append({**sample, "sample": {**sample["sample"], READ_BY: None}})
    # Without reported values, those of the samples are shown.
    task_run = replace(strong.tasks[task], samples=tuple(samples), reported={})
    judged = replace(strong, tasks={task: task_run})

    table = table_of(section_of(sections.build([not_judged, judged]), "-numbers"), task)
    cells = without_arrows(table).groupby("run").first()  # the line of all rows
    assert cells.loc[HOSTILE, "acc_read_by_model"] == ""
    assert cells.loc["strong", "acc_read_by_model"] == cells.loc["strong", "acc"] != ""
    assert "A language model read the answers" in table.tooltips["acc_read_by_model ↑"]


def test_what_failed_is_told() -> None:
    task_run = weak_and_strong()[1].tasks["figlang_mini"]
    failed = {"all": Estimate(math.nan)}
    task_run = replace(task_run, reported={**task_run.reported, "acc": failed})
    run = Run("one", Path(), {task_run.task: task_run}, {})
    groups = sections.build([run])
    cells = without_arrows(section_of(groups, "-numbers").tables[0])
    assert cells["acc"][0] == "failed, see the log" != cells["f1@0"][0]
    empty, unread = section_of(groups, "overview-tasks").notes
    assert empty.startswith("one, figlang_mini: 6 of 76 answers are empty (")
    assert unread.startswith("one, figlang_mini: The score is a lower bound: ")
    assert unread.endswith(". `figlang judge read .` has a language model read them.")


def test_what_papers_published_stands_below() -> None:
    section = section_of(report_beside_papers(), "-numbers")
    vflute = table_of(section, "vflute")
    gpt = without_arrows(vflute).set_index("run").loc["GPT-4o, zero-shot (published)"]
    assert [gpt[f"f1@{t}"] for t in (0, 53, 60)] == ["75.41", "60.97", "37.20"]  # Table 18
    assert "Published, not measured here: " in vflute.note
    assert "arXiv 2405.01474" in vflute.note
    reason = (
        r"irfl_detect_idiom: published figures are left out: they are for 200 released rows; a run"
        r" has 12 rows"
    )
    notes = [table.note for table in section.tables]
    assert any(re.search(reason, note) for note in notes), notes


def test_curves_have_the_values_of_the_metrics_and_the_interval_of_all_rows() -> None:
    reported = weak_and_strong()[1].tasks["figlang_mini"].reported
    rows = csv_rows(chart_of(report(), "figlang_mini: f1@t"))
    curves = {}
    for row in rows:
        if row["run"] == "strong":
            curves[row["panel"], row["threshold t"]] = shares(row, "f1@t (percent)")
    for metric, threshold in (("f1@53", "0.53"), ("f1@60", "0.6")):
        assert curves["all", threshold] == pytest.approx(reported[metric]["all"][:3])
        muse = [reported[metric]["muse"].value, math.nan, math.nan]
        assert curves["MuSE", threshold] == pytest.approx(muse, nan_ok=True)


def test_charts_by_source_have_the_values_of_the_metrics() -> None:
    reported = weak_and_strong()[1].tasks["figlang_mini"].reported
    rows = csv_rows(chart_of(report(), "figlang_mini: f1 by source"))
    (row,) = (row for row in rows if [*row.values()][:4] == ["f1@53", "MuSE", "run", "strong"])
    assert shares(row) == pytest.approx(reported["f1@53"]["muse"][:3])
    panels = {row["panel"] for row in csv_rows(chart_of(report(), "mini_flute_v1: acc by"))}
    assert panels == {"acc@0", "acc@50", "acc@60"}


def test_runs_without_scores_are_named(tmp_path: Path) -> None:
    run = saved_runs.saved_run(tmp_path / "run", "figlang_mini", count=12, name="bare")
    groups = sections.build([run])
    explanations = section_of(groups, "-explanations")
    # Of labels alone
    assert [chart.title for chart in explanations.charts] == ["figlang_mini: f1 by source"]
    assert {row["panel"] for row in csv_rows(explanations.charts[0])} == {"f1@0"}
    assert explanations.notes == (
        "figlang_mini: explanations of bare are not scored (figlang score adds scores).",
    )
    unread, unreported = section_of(groups, "overview-tasks").notes
    assert unreported == "bare: no reported metrics; values are from the samples."
    assert "`figlang judge read RUN`" in unread, "others must not read a folder of this machine"
    records = run.tasks["figlang_mini"].records
    hits = sum(record["predicted"] == record["gold"] for record in records)
    accuracy = without_arrows(section_of(groups, "-numbers").tables[0])["acc"][0]
    assert accuracy.startswith(f"{100 * hits / 12:.1f} [")


def test_choices_are_shown_by_class_of_idiom() -> None:
    strong = weak_and_strong()[1]
    reported = strong.tasks["figlang_mini_irfl_detect_idiom"].reported
    rows = csv_rows(chart_of(report(), "accuracy (detect)"))
    strong_rows: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows:
        if row["name"] == "strong":
            strong_rows[row["panel"], row["category"]] = row
    accuracy_of_both_classes = shares(strong_rows["detect", "idiom, figurative + literal"])
    assert accuracy_of_both_classes == pytest.approx(reported["acc"]["figurative_literal"][:3])
    assert ("detect circular", "idiom") in strong_rows
    assert {row["value"] for row in rows if row["kind"] == "chance"} == {"25.0"}


def test_a_ranking_without_a_complete_row_has_no_chart() -> None:
    strong = weak_and_strong()[1]
    retrieval = strong.tasks["figlang_mini_irfl_retrieve_metaphor"]
    partial = replace(retrieval, samples=retrieval.samples[:2])
    groups = sections.build([replace(strong, tasks={retrieval.task: partial})])
    assert [section.id for section in all_sections(groups)] == [
        "overview-tasks",
        "figlang-mini-irfl-numbers",
        "parsing-outcomes",
    ]


def test_pairs_of_images_are_shown_by_their_order() -> None:
    rows = csv_rows(chart_of(report(), "order of the images"))
    assert {row["category"] for row in rows} == {"figurative over source", "source over target"}


def test_differences_and_adjusted_p_are_those_of_the_comparison_and_of_the_verdict() -> None:
    charts = section_of(report(), "differences-pairs").charts
    rows = rows_of_charts(charts)
    tested = [row for row in rows if row["p_randomization"]]
    untested_metrics = {row["metric"] for row in rows if row not in tested}
    assert untested_metrics == {"mAP50_primary"}, "average precision has no test"

    (row,) = (row for row in rows if (row["task"], row["metric"]) == ("figlang_mini", "f1@60"))
    (expected,) = comparison.compare(
        weak_and_strong(), ["f1@60"], tasks=["figlang_mini"], only_overall=True
    )
    assert float(row["difference"]) == expected.difference
    assert float(row["p_randomization"]) == expected.p_randomization
    assert (row["baseline"], row["candidate"]) == (HOSTILE, "strong")
    svg = chart_of(report(), "(V-FLUTE): strong against").svg
    assert BETTER in svg and WORSE not in svg

    # The page begins with the verdicts.
    verdicts = report()[0].sections[0].verdicts
    (verdict,) = (sentence for sentence in verdicts if "on figlang_mini: " in sentence)
    assert verdict.startswith(f"strong is better than {HOSTILE} on figlang_mini: f1@60 +")
    p = p_text(float(row["p_holm"]))
    assert verdict.endswith(f"], p {p} (adjusted for {len(tested)} tests)")


def test_runs_that_the_user_gave_one_name_are_repeats() -> None:
    four = [*weak_and_strong(), *weak_and_strong()]
    copies = [replace(run, name=f"copy {number}") for number, run in enumerate(four)]
    differences, _ = compare_pairs(copies, ["figlang_mini"])
    pairs = [(difference.baseline, difference.candidate) for difference in differences]
    assert pairs == [(HOSTILE, "strong")]


@pytest.mark.slow
def test_a_partial_run_is_shown_beside_whole_ones_and_stops_no_other_comparison() -> None:
    whole = [with_tasks(run, "figlang_mini", "mini_flute_v1") for run in weak_and_strong()]
    task_run = whole[0].tasks["figlang_mini"]
    vismet = [item for item in task_run.samples if item["sample"]["report_group"] == "vismet"]
    partial = replace(
        whole[0],
        name="partial",
        given_name=None,
        tasks={"figlang_mini": replace(task_run, samples=tuple(vismet))},
    )
    groups = sections.build([*whole, partial])
    curves = csv_rows(chart_of(groups, "figlang_mini: f1@t"))
    panels = {row["panel"] for row in curves if row["run"] == "partial"}
    assert panels == {"all", "HAIVMet (vismet)"}

    section = section_of(groups, "differences-pairs")
    compared = rows_of_charts(section.charts)
    assert any(row["task"] == "figlang_mini" for row in compared)
    assert not any("partial" in (row["baseline"], row["candidate"]) for row in compared)
    assert len(section.notes) == 2
    assert all("were not evaluated on the same rows" in note for note in section.notes)


def test_statuses_and_rules_of_readings_add_up_to_the_rows() -> None:
    (table,) = section_of(report(), "parsing-outcomes").tables
    records = weak_and_strong()[1].tasks["figlang_mini"].records
    statuses = Counter(record["status"].replace("_", " ") for record in records)
    rules = Counter(record["rule"] for record in records if record["status"] == "read")

    is_strong = table.cells["task"].eq("figlang_mini") & table.cells["run"].eq("strong")
    row = table.cells[is_strong].iloc[0].to_dict()
    assert (row.pop("task"), row.pop("run")) == ("figlang_mini", "strong")
    rule_counts = dict(rule.rsplit(" ", 1) for rule in row.pop("rules").split(", "))
    assert rule_counts == {rule: str(count) for rule, count in rules.items()}
    status_counts = {status: count for status, count in row.items() if count}
    assert status_counts == {status: str(count) for status, count in statuses.items()}
    assert next(iter(row)) == "read"
