"""The forest plot: differences between runs, with their intervals, around 0."""

from __future__ import annotations

import re
from dataclasses import replace

from figlang_tasks.report.charts.chart import Chart
from figlang_tasks.report.charts.figure import COLOURS, HALF_WIDTH, MUTED, PHONE_WIDTH
from figlang_tasks.report.charts.rows import Mark, Row, RowPanels, draw_rows

MINUS = "\N{MINUS SIGN}"
BETTER = COLOURS[0]
WORSE = COLOURS[1]

_AXIS_LABEL = "difference in points; right: points, p"


def difference_row(
    label: str,
    difference: float,
    low: float | None,
    high: float | None,
    note: str,
    is_better: bool | None,
) -> Row:
    """A row of a forest plot: a difference in points, its interval, and a note in brackets.

    Args:
        is_better: whether the difference is an improvement; None if it is not significant.
    """
    colour = MUTED
    if is_better is not None:
        colour = BETTER if is_better else WORSE
    is_significant = is_better is not None
    style = {
        "color": colour,
        "marker": "s",
        "linestyle": "none",
        "markerfacecolor": colour if is_significant else "white",
    }
    rounded = round(difference, 1)
    points = f"{rounded:+.1f}".replace("-", MINUS) if rounded else "0.0"
    return Row(label, [Mark(difference, low, high, f"{points} ({note})", style, is_significant)])


def forest_plot(chart_id: str, title: str, panels: RowPanels, csv: str) -> Chart:
    """Draw rows of `difference_row` in panels on one scale around 0.

    Args:
        csv: the data of the chart.
    """
    end = _largest_absolute(panels)
    svg = draw_rows(panels, _AXIS_LABEL, [], HALF_WIDTH, (-end, end))
    phone_svg = draw_rows(_labels_as_titles(panels), _AXIS_LABEL, [], PHONE_WIDTH, (-end, end))
    return Chart(chart_id, title, svg, phone_svg, csv)


def _largest_absolute(panels: RowPanels) -> float:
    """The largest distance from 0 of a difference or of an end of an interval; 1 if all are 0."""
    distances = [0.0]
    for rows in panels.values():
        for row in rows:
            for mark in row.marks:
                ends = (mark.value, mark.low, mark.high)
                distances += [abs(end) for end in ends if end is not None]
    return max(distances) or 1


def _labels_as_titles(panels: RowPanels) -> dict[str, list[Row]]:
    """The rows with their labels above them, as titles of panels: a telephone is narrow."""
    rows_by_title: dict[str, list[Row]] = {}
    for panel, rows in panels.items():
        for row in rows:
            label = re.sub(r"(?<=[_/-])\n", "", row.label).replace("\n", " ")
            title = ", ".join(filter(None, (label, panel)))
            rows_by_title.setdefault(title, []).append(replace(row, label=""))
    return rows_by_title
