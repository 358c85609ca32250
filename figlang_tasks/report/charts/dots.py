"""Dots over numbered places, such as instructions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from figlang_tasks.core.text import csv_text
from figlang_tasks.report.charts import style
from figlang_tasks.report.charts.chart import Chart, numbered
from figlang_tasks.report.charts.sheet import HALF, Scale, Sheet, drawing
from figlang_tasks.scoring import Estimate

_LEFT, _HEIGHT = 34.0, 240.0


def dots(
    chart_id: str,
    title: str,
    alt: str,
    series: Mapping[str, Mapping[int, Estimate]],
    *,
    x_label: str,
    y_label: str,
    order: Sequence[str] = (),
) -> Chart:
    """Draw a dot for each series at each numbered place, and a line at the mean of each series.

    Args:
        chart_id, title, alt: see `Chart`.
        series: values (0 to 100) by series and place.
        x_label, y_label: names of the axes, which are also heads of columns in the CSV.
        order: as in `bars`.

    Raises:
        ValueError: the id is not valid, or there is nothing to draw.
    """
    numbers = numbered([series], order)
    places = sorted({place for found in series.values() for place in found})
    values = [found.value for of in series.values() for found in of.values() if math.isfinite(found.value)]
    if not values:
        raise ValueError(f"{chart_id}: there is nothing to draw")
    low, high = max(0, 10 * math.floor(min(values) / 10 - 0.5)), min(100, 10 * math.ceil(max(values) / 10 + 0.5))
    with drawing(chart_id):
        sheet = Sheet(HALF)
        top = sheet.legend(0, [(name, sheet.sample_line(number)) for name, number in numbers.items()]) + 8
        sheet.text(0, top + 8, y_label, quiet=True)
        top += 28
        x = Scale(places[0] - 0.7, places[-1] + 0.7, _LEFT, HALF - 6)
        y = Scale(low, high, top + _HEIGHT, top)
        for tick in range(low, high + 1, 10):
            sheet.segments([(x.first, y(tick), x.last, y(tick))], **style.GRID)
            sheet.text(x.first - 6, y(tick), str(tick), "right", quiet=True)
        for place in places:
            sheet.text(x(place), top + _HEIGHT + 11, str(place), "center", quiet=True)
        for number, name in enumerate(numbers):
            finite = {place: each.value for place, each in series[name].items() if math.isfinite(each.value)}
            shift = 0.5 * (number - (len(series) - 1) / 2) / len(series)
            sheet.line(
                [x(place + shift) for place in finite], list(map(y, finite.values())), **style.marks(numbers[name])
            )
            if finite:
                mean = sum(finite.values()) / len(finite)
                sheet.line([x.first, x.last], [y(mean), y(mean)], **style.line(numbers[name]))
        sheet.text((x.first + x.last) / 2, top + _HEIGHT + 30, x_label, "center", quiet=True)
        drawn = sheet.svg(top + _HEIGHT + 42, chart_id, title, alt)
    rows = [
        (name, place, each.value, each.low, each.high)
        for name, found in series.items()
        for place, each in found.items()
    ]
    return Chart(chart_id, title, alt, drawn, csv_text(("run", x_label, y_label, "low", "high"), rows))
