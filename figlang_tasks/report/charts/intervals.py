"""The interval chart: the value of each run as a point with its interval, by category."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from figlang_tasks.core.text import csv_text
from figlang_tasks.report.charts.chart import Chart, Reference
from figlang_tasks.report.charts.figure import (
    FULL_WIDTH,
    HALF_WIDTH,
    PHONE_WIDTH,
    LegendEntry,
    marker_style,
    number_series,
    wrap,
)
from figlang_tasks.report.charts.rows import Mark, Row, draw_rows
from figlang_tasks.scoring import Estimate


class IntervalGroup(NamedTuple):
    """One category of a chart: the estimate of each run by its name, and published values.

    All numbers are from 0 to 100.
    """

    estimates: Mapping[str, Estimate]
    references: Sequence[Reference] = ()


IntervalPanels: TypeAlias = Mapping[str, Mapping[str, IntervalGroup]]
"""The categories of each panel, by the title of the panel and the label of the category."""


def interval_chart(
    chart_id: str,
    title: str,
    panels: IntervalPanels,
    *,
    axis_label: str,
    run_order: Sequence[str],
    side_by_side: bool = False,
    full_width: bool = False,
) -> Chart:
    """Draw the value of each run as a point with its interval, in a row for each category.

    Args:
        chart_id: unique on the page.
        run_order: all runs of the page, also those without a value here, so that a run has the
            same colour and marker in every chart.
        side_by_side: whether panels stand beside each other, which makes the chart as wide as the
            page; else they stand below each other. On a telephone they always do.
        full_width: whether the chart is as wide as the page in any case.
    """
    series = number_series(_drawn_runs(panels), run_order)
    legend = [LegendEntry(run, marker_style(number)) for run, number in series.items()]
    side_by_side = side_by_side and len(panels) > 1  # a single panel has none beside it
    label_width = 26 if full_width else 22
    rows = _interval_rows(panels, series, side_by_side, label_width)

    is_wide = full_width or side_by_side
    width = FULL_WIDTH if is_wide else HALF_WIDTH
    svg = draw_rows(rows, axis_label, legend, width, side_by_side=side_by_side)
    phone_svg = draw_rows(rows, axis_label, legend, PHONE_WIDTH)
    return Chart(chart_id, title, svg, phone_svg, _intervals_csv(panels), is_wide)


def _drawn_runs(panels: IntervalPanels) -> set[str]:
    """The runs that have an estimate in any panel."""
    runs: set[str] = set()
    for groups in panels.values():
        for group in groups.values():
            runs.update(group.estimates)
    return runs


def _interval_rows(
    panels: IntervalPanels, series: Mapping[str, int], side_by_side: bool, label_width: int
) -> dict[str, list[Row]]:
    """The rows of each panel, one for each category.

    Panels `side_by_side` share the labels at the left, so all have a row for every category that
    any of them has; the row is empty where a panel lacks the category.

    Args:
        series: the number of each run that is drawn, which decides how it looks.
        label_width: characters of a line of a label.
    """
    categories: dict[str, None] = {}  # of all panels, in their order
    published_categories: set[str] = set()  # those with a published value in any panel
    for groups in panels.values():
        for category, group in groups.items():
            categories[category] = None
            if any(reference.kind != "chance" for reference in group.references):
                published_categories.add(category)

    rows: dict[str, list[Row]] = {}
    for panel, groups in panels.items():
        rows[panel] = []
        for category in categories if side_by_side else groups:
            group = groups.get(category, IntervalGroup(estimates={}))
            row = Row(
                label=wrap(category, label_width),
                marks=_run_marks(group.estimates, series),
                references=group.references,
                has_reference_line=category in published_categories,
            )
            rows[panel].append(row)
    return rows


def _run_marks(estimates: Mapping[str, Estimate], series: Mapping[str, int]) -> list[Mark]:
    """A mark for each run in `series`.

    If a run has no estimate, the value of its mark is NaN: neither the mark nor its text ("nan") is
    drawn, and its place stays empty.
    """
    marks = []
    for run, number in series.items():
        estimate = estimates.get(run, Estimate(math.nan))
        text = f"{estimate.value:.1f}"
        marks.append(Mark(estimate.value, estimate.low, estimate.high, text, marker_style(number)))
    return marks


def _intervals_csv(panels: IntervalPanels) -> str:
    """The values and references of a chart as CSV, a line for each."""
    lines: list[tuple[object, ...]] = []
    for panel, groups in panels.items():
        for category, group in groups.items():
            for run, estimate in group.estimates.items():
                numbers = (estimate.value, estimate.low, estimate.high)
                lines.append((panel, category, "run", run, *numbers))
            for reference in group.references:
                kind = "chance" if reference.kind == "chance" else f"published {reference.kind}"
                lines.append((panel, category, kind, reference.name, reference.value, None, None))
    return csv_text(("panel", "category", "kind", "name", "value", "low", "high"), lines)
