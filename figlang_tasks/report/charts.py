"""Charts of a report: plain matplotlib in one style, saved as SVG, each with its data as CSV.

A chart reads in grey print and without colour vision (markers and dashes beside colours); without
sight there are the tables. The page shows it as a picture, and inverts it where the page is dark.
Names of runs are untrusted: they are text, and neither markup nor mathematics.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from figlang_tasks.core.text import csv_text, printable
from figlang_tasks.scoring import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Transform

HALF, WHOLE, PHONE = 578, 1180, 358
"""Widths of charts in pixels: two halves fit beside each other in a whole."""

COLOURS = ("#0072b2", "#d55e00", "#008a64", "#b45a8e", "#a87400", "#2f86bb", "#7d7500", "#555555")
"""Colours of series: Okabe and Ito 2008, darkened to 3:1 on white; the page inverts charts where it
is dark.
"""
BETTER, WORSE, QUIET = COLOURS[0], COLOURS[1], "#59616b"
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 2)),
    (0, (1, 1.5)),
    (0, (6, 2, 1, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
)

_STYLE = Path(__file__).with_name("charts.mplstyle")


@dataclass(frozen=True)
class Chart:
    """A chart.

    Attributes:
        id: unique on the page; letters, digits and ``-``.
        title: what it shows, for its caption.
        svg: the drawing, an SVG file; the page shows it as a picture, so that nothing in it can
            run.
        csv: its data, a header line first.
        wide: whether it takes the whole width of the page; two others fit beside each other.
        narrow: the drawing for a telephone.
    """

    id: str
    title: str
    svg: str
    csv: str
    wide: bool
    narrow: str


class Reference(NamedTuple):
    """A published value, or the level of chance, that stands beside runs."""

    name: str
    value: float
    kind: str = "model"  # or ``people``, ``chance``


Panels = Mapping[str, Mapping[str, Mapping[str, Estimate]]]
"""Values by panel, category and series."""

References = Mapping[tuple[str, str], Sequence[Reference]]
"""References by panel and category."""


def numbered(groups: Iterable[Iterable[str]], order: Sequence[str]) -> dict[str, int]:
    """The series of all groups, each with the number of its style: its place in `order`."""
    names = {name for group in groups for name in group}
    return {name: number for number, name in enumerate(order) if name in names}


def of_series(number: int, line: bool = False) -> dict[str, Any]:
    """Colour, marker and dashes of a series, for ``Axes.plot``; of 35 series any two differ in
    marker or dashes.
    """
    dashes = DASHES[number % len(DASHES)] if line else "none"
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": dashes,
    }


def wrapped(text: str, letters: int) -> str:
    """A text in one line or two of at most so many letters, cut at its end; it breaks after blanks
    and ``_ - /``.
    """
    lines = [""]
    for piece in re.findall(r"[^ _/-]*[ _/-]|[^ _/-]+", " ".join(printable(text).split())):
        if len(lines) < 2 and lines[-1] and len(lines[-1] + piece.rstrip()) > letters:
            lines.append("")
        lines[-1] += piece
    return "\n".join(
        line.rstrip() if len(line.rstrip()) <= letters else f"{line[: letters - 1]}…"
        for line in lines
    )


@contextmanager
def drawn(width: float, height: float) -> Iterator[tuple[Figure, io.StringIO]]:
    """A figure of so many pixels in the style of all charts, and the file that has its SVG at the
    end.
    """
    from matplotlib import style
    from matplotlib.figure import Figure

    file = io.StringIO()
    with style.context(["default", _STYLE]), warnings.catch_warnings():
        # The reader's fonts have it
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure((width / 72, height / 72), dpi=72, layout="constrained")
        yield figure, file
        points = io.StringIO()
        figure.savefig(
            points, format="svg", transparent=True, metadata=dict.fromkeys(("Date", "Creator"))
        )
        file.write(re.sub(r'(width|height)="([\d.]+)pt"', r'\1="\2"', points.getvalue(), count=2))


def legend_lines(names: Sequence[str], width: float) -> tuple[int, int]:
    """Columns and lines of a legend in so many pixels."""
    widest = max((min(len(name), 40) for name in names), default=0)
    columns = max(1, int(width / (7.5 * widest + 50)))
    return columns, -(-len(names) // columns)


def legend(figure: Figure, entries: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Names with their styles, above a figure."""
    from matplotlib.lines import Line2D

    if entries:
        handles = [Line2D([], [], label=printable(name, 40), **style) for name, style in entries]
        columns, _ = legend_lines([name for name, _ in entries], figure.get_figwidth() * 72)
        figure.legend(handles=handles, loc="outside upper left", ncols=columns)


