"""If these fail, a table or chart of a report has a number that its runs do not have, or says it of
something else.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import report_runs
import varied_runs

from figlang_tasks.report import charts, sections
from figlang_tasks.report.charts import Chart
from figlang_tasks.report.sections import Group, Section, Table
from figlang_tasks.report.sections.differences import compared
from figlang_tasks.report.verdict import p_text
from figlang_tasks.results import comparison, runs
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring import Estimate

HOSTILE = '</td><script>alert("$1$")</script>'


@lru_cache(maxsize=1)
def two() -> list[Run]:
    """A weak and a strong model on tasks of each dataset."""
    both = runs.read_all([f"{HOSTILE}={varied_runs.weak()}", f"strong={varied_runs.strong()}"])
    drawn = [
        task
        for task in both[0].tasks
        if not re.search("flute$|random4|caption|swap|vqa|_mw$", task)
    ]
    return [replace(run, tasks={task: run.tasks[task] for task in drawn}) for run in both]


@lru_cache(maxsize=1)
def report() -> list[Group]:
    return sections.build(two())


def every(found: Sequence[Group]) -> list[Section]:
    return [section for group in found for section in group.sections]


def section(found: Sequence[Group], of: str) -> Section:
    """The sections of one kind, of all datasets, as one."""
    own = [each for each in every(found) if each.id.endswith(of)]
    return replace(
        own[0],
        tables=tuple(table for each in own for table in each.tables),
        charts=tuple(chart for each in own for chart in each.charts),
        notes=tuple(note for each in own for note in each.notes),
    )


def chart(found: Sequence[Group], title: str) -> Chart:
    return next(each for part in every(found) for each in part.charts if title in each.title)


def data(of: Chart) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(of.csv, newline="")))


def ends_of(row: Mapping[str, str], value: str = "value") -> list[float]:
    """Value and interval of a line of a chart's data, as shares; NaN for what is not there."""
    return [float(row[name] or "nan") / 100 for name in (value, "low", "high")]


def table(of: Section, caption: str) -> Table:
    return next(each for each in of.tables if caption == each.caption)


def unmarked(of: Table) -> Any:
    """The table without arrows in its head."""
    return of.shown.rename(columns=lambda name: re.sub(" [↑↓]$", "", name))


def test_all_that_belongs_to_a_dataset_stands_together() -> None:
    assert [group.title for group in report()] == [
        *(
            "Overview",
            "figlang_mini_flute",
            "figlang_mini_irfl",
            "figlang_mini_metaclue",
            "figlang_mini_nykms",
        ),
        *("figlang_mini (V-FLUTE)", "Differences between runs", "Parsing"),
    ]
    ids = [
        each for part in every(report()) for each in (part.id, *(drawn.id for drawn in part.charts))
    ]
    assert len(ids) == len(set(ids))
    for part in every(report()):
        assert (
            part.title
            and (part.tables or part.charts or part.notes)
            and all(map(data, part.charts))
        )
        for each in part.tables:
            assert each.shown.size and each.shown.map(lambda cell: isinstance(cell, str)).all(
                axis=None
            ), each.caption


def test_the_overview_has_the_main_metric_of_each_task_beside_what_was_published() -> None:
    drawn = data(chart(report(), "main metric of each task"))
    (row,) = [
        row for row in drawn if (row["category"], row["name"]) == ("figlang_mini f1@60", "strong")
    ]
    assert ends_of(row) == pytest.approx(
        two()[1].tasks["figlang_mini"].reported["f1@60"]["all"][:3]
    )
    beside = {
        row["name"]: row
        for row in data(chart(beside_papers(), "main metric"))
        if row["kind"] != "run"
    }
    gpt = beside["GPT-4o, zero-shot"]
    assert (gpt["category"], gpt["value"]) == ("vflute f1@60", "37.2")
    # Chance has no f1@60
    assert "Random Baseline" not in beside and beside["Humans"]["kind"] == "published people"


def test_the_summary_has_the_reported_values_in_percent() -> None:
    summary = table(section(report(), "-numbers"), "figlang_mini")
    reported = two()[1].tasks["figlang_mini"].reported
    shown = "{:.1f} [{:.1f}, {:.1f}]".format(
        *(100 * number for number in reported["f1@60"]["all"][:3])  # type: ignore[operator]
    )
    rows = unmarked(summary).set_index(["run", "source"])
    assert rows.loc[("strong", "all"), "f1@60"] == shown
    assert rows.loc[(HOSTILE, "all"), "n"] == "76"
    assert "Explanation scorer: embedded" in summary.note
    muse = 100 * reported["f1@53"]["muse"].value
    assert rows.loc[("strong", "MuSE"), "f1@53"].startswith(f"{muse:.1f} [")
    assert "NYCartoons is all entailment" in summary.note
    assert (
        summary.tooltips["f1@60 ↑"]
        == "Macro F1, with a label counted as right only if its explanation scores above 0.6."
        " (V-FLUTE, arXiv 2405.01474, section 4.2 and Table 4)"
    )
    assert summary.tooltips.keys() <= set(summary.shown.columns)


