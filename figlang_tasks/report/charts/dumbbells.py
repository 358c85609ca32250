"""Dumbbells: two values of each series in each category, and how far they lie apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from figlang_tasks.core.text import csv_text
from figlang_tasks.report.charts import style
from figlang_tasks.report.charts.chart import Chart, numbered
from figlang_tasks.report.charts.forest import points
from figlang_tasks.report.charts.sheet import HALF, Scale, Sheet, drawing, text_width, wrapped
from figlang_tasks.scoring import Estimate

_ROW, _BETWEEN, _VALUE = 17.0, 12.0, 46.0


class Ends(NamedTuple):
    """Where a dumbbell begins and ends."""

    first: Estimate
    last: Estimate

    @property
    def difference(self) -> float:
        """How far the last lies above the first."""
        return self.last.value - self.first.value


def dumbbells(
    chart_id: str,
    title: str,
    alt: str,
    groups: Mapping[str, Mapping[str, Ends]],
    *,
    names: tuple[str, str],
    label: str,
    order: Sequence[str] = (),
) -> Chart:
    """Draw a line from a hollow mark at the first value to a filled one at the last, with the difference beside it.

    Args:
        chart_id, title, alt: see `Chart`.
        groups: two values (0 to 100) by category and series; what is NaN is not drawn.
        names: of the first and the last value, which are also heads of columns in the CSV.
        label: of the axis.
        order: as in `bars`.

    Raises:
        ValueError: the id is not valid, or there are no groups.
    """
    series = numbered(groups.values(), order)
    places = list(series)
    with drawing(chart_id):
        sheet = Sheet(HALF)
        legend = [(name, sheet.sample_marks(number)) for name, number in series.items()]
        ends = [(name, sheet.sample_ends(hollow)) for name, hollow in zip(names, (True, False), strict=True)]
        top = sheet.legend(0, ([*legend] if len(series) > 1 else []) + ends) + 8
        labels = min(max(map(text_width, groups)), 170) + 10
        scale = Scale(0, 100, labels, HALF - _VALUE - 10)
        sheet.text(HALF - 4, top + 8, "points", "right", quiet=True)
        top += 20
        height = len(series) * _ROW + _BETWEEN
        bottom = top + height * len(groups)
        sheet.grid(scale, top, bottom, (0, 25, 50, 75, 100))
        for number, (category, group) in enumerate(groups.items()):
            start = top + number * height + _BETWEEN / 2
            most = 2 if len(series) > 1 else 1
            middle = start + len(series) * _ROW / 2
            sheet.lines(labels - 10, middle, wrapped(category, labels - 10, most), "right")
            for name, each in group.items():
                if math.isfinite(each.difference):
                    _dumbbell(sheet, scale, start + (places.index(name) + 0.5) * _ROW, each, series[name])
        sheet.text((scale.first + scale.last) / 2, bottom + 28, label, "center", quiet=True)
        drawn = sheet.svg(bottom + 40, chart_id, title, alt)
    return Chart(chart_id, title, alt, drawn, _csv(groups, names))


def _dumbbell(sheet: Sheet, scale: Scale, y: float, each: Ends, number: int) -> None:
    first, last = scale(each.first.value), scale(each.last.value)
    if abs(last - first) > 8:  # from the edge of the hollow mark
        sheet.segments([(first + math.copysign(4, last - first), y, last, y)], **(style.line(number)))
    sheet.line([first], [y], **style.marks(number, hollow=True))
    sheet.line([last], [y], **style.marks(number))
    sheet.text(HALF - 4, y, points(each.difference), "right")


def _csv(groups: Mapping[str, Mapping[str, Ends]], names: tuple[str, str]) -> str:
    head = ("category", "run", *(f"{name}{end}" for name in names for end in ("", " low", " high")), "points")
    rows = [
        (category, name, *each.first[:3], *each.last[:3], each.difference)
        for category, group in groups.items()
        for name, each in group.items()
    ]
    return csv_text(head, rows)
