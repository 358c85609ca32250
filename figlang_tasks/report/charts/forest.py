"""The forest plot: differences between runs, with their intervals, around 0."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

from figlang_tasks.report.charts.chart import Chart
from figlang_tasks.report.charts.figure import COLOURS, HALF_WIDTH, MUTED, PHONE_WIDTH
from figlang_tasks.report.charts.rows import Mark, Row, RowPanels, draw_rows
from figlang_tasks.scoring import Estimate

MINUS = "\N{MINUS SIGN}"
BETTER = COLOURS[0]
WORSE = COLOURS[1]

Significance: TypeAlias = Literal["better", "worse"]
_COLOURS: Mapping[Significance, str] = {"better": BETTER, "worse": WORSE}

_AXIS_LABEL = "difference in points; right: points, p"


def difference_row(
    label: str, difference: Estimate, note: str, significance: Significance | None
) -> Row:
    """Make a row of a forest plot: a difference in points, its interval, a note in brackets.

    Args:
        significance: what the difference is if it is significant.
    """
    colour = MUTED if significance is None else _COLOURS[significance]
    style = {
        "color": colour,
        "marker": "s",
        "linestyle": "none",
        "markerfacecolor": "white" if significance is None else colour,
    }
    text = f"{_points(difference.value)} ({note})"
    is_bold = significance is not None
    return Row(
        label, [Mark(difference.value, difference.low, difference.high, text, style, is_bold)]
    )


def _points(difference: float) -> str:
    """A difference with its sign and one digit; 0.0 has no sign."""
    rounded = round(difference, 1)
    if rounded == 0:
        return "0.0"
    return f"{rounded:+.1f}".replace("-", MINUS)


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
    """Turn the label of each row into the title of a panel above it, for narrow screens."""
    rows_by_title: dict[str, list[Row]] = {}
    for panel, rows in panels.items():
        for row in rows:
            label = re.sub(r"(?<=[_/-])\n", "", row.label).replace("\n", " ")
            title = ", ".join(filter(None, (label, panel)))
            rows_by_title.setdefault(title, []).append(replace(row, label=""))
    return rows_by_title
