"""A sheet to draw on: matplotlib with pixels as coordinates, from the upper left corner.

Rows of a chart have a fixed height and texts a fixed size whatever the chart holds, so places are computed here and not
by a layout engine.
"""

from __future__ import annotations

import math
import re
import threading
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from figlang_tasks.core.text import well_formed
from figlang_tasks.report.charts import style, svg
from figlang_tasks.report.charts.chart import Reference
from figlang_tasks.report.charts.svg import FONT_SIZE

HALF, WHOLE = 578.0, 1180.0
"""Widths of charts in pixels: two halves fit beside each other in the width of a whole."""
LINE = 16.0
"""Height of a line of text."""

_RC: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "figlang",
    "text.parse_math": False,  # a name with two dollar signs is no formula
    "text.usetex": False,
    "text.color": style.TEXT,
    "font.size": FONT_SIZE,
}
_LOCK = threading.Lock()  # matplotlib's settings are the process's


class drawing:
    """matplotlib with our settings, one chart at a time; what it says of fonts that lack a letter is dropped: the
    browser's fonts are the ones that count.

    Raises:
        ValueError: the id of the chart is not valid.
    """

    def __init__(self, chart_id: str) -> None:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]*", chart_id):
            raise ValueError(f"chart id {chart_id!r}: must be letters, digits and -")

    def __enter__(self) -> None:
        import matplotlib

        _LOCK.acquire()
        self._rc, self._warnings = matplotlib.rc_context(), warnings.catch_warnings()
        self._rc.__enter__()
        matplotlib.rcdefaults()
        for name, value in _RC.items():
            matplotlib.rcParams[name] = value  # type: ignore[index]
        self._warnings.__enter__()
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")

    def __exit__(self, *error: Any) -> None:
        self._warnings.__exit__(*error)
        self._rc.__exit__(*error)
        _LOCK.release()


