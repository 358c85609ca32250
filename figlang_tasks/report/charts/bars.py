"""Bars: values by category and series, with intervals, beside what was published."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from figlang_tasks.core.text import csv_text
from figlang_tasks.report.charts import style
from figlang_tasks.report.charts.chart import Chart, Panels, Reference, References, numbered
from figlang_tasks.report.charts.sheet import HALF, LINE, WHOLE, Scale, Sheet, drawing, shortened, text_width, wrapped
from figlang_tasks.scoring import Estimate

_BAR, _BETWEEN, _VALUE, _TICKS = 15.0, 12.0, 46.0, (0, 25, 50, 75, 100)


def bars(
    chart_id: str,
    title: str,
    alt: str,
    panels: Panels,
    *,
    label: str,
    references: References | None = None,
    order: Sequence[str] = (),
    side_by_side: bool = False,
) -> Chart:
    """Draw horizontal bars with their intervals: groups of series by category, in panels.

    Args:
        chart_id, title, alt: see `Chart`.
        panels: values (0 to 100) by panel, category and series. A value that is NaN has no bar.
        label: what the values are.
        references: what to compare with: chance is a line across the bars, others are marks below them.
        order: the series of all charts of a page, so that one looks alike in all of them.
        side_by_side: put the panels beside each other, with the same categories; else one below the other.

    Raises:
        ValueError: the id is not valid, or there is no panel.
    """
    references = references or {}
    series = numbered((group for panel in panels.values() for group in panel.values()), order)
    marked = [each for found in references.values() for each in found]
    wide = side_by_side and len(panels) > 1
    with drawing(chart_id):
        sheet = Sheet(WHOLE if wide else HALF)
        legend = [(name, sheet.sample_bar(number)) for name, number in series.items()]
        y = sheet.legend(0, [*legend, *sheet.samples_of_references(marked)]) + 8
        categories = list(dict.fromkeys(category for groups in panels.values() for category in groups))
        labels = min(max(map(text_width, categories)), 180 if wide else 150) + 10
        rows = _Rows(sheet, series, references, labels)
        if wide:
            room = (sheet.width - labels) / len(panels)
            lefts = [labels + place * room for place in range(len(panels))]
            scales = [Scale(0, 100, left, left + room - _VALUE - 18) for left in lefts]
            columns = [_Column(panel, panels[panel], scale) for panel, scale in zip(panels, scales, strict=True)]
            y = rows.draw(y, categories, columns, label)
        else:
            scale = Scale(0, 100, labels, sheet.width - _VALUE - 4)
            for panel, groups in panels.items():
                last = panel == list(panels)[-1]
                y = rows.draw(y, list(groups), [_Column(panel, groups, scale)], label if last else "")
        drawn = sheet.svg(y, chart_id, title, alt)
    return Chart(chart_id, title, alt, drawn, _csv(panels, references), wide)


class _Column(NamedTuple):
    """A panel, and where it stands."""

    panel: str
    groups: Mapping[str, Mapping[str, Estimate]]
    scale: Scale


@dataclass
class _Rows:
    """Draws groups of bars."""

    sheet: Sheet
    series: Mapping[str, int]
    references: References
    labels: float

    def draw(self, top: float, categories: Sequence[str], columns: Sequence[_Column], label: str) -> float:
        """Draw panels that share their categories; returns where they end."""
        y = top
        if any(column.panel for column in columns):
            for panel, _, scale in columns:
                left = scale.first if len(columns) > 1 else 0
                name = shortened(panel, scale.last + _VALUE - left, True)
                self.sheet.text(left, top + 8, name, weight="bold")
            y += 22
        start, tops = y, {}
        for category in categories:
            tops[category] = y + _BETWEEN / 2
            y += self._height(category, columns) + _BETWEEN
            lines = wrapped(category, self.labels - 10)
            self.sheet.lines(self.labels - 10, tops[category] + _BAR * len(self.series) / 2, lines, "right")
        for panel, groups, scale in columns:
            self.sheet.grid(scale, start, y, _TICKS, named=bool(label))
            for category, group in groups.items():
                self._group(self.references.get((panel, category), ()), group, tops[category], scale)
            self.sheet.text((scale.first + scale.last) / 2, y + 28, label, "center", quiet=True)
        return y + (40 if label else 10)

    def _height(self, category: str, columns: Sequence[_Column]) -> float:
        below = (_rows_of_references(self.references.get((each.panel, category), ()), each.scale) for each in columns)
        lines = len(wrapped(category, self.labels - 10))
        return max(_BAR * (len(self.series) + max(below)), LINE * lines - _BETWEEN / 2)

    def _group(self, beside: Sequence[Reference], group: Mapping[str, Estimate], top: float, scale: Scale) -> None:
        ends = []
        for place, (name, number) in enumerate(self.series.items()):
            found, at = group.get(name), top + (place + 0.5) * _BAR
            if found is None or not math.isfinite(found.value):
                continue
            self.sheet.bar(scale(0), at, scale(found.value) - scale(0), 0.8 * _BAR, number)
            # All in one column: at the end of an interval a value would look like that end.
            self.sheet.text(scale.last + _VALUE, at, f"{found.value:.1f}", "right")
            if both := interval(found):
                ends.append((scale(both[0]), at, scale(both[1]), at))
        self.sheet.segments(ends, color=style.TEXT, linewidth=1.2)
        bottom = top + len(self.series) * _BAR
        chance = [scale(each.value) for each in beside if each.kind == "chance"]
        self.sheet.segments([(at, top - 3, at, bottom + 3) for at in chance], **style.CHANCE)
        draw_references(self.sheet, beside, scale, bottom + _BAR / 2)
        if best := _best(beside, scale):
            self.sheet.text(best.x, bottom + _BAR * (best.row + 0.5), best.text, quiet=True)


def interval(found: Estimate) -> tuple[float, float] | None:
    """The ends of an interval, where it has both."""
    if found.low is None or found.high is None or not (math.isfinite(found.low) and math.isfinite(found.high)):
        return None
    return found.low, found.high


def draw_references(sheet: Sheet, found: Sequence[Reference], scale: Scale, y: float) -> None:
    """Draw models as ticks and people as diamonds, in a row."""
    models, people = ([scale(each.value) for each in found if each.kind == kind] for kind in ("model", "people"))
    sheet.segments([(at, y - 5, at, y + 5) for at in models], **style.MODEL)
    sheet.line(people, [y] * len(people), **style.PEOPLE)


class _Best(NamedTuple):
    """Name and value of the best model, and where they stand: in the row of its tick (0), or in the next (1)."""

    text: str
    x: float
    row: int


def _best(found: Sequence[Reference], scale: Scale) -> _Best | None:
    """The best model's name: to the right of its tick, where there is room, else below."""
    models = {each.name: each.value for each in found if each.kind == "model"}
    if not models:
        return None
    name, value = max(models.items(), key=lambda each: each[1])
    text = shortened(f"best: {name} {value:.1f}", scale.last - scale.first)
    people = [scale(each.value) - 8 for each in found if each.kind == "people" and each.value > value]
    right = scale(value) + 6
    if right + text_width(text) <= min(people, default=scale.last):
        return _Best(text, right, 0)
    return _Best(text, scale.first, 1)


def _rows_of_references(found: Sequence[Reference], scale: Scale) -> int:
    """How many rows there are below bars for what was published."""
    best = _best(found, scale)
    return 1 + best.row if best else int(any(each.kind == "people" for each in found))


def _csv(panels: Panels, references: References) -> str:
    """Runs, then what they are read beside."""
    rows: list[tuple[object, ...]] = [
        (panel, category, "run", name, found.value, found.low, found.high)
        for panel, groups in panels.items()
        for category, group in groups.items()
        for name, found in group.items()
    ]
    rows += [
        (panel, category, each.csv_kind, each.name, each.value, None, None)
        for (panel, category), found in references.items()
        for each in found
    ]
    return csv_text(("panel", "category", "kind", "name", "value", "low", "high"), rows)
