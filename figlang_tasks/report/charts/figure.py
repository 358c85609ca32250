"""What all charts share: sizes, the style of each series, the figure and its legend."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from figlang_tasks.core.text import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HALF_WIDTH = 578
"""Pixels; two charts of this width fit side by side in one of `FULL_WIDTH`."""

FULL_WIDTH = 1180
PHONE_WIDTH = 358

COLOURS = ("#0072b2", "#d55e00", "#008a64", "#b45a8e", "#a87400", "#2f86bb", "#7d7500", "#555555")
"""Colours of series: Okabe and Ito 2008, darkened to a contrast of 3:1 on white."""

MUTED = "#59616b"
"""The colour of what is not significant, and of small print."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))

PlotStyle: TypeAlias = Mapping[str, Any]
"""Keyword arguments of ``Axes.plot``."""

_DPI = 72  # dots per inch, at which a point is a pixel
_STYLE_SHEET = Path(__file__).with_name("charts.mplstyle")
_LONGEST_NAME = 40  # characters of a name in a legend
_LEGEND_LINE = 22  # pixels


class LegendEntry(NamedTuple):
    """A name in a legend, and how its marks look."""

    name: str
    style: PlotStyle


# --- styles of series ---


def number_series(drawn_runs: Collection[str], run_order: Sequence[str]) -> dict[str, int]:
    """The number of each run that a chart draws: its position in `run_order`.

    The number decides how a run looks, so a run looks the same in all charts of a page.

    Args:
        drawn_runs: the names of the runs that the chart draws.
        run_order: the names of all runs of the page.
    """
    return {run: number for number, run in enumerate(run_order) if run in drawn_runs}


def marker_style(number: int) -> PlotStyle:
    """Colour and marker of the series with this number, without a line."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": "none",
    }


def line_style(number: int) -> PlotStyle:
    """Colour, marker and dashes of the series with this number.

    Any two of 35 series differ in their marker or their dashes.
    """
    return {**marker_style(number), "linestyle": DASHES[number % len(DASHES)]}


# --- figures ---


@contextmanager
def styled_figure(width: float, height: float) -> Iterator[Figure]:
    """A figure of `width` by `height` pixels in the style of all charts.

    Draw and save it within the context: the style is that of the moment of drawing.
    """
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(["default", _STYLE_SHEET]), warnings.catch_warnings():
        # The SVG holds text, and the reader's fonts have what ours lack.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield Figure((width / _DPI, height / _DPI), dpi=_DPI, layout="constrained")


def to_svg(figure: Figure) -> str:
    """The SVG of a figure, its size in pixels, without the date and the program that made it.

    The figure's layout is made, and stays as it is.
    """
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    FigureCanvasSVG(figure)  # so that the layout has the sizes of texts in an SVG
    layout_engine = figure.get_layout_engine()
    assert layout_engine is not None, "see styled_figure"
    layout_engine.execute(figure)
    # With a layout still to make, Matplotlib would draw twice, the first time to make it.
    figure.set_layout_engine(None)
    file = io.StringIO()
    metadata = {"Date": None, "Creator": None}
    figure.savefig(file, format="svg", transparent=True, metadata=metadata)
    # The size of the figure, which is the first width and height in the file, has the unit pt;
    # without a unit it is in pixels.
    return re.sub(r'(width|height)="([\d.]+)pt"', r'\1="\2"', file.getvalue(), count=2)


# --- legends ---


def legend_columns(entries: Sequence[LegendEntry], width: float) -> int:
    """How many columns a legend has in a chart of `width` pixels; at least one."""
    longest = max((len(entry.name) for entry in entries), default=0)
    # A character is about 7.5 pixels wide; the mark and the space around it take 50.
    column_width = 7.5 * min(longest, _LONGEST_NAME) + 50
    return max(1, int(width / column_width))


def legend_height(entries: Sequence[LegendEntry], width: float) -> int:
    """The height in pixels of a legend in a chart of `width` pixels; 0 without entries."""
    columns = legend_columns(entries, width)
    lines = -(-len(entries) // columns)  # rounded up
    return _LEGEND_LINE * lines


def draw_legend(figure: Figure, entries: Sequence[LegendEntry]) -> None:
    """Draw a legend above a figure, as many entries in a line as fit; none without entries."""
    from matplotlib.lines import Line2D

    if not entries:
        return
    handles = []
    for entry in entries:
        label = printable(entry.name, _LONGEST_NAME)
        handles.append(Line2D([], [], label=label, **entry.style))  # no points: for its style
    columns = legend_columns(entries, width=figure.get_figwidth() * _DPI)
    figure.legend(handles=handles, loc="outside upper left", ncols=columns)


# --- labels ---


def wrap(text: str, width: int) -> str:
    """A text in at most two lines of `width` characters; what does not fit is cut off (``…``).

    Lines break after a blank, ``_``, ``-`` or ``/``.
    """
    single_spaced = " ".join(printable(text).split())
    # A piece is a word with the sign that ends it.
    pieces = re.findall(r"[^ _/-]*[ _/-]|[^ _/-]+", single_spaced)
    lines = [""]
    for piece in pieces:
        if len(lines) == 1:
            is_full = lines[0] != "" and len(lines[0] + piece.rstrip()) > width
            if is_full:
                lines.append("")
        lines[-1] += piece  # the second line takes all that is left, and is cut below
    return "\n".join(_cut(line.rstrip(), width) for line in lines)


def unwrap(label: str) -> str:
    """A text that `wrap` broke into lines, in one line again; what it cut off stays cut off."""
    # After "_", "/" or "-" `wrap` only adds a line end; elsewhere it stands in place of a blank.
    return re.sub(r"(?<=[_/-])\n", "", label).replace("\n", " ")


def _cut(line: str, width: int) -> str:
    """A line in at most `width` characters, with ``…`` where its end is missing."""
    return line if len(line) <= width else f"{line[: width - 1]}…"