@lru_cache(maxsize=4096)
def text_width(text: str, bold: bool = False) -> float:
    """How wide a text is in pixels, in a font that is wider than those of most pages."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=FONT_SIZE, weight="bold" if bold else "normal")
    # Matplotlib's font has no ideographs, which are as wide as they are high.
    known = "".join("W" if unicodedata.east_asian_width(each) in "WF" else each for each in text)
    return float(text_to_path.get_text_width_height_descent(known, font, False)[0])


def shortened(text: str, width: float, bold: bool = False) -> str:
    """The text, cut at its end to be no wider than `width` pixels."""
    text = well_formed(text)
    if text_width(text, bold) <= width:
        return text
    text = text[: int(width)]  # letters of a pixel: no name takes long
    while text and text_width(f"{text}…", bold) > width:
        text = text[:-1]
    return f"{text}…"


def wrapped(text: str, width: float, most: int = 2) -> list[str]:
    """At most so many lines of a text, none wider than `width` pixels; it breaks after blanks and ``_ - /``."""
    lines = [""]
    for piece in re.findall(r"[^ _/-]*[ _/-]?", well_formed(text)):
        if len(lines) < most and lines[-1] and text_width((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [shortened(line.rstrip(), width) for line in lines]


class Scale:
    """From values to places, in pixels.

    Attributes:
        low, high: ends of the axis.
        first, last: their places.
    """

    def __init__(self, low: float, high: float, first: float, last: float) -> None:
        self.low, self.high, self.first, self.last = low, high, first, last

    def __call__(self, value: float) -> float:
        return self.first + (value - self.low) / (self.high - self.low) * (self.last - self.first)


class Sheet:
    """What is drawn on; its height is known at the end.

    Attributes:
        width: in pixels.
    """

    def __init__(self, width: float) -> None:
        from matplotlib.figure import Figure

        self.width = width
        self._figure = Figure(dpi=72)
        self._figure.patch.set_visible(False)
        self._axes = self._figure.add_axes((0, 0, 1, 1))
        self._axes.axis("off")

    def svg(self, height: float, chart_id: str, title: str, alt: str) -> str:
        """The sheet as SVG of that height."""
        self._figure.set_size_inches(self.width / 72, math.ceil(height) / 72)
        self._axes.set(xlim=(0, self.width), ylim=(math.ceil(height), 0))
        return svg.of(self._figure, chart_id, title, alt)

    def text(self, x: float, y: float, text: str, align: str = "left", quiet: bool = False, **more: Any) -> None:
        """A line of text, its middle at `y`; nothing is drawn of ""."""
        if text:
            colour = style.colour("--quiet") if quiet else style.TEXT
            self._axes.text(x, y, well_formed(text), ha=align, va="center_baseline", color=colour, **more)

    def lines(self, x: float, y: float, lines: Sequence[str], align: str = "left", quiet_from: int = 9) -> None:
        """Lines of text around `y`; those from `quiet_from` on are quiet."""
        for number, line in enumerate(lines):
            self.text(x, y + (number - (len(lines) - 1) / 2) * (LINE - 1), line, align, quiet=number >= quiet_from)

    def line(self, x: Sequence[float], y: Sequence[float], **how: Any) -> None:
        """A line, or marks, through points."""
        self._axes.plot(x, y, clip_on=False, **how)

    def segments(self, ends: Iterable[tuple[float, float, float, float]], **how: Any) -> None:
        """Lines from (x, y) to (x, y), as one path."""
        x: list[float] = []
        y: list[float] = []
        for x_from, y_from, x_to, y_to in ends:
            x += [x_from, x_to, math.nan]
            y += [y_from, y_to, math.nan]
        if x:
            self._axes.plot(x, y, clip_on=False, solid_capstyle="butt", **how)

    def bar(self, x: float, y: float, width: float, height: float, series: int) -> None:
        """A bar in the style of a series; `y` is its middle."""
        from matplotlib.patches import Rectangle

        drawn = Rectangle((x, y - height / 2), width, height, clip_on=False, **_outline(series))
        drawn.set_gid(f"{svg.BAR}{series}")
        self._axes.add_patch(drawn)

    def band(self, x: Sequence[float], low: Sequence[float], high: Sequence[float], series: int) -> None:
        """What lies between two curves."""
        from matplotlib.patches import Polygon

        around = [*zip(x, low, strict=True), *zip(reversed(x), reversed(high), strict=True)]
        colour = style.of_series(series)["color"]
        self._axes.add_patch(Polygon(around, facecolor=colour, alpha=0.16, linewidth=0, clip_on=False))

    def grid(self, scale: Scale, top: float, bottom: float, ticks: Sequence[float], named: bool = True) -> None:
        """Lines down at values of a scale, with the values below."""
        self.segments([(scale(tick), top, scale(tick), bottom) for tick in ticks], **style.GRID)
        for tick in ticks if named else ():
            self.text(scale(tick), bottom + 10, f"{tick:g}".replace("-", "\N{MINUS SIGN}"), "center", quiet=True)

    def legend(self, y: float, entries: Sequence[tuple[str, Callable[[float, float], None]]], left: float = 0) -> float:
        """Names, each with a sample of 26 pixels before it that is drawn at a place; returns where the legend ends."""
        x = left
        for name, draw in entries:
            name = shortened(name, 280)
            room = 32 + text_width(name) + 18
            if x > left and x + room > self.width:
                x, y = left, y + 20
            draw(x, y + 9)
            self.text(x + 32, y + 9, name)
            x += room
        return y + 20 if entries else y

    # --- samples of a legend ---

    def sample_bar(self, series: int) -> Callable[[float, float], None]:
        return lambda x, y: self.bar(x, y, 26, 11, series)

    def sample_line(self, series: int) -> Callable[[float, float], None]:
        def draw(x: float, y: float) -> None:
            self.line([x, x + 26], [y, y], **style.line(series))
            self.line([x + 13], [y], **style.marks(series))

        return draw

    def sample_marks(self, series: int) -> Callable[[float, float], None]:
        return lambda x, y: self.line([x + 13], [y], **style.marks(series))

    def sample_ends(self, hollow: bool) -> Callable[[float, float], None]:
        own = style.marks(0, hollow) | {"color": style.colour("--quiet")}
        own |= {"markerfacecolor": "none" if hollow else own["color"]}
        return lambda x, y: self.line([x + 13], [y], **own)

    def samples_of_references(
        self, found: Iterable[Reference], model: str = "published models"
    ) -> list[tuple[str, Callable[[float, float], None]]]:
        """A legend of what values are read beside, by its kinds."""
        kinds = {each.kind for each in found}
        known: Mapping[str, tuple[str, Callable[[float, float], None]]] = {
            "model": (model, lambda x, y: self.segments([(x + 13, y - 6, x + 13, y + 6)], **style.MODEL)),
            "people": ("people (published)", lambda x, y: self.line([x + 13], [y], **style.PEOPLE)),
            "chance": ("chance", lambda x, y: self.line([x, x + 26], [y, y], **style.CHANCE)),
        }
        return [known[kind] for kind in known if kind in kinds]


def _outline(series: int) -> dict[str, Any]:
    return {"facecolor": "none", "edgecolor": style.of_series(series)["color"], "linewidth": 0.8}
