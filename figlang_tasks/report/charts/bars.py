"""The chart of the value of each run, by category."""

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


class BarGroup(NamedTuple):
    """One category of a chart: an estimate of each run, 0 to 100, and what to read them against."""

    estimates: Mapping[str, Estimate]
    references: Sequence[Reference] = ()


BarPanels: TypeAlias = Mapping[str, Mapping[str, BarGroup]]
"""By the title of a panel and the label of a category."""


def bar_chart(
    chart_id: str,
    title: str,
    panels: BarPanels,
    *,
    axis_label: str,
    run_order: Sequence[str],
    side_by_side: bool = False,
    full_width: bool = False,
) -> Chart:
    """Draw the value of each run with its interval, by panel and category.

    Args:
        run_order: the runs of all charts of the page; it decides how each looks.
        side_by_side: whether panels stand beside each other, which makes the chart wide.
        full_width: whether the chart is as wide as the page.
    """
    series = number_series(_drawn_runs(panels), run_order)
    legend = [LegendEntry(run, marker_style(number)) for run, number in series.items()]
    side_by_side = side_by_side and len(panels) > 1
    rows = _bar_rows(panels, series, side_by_side, label_width=26 if full_width else 22)

    is_wide = full_width or side_by_side
    width = FULL_WIDTH if is_wide else HALF_WIDTH
    svg = draw_rows(rows, axis_label, legend, width, side_by_side=side_by_side)
    phone_svg = draw_rows(rows, axis_label, legend, PHONE_WIDTH)
    return Chart(chart_id, title, svg, phone_svg, _bars_csv(panels), is_wide)


def _drawn_runs(panels: BarPanels) -> set[str]:
    """The runs that have an estimate in any panel."""
    runs: set[str] = set()
    for groups in panels.values():
        for group in groups.values():
            runs.update(group.estimates)
    return runs


def _bar_rows(
    panels: BarPanels, series: Mapping[str, int], side_by_side: bool, label_width: int
) -> dict[str, list[Row]]:
    """Make a row for each category of a panel; panels `side_by_side` all get the same rows."""
    categories: dict[str, bool] = {}  # with whether any panel has published values for it
    for groups in panels.values():
        for category, group in groups.items():
            is_published = any(reference.kind != "chance" for reference in group.references)
            categories[category] = categories.get(category, False) or is_published

    rows: dict[str, list[Row]] = {}
    for panel, groups in panels.items():
        rows[panel] = []
        for category in categories if side_by_side else groups:
            group = groups.get(category, BarGroup({}))
            marks = _run_marks(group.estimates, series)
            label = wrap(category, label_width)
            rows[panel].append(Row(label, marks, group.references, categories[category]))
    return rows


def _run_marks(estimates: Mapping[str, Estimate], series: Mapping[str, int]) -> list[Mark]:
    """Make a mark for each run of the legend; a run without an estimate gets NaN, a gap."""
    marks = []
    for run, number in series.items():
        estimate = estimates.get(run, Estimate(math.nan))
        text = f"{estimate.value:.1f}"
        marks.append(Mark(estimate.value, estimate.low, estimate.high, text, marker_style(number)))
    return marks


def _bars_csv(panels: BarPanels) -> str:
    """Write the values and references of a chart as CSV."""
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
