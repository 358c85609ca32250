"""Curves over a threshold: one large panel for the whole, and a small one for each part."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from figlang_tasks.core.text import csv_text
from figlang_tasks.report.charts import style
from figlang_tasks.report.charts.chart import Chart, numbered
from figlang_tasks.report.charts.sheet import HALF, WHOLE, Scale, Sheet, drawing, shortened

_TICKS = (0, 25, 50, 75, 100)
_LARGE, _SMALL, _LARGE_WIDTH = 330.0, 120.0, 500.0
_HEAD, _AROUND, _LEFT, _GAP = 40.0, 50.0, 34.0, 30.0  # room for titles, ticks and the gap between large and small


@dataclass(frozen=True)
class Curve:
    """A curve, with the interval at each of its places where there is one.

    Attributes:
        y: n values, 0 to 100; NaN where there is none.
        low, high: n ends of intervals each, NaN where there is none; () for a curve without a band.
    """

    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


def curves(
    chart_id: str,
    title: str,
    alt: str,
    x: Sequence[float],
    panels: Mapping[str, Mapping[str, Curve]],
    *,
    x_label: str,
    y_label: str,
    marks: Sequence[float] = (),
    order: Sequence[str] = (),
) -> Chart:
    """Draw curves over the same x from 0 to 1: the first panel large and with bands, the others small in a full grid.

    Args:
        chart_id, title, alt: see `Chart`.
        x: n ascending values in [0, 1].
        panels: curves by panel and series.
        x_label, y_label: names of the axes, which are also heads of columns in the CSV.
        marks: values of x to be marked by a line, with their number above it.
        order: as in `bars`.

    Raises:
        ValueError: the id is not valid, there is no panel, or a curve has not n values.
    """
    for panel, lines in panels.items():
        for name, curve in lines.items():
            if len(curve.y) != len(x) or len(curve.low) not in (0, len(x)) or len(curve.high) != len(curve.low):
                raise ValueError(f"{panel}, {name}: {len(curve.y)} values for {len(x)} places")
    series = numbered(panels.values(), order)
    first, *others = panels
    columns = columns_of(len(others))
    rows = math.ceil(len(others) / columns)
    with drawing(chart_id):
        sheet = Sheet(WHOLE if others else HALF)
        top = sheet.legend(0, [(name, sheet.sample_line(number)) for name, number in series.items()]) + 8
        sheet.text(0, top + 8, y_label, quiet=True)
        top += 22
        large = max(_LARGE, rows * (_SMALL + _AROUND) - _AROUND)
        right = _LARGE_WIDTH if others else HALF - 12
        whole = _Panel(sheet, series, x, Scale(0, 1, _LEFT, right))
        whole.draw(first, panels[first], top + _HEAD, large, marks, is_large=True)
        block, room = (large + _AROUND) / max(rows, 1), (WHOLE - right - _GAP) / columns
        for place, panel in enumerate(others):
            row, column = divmod(place, columns)
            left = right + _GAP + column * room
            small = _Panel(sheet, series, x, Scale(0, 1, left + _LEFT - 6, left + room - 12))
            small.draw(panel, panels[panel], top + row * block + 26, min(block - _AROUND, 200), marks, is_large=False)
        bottom = top + _HEAD + large + 28
        sheet.text(whole.scale(0.5), bottom, x_label, "center", quiet=True)
        drawn = sheet.svg(bottom + 12, chart_id, title, alt)
    head = ("panel", "run", x_label, y_label, "low", "high")
    return Chart(chart_id, title, alt, drawn, csv_text(head, _rows(x, panels)), bool(others))


def columns_of(count: int) -> int:
    """Columns of a grid of so many panels: at most 3, and a full grid where there is one."""
    if count <= 3:
        return max(count, 1)
    return 3 if count % 3 == 0 else 2 if count % 2 == 0 else 3


def _rows(x: Sequence[float], panels: Mapping[str, Mapping[str, Curve]]) -> Iterator[tuple[object, ...]]:
    for panel, lines in panels.items():
        for name, curve in lines.items():
            for place, at in enumerate(x):
                ends = (curve.low[place], curve.high[place]) if curve.low else (None, None)
                yield panel, name, float(at), float(curve.y[place]), *ends


@dataclass
class _Panel:
    """One panel."""

    sheet: Sheet
    series: Mapping[str, int]
    x: Sequence[float]
    scale: Scale

    def draw(
        self, title: str, lines: Mapping[str, Curve], top: float, height: float, marks: Sequence[float], is_large: bool
    ) -> None:
        """Draw title, axes and curves; `is_large`: with bands and the numbers of the marks."""
        sheet, scale = self.sheet, self.scale
        y = Scale(0, 100, top + height, top)
        sheet.segments([(scale.first, y(tick), scale.last, y(tick)) for tick in _TICKS], **style.GRID)
        for tick in _TICKS:
            sheet.text(scale.first - 6, y(tick), f"{tick:g}", "right", quiet=True)
        for at, words in ((0, "0"), (0.25, ".25"), (0.5, ".50"), (0.75, ".75"), (1, "1")):
            sheet.text(scale(at), top + height + 11, words, "center", quiet=True)
        room = scale.last - scale.first
        sheet.text(scale.first, top - (27 if is_large else 15), shortened(title, room, True), weight="bold")
        for number, mark in enumerate(marks):
            at = scale(mark)
            sheet.segments([(at, top, at, top + height)], color=style.TEXT, alpha=0.6, linewidth=0.9, dashes=(2, 2))
            if is_large:  # the first to the left of its line, the last to the right: they lie close together
                align, shift = ("right", -2) if number < len(marks) - 1 else ("left", 2)
                sheet.text(at + shift, top - 9, f"{mark:.2f}".removeprefix("0"), align)
        for name, curve in lines.items():
            if is_large and curve.low:
                self._band(curve, y, self.series[name])
        for name, curve in lines.items():
            number = self.series[name]
            kept = without_straights(self.x, curve.y)
            sheet.line([scale(self.x[i]) for i in kept], [y(curve.y[i]) for i in kept], **style.line(number))
            marked = range(3 + 5 * (number % 5), len(self.x), 25)
            size = {} if is_large else {"markersize": 5}
            places = [scale(self.x[i]) for i in marked], [y(curve.y[i]) for i in marked]
            sheet.line(*places, **(style.marks(number) | size))

    def _band(self, curve: Curve, y: Scale, number: int) -> None:
        places = [i for i in range(len(self.x)) if math.isfinite(curve.low[i]) and math.isfinite(curve.high[i])]
        if len(places) > 1:
            low, high = [y(curve.low[i]) for i in places], [y(curve.high[i]) for i in places]
            self.sheet.band([self.scale(self.x[i]) for i in places], low, high, number)


def without_straights(x: Sequence[float], y: Sequence[float]) -> list[int]:
    """Places of the points that a curve needs: those where it does not just go straight on."""
    return [
        i
        for i in range(len(x))
        if i in (0, len(x) - 1)
        or not math.isclose(
            (y[i] - y[i - 1]) * (x[i + 1] - x[i]), (y[i + 1] - y[i]) * (x[i] - x[i - 1]), rel_tol=0, abs_tol=1e-9
        )
    ]
