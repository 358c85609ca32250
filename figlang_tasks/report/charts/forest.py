"""A forest plot: differences with their intervals around a line at 0, and p beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from figlang_tasks.core.text import csv_text, well_formed
from figlang_tasks.report.charts import style
from figlang_tasks.report.charts.chart import Chart
from figlang_tasks.report.charts.sheet import HALF, LINE, WHOLE, Scale, Sheet, drawing, shortened, text_width, wrapped

_ROW, _NUMBERS, _LABELS = 20.0, 128.0, 230.0
_MOST_IN_ONE_COLUMN = 24  # rows
_MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Effect:
    """A row of a forest plot.

    Attributes:
        label: what differs.
        value: the difference.
        low, high: its interval; None where there is none.
        note: the text at its right.
        strong: whether it differs significantly from 0.
        better: whether it lies on the good side of 0.
        against: what it is compared with, beneath the label where both do not fit beside each other; "" for nothing.
    """

    label: str
    value: float
    low: float | None
    high: float | None
    note: str
    strong: bool
    better: bool
    against: str = ""


def forest(
    chart_id: str,
    title: str,
    alt: str,
    panels: Mapping[str, Sequence[Effect]],
    data: Sequence[Sequence[object]],
    *,
    label: str,
) -> Chart:
    """Draw differences, in panels with one scale; many take two columns.

    Args:
        chart_id, title, alt: see `Chart`.
        panels: effects by panel.
        data: what becomes the CSV, the header first.
        label: of the axis.

    Raises:
        ValueError: the id is not valid, or there are no effects.
    """
    effects = [effect for found in panels.values() for effect in found]
    if not effects:
        raise ValueError(f"{chart_id}: there is nothing to draw")
    wide = len(effects) + 1.5 * len(panels) > _MOST_IN_ONE_COLUMN and len(panels) > 1
    most = _limit(effects)
    with drawing(chart_id):
        sheet = Sheet(WHOLE if wide else HALF)
        labels = min(max(max(map(text_width, _label(effect, _LABELS))) for effect in effects), _LABELS) + 10
        room = HALF - labels - _NUMBERS
        bottoms = []
        for place, column in enumerate(_columns(panels, 2 if wide else 1)):
            left = place * (WHOLE - HALF)
            scale = Scale(-most, most, left + labels + 6, left + labels + room - 6)
            sheet.text(left + HALF - 66, 8, "points", "right", quiet=True)
            sheet.text(left + HALF, 8, "p (Holm)", "right", quiet=True)
            top = y = 20.0
            for panel in column:
                y = _panel(sheet, panel, panels[panel], left, labels, scale, y)
            sheet.grid(scale, top, y, _ticks(most))
            sheet.segments([(scale(0), top, scale(0), y)], color=style.TEXT, linewidth=1, zorder=0.6)
            sheet.text((scale.first + scale.last) / 2, y + 28, label, "center", quiet=True)
            bottoms.append(y + 40)
        drawn = sheet.svg(max(bottoms), chart_id, title, alt)
    return Chart(chart_id, title, alt, drawn, csv_text([str(head) for head in data[0]], data[1:]), wide)


def _label(effect: Effect, width: float) -> list[str]:
    """The lines of a label."""
    if not effect.against:
        return wrapped(effect.label, width)
    whole = well_formed(f"{effect.label} {_MINUS} {effect.against}")
    if text_width(whole) <= width:
        return [whole]
    return [shortened(effect.label, width), shortened(f"{_MINUS} {effect.against}", width)]


def _limit(effects: Sequence[Effect]) -> float:
    """The end of the axis: what holds all intervals, round."""
    ends = [abs(end) for each in effects for end in (each.value, each.low, each.high) if end is not None]
    farthest = max((end for end in ends if math.isfinite(end)), default=1.0)
    return next((limit for limit in (1, 2, 4, 10, 20, 40, 60, 80) if farthest <= limit), 100)


def _ticks(most: float) -> tuple[float, ...]:
    return (-most, -most / 2, 0, most / 2, most)


def _columns(panels: Mapping[str, Sequence[Effect]], count: int) -> list[list[str]]:
    """The names of panels in columns of about the same height, in their order."""
    heights = {panel: len(found) + 1.5 for panel, found in panels.items()}
    found: list[list[str]] = [[] for _ in range(count)]
    done = 0.0
    for panel, height in heights.items():
        found[min(int((done + height / 2 - 0.01) / sum(heights.values()) * count), count - 1)].append(panel)
        done += height
    return [column for column in found if column]


def _panel(
    sheet: Sheet, title: str, effects: Sequence[Effect], left: float, labels: float, scale: Scale, y: float
) -> float:
    """Draw a panel; returns where it ends."""
    if title:
        sheet.text(left, y + 12, shortened(title, HALF - 10, True), weight="bold")
        y += 24
    for effect in effects:
        lines = _label(effect, labels - 10)
        height = max(_ROW, LINE * len(lines) + 4)
        middle = y + height / 2
        sheet.lines(left + labels - 10, middle, lines, "right")
        _effect(sheet, effect, scale, middle)
        weight = "bold" if effect.strong else "normal"
        sheet.text(left + HALF - 66, middle, points(effect.value), "right", weight=weight)
        sheet.text(left + HALF, middle, effect.note, "right", weight=weight)
        y += height
    return y + 6


def _effect(sheet: Sheet, effect: Effect, scale: Scale, y: float) -> None:
    colour = style.colour("--better" if effect.better else "--worse") if effect.strong else style.colour("--quiet")
    if effect.low is not None and effect.high is not None:
        sheet.segments([(scale(effect.low), y, scale(effect.high), y)], color=colour, linewidth=1.8)
    face = colour if effect.strong else "none"
    sheet.line(
        [scale(effect.value)],
        [y],
        **{"color": colour, "linestyle": "none", "marker": "s", "markersize": 7},
        **{"markerfacecolor": face, "markeredgewidth": 0 if effect.strong else 1.4},
    )


def points(value: float) -> str:
    """A difference as people read it: its sign, and one digit."""
    rounded = round(value, 1)
    return f"{rounded:+.1f}".replace("-", _MINUS) if rounded else "0.0"
