"""What a chart is, and the style that all charts share: plain matplotlib, saved as SVG, with the data as CSV."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from figlang_tasks.core.text import well_formed
from figlang_tasks.scoring import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HALF, WHOLE, PHONE = 578, 1180, 360
"""Widths of charts in pixels: two halves fit beside each other in a whole."""

COLOURS = ("#0072b2", "#d55e00", "#008a64", "#b45a8e", "#a87400", "#2f86bb", "#7d7500", "#555555")
"""Colours of series: Okabe and Ito 2008, darkened to 3:1 on white; the page inverts charts where it is dark."""
BETTER, WORSE, QUIET = COLOURS[0], COLOURS[1], "#59616b"
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))

_STYLE = Path(__file__).with_name("charts.mplstyle")


@dataclass(frozen=True)
class Chart:
    """A chart.

    Attributes:
        id: unique on the page; letters, digits and ``-``.
        title: what it shows, for its caption.
        svg: the drawing, an SVG file; the page shows it as a picture, so that nothing in it can run.
        csv: its data, a header line first.
        wide: whether it takes the whole width of the page; two others fit beside each other.
        narrow: the drawing for a telephone; "" for the same.
    """

    id: str
    title: str
    svg: str
    csv: str
    wide: bool = False
    narrow: str = ""


class Reference(NamedTuple):
    """What runs are read beside.

    Attributes:
        name: whose value it is.
        value: on the scale of the chart.
        kind: ``model``, ``people`` or ``chance``.
    """

    name: str
    value: float
    kind: str = "model"


Panels = Mapping[str, Mapping[str, Mapping[str, Estimate]]]
"""Values by panel, category and series."""

References = Mapping[tuple[str, str], Sequence[Reference]]
"""What to read values beside, by panel and category."""


def numbered(groups: Iterable[Iterable[str]], order: Sequence[str]) -> dict[str, int]:
    """The series of all groups, each with the number of its style: its place in `order`, where it stands there."""
    names = {name for group in groups for name in group}
    everyone = dict.fromkeys([*order, *sorted(names)])
    return {name: number for number, name in enumerate(everyone) if name in names}


def of_series(number: int, line: bool = False) -> dict[str, Any]:
    """Colour, marker and dashes of a series, for ``Axes.plot``; of 35 series any two differ in marker or dashes."""
    dashes = DASHES[number % len(DASHES)] if line else "none"
    return {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)], "linestyle": dashes}


def wrapped(text: str, letters: int) -> str:
    """A text in one line or two of at most so many letters, cut at its end; it breaks after blanks and ``_ - /``."""
    lines = [""]
    for piece in re.findall(r"[^ _/-]*[ _/-]|[^ _/-]+", " ".join(well_formed(text).split())):
        if len(lines) < 2 and lines[-1] and len(lines[-1] + piece.rstrip()) > letters:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() if len(line.rstrip()) <= letters else f"{line[: letters - 1]}…" for line in lines)


@contextmanager
def drawn(width: float, height: float) -> Iterator[tuple[Figure, io.StringIO]]:
    """A figure of so many pixels in the style of all charts, and the file that has its SVG at the end."""
    from matplotlib import style
    from matplotlib.figure import Figure

    file = io.StringIO()
    with style.context(["default", _STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # the reader's fonts have it
        figure = Figure((width / 72, height / 72), dpi=72, layout="constrained")
        yield figure, file
        points = io.StringIO()
        figure.savefig(points, format="svg", transparent=True, metadata=dict.fromkeys(("Date", "Creator")))
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
        handles = [Line2D([], [], label=wrapped(name, 40).partition("\n")[0], **style) for name, style in entries]
        columns, _ = legend_lines([name for name, _ in entries], figure.get_figwidth() * 72)
        figure.legend(handles=handles, loc="outside upper left", ncols=columns)
