"""Differences between every two runs, with their tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import combinations

from loguru import logger

from figlang_tasks.core.text import csv_text, printable
from figlang_tasks.report import charts
from figlang_tasks.report.charts import MINUS, Chart, Line, wrapped
from figlang_tasks.report.sections.layout import Section
from figlang_tasks.report.sections.results import Results, dataset_name, short_names, slug
from figlang_tasks.report.verdict import ALPHA, better, count_tests, p_text
from figlang_tasks.results import comparison, measures
from figlang_tasks.results.comparability import ComparisonError
from figlang_tasks.results.comparison import Difference
from figlang_tasks.results.task_run import Run


def differences(
    results: Results, found: Sequence[Difference], notes: Sequence[str]
) -> Section | None:
    """Every two runs by the main metric of the tasks that they share."""
    tests = count_tests(found)
    drawn = []
    for dataset in dict.fromkeys(of[0].of.data.dataset for of in results.values()):
        if own := [each for each in found if results[each.task][0].of.data.dataset == dataset]:
            drawn.append(_forest(f"differences-{slug(dataset)}", dataset_name(dataset), own))
    if not drawn and not notes:
        return None
    intro = (
        "Differences in points with their 95 % intervals (paired bootstrap). p is that of"
        " approximate randomization (two-sided, 10,000 swaps) after Holm's correction for the"
        f" {tests} test{'s' * (tests != 1)} shown here. Filled and bold: p < {ALPHA:.2f}, blue if"
        " better, orange if worse."
    )
    if any(each.p_repeats is not None for each in found):
        intro += (
            " Runs of one name are repeats: t over rows and seeds, and a hierarchical bootstrap."
        )
    return Section(
        "differences-pairs", "Every two runs", intro, charts=tuple(drawn), notes=tuple(notes)
    )


def compared(runs: Sequence[Run], results: Results) -> tuple[list[Difference], list[str]]:
    """The differences, Holm's correction over all of them, and why some pairs have none."""
    found: list[Difference] = []
    notes: list[str] = []
    for task in results:
        own = [run for run in runs if task in run.tasks]
        alone = [
            replace(run, name=run.given_name or run.name, tasks={task: run.tasks[task]})
            for run in own
        ]
        names = dict.fromkeys(run.name for run in alone)
        if len(names) < 2:
            continue
        try:
            found += comparison.compare(alone)
        except ComparisonError:  # of some pair; the others can be compared
            for pair in combinations(names, 2):
                try:
                    found += comparison.compare([run for run in alone if run.name in pair])
                except ComparisonError as error:
                    notes.append(f"Not compared: {error}.")
    if notes:
        logger.warning(
            f"figlang_tasks: the report lacks comparisons ({len(notes)}). {printable(notes[0])}"
        )
    return comparison.adjust_p_values(found), notes


def _forest(chart_id: str, dataset: str, found: Sequence[Difference]) -> Chart:
    """A row for each metric of each task; with several pairs of runs, a panel for each with a row
    for each pair.
    """
    pairs = list(dict.fromkeys((each.baseline, each.candidate) for each in found))
    short = short_names({each.task for each in found})
    panels: dict[str, list[Line]] = {}
    for each in found:
        metric = f"{short[each.task]} {each.metric}"
        if len(pairs) == 1:
            panels.setdefault("", []).append(_line(each, wrapped(metric, 28)))
        else:
            runs = f"{wrapped(each.candidate, 28)} {MINUS} {wrapped(each.baseline, 28)}"
            panels.setdefault(metric, []).append(_line(each, runs))
    of = f"{pairs[0][1]} against {pairs[0][0]}" if len(pairs) == 1 else "every two runs"
    names = [field.name for field in fields(Difference)]
    csv = csv_text(names, [[getattr(each, name) for name in names] for each in found])
    return charts.forest(chart_id, f"{dataset}: {of}", panels, csv)


def _line(of: Difference, label: str) -> Line:
    winner, scale = better(of), 100 if measures.measure_of(of.metric).percent else 1
    low, high = (None if end is None else scale * end for end in (of.low, of.high))
    p = "no test" if of.p_holm is None else f"p {p_text(of.p_holm)}"
    return charts.difference(
        label,
        scale * of.difference,
        low,
        high,
        p,
        None if winner is None else winner == of.candidate,
    )