def test_what_failed_is_told() -> None:
    of = two()[1].tasks["figlang_mini"]
    of = replace(of, reported={**of.reported, "acc": {"all": Estimate(math.nan)}})
    run = Run("one", Path(), {of.task: of}, {})
    summary = section(sections.build([run]), "-numbers")
    shown = unmarked(summary.tables[0])
    assert shown["acc"][0] == "failed, see the log" != shown["f1@0"][0]
    empty, unread = section(sections.build([run]), "overview-tasks").notes
    assert empty.startswith("one, figlang_mini: 6 of 76 answers are empty (")
    assert unread.startswith("one, figlang_mini: The score is a lower bound: ")
    assert unread.endswith(". `figlang judge read .` has a language model read them.")


@lru_cache(maxsize=1)
def beside_papers() -> list[Group]:
    """Of a run of as many rows as have published figures, but for one task."""
    shown = {
        "vflute": ("figlang_mini", 723),
        "irfl_match_simile": ("mini_irfl_match_simile", 277),
        "irfl_detect_idiom": ("figlang_mini_irfl_detect_idiom", 12),
    }
    tasks = {}
    for name, (mini, count) in shown.items():
        of = two()[1].tasks[mini]
        lines = [
            {**line, "sample": line["sample"] | {"id": f"x-{number}", "row": f"x-{number}"}}
            for number, line in zip(range(count), cycle(of.samples), strict=False)
        ]
        signature = "vflute25|bertscore:..." if name == "vflute" else None
        tasks[name] = replace(of, task=name, samples=tuple(lines), signature=signature)
    return sections.build([replace(two()[1], name="ours", tasks=tasks)])


def test_what_papers_published_stands_below() -> None:
    summary = section(beside_papers(), "-numbers")
    vflute = table(summary, "vflute")
    gpt = unmarked(vflute).set_index("run").loc["GPT-4o, zero-shot (published)"]
    assert [gpt[f"f1@{t}"] for t in (0, 53, 60)] == ["75.41", "60.97", "37.20"]  # Table 18
    assert "Published, not measured here: " in vflute.note and "arXiv 2405.01474" in vflute.note
    told = (
        r"irfl_detect_idiom: published figures are left out: they are of 200 released rows, a run"
        r" has 12 rows"
    )
    assert any(re.search(told, each.note) for each in summary.tables), [
        each.note for each in summary.tables
    ]


def test_curves_and_bars_by_source_have_the_values_of_the_metrics_and_the_interval_of_all_rows() -> None:  # fmt: skip  # noqa: E501
    of = two()[1].tasks["figlang_mini"].reported
    drawn = [row for row in data(chart(report(), "figlang_mini: f1@t")) if row["run"] == "strong"]
    curves = {(row["panel"], row["threshold t"]): ends_of(row, "f1@t (percent)") for row in drawn}
    for metric, threshold in (("f1@53", "0.53"), ("f1@60", "0.6")):
        assert curves["all", threshold] == pytest.approx(of[metric]["all"][:3])
        found = [of[metric]["muse"].value, math.nan, math.nan]
        assert curves["MuSE", threshold] == pytest.approx(found, nan_ok=True)
    drawn = data(chart(report(), "figlang_mini: f1 by source"))
    (row,) = [row for row in drawn if [*row.values()][:4] == ["f1@53", "MuSE", "run", "strong"]]
    assert ends_of(row) == pytest.approx(of["f1@53"]["muse"][:3])
    panels = {row["panel"] for row in data(chart(report(), "mini_flute_v1: acc by"))}
    assert panels == {"acc@0", "acc@50", "acc@60"}


def test_runs_without_scores_are_named(tmp_path: Path) -> None:
    run = report_runs.run_of(tmp_path / "run", "figlang_mini", count=12, name="bare")
    built = sections.build([run])
    found = section(built, "-explanations")
    # Of labels alone
    assert [each.title for each in found.charts] == ["figlang_mini: f1 by source"]
    assert {row["panel"] for row in data(found.charts[0])} == {"f1@0"}
    assert found.notes == (
        "figlang_mini: explanations of bare are not scored (figlang score adds scores).",
    )
    unread, unreported = section(built, "overview-tasks").notes
    assert unreported == "bare: no reported metrics; values are from the samples."
    assert "`figlang judge read RUN`" in unread, (
        "a page that others read tells no folder of this machine"
    )
    right = sum(
        line["sample"]["predicted"] == line["sample"]["gold"]
        for line in run.tasks["figlang_mini"].samples
    )
    shown = unmarked(section(built, "-numbers").tables[0])["acc"][0]
    assert shown.startswith(f"{100 * right / 12:.1f} [")