# --- rows with marks and intervals ---

MINUS = "\N{MINUS SIGN}"
_MARK, _LINE, _BETWEEN, _HEAD = 16, 15, 10, 26  # heights in pixels
_SAMPLES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "model": (
        "published models",
        {"color": "black", "marker": "|", "linestyle": "none", "markeredgewidth": 1.5},
    ),
    "people": (
        "people (published)",
        {"color": "black", "marker": "D", "linestyle": "none", "markerfacecolor": "none"},
    ),
    "chance": ("chance", {"color": "black", "linestyle": "--", "linewidth": 1.2}),
}


class Mark(NamedTuple):
    """A value in a row: its place, its interval, the text at the right (bold if `strong`), and how
    it looks.
    """

    value: float
    low: float | None
    high: float | None
    text: str
    style: Mapping[str, Any]
    strong: bool = False


@dataclass(frozen=True)
class Line:
    """A row: its label, its marks below each other, and what they are read beside, in a row of its
    own with `room`.
    """

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
    """The SVG of panels of rows with one scale, below each other or, with the same rows, side by
    side.
    """
    parts = [{name: lines} for name, lines in panels.items()] if side_by_side else [panels]
    found = {each.kind for lines in panels.values() for line in lines for each in line.references}
    entries = [*names, *(_SAMPLES[kind] for kind in _SAMPLES if kind in found)]
    rows = sum(
        _HEAD * bool(panel) + sum(line.height() for line in lines)
        for panel, lines in parts[0].items()
    )
    above = 22 * legend_lines([name for name, _ in entries], width)[1]
    with drawn(width, rows + above + 56) as (figure, file):
        legend(figure, entries)
        figure.set_layout_engine("constrained", wspace=0.03)
        for axes, part in zip(
            figure.subplots(1, len(parts), sharey=True, squeeze=False)[0], parts, strict=True
        ):
            axes.set(xlim=ends, xlabel=printable(label))
            axes.grid(False, axis="y")
            _fill(
                axes,
                part,
                int(width / 7 / len(parts)),
                figure.transFigure if len(parts) == 1 else axes.transAxes,
            )
    return file.getvalue()


