"""The chart of curves over a threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from figlang_tasks.core.text import csv_text, printable
from figlang_tasks.report.charts.chart import Chart
from figlang_tasks.report.charts.figure import (
    FULL_WIDTH,
    HALF_WIDTH,
    PHONE_WIDTH,
    LegendEntry,
    draw_legend,
    line_style,
    number_series,
    styled_figure,
    to_svg,
)
from figlang_tasks.scoring import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Heights in pixels
_PANEL_HEIGHT = 160
_LEGEND_AND_AXIS_HEIGHT = 80
_TICKS = (0, 0.2, 0.4, 0.6, 0.8)  # 1 would touch the 0 of the next panel

CurvePanels: TypeAlias = Mapping[str, Mapping[str, Sequence[Estimate]]]
"""By the title of a panel and the name of a run, an estimate at each threshold."""


def curve_chart(
    chart_id: str,
    title: str,
    thresholds: Sequence[float],
    panels: CurvePanels,
    *,
    axis_label: str,
    marked_thresholds: Sequence[float],
    run_order: Sequence[str],
) -> Chart:
    """Draw a curve of each run, with its intervals as a band, over thresholds from 0 to 1.

    Args:
        chart_id: unique on the page.
        thresholds: where the curves have their points.
        panels: estimates from 0 to 100, one at each of the `thresholds`.
        marked_thresholds: where vertical lines stand, in ascending order.
        run_order: all runs of the page, also those without a curve here, so that a run has the
            same colour, marker and dashes in every chart.
    """
    drawn_runs = set().union(*panels.values())
    series = number_series(drawn_runs, run_order)
    curves = _Curves(thresholds, panels, axis_label, marked_thresholds, series)
    is_wide = len(panels) > 2
    svg = curves.draw(FULL_WIDTH if is_wide else HALF_WIDTH, columns=min(4, len(panels)))
    phone_svg = curves.draw(PHONE_WIDTH, columns=min(2, len(panels)))
    return Chart(chart_id, title, svg, phone_svg, curves.csv(), is_wide)


@dataclass(frozen=True)
class _Curves:
    """What a chart of curves shows; see `curve_chart`."""

    thresholds: Sequence[float]
    panels: CurvePanels
    axis_label: str
    marked_thresholds: Sequence[float]
    series: Mapping[str, int]

    def draw(self, width: float, columns: int) -> str:
        """Draw the panels in a grid of `columns` columns, and return the SVG.

        Args:
            width: of the whole chart in pixels.
        """
        legend = [LegendEntry(run, line_style(number)) for run, number in self.series.items()]
        rows = math.ceil(len(self.panels) / columns)
        with styled_figure(width, rows * _PANEL_HEIGHT + _LEGEND_AND_AXIS_HEIGHT) as figure:
            draw_legend(figure, legend)
            grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
            all_axes = list(grid.flat)
            title_length = int(width / columns / 8)  # a character is about 8 pixels wide
            # The last row of the grid may have more axes than there are panels left.
            for axes, (title, curves) in zip(all_axes, self.panels.items(), strict=False):
                axes.set_title(printable(title, title_length))
                self._draw_panel(axes, curves)
            for unused_axes in all_axes[len(self.panels) :]:
                unused_axes.axis("off")
            figure.supxlabel("threshold t", fontsize=12)
            figure.supylabel(self.axis_label, fontsize=12)
            return to_svg(figure)

    def _draw_panel(self, axes: Axes, curves: Mapping[str, Sequence[Estimate]]) -> None:
        """Draw the marked thresholds and the curves of a panel."""
        # Up to 103, so that a curve at 100 does not run along the frame
        axes.set(xlim=(0, 1), ylim=(0, 103), xticks=_TICKS)
        subplot = axes.get_subplotspec()
        assert subplot is not None  # only axes outside a grid have none
        for threshold in self.marked_thresholds:
            axes.axvline(threshold, color="black", linestyle=":", linewidth=1)
            if subplot.is_first_col():
                self._label_threshold(axes, threshold)
        for run, estimates in curves.items():
            self._draw_curve(axes, self.series[run], estimates)

    def _label_threshold(self, axes: Axes, threshold: float) -> None:
        """Write a threshold to the left of its vertical line, the last one to the right.

        So two thresholds that are close do not overlap.
        """
        is_last = threshold == self.marked_thresholds[-1]
        axes.text(
            threshold,
            99,  # percent: the top of the text, near the upper end of the scale
            # ".53 ": the blank stands before the line if the text is to the left of it
            f"{threshold:.2f} ".removeprefix("0"),
            ha="left" if is_last else "right",
            va="top",
            fontsize=10,
        )

    def _draw_curve(self, axes: Axes, number: int, estimates: Sequence[Estimate]) -> None:
        """Draw the curve of a run, and its intervals as a band; `number` decides how it looks."""
        style = line_style(number)
        numbers = [(estimate.value, estimate.low, estimate.high) for estimate in estimates]
        # As numbers, limits of None (no interval) become NaN.
        values, lows, highs = np.array(numbers, dtype=float).T
        if not np.isnan(lows).all():
            band = {"color": style["color"], "alpha": 0.16, "linewidth": 0}
            axes.fill_between(self.thresholds, lows, highs, **band)
        # A marker at every 25th point, and for each of five series at other points, so that
        # markers do not cover each other where curves meet.
        first_marker = 3 + 5 * (number % 5)
        axes.plot(self.thresholds, values, markevery=(first_marker, 25), clip_on=False, **style)

    def csv(self) -> str:
        """Write the points of all curves as CSV."""
        header = ("panel", "run", "threshold t", self.axis_label, "low", "high")
        lines: list[tuple[object, ...]] = []
        for panel, curves in self.panels.items():
            for run, estimates in curves.items():
                for threshold, estimate in zip(self.thresholds, estimates, strict=True):
                    numbers = (float(threshold), estimate.value, estimate.low, estimate.high)
                    lines.append((panel, run, *numbers))
        return csv_text(header, lines)