def test_choices_are_shown_by_class_of_idiom_and_pairs_by_order() -> None:
    reported = two()[1].tasks["figlang_mini_irfl_detect_idiom"].reported
    rows = data(chart(report(), "accuracy (detect)"))
    drawn = {(row["panel"], row["category"]): row for row in rows if row["name"] == "strong"}
    of_both = ends_of(drawn["detect", "idiom, figurative + literal"])
    assert of_both == pytest.approx(reported["acc"]["figurative_literal"][:3])
    assert ("detect circular", "idiom") in drawn
    assert {row["value"] for row in rows if row["kind"] == "chance"} == {"25.0"}
    of = two()[1].tasks["figlang_mini_irfl_retrieve_metaphor"]
    # Of no whole row
    cut = sections.build([replace(two()[1], tasks={of.task: replace(of, samples=of.samples[:2])})])
    assert [each.id for each in every(cut)] == [
        "overview-tasks",
        "figlang-mini-irfl-numbers",
        "parsing-outcomes",
    ]
    orders = data(chart(report(), "order of the images"))
    assert {row["category"] for row in orders} == {"figurative over source", "source over target"}


def test_differences_and_adjusted_p_are_those_of_the_comparison_and_of_the_verdict() -> None:
    significance = section(report(), "differences-pairs")
    drawn = [row for each in significance.charts for row in data(each)]
    tested = [row for row in drawn if row["p_randomization"]]
    assert {row["metric"] for row in drawn if row not in tested} == {"mAP50_primary"}, (
        "average precision has no test"
    )
    (row,) = [row for row in drawn if (row["task"], row["metric"]) == ("figlang_mini", "f1@60")]
    (expected,) = comparison.compare(two(), ["f1@60"], tasks=["figlang_mini"], overall=True)
    assert (
        float(row["difference"]) == expected.difference
        and float(row["p_randomization"]) == expected.p_randomization
    )
    assert row["baseline"] == HOSTILE and row["candidate"] == "strong"
    better = next(
        drawn.svg for drawn in significance.charts if "(V-FLUTE): strong against" in drawn.title
    )
    assert charts.BETTER in better and charts.WORSE not in better
    # The page begins so
    (told,) = [line for line in report()[0].sections[0].lines if "on figlang_mini: " in line]
    assert told.startswith(f"strong is better than {HOSTILE} on figlang_mini: f1@60 +")
    assert told.endswith(f"], p {p_text(float(row['p_holm']))} (adjusted for {len(tested)} tests)")
    # Of a name given to two
    copies = [replace(run, name=f"copy {at}") for at, run in enumerate([*two(), *two()])]
    assert [
        (each.baseline, each.candidate) for each in compared(copies, {"figlang_mini": []})[0]
    ] == [(HOSTILE, "strong")]


@pytest.mark.slow
def test_a_cut_run_is_shown_beside_a_whole_one_and_stops_no_other_comparison() -> None:
    tasks = ("figlang_mini", "mini_flute_v1")
    whole = [replace(run, tasks={task: run.tasks[task] for task in tasks}) for run in two()]
    of = two()[0].tasks["figlang_mini"]
    few = tuple(line for line in of.samples if line["sample"]["report_group"] == "vismet")
    cut = replace(
        two()[0], name="cut", given_name=None, tasks={"figlang_mini": replace(of, samples=few)}
    )
    found = sections.build([*whole, cut])
    curves = data(chart(found, "figlang_mini: f1@t"))
    assert {row["panel"] for row in curves if row["run"] == "cut"} == {"all", "HAIVMet (vismet)"}
    compared = [row for drawn in section(found, "differences-pairs").charts for row in data(drawn)]
    assert any(row["task"] == "figlang_mini" for row in compared)
    assert not any("cut" in (row["baseline"], row["candidate"]) for row in compared)
    notes = section(found, "differences-pairs").notes
    assert len(notes) == 2 and all("were not evaluated on the same rows" in note for note in notes)


def test_statuses_and_rules_of_readings_add_up_to_the_rows() -> None:
    (found,) = section(report(), "parsing-outcomes").tables
    records = [line["sample"] for line in two()[1].tasks["figlang_mini"].samples]
    statuses = Counter(record["status"].replace("_", " ") for record in records)
    rules = Counter(record["rule"] for record in records if record["status"] == "read")
    is_shown = found.shown["task"].eq("figlang_mini") & found.shown["run"].eq("strong")
    row = found.shown[is_shown].iloc[0].to_dict()
    assert {row.pop("task"), row.pop("run")} == {"figlang_mini", "strong"}
    shown_rules = dict(rule.rsplit(" ", 1) for rule in row.pop("rules").split(", "))
    assert shown_rules == {rule: str(count) for rule, count in rules.items()}
    assert {name: count for name, count in row.items() if count} == {
        status: str(count) for status, count in statuses.items()
    }
    assert list(row)[0] == "read"
