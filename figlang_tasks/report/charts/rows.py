"""Charts of rows with marks and intervals: values of runs by category, and differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from figlang_tasks.core.text import csv_text, well_formed
from figlang_tasks.report.charts.chart import (
    BETTER,
    HALF,
    PHONE,
    QUIET,
    WHOLE,
    WORSE,
    Chart,
    Panels,
    Reference,
    References,
    drawn,
    legend,
    legend_lines,
    numbered,
    of_series,
    wrapped,
)
from figlang_tasks.scoring import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

_MINUS = "\N{MINUS SIGN}"
_MARK, _LINE, _BETWEEN, _HEAD = 16, 15, 10, 26  # heights in pixels
_SAMPLES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "model": ("published models", {"color": "black", "marker": "|", "linestyle": "none", "markeredgewidth": 1.5}),
    "people": ("people (published)", {"color": "black", "marker": "D", "linestyle": "none", "markerfacecolor": "none"}),
    "chance": ("chance", {"color": "black", "linestyle": "--", "linewidth": 1.2}),
}


class Mark(NamedTuple):
    """A value in a row: its place, its interval, the text at the right (bold if `strong`), and how it looks."""

    value: float
    low: float | None
    high: float | None
    text: str
    style: Mapping[str, Any]
    strong: bool = False


@dataclass(frozen=True)
class Line:
    """A row: its label, its marks below each other, and what they are read beside, in a row of its own with `room`."""

    label: str
    marks: Sequence[Mark]
    references: Sequence[Reference] = ()
    room: bool = False

    def height(self) -> float:
        marks = _MARK * (len(self.marks) + self.room)
        return float(max(marks, _LINE * (self.label.count("\n") + 1)) + _BETWEEN)


def _draw(
    panels: Mapping[str, Sequence[Line]],
    label: str,
    names: Sequence[tuple[str, Mapping[str, Any]]],
    width: float = HALF,
    ends: tuple[float, float] = (0, 100),
    side_by_side: bool = False,
) -> str:
    """The SVG of panels of rows with one scale, below each other or, with the same rows, side by side."""
    parts = [{name: lines} for name, lines in panels.items()] if side_by_side else [panels]
    found = {each.kind for lines in panels.values() for line in lines for each in line.references}
    entries = [*names, *(_SAMPLES[kind] for kind in _SAMPLES if kind in found)]
    rows = sum(_HEAD * bool(panel) + sum(line.height() for line in lines) for panel, lines in parts[0].items())
    above = 22 * legend_lines([name for name, _ in entries], width)[1]
    with drawn(width, rows + above + 56) as (figure, file):
        legend(figure, entries)
        for axes, part in zip(figure.subplots(1, len(parts), sharey=True, squeeze=False)[0], parts, strict=True):
            axes.set(xlim=ends, xlabel=well_formed(label))
            axes.grid(False, axis="y")
            _fill(axes, part, int(width / 9 / len(parts)), figure.transFigure if len(parts) == 1 else axes.transAxes)
            if ends[0] < 0:
                axes.axvline(0, color="black", linewidth=1)
    return file.getvalue()


def _fill(axes: Axes, panels: Mapping[str, Sequence[Line]], letters: int, left: Transform) -> None:
    """Draw panels below each other; their heads begin at 0 of `left` and have so many `letters` at most."""
    from matplotlib import rcParams
    from matplotlib.transforms import blended_transform_factory

    y, labels = 0.0, {}
    for panel, lines in panels.items():
        if panel:
            head = wrapped(panel, letters).partition("\n")[0]
            place = blended_transform_factory(left, axes.transData)
            axes.text(0, y + _HEAD - 9, head, transform=place, weight="bold", va="center", in_layout=False)
            y += _HEAD
        for line in lines:
            _row(axes, line, y)
            labels[y + line.height() / 2] = line.label
            y += line.height()
            axes.axhline(y, color=rcParams["grid.color"], linewidth=0.8, zorder=0.5)
    axes.set_yticks(list(labels), list(labels.values()))
    axes.set_ylim(y, 0)


def _row(axes: Axes, line: Line, top: float) -> None:
    start = top + (line.height() - _MARK * (len(line.marks) + line.room)) / 2
    for number, mark in enumerate(line.marks):
        if not math.isfinite(mark.value):
            continue
        y = start + _MARK * (number + 0.5)
        if mark.low is not None and mark.high is not None and math.isfinite(mark.low + mark.high):
            axes.plot([mark.low, mark.high], [y, y], color=mark.style["color"], linewidth=1.5)
        axes.plot([mark.value], [y], clip_on=False, **mark.style)
        weight = "bold" if mark.strong else "normal"
        at_right = axes.get_yaxis_transform()
        axes.annotate(well_formed(mark.text), (1, y), (10, 0), at_right, "offset points", va="center", weight=weight)
    y = start + _MARK * (len(line.marks) + 0.5)
    for each in line.references:
        if each.kind == "chance":
            axes.plot([each.value] * 2, [top + 2, top + line.height() - 2], **_SAMPLES["chance"][1])
        else:
            axes.plot([each.value], [y], clip_on=False, **_SAMPLES[each.kind][1])
    if models := [each for each in line.references if each.kind == "model"]:
        best = max(models, key=lambda each: each.value)
        text, right = f"best: {wrapped(best.name, 24)} {best.value:.1f}", best.value < 50
        shift = (7 if right else -7, 0)
        align = "left" if right else "right"
        axes.annotate(
            text, (best.value, y), shift, textcoords="offset points", ha=align, va="center", color=QUIET, fontsize=11
        )


def _of_runs(values: Mapping[str, Estimate], series: Mapping[str, int]) -> list[Mark]:
    """A mark for each run, NaN for one without a value."""
    every = {name: values.get(name, Estimate(math.nan)) for name in series}
    return [
        Mark(found.value, found.low, found.high, f"{found.value:.1f}", of_series(series[name]))
        for name, found in every.items()
    ]


def bars(
    chart_id: str,
    title: str,
    panels: Panels,
    *,
    label: str,
    references: References | None = None,
    order: Sequence[str] = (),
    side_by_side: bool = False,
    whole: bool = False,
) -> Chart:
    """Values (0 to 100) of each run by category, with intervals, in panels; NaN has no mark.

    `references` are what to compare with: chance is a line across the marks, others are marks below them. `order` lists
    the series of all charts of a page, so that one looks alike in all. A chart that is `whole` is as wide as the page.
    """
    beside = references or {}
    series = numbered((group for panel in panels.values() for group in panel.values()), order)
    side_by_side = side_by_side and len(panels) > 1
    every = dict.fromkeys(category for groups in panels.values() for category in groups)
    room = {category for (_, category), found in beside.items() if any(each.kind != "chance" for each in found)}
    lines = {
        panel: [
            Line(
                wrapped(category, 26 if whole else 22),
                _of_runs(groups.get(category, {}), series),
                beside.get((panel, category), ()),
                category in room,
            )
            for category in (every if side_by_side else groups)
        ]
        for panel, groups in panels.items()
    }
    data: list[tuple[object, ...]] = []
    for panel, groups in panels.items():
        for category, group in groups.items():
            data += [(panel, category, "run", name, *found[:3]) for name, found in group.items()]
            for each in beside.get((panel, category), ()):
                kind = "chance" if each.kind == "chance" else f"published {each.kind}"
                data.append((panel, category, kind, each.name, each.value, None, None))
    csv = csv_text(("panel", "category", "kind", "name", "value", "low", "high"), data)
    names = [(name, of_series(number)) for name, number in series.items()]
    wide = whole or side_by_side
    svg = _draw(lines, label, names, WHOLE if wide else HALF, side_by_side=side_by_side)
    return Chart(chart_id, title, svg, csv, wide, _draw(lines, label, names, PHONE))


@dataclass(frozen=True)
class Effect:
    """A difference: what differs, value and interval, the text beside it, whether it is significant, and good.

    `against` is what it is compared with; "" for nothing.
    """

    label: str
    value: float
    low: float | None
    high: float | None
    note: str
    strong: bool
    better: bool
    against: str = ""


def forest(chart_id: str, title: str, panels: Mapping[str, Sequence[Effect]], csv: str, *, label: str) -> Chart:
    """Differences with their intervals around 0, in panels with one scale; those that are significant are filled."""
    ends = [end for found in panels.values() for each in found for end in (each.value, each.low, each.high)]
    farthest = max(abs(end) for end in ends if end is not None)
    most = next((limit for limit in (1, 2, 4, 10, 20, 40, 60, 80) if farthest <= limit), 100)
    lines = {panel: [_effect(each) for each in found] for panel, found in panels.items()}
    return Chart(chart_id, title, _draw(lines, f"{label}; right: points, p", (), ends=(-most, most)), csv)


def _effect(of: Effect) -> Line:
    colour = (BETTER if of.better else WORSE) if of.strong else QUIET
    style = {"color": colour, "marker": "s", "linestyle": "none", "markerfacecolor": colour if of.strong else "white"}
    label = f"{wrapped(of.label, 28)}" + (f" {_MINUS} {wrapped(of.against, 28)}" if of.against else "")
    rounded = round(of.value, 1)
    points = f"{rounded:+.1f}".replace("-", _MINUS) if rounded else "0.0"
    return Line(label, [Mark(of.value, of.low, of.high, f"{points} ({of.note})", style, of.strong)])
