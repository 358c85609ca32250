"""Curves over a threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from figlang_tasks.core.text import csv_text
from figlang_tasks.report.charts.chart import HALF, WHOLE, Chart, drawn, legend, numbered, of_series, wrapped

_PANEL = 160  # pixels
_TICKS = (0, 0.2, 0.4, 0.6, 0.8)  # 1 would touch the 0 of the next panel


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
    x: Sequence[float],
    panels: Mapping[str, Mapping[str, Curve]],
    *,
    x_label: str,
    y_label: str,
    marks: Sequence[float] = (),
    order: Sequence[str] = (),
) -> Chart:
    """Curves over the same x from 0 to 1, a panel for the whole and for each part."""
    series = numbered(panels.values(), order)
    columns = min(4, len(panels))
    rows = math.ceil(len(panels) / columns)
    wide = columns > 2
    with drawn(WHOLE if wide else HALF, rows * _PANEL + 80) as (figure, file):
        legend(figure, [(name, of_series(number, line=True)) for name, number in series.items()])
        every = list(figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat)
        for axes, (panel, lines) in zip(every, panels.items(), strict=False):
            axes.set(title=wrapped(panel, 30).partition("\n")[0], xlim=(0, 1), ylim=(0, 100), xticks=_TICKS)
            for mark in marks:
                axes.axvline(mark, color="black", linestyle=":", linewidth=1)
                if axes.get_subplotspec().is_first_col():
                    align = "left" if mark == marks[-1] else "right"
                    axes.text(mark, 99, f"{mark:.2f} ".removeprefix("0"), ha=align, va="top", fontsize=10)
            for name, curve in lines.items():
                style = of_series(series[name], line=True)
                if curve.low:
                    axes.fill_between(x, curve.low, curve.high, color=style["color"], alpha=0.16, linewidth=0)
                axes.plot(x, curve.y, markevery=(3 + 5 * (series[name] % 5), 25), clip_on=False, **style)
        for axes in every[len(panels) :]:
            axes.axis("off")
        figure.supxlabel(x_label, fontsize=12)
        figure.supylabel(y_label, fontsize=12)
    head = ("panel", "run", x_label, y_label, "low", "high")
    return Chart(chart_id, title, file.getvalue(), csv_text(head, _rows(x, panels)), wide)


def _rows(x: Sequence[float], panels: Mapping[str, Mapping[str, Curve]]) -> Iterator[tuple[object, ...]]:
    for panel, lines in panels.items():
        for name, curve in lines.items():
            for place, at in enumerate(x):
                ends = (curve.low[place], curve.high[place]) if curve.low else (None, None)
                yield panel, name, float(at), float(curve.y[place]), *ends