def _fill(axes: Axes, panels: Mapping[str, Sequence[Line]], letters: int, left: Transform) -> None:
    """Draw panels below each other; their heads begin at 0 of `left` and have so many `letters` at
    most.
    """
    from matplotlib import rcParams
    from matplotlib.transforms import blended_transform_factory

    y, labels = 0.0, {}
    for panel, lines in panels.items():
        if panel:
            place = blended_transform_factory(left, axes.transData)
            head = printable(panel, letters)
            axes.text(
                0, y + _HEAD - 9, head, transform=place, weight="bold", va="center", in_layout=False
            )
            y += _HEAD
        for line in lines:
            if axes.get_xlim()[0] < 0:
                axes.plot([0, 0], [y, y + line.height()], color="black", linewidth=1)
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
        axes.annotate(
            printable(mark.text),
            (1, y),
            (10, 0),
            at_right,
            "offset points",
            va="center",
            weight=weight,
        )
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
            text,
            (best.value, y),
            shift,
            textcoords="offset points",
            ha=align,
            va="center",
            color=QUIET,
            fontsize=11,
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
    order: Sequence[str],
    references: References,
    side_by_side: bool = False,
    whole: bool = False,
) -> Chart:
    """Values (0 to 100) of each run by category, with intervals, in panels; NaN has no mark.

    `references` are what to compare with: chance is a line across the marks, others are marks below
    them. `order` lists the series of all charts of a page, so that one looks alike in all. A chart
    that is `whole` is as wide as the page.
    """
    series = numbered((group for panel in panels.values() for group in panel.values()), order)
    side_by_side = side_by_side and len(panels) > 1
    every = dict.fromkeys(category for groups in panels.values() for category in groups)
    room = {
        category
        for (_, category), found in references.items()
        if any(each.kind != "chance" for each in found)
    }
    lines = {
        panel: [
            Line(
                wrapped(category, 26 if whole else 22),
                _of_runs(groups.get(category, {}), series),
                references.get((panel, category), ()),
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
            for each in references.get((panel, category), ()):
                kind = "chance" if each.kind == "chance" else f"published {each.kind}"
                data.append((panel, category, kind, each.name, each.value, None, None))
    csv = csv_text(("panel", "category", "kind", "name", "value", "low", "high"), data)
    names = [(name, of_series(number)) for name, number in series.items()]
    wide = whole or side_by_side
    svg = _draw(lines, label, names, WHOLE if wide else HALF, side_by_side=side_by_side)
    return Chart(chart_id, title, svg, csv, wide, _draw(lines, label, names, PHONE))


def difference(
    label: str, value: float, low: float | None, high: float | None, note: str, winner: bool | None
) -> Line:
    """A row of `forest`: a difference with its interval and a note; `winner`: whether it is good,
    None if neither.
    """
    colour = QUIET if winner is None else BETTER if winner else WORSE
    strong = winner is not None
    style = {
        "color": colour,
        "marker": "s",
        "linestyle": "none",
        "markerfacecolor": colour if strong else "white",
    }
    rounded = round(value, 1)
    points = f"{rounded:+.1f}".replace("-", MINUS) if rounded else "0.0"
    return Line(label, [Mark(value, low, high, f"{points} ({note})", style, strong)])


def forest(chart_id: str, title: str, panels: Mapping[str, Sequence[Line]], csv: str) -> Chart:
    """Differences with their intervals around 0, in panels with one scale; those that are
    significant are filled.
    """
    marks = [mark for lines in panels.values() for line in lines for mark in line.marks]
    most = (
        max(
            abs(end)
            for mark in marks
            for end in (mark.value, mark.low, mark.high)
            if end is not None
        )
        or 1
    )
    above: dict[str, list[Line]] = {}
    for panel, lines in panels.items():
        for line in lines:
            label = re.sub(r"(?<=[_/-])\n", "", line.label).replace("\n", " ")
            above.setdefault(", ".join(filter(None, (label, panel))), []).append(
                replace(line, label="")
            )
    svg, narrow = (
        _draw(each, "difference in points; right: points, p", (), width, ends=(-most, most))
        for each, width in ((panels, HALF), (above, PHONE))
    )
    return Chart(chart_id, title, svg, csv, False, narrow)


# --- curves over a threshold ---

_PANEL = 160  # pixels
_TICKS = (0, 0.2, 0.4, 0.6, 0.8)  # 1 would touch the 0 of the next panel


def curves(
    chart_id: str,
    title: str,
    x: Sequence[float],
    panels: Mapping[str, Mapping[str, Sequence[Estimate]]],
    *,
    y_label: str,
    marks: Sequence[float],
    order: Sequence[str],
) -> Chart:
    """Curves (0 to 100) with their intervals over the same thresholds from 0 to 1, in panels."""
    series = numbered(panels.values(), order)

    def draw(width: float, columns: int) -> str:
        rows = math.ceil(len(panels) / columns)
        with drawn(width, rows * _PANEL + 80) as (figure, file):
            legend(
                figure, [(name, of_series(number, line=True)) for name, number in series.items()]
            )
            every = list(
                figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat
            )
            for axes, (panel, lines) in zip(every, panels.items(), strict=False):
                head = printable(panel, int(width / columns / 8))
                axes.set(title=head, xlim=(0, 1), ylim=(0, 103), xticks=_TICKS)
                for mark in marks:
                    axes.axvline(mark, color="black", linestyle=":", linewidth=1)
                    if axes.get_subplotspec().is_first_col():
                        align = "left" if mark == marks[-1] else "right"
                        axes.text(
                            mark,
                            99,
                            f"{mark:.2f} ".removeprefix("0"),
                            ha=align,
                            va="top",
                            fontsize=10,
                        )
                for name, curve in lines.items():
                    style = of_series(series[name], line=True)
                    y, low, high = np.array(
                        [each[:3] for each in curve], dtype=float
                    ).T  # NaN where there is no end
                    if not np.isnan(low).all():
                        axes.fill_between(
                            x, low, high, color=style["color"], alpha=0.16, linewidth=0
                        )
                    axes.plot(
                        x, y, markevery=(3 + 5 * (series[name] % 5), 25), clip_on=False, **style
                    )
            for axes in every[len(panels) :]:
                axes.axis("off")
            figure.supxlabel("threshold t", fontsize=12)
            figure.supylabel(y_label, fontsize=12)
        return file.getvalue()

    wide = len(panels) > 2
    data = [
        (panel, name, float(at), *each[:3])
        for panel, lines in panels.items()
        for name, curve in lines.items()
        for at, each in zip(x, curve, strict=True)
    ]
    csv = csv_text(("panel", "run", "threshold t", y_label, "low", "high"), data)
    svg = draw(WHOLE if wide else HALF, min(4, len(panels)))
    return Chart(chart_id, title, svg, csv, wide, draw(PHONE, min(2, len(panels))))
