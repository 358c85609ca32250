"""The forest plot: differences between runs, with their intervals, around 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from figlang_tasks.report.charts.chart import Chart
from figlang_tasks.report.charts.figure import COLOURS, HALF_WIDTH, MUTED, PHONE_WIDTH, unwrap
from figlang_tasks.report.charts.rows import Mark, Row, RowPanels, draw_rows
from figlang_tasks.results.groups import Significance
from figlang_tasks.scoring import Estimate

MINUS = "\N{MINUS SIGN}"
BETTER = COLOURS[0]
WORSE = COLOURS[1]

_COLOURS: Mapping[Significance, str] = {"better": BETTER, "worse": WORSE}

_AXIS_LABEL = "difference in points; right: points, p"


def difference_row(
    label: str, difference: Estimate, note: str, significance: Significance | None
) -> Row:
    """A row of a forest plot: a difference with its interval, and ``+1.5 (note)`` at the right.

    Args:
        label: what stands at the left.
        difference: in points, with the limits of its interval.
        note: what stands in brackets behind the number, such as a p-value.
        significance: whether the candidate is better or worse; None if the difference is not
            significant.
    """
    colour = MUTED if significance is None else _COLOURS[significance]
    style = {
        "color": colour,
        "marker": "s",
        "linestyle": "none",
        "markerfacecolor": "white" if significance is None else colour,
    }
    mark = Mark(
        value=difference.value,
        low=difference.low,
        high=difference.high,
        text=f"{_points(difference.value)} ({note})",
        style=style,
        is_bold=significance is not None,
    )
    return Row(label, [mark])


def _points(difference: float) -> str:
    """A difference with its sign and one digit; 0.0 has no sign."""
    rounded = round(difference, 1)
    if rounded == 0:
        return "0.0"
    return f"{rounded:+.1f}".replace("-", MINUS)


def forest_plot(chart_id: str, title: str, panels: RowPanels, csv: str) -> Chart:
    """Draw a forest plot: differences with their intervals, on one scale around 0.

    Args:
        chart_id: unique on the page.
        panels: rows made by `difference_row`, by the title of their panel.
        csv: the data of the chart, for download.
    """
    end = _largest_absolute(panels)
    limits = (-end, end)
    svg = draw_rows(panels, _AXIS_LABEL, legend=(), width=HALF_WIDTH, limits=limits)
    phone_panels = _labels_as_titles(panels)
    phone_svg = draw_rows(phone_panels, _AXIS_LABEL, legend=(), width=PHONE_WIDTH, limits=limits)
    return Chart(chart_id, title, svg, phone_svg, csv)


def _largest_absolute(panels: RowPanels) -> float:
    """The largest distance from 0 of any difference or limit of an interval; 1 if all are 0."""
    distances = [0.0]
    for rows in panels.values():
        for row in rows:
            for mark in row.marks:
                numbers = (mark.value, mark.low, mark.high)
                distances += [abs(number) for number in numbers if number is not None]
    return max(distances) or 1  # a scale from 0 to 0 cannot be drawn


def _labels_as_titles(panels: RowPanels) -> dict[str, list[Row]]:
    """The panels for a telephone, too narrow for labels beside the rows: they become titles.

    Each row has a panel of its own, with its label and the title of its old panel as the title:
    ``b − a, f1``, or the label alone if that panel had none. Only rows with the same label in
    panels of the same title share one.
    """
    rows_by_title: dict[str, list[Row]] = {}
    for panel, rows in panels.items():
        for row in rows:
            title = unwrap(row.label)
            if panel:
                title += f", {panel}"
            rows_by_title.setdefault(title, []).append(replace(row, label=""))
    return rows_by_title
