"""If these fail, a table or chart of a report has a number that its runs do not have, or says it of something else."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import report_runs
import varied_runs
from scipy.stats import binomtest
from sklearn.metrics import f1_score

from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.report import sections
from figlang_tasks.report.charts import Chart
from figlang_tasks.report.sections import Group, Section, Table
from figlang_tasks.results import comparison, measures, runs
from figlang_tasks.results.runs import Run
from figlang_tasks.results.verdict import p_text
from figlang_tasks.scoring import Estimate

HOSTILE = '</td><script>alert("$1$")</script>'


@lru_cache(maxsize=1)
def two() -> list[Run]:
    """A weak and a strong model on one task of each kind."""
    return runs.read_all([f"{HOSTILE}={varied_runs.weak()}", f"strong={varied_runs.strong()}"])


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


def chance(of: Chart) -> dict[tuple[str, str], str]:
    """The levels of chance by panel and category."""
    return {(row["panel"], row["category"]): row["value"] for row in data(of) if row["kind"] == "chance"}


def table(of: Section, caption: str) -> Table:
    return next(each for each in of.tables if caption == each.caption)


def column(of: Table, head: str) -> list[str]:
    return list(unmarked(of)[head])


def unmarked(of: Table) -> Any:
    """The table without arrows in its head."""
    return of.shown.rename(columns=lambda name: re.sub(" [↑↓]$", "", name))


def renamed(run: Run, name: str, tasks: Mapping[str, str]) -> Run:
    """The run under another name, with some of its tasks under other names."""
    kept = {new: replace(run.tasks[old], task=new) for old, new in tasks.items()}
    return replace(run, name=name, tasks=kept)


def samples(run: Run, task: str) -> list[Mapping[str, Any]]:
    return [line["sample"] for line in run.tasks[task].lines]


# --- all of it -------------------------------------------------------------------------------------------------------


def test_all_that_belongs_to_a_dataset_stands_together() -> None:
    assert [group.title for group in report()] == [
        *("Overview", "figlang_mini_flute", "figlang_mini_irfl", "figlang_mini_metaclue", "figlang_mini_nykms"),
        *("figlang_mini (V-FLUTE)", "Differences between runs", "Parsing"),
    ]
    kinds = {group.id: [each.id.removeprefix(f"{group.id}-") for each in group.sections] for group in report()}
    assert kinds["figlang-mini"] == ["explanations", "numbers"]
    assert kinds["figlang-mini-irfl"] == ["detection", "numbers"]
    assert kinds["figlang-mini-metaclue"] == ["numbers"]
    ids = [each for part in every(report()) for each in (part.id, *(drawn.id for drawn in part.charts))]
    assert len(ids) == len(set(ids))
    for part in every(report()):
        assert part.title and (part.tables or part.charts or part.notes)
        for each in part.tables:
            assert each.shown.size and each.shown.map(lambda cell: isinstance(cell, str)).all(axis=None), each.caption
        for drawn in part.charts:
            ElementTree.fromstring(drawn.svg)
            assert "<script" not in drawn.svg and len(drawn.svg) < 150_000
            assert data(drawn)


# --- overview --------------------------------------------------------------------------------------------------------


def test_the_overview_has_the_main_metric_of_each_task_beside_what_was_published() -> None:
    drawn = data(chart(report(), "main metric of each task"))
    assert {row["category"] for row in drawn if row["panel"] == "figlang_mini (V-FLUTE)"} == {"figlang_mini f1@60"}
    assert "retrieve_metaphor p@k" in {row["category"] for row in drawn}
    (row,) = [row for row in drawn if (row["category"], row["name"]) == ("figlang_mini f1@60", "strong")]
    value, low, high, *_ = two()[1].tasks["figlang_mini"].reported["f1@60"]["all"]
    assert low is not None and high is not None
    assert [float(row[name]) for name in ("value", "low", "high")] == pytest.approx(
        [100 * value, 100 * low, 100 * high]
    )
    beside = {row["name"]: row for row in data(chart(beside_papers(), "main metric")) if row["kind"] != "run"}
    gpt = beside["GPT-4o, zero-shot"]
    assert (gpt["category"], gpt["value"]) == ("vflute f1@60", "37.2")
    assert "Random Baseline" not in beside and beside["Humans"]["kind"] == "published people"  # chance has no f1@60


# --- summary and sources ---------------------------------------------------------------------------------------------


def of_part(summary: Table, run: str, part: str = "all") -> Any:
    """The line of a run in a table with a column ``source``."""
    return unmarked(summary)[summary.shown["model"].eq(run) & summary.shown["source"].eq(part)].iloc[0]


def test_the_summary_has_the_reported_values_in_percent() -> None:
    summary = table(section(report(), "-numbers"), "figlang_mini")
    value, low, high, *_ = two()[1].tasks["figlang_mini"].reported["f1@60"]["all"]
    assert low is not None and high is not None
    ends = [f"{100 * number:.1f}" for number in (value, low, high)]
    assert of_part(summary, "strong")["f1@60"] == f"{ends[0]} [{ends[1]}, {ends[2]}]"
    assert column(summary, "model")[:2] == [HOSTILE, "strong"] and column(summary, "n")[:2] == ["76", "76"]
    assert list(unmarked(summary))[-2:] == ["parse_rate", "parse_disagreement"]  # how the run went: last
    assert "Explanation scorer: embedded" in summary.note
    assert list(dict.fromkeys(column(summary, "source"))) == [
        *("all", "HAIVMet (vismet)", "IRFL (metaphor / simile)", "IRFL (idiom)", "MuSE", "MemeCap", "NYCartoons")
    ]
    muse = two()[1].tasks["figlang_mini"].reported["f1@53"]["muse"].value
    assert of_part(summary, "strong", "MuSE")["f1@53"].startswith(f"{100 * muse:.1f} [")
    assert "NYCartoons is all entailment" in summary.note


def test_what_failed_or_is_not_known_is_told() -> None:
    of = two()[1].tasks["figlang_mini"]
    of = replace(of, reported={**of.reported, "new": of.reported["acc"], "acc": {"all": Estimate(math.nan)}})
    run = Run("one", Path(), {of.task: of}, {})
    summary = section(sections.build([run]), "-numbers")
    assert column(summary.tables[0], "acc")[0] == "failed, see the log" != column(summary.tables[0], "f1@0")[0]
    empty, unknown = section(sections.build([run]), "overview-tasks").notes
    assert unknown == "one, figlang_mini: not shown, since this version does not know it: new."
    assert empty.startswith("one, figlang_mini: 6 of 76 answers are empty (")


def with_rows(run: Run, task: str, count: int, **changed: str) -> Run:
    """The run with so many rows of a task: its own, again and again under other ids."""
    of = run.tasks[task]
    lines = []
    for number in range(count):
        line = of.lines[number % len(of.lines)]
        sample = line["sample"] | {name: f"x-{number}" for name in ("id", "row") if name in line["sample"]}
        lines.append({**line, "sample": sample})
    return replace(run, tasks={**run.tasks, task: replace(of, lines=tuple(lines), **changed)})  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def ours() -> Run:
    """A run of all rows of two tasks that have published figures."""
    tasks = {"figlang_mini": "vflute", "figlang_mini_irfl_match_simile": "irfl_match_simile"}
    run = with_rows(renamed(two()[1], "ours", tasks), "irfl_match_simile", 277)
    return with_rows(run, "vflute", 723, signature="vflute25|bertscore:...")


@lru_cache(maxsize=1)
def beside_papers() -> list[Group]:
    return sections.build([ours()])


def test_what_papers_published_stands_below() -> None:
    summary = section(beside_papers(), "-numbers")
    vflute = table(summary, "vflute")
    gpt = unmarked(vflute)[vflute.shown["model"].eq("GPT-4o, zero-shot (published)")].iloc[0]
    assert [gpt[f"f1@{t}"] for t in (0, 53, 60)] == ["75.41", "60.97", "37.20"]  # Table 18
    assert "Published, not measured here: " in vflute.note and "arXiv 2405.01474" in vflute.note
    simile = unmarked(table(summary, "irfl_match_simile")).set_index("model")
    assert simile.loc["BLIP (published)", "acc"] == "66.0"  # Table 3
    few = section(sections.build([with_rows(ours(), "irfl_match_simile", 9)]), "-numbers")
    assert "published figures are left out: they are of 277 rows, a run has 9." in table(few, "irfl_match_simile").note


def judged(sample: Mapping[str, Any], threshold: float | None) -> int:
    """The predicted label after what fell at the threshold became the wrong one (V-FLUTE, section 4.2)."""
    kept = threshold is None or sample["explanation_scores"]["mean"] > threshold
    return sample["predicted"] if kept and sample["predicted"] is not None else 1 - sample["gold"]


def macro_f1(found: Sequence[Mapping[str, Any]], threshold: float) -> float:
    gold, predicted = [each["gold"] for each in found], [judged(each, threshold) for each in found]
    return 100 * float(f1_score(gold, predicted, average="macro", zero_division=0))


def test_the_parts_that_benchmarks_name_are_scopes_of_measures() -> None:
    known = {scope for measure in measures.every() if measure.scopes for scope in measure.scopes.names}
    for parts in (benchmark.parts for benchmark in benchmarks().values()):
        assert {*parts.of, *parts.in_short} <= known


# --- explanation quality ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("panel", "group"), [("all", None), ("MuSE", "muse")])
@pytest.mark.parametrize("threshold", [0.0, 0.31, 0.6])
def test_curves_equal_scikit_learn(threshold: float, panel: str, group: str | None) -> None:
    found = [s for s in samples(two()[1], "figlang_mini") if group in (None, s["report_group"])]
    assert float(on_curve(panel, threshold)["f1@t (percent)"]) == pytest.approx(macro_f1(found, threshold))


def on_curve(panel: str, threshold: float) -> dict[str, str]:
    """The place of the strong run at a threshold."""
    (row,) = [
        row
        for row in data(chart(report(), "figlang_mini: f1@t"))
        if (row["panel"], row["run"], float(row["threshold t"])) == (panel, "strong", threshold)
    ]
    return row


def test_f1_stands_by_source_and_the_band_of_a_curve_is_the_interval_of_the_metric() -> None:
    reported = two()[1].tasks["figlang_mini"].reported["f1@53"]["all"]
    band = [float(on_curve("all", 0.53)[name]) / 100 for name in ("f1@t (percent)", "low", "high")]
    assert band == pytest.approx(reported[:3]) and on_curve("MuSE", 0.53)["low"] == ""
    drawn = data(chart(report(), "figlang_mini: f1 by source"))
    (row,) = [row for row in drawn if [*row.values()][:4] == ["f1@53", "MuSE", "run", "strong"]]
    of_muse = two()[1].tasks["figlang_mini"].reported["f1@53"]["muse"]
    assert [float(row[name]) / 100 for name in ("value", "low", "high")] == pytest.approx(of_muse[:3])
    panels = {row["panel"] for row in data(chart(report(), "figlang_mini_flute_v1: acc by"))}
    assert panels == {"acc@0", "acc@50", "acc@60"}


def test_runs_without_scores_are_named(tmp_path: Path) -> None:
    run = report_runs.run_of(tmp_path / "run", "figlang_mini", count=12, name="bare")
    built = sections.build([run])
    found = section(built, "-explanations")
    assert [each.title for each in found.charts] == ["figlang_mini: f1 by source"]  # of labels alone
    assert {row["panel"] for row in data(found.charts[0])} == {"f1@0"}
    assert found.notes == ("figlang_mini: explanations of bare are not scored (figlang score adds scores).",)
    # Nothing was reported: values come from the samples.
    summary = section(built, "-numbers")
    assert section(built, "overview-tasks").notes == ("bare: no reported metrics; values are from the samples.",)
    right = sum(sample["predicted"] == sample["gold"] for sample in samples(run, "figlang_mini"))
    text = column(summary.tables[0], "acc")[0]
    ends = binomtest(right, 12).proportion_ci(method="wilson")  # each row is a unit of its own
    assert text == f"{100 * right / 12:.1f} [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"


# --- choices ---------------------------------------------------------------------------------------------------------


def test_choices_are_shown_by_class_of_idiom_and_pairs_by_order() -> None:
    reported = two()[1].tasks["figlang_mini_irfl_detect_idiom"].reported
    drawn = {
        (row["panel"], row["category"]): float(row["value"])
        for row in data(chart(report(), "accuracy (detect)"))
        if row["name"] == "strong"
    }
    assert drawn["detect", "idiom, figurative + literal"] == pytest.approx(
        100 * reported["acc"]["figurative_literal"].value
    )
    assert ("detect circular", "idiom") in drawn
    assert set(chance(chart(report(), "accuracy (detect)")).values()) == {"25.0"}
    of = two()[1].tasks["figlang_mini_irfl_retrieve_metaphor"]
    cut = sections.build([replace(two()[1], tasks={of.task: replace(of, lines=of.lines[:2])})])  # of no whole row
    ids = ["overview-tasks", "figlang-mini-irfl-numbers", "parsing-outcomes"]
    assert [each.id for each in every(cut)] == ids, "no more than it can have"
    orders = data(chart(report(), "order of the images"))
    assert {row["category"] for row in orders} == {"figurative over source", "source over target"}


# --- significance ----------------------------------------------------------------------------------------------------


def test_differences_and_adjusted_p_are_those_of_the_comparison_and_of_the_verdict() -> None:
    significance = section(report(), "differences-pairs")
    drawn = [row for each in significance.charts for row in data(each)]
    tested = [row for row in drawn if row["p_randomization"]]
    assert {row["metric"] for row in drawn if row not in tested} == {"mAP50_primary"}, "average precision has no test"
    assert all(float(row["p_holm"]) >= float(row["p_randomization"]) for row in tested)
    (row,) = [row for row in drawn if (row["task"], row["metric"]) == ("figlang_mini", "f1@60")]
    (expected,) = [
        each
        for each in comparison.compare(two(), ["f1@60"], tasks=["figlang_mini"], overall=True)
        if each.name == "f1@60"
    ]
    assert float(row["difference"]) == expected.difference and float(row["p_randomization"]) == expected.p_randomization
    assert row["first"] == HOSTILE and row["second"] == "strong"
    lines = report()[0].sections[0].lines  # the page begins with them
    assert len(lines) == len(two()[1].tasks)
    (told,) = [line for line in lines if "on figlang_mini: " in line]
    assert told.startswith(f"strong is better than {HOSTILE} on figlang_mini: f1@60 +")
    assert told.endswith(f"], p {p_text(float(row['p_holm']))} (adjusted for {len(tested)} tests)")
    mini = chart(report(), "figlang_mini (V-FLUTE): strong against")
    assert any(text.startswith(f"{100 * expected.difference:+.1f} (") for text in svg_texts(mini))
    metrics = {row["task"]: row["metric"] for row in drawn if row["task"] != "figlang_mini"}
    assert metrics["figlang_mini_irfl_retrieve_metaphor"] == "p@k"
    assert metrics["figlang_mini_nykms_metaphor"] == "mc_macro_f1"


def svg_texts(of: Chart) -> list[str]:
    texts = ElementTree.fromstring(of.svg).iter("{http://www.w3.org/2000/svg}text")
    return [element.text or "" for element in texts]


def test_every_two_of_many_runs_have_a_row_in_the_panel_of_a_metric() -> None:
    of = {"figlang_mini_metaclue_classify_literal": "figlang_mini_metaclue_classify_literal"}
    four = [renamed(two()[number % 2], f"run {number}", of) for number in range(4)]
    (drawn,) = section(sections.build(four), "differences-pairs").charts
    assert len(data(drawn)) == 6
    texts = svg_texts(drawn)
    found = [text.partition(" (")[0] for text in texts if " (" in text]
    assert "classify_literal acc" in " ".join(texts)
    assert "run 3 \N{MINUS SIGN} run 1" in texts and found.count("0.0") == 2  # each run is there twice
    others = [text for text in found if re.fullmatch(r"[+\N{MINUS SIGN}]\d+\.\d", text)]
    assert len(others) == 4 and len({text[1:] for text in others}) == 1 and len(set(others)) == 2


@pytest.mark.slow
def test_a_cut_run_is_shown_beside_a_whole_one_and_stops_no_other_comparison() -> None:
    tasks = ("figlang_mini", "figlang_mini_flute")
    whole = [replace(run, tasks={task: run.tasks[task] for task in tasks}) for run in two()]
    of = two()[0].tasks["figlang_mini"]
    few = tuple(line for line in of.lines if line["sample"]["report_group"] == "vismet")
    cut = replace(two()[0], name="cut", tasks={"figlang_mini": replace(of, lines=few)})
    found = sections.build([*whole, cut])
    curves = data(chart(found, "figlang_mini: f1@t"))
    assert {row["panel"] for row in curves if row["run"] == "cut"} == {"all", "HAIVMet (vismet)"}
    compared = [row for drawn in section(found, "differences-pairs").charts for row in data(drawn)]
    assert any(row["task"] == "figlang_mini" for row in compared)
    assert not any("cut" in (row["first"], row["second"]) for row in compared)
    notes = section(found, "differences-pairs").notes
    assert len(notes) == 2 and all("were not evaluated on the same rows" in note for note in notes)


# --- outcomes --------------------------------------------------------------------------------------------------------


def test_outcomes_add_up_to_the_rows() -> None:
    (found,) = section(report(), "parsing-outcomes").tables
    statuses = Counter(sample["status"] for sample in samples(two()[1], "figlang_mini"))
    row = found.shown[found.shown["task"].eq("figlang_mini") & found.shown["model"].eq("strong")].iloc[0]
    assert {status.replace("_", " "): str(count) for status, count in statuses.items()} == {
        name: count for name, count in row[2:].items() if count
    }
