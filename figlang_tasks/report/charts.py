"""Charts of a report: drawn by matplotlib, as SVG to stand inside an HTML page, each with its data as CSV.

A chart reads in light and dark (its colours are the page's CSS variables, see :data:`COLOURS`), in grey print and
without colour vision (markers, dashes and hatches beside colours), and without sight (`Chart.alt`). It needs no
network, no script and no style sheet: styles are attributes, so that it shows under a strict content security policy.
Names of runs are untrusted: they are text, and neither markup nor mathematics.
"""

from __future__ import annotations

import csv
import io
import math
import re
import textwrap
import threading
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from figlang_tasks.scoring import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS: Mapping[str, tuple[str, str]] = {
    # Okabe and Ito 2008, "Color Universal Design"; darkened for light pages, and lightened for dark ones, where a
    # colour of theirs has less than 3:1 contrast to the page (WCAG 2.1, 1.4.11).
    "--series-1": ("#0072b2", "#3d9cd6"),
    "--series-2": ("#d55e00", "#e8772e"),
    "--series-3": ("#008a64", "#1cb88b"),
    "--series-4": ("#b45a8e", "#cc79a7"),
    "--series-5": ("#a87400", "#e69f00"),
    "--series-6": ("#2f86bb", "#56b4e9"),
    "--series-7": ("#7d7500", "#f0e442"),
    "--series-8": ("#555555", "#bbbbbb"),
    "--grid": ("#d0d0d0", "#4a4a4a"),
    "--better": ("#0072b2", "#3d9cd6"),
    "--worse": ("#d55e00", "#e8772e"),
}
"""CSS variables that charts use, each with its colour on a light and on a dark page; text has the page's own colour."""

WIDTH = 680.0
"""Width of a chart's viewBox; its units are those of the font sizes, so it is best shown about as many pixels wide."""

_SERIES = tuple(name for name in COLOURS if name.startswith("--series"))
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_TILE = 6
# What is drawn into each tile of a bar; matplotlib's own hatches take 20 KB each.
_HATCHES = (
    "",
    "M-1 1l2-2M0 6l6-6M5 7l2-2",
    "M1.5 1.5h0M4.5 4.5h0",
    "M-1 5l2 2M0 0l6 6M5-1l2 2",
    "M0 3h6",
    "M3 0v6",
    "M0 3h6M3 0v6",
)
_TEXT, _FONT_SIZE, _LONGEST_NAME, _LONGEST_HEAD = "#000001", 11.0, 40, 24
# Colours that matplotlib writes, and what they become.
_SENTINELS = {f"#0000{number:02x}": name for number, name in enumerate(COLOURS, start=16)}
_SENTINEL_OF = {name: sentinel for sentinel, name in _SENTINELS.items()}
_RC: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "figlang",
    "text.parse_math": False,  # a name with two dollar signs is no formula
    "text.usetex": False,
    "text.color": _TEXT,
    "axes.labelcolor": _TEXT,
    "axes.edgecolor": _SENTINEL_OF["--grid"],
    "xtick.labelcolor": _TEXT,
    "ytick.labelcolor": _TEXT,
    "font.size": _FONT_SIZE,
}
_LOCK = threading.Lock()  # matplotlib's settings are the process's


@dataclass(frozen=True)
class Chart:
    """A chart.

    Attributes:
        id: unique on the page; letters, digits and ``-``.
        title: what it shows, for its caption.
        alt: what it shows and what is to be seen in it, in words and numbers.
        svg: an ``<svg>`` element with a viewBox and no size; every id in it begins with `id`.
        csv: its data, a header line first.
        wide: whether it takes the whole width of the page; two others fit beside each other.
    """

    id: str
    title: str
    alt: str
    svg: str
    csv: str
    wide: bool = False


@dataclass(frozen=True)
class Entry:
    """A cell of a matrix.

    Attributes:
        value: what the colour shows; 0 has none.
        text: what stands in the cell, a line each.
        strong: set in bold.
    """

    value: float
    text: tuple[str, ...]
    strong: bool = False


Panels = Mapping[str, Mapping[str, Mapping[str, Estimate]]]
"""Values by panel, category and series."""


def curves(
    chart_id: str,
    title: str,
    alt: str,
    x: Sequence[float],
    panels: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    x_label: str,
    y_label: str,
    marks: Sequence[float] = (),
    order: Sequence[str] = (),
) -> Chart:
    """Draw curves over the same x from 0 to 1, in panels of two columns.

    Args:
        chart_id, title, alt: see `Chart`.
        x: n ascending values in [0, 1].
        panels: n values (0 to 100, NaN where there is none) by panel and series.
        x_label, y_label: names of the axes, which are also heads of columns in the CSV.
        marks: values of x to be marked by a line.
        order: the series of all charts of a page, so that one looks alike in all of them.

    Raises:
        ValueError: the id is not valid, there is no panel, or a curve has not n values.
    """
    for panel, lines in panels.items():
        for name, y in lines.items():
            if len(y) != len(x):
                raise ValueError(f"{panel}, {name}: {len(y)} values for {len(x)} places")
    series = _series(panels.values(), order)
    rows = [
        (panel, name, float(at), float(value))
        for panel, lines in panels.items()
        for name, y in lines.items()
        for at, value in zip(x, y, strict=True)
    ]
    with _drawing(chart_id):
        figure, axes = _grid([170.0] * math.ceil(len(panels) / 2), min(len(panels), 2), len(series))
        for axis in axes[len(panels) :]:
            axis.remove()
        for place, (axis, (panel, lines)) in enumerate(zip(axes, panels.items(), strict=False)):
            _frame(axis, panel)
            axis.set(xlim=(0, 1), ylim=(0, 100), yticks=range(0, 101, 25), xticks=[0, 0.25, 0.5, 0.75, 1])
            axis.grid(axis="y", color=_SENTINEL_OF["--grid"], linewidth=0.6)
            for mark in marks:
                axis.axvline(mark, color=_TEXT, alpha=0.5, linewidth=0.7, dashes=(2, 2), clip_on=False)
            for name, y in lines.items():
                style = _style(series[name])
                kept = _without_straights(x, y)
                axis.plot([x[i] for i in kept], [y[i] for i in kept], clip_on=False, **_line(style))
                marked = range(3 + 5 * (series[name] % 5), len(x), 25)
                axis.plot([x[i] for i in marked], [y[i] for i in marked], clip_on=False, **_marks(style))
            axis.tick_params(labelbottom=place >= len(panels) - 2)
        figure.supxlabel(x_label, size=_FONT_SIZE)
        figure.supylabel(y_label, size=_FONT_SIZE)
        _legend(figure, series, lambda style: _line(style) | _marks(style) | {"linestyle": style["linestyle"]})
        svg = _svg(figure, chart_id, title, alt)
    return Chart(chart_id, title, alt, svg, _csv(("panel", "run", x_label, y_label), rows))


def bars(
    chart_id: str,
    title: str,
    alt: str,
    panels: Panels,
    *,
    label: str,
    references: Mapping[tuple[str, str], float] | None = None,
    reference_name: str = "chance",
    order: Sequence[str] = (),
) -> Chart:
    """Draw horizontal bars with their intervals: groups of series by category, in panels one below the other.

    Args:
        chart_id, title, alt: see `Chart`.
        panels: values (0 to 100) by panel, category and series. The name of a sole panel is not shown. A value that is
            NaN has no bar.
        label: what the values are.
        references: a value to compare with by panel and category, drawn as a line across the group.
        reference_name: what that is.
        order: as in `curves`.

    Raises:
        ValueError: the id is not valid, or there is no panel.
    """
    references = references or {}
    series = _series((group for panel in panels.values() for group in panel.values()), order)
    places = list(series)
    rows = [
        (panel, category, name, found.value, found.low, found.high, references.get((panel, category)))
        for panel, groups in panels.items()
        for category, group in groups.items()
        for name, found in group.items()
    ]
    bar = 13.0 if len(series) > 1 else 16.0
    heights = [len(groups) * (len(series) * bar + 8) + 8 for groups in panels.values()]
    with _drawing(chart_id):
        figure, axes = _grid(heights, 1, len(series) + bool(references), share_x=True)
        for axis, height, (panel, groups) in zip(axes, heights, panels.items(), strict=True):
            _frame(axis, panel if len(panels) > 1 else "", 2 * _LONGEST_NAME)
            axis.set(xlim=(0, 100), ylim=(height - 4, -4), xticks=range(0, 101, 25))
            axis.grid(axis="x", color=_SENTINEL_OF["--grid"], linewidth=0.6)
            middles = []
            for number, (category, group) in enumerate(groups.items()):
                top = number * (len(series) * bar + 8) + 4
                middles.append(top + len(series) * bar / 2)
                for name, found in group.items():
                    if math.isfinite(found.value):
                        _bar(axis, top + (places.index(name) + 0.5) * bar, bar, found, series[name])
                if (panel, category) in references:
                    line = [references[panel, category]] * 2, [top - 2, top + len(series) * bar + 2]
                    axis.plot(*line, color=_TEXT, linewidth=1.2, dashes=(3, 2), clip_on=False)
            axis.set_yticks(middles, [_shortened(category) for category in groups])
        axes[-1].set_xlabel(label)
        last = [({"color": _TEXT, "linewidth": 1.2, "dashes": (3, 2)}, reference_name)] if references else []
        _legend(figure, series, None, last)
        svg = _svg(figure, chart_id, title, alt)
    return Chart(
        chart_id, title, alt, svg, _csv(("panel", "category", "run", "value", "low", "high", reference_name), rows)
    )


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
        order: as in `curves`.

    Raises:
        ValueError: the id is not valid, or there is nothing to draw.
    """
    numbers = _series([series], order)
    places = sorted({place for found in series.values() for place in found})
    values = [found.value for of in series.values() for found in of.values() if math.isfinite(found.value)]
    if not values:
        raise ValueError(f"{chart_id}: there is nothing to draw")
    low, high = max(0, 10 * math.floor(min(values) / 10 - 0.5)), min(100, 10 * math.ceil(max(values) / 10 + 0.5))
    with _drawing(chart_id):
        figure, (axis,) = _grid([260.0], 1, len(series))
        _frame(axis, "")
        axis.set(xlim=(places[0] - 0.7, places[-1] + 0.7), ylim=(low, high), xticks=places)
        axis.grid(axis="y", color=_SENTINEL_OF["--grid"], linewidth=0.6)
        for place_of_run, name in enumerate(numbers):
            found, style = series[name], _style(numbers[name])
            finite = {place: each.value for place, each in found.items() if math.isfinite(each.value)}
            shift = 0.5 * (place_of_run - (len(series) - 1) / 2) / len(series)
            axis.plot([place + shift for place in finite], list(finite.values()), clip_on=False, **_marks(style))
            if finite:
                mean = sum(finite.values()) / len(finite)
                axis.plot([places[0] - 0.7, places[-1] + 0.7], [mean, mean], clip_on=False, **_line(style))
        axis.set(xlabel=x_label, ylabel=y_label)
        _legend(figure, numbers, lambda style: _line(style) | _marks(style) | {"linestyle": style["linestyle"]})
        svg = _svg(figure, chart_id, title, alt)
    rows = [
        (name, place, each.value, each.low, each.high)
        for name, found in series.items()
        for place, each in found.items()
    ]
    return Chart(chart_id, title, alt, svg, _csv(("run", x_label, y_label, "low", "high"), rows))


def matrix(
    chart_id: str,
    title: str,
    alt: str,
    rows: Sequence[str],
    columns: Sequence[str],
    entries: Mapping[tuple[int, int], Entry],
    data: Sequence[Sequence[object]],
) -> Chart:
    """Draw a coloured matrix with texts in its cells.

    Args:
        chart_id, title, alt: see `Chart`.
        rows, columns: their heads.
        entries: the cells by row and column; others stay empty. A cell is the more of ``--better`` (above 0) or
            ``--worse`` the farther its value lies from 0, relative to the farthest one.
        data: what becomes the CSV, the header first.

    Raises:
        ValueError: the id is not valid, or there are no entries.
    """
    if not entries:
        raise ValueError(f"{chart_id}: there is nothing to draw")
    most = max(abs(entry.value) for entry in entries.values()) or 1.0
    cell = 44.0
    with _drawing(chart_id):
        from matplotlib.patches import Rectangle

        figure, (axis,) = _grid([cell * len(rows) + 30], 1, 0)
        _frame(axis, "")
        axis.spines[:].set_visible(False)
        axis.set(xlim=(0, max(len(columns), 3)), ylim=(len(rows), 0))
        for (row, column), entry in entries.items():
            colour = _SENTINEL_OF["--better" if entry.value > 0 else "--worse"]
            depth = 0.55 * abs(entry.value) / most
            box = (column + 0.02, row + 0.02), 0.96, 0.96
            axis.add_patch(Rectangle(*box, facecolor=colour, alpha=depth, linewidth=0, clip_on=False))
            axis.add_patch(
                Rectangle(
                    *box,
                    facecolor="none",
                    edgecolor=_TEXT if entry.strong else _SENTINEL_OF["--grid"],
                    linewidth=1.4 if entry.strong else 0.6,
                    clip_on=False,
                )
            )
            style: dict[str, Any] = {
                "weight": "bold" if entry.strong else "normal",
                "size": 10 if len(columns) < 9 else 8,
            }
            for number, line in enumerate(entry.text):
                at = row + 0.5 + (number - (len(entry.text) - 1) / 2) * 0.32
                axis.text(column + 0.5, at, _shortened(line, _LONGEST_HEAD), ha="center", va="center", **style)
        letters = max(8, round(WIDTH * 0.75 / 6.5 / max(len(columns), 3)))
        axis.set_xticks([at + 0.5 for at in range(len(columns))], [_wrapped(name, letters) for name in columns])
        axis.set_yticks([at + 0.5 for at in range(len(rows))], [_wrapped(name, _LONGEST_HEAD) for name in rows])
        axis.xaxis.tick_top()
        axis.tick_params(length=0, pad=6)
        svg = _svg(figure, chart_id, title, alt)
    return Chart(chart_id, title, alt, svg, _csv([str(head) for head in data[0]], data[1:]))


# --- data ------------------------------------------------------------------------------------------------------------


def _csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_csv_cell(each) for each in head])
    writer.writerows([_csv_cell(each) for each in row] for row in rows)
    return text.getvalue()


def _csv_cell(value: object) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if not isinstance(value, str):
        return str(value)
    text = well_formed(value)
    # A spreadsheet takes such a text for a formula.
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def _series(groups: Iterable[Iterable[str]], order: Sequence[str]) -> dict[str, int]:
    """The series of all groups, each with the number of its style: its place in `order`, where it stands there."""
    names = list(dict.fromkeys(name for group in groups for name in group))
    if not names:
        raise ValueError("there is nothing to draw")
    everyone = dict.fromkeys([*order, *names])
    return {name: number for number, name in enumerate(everyone) if name in names}


def _without_straights(x: Sequence[float], y: Sequence[float]) -> list[int]:
    """Places of the points that a curve needs: those where it does not just go straight on."""
    return [
        i
        for i in range(len(x))
        if i in (0, len(x) - 1)
        or not math.isclose(
            (y[i] - y[i - 1]) * (x[i + 1] - x[i]), (y[i + 1] - y[i]) * (x[i] - x[i - 1]), rel_tol=0, abs_tol=1e-9
        )
    ]


_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def well_formed(text: str) -> str:
    """The text without what XML forbids, or what would turn the direction of the text around it."""
    return _UNPRINTABLE.sub("\ufffd", text)


def _shortened(text: str, longest: int = _LONGEST_NAME) -> str:
    text = well_formed(text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _wrapped(text: str, width: int) -> str:
    """A head of a matrix: at most three lines of so many letters."""
    return textwrap.fill(well_formed(text), width, max_lines=3, placeholder="…")


# --- drawing ---------------------------------------------------------------------------------------------------------


class _drawing:
    """matplotlib with our settings, one chart at a time; what it says of fonts that lack a letter is dropped: the
    browser's fonts are the ones that count."""

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


def _grid(heights: Sequence[float], columns: int, entries: int, share_x: bool = False) -> tuple[Figure, list[Axes]]:
    """A figure of panels, a height for each of its rows, with room for a legend of that many entries."""
    from matplotlib.figure import Figure

    room = 46 + 18 * math.ceil(entries / 2) + 22 * len(heights)
    figure = Figure(figsize=(WIDTH / 72, (sum(heights) + room) / 72), dpi=72, layout="constrained")
    figure.patch.set_visible(False)
    made = figure.subplots(
        len(heights), columns, sharex=share_x, squeeze=False, gridspec_kw={"height_ratios": list(heights)}
    )
    return figure, list(made.flat)


def _frame(axis: Axes, title: str, longest: int = _LONGEST_NAME) -> None:
    axis.set_title(_shortened(title, longest), loc="left", size=_FONT_SIZE, weight="bold")
    axis.patch.set_visible(False)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(length=0)
    axis.set_axisbelow(True)


def _style(number: int) -> dict[str, Any]:
    """Colour, dashes, marker and hatch of a series.

    Of the first 35 lines any two differ in dashes or marker; of bars any seven in a row differ in their hatch.
    """
    return {
        "color": _SENTINEL_OF[_SERIES[number % len(_SERIES)]],
        "linestyle": _DASHES[number % len(_DASHES)],
        "marker": _MARKERS[number % len(_MARKERS)],
        "hatch": _HATCHES[number % len(_HATCHES)],
    }


def _line(style: Mapping[str, Any]) -> dict[str, Any]:
    return {"color": style["color"], "linestyle": style["linestyle"], "linewidth": 1.6}


def _marks(style: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "color": style["color"],
        "linestyle": "none",
        "marker": style["marker"],
        "markersize": 5,
        "markeredgewidth": 0,
    }


def _bar(axis: Axes, at: float, thickness: float, found: Estimate, number: int) -> None:
    (drawn,) = axis.barh(at, found.value, 0.8 * thickness, clip_on=False, **_outline(number))
    drawn.set_gid(f"{_BAR}{number}")
    if found.low is not None and found.high is not None and math.isfinite(found.low) and math.isfinite(found.high):
        axis.plot([found.low, found.high], [at, at], color=_TEXT, linewidth=1.1, clip_on=False)
    # All in one column: at the end of an interval a value would look like that end.
    axis.text(107, at, f"{found.value:.1f}", ha="right", va="center_baseline", size=_FONT_SIZE - 1)


def _outline(number: int) -> dict[str, Any]:
    return {"facecolor": "none", "edgecolor": _style(number)["color"], "linewidth": 0.8}


def _legend(
    figure: Figure, series: Mapping[str, int], line: Any, lines: Sequence[tuple[dict[str, Any], str]] = ()
) -> None:
    """Put a legend above the panels: of lines (`line` gives the style of one), or of bars (None), and of more lines."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Line2D([], [], **line(_style(number))) if line else Patch(**_outline(number)) for number in series.values()
    ]
    handles += [Line2D([], [], **style) for style, _ in lines]
    labels = [_shortened(name) for name in (*series, *(name for _, name in lines))]
    legend = figure.legend(handles, labels, loc="outside upper left", ncols=min(len(labels), 2), frameon=False)
    for number, drawn in zip(series.values(), legend.legend_handles, strict=False):
        if isinstance(drawn, Patch):
            drawn.set_gid(f"{_BAR}{number}")


# --- SVG for a page ---------------------------------------------------------------------------------------------------

_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_FONT = re.compile(r"(?:(?P<weight>bold|[1-9]00) )?(?P<size>[\d.]+px) ")
_BAR = "bar-of-series-"


def _svg(figure: Figure, chart_id: str, title: str, alt: str) -> str:
    """Save a figure and make of it what may stand inside a page (see `Chart.svg`)."""
    saved = io.BytesIO()
    figure.savefig(saved, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    root = ElementTree.fromstring(saved.getvalue())  # without its comments, which repeat texts
    known = {element.get("id"): element for element in root.iter() if element.get("id")}
    hatched = {name.removeprefix(_BAR) for name in known if name and name.startswith(_BAR)}
    parts = [_pattern(chart_id, int(number)) for number in sorted(hatched) if _style(int(number))["hatch"]]
    parts += [part for element in root for part in _cleaned(element, known, chart_id)]
    names = (("title", title), ("desc", alt))
    image = ElementTree.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": "chart",
            "role": "img",
            "aria-labelledby": " ".join(f"{chart_id}-{name}" for name, _ in names),
            "viewBox": _rounded(root.attrib["viewBox"]),
            "fill": "currentColor",
            "font-size": f"{_FONT_SIZE:g}px",
            "stroke-linejoin": "round",
        },
    )
    for name, text in names:
        ElementTree.SubElement(image, name, {"id": f"{chart_id}-{name}"}).text = well_formed(text)
    image.extend(parts)
    return ElementTree.tostring(image, encoding="unicode")


def _pattern(chart_id: str, number: int) -> ElementTree.Element:
    """The hatch of the bars of a series."""
    style = _style(number)
    side = str(_TILE)
    pattern = ElementTree.Element(
        "pattern",
        {"id": f"{chart_id}-hatch-{number}", "width": side, "height": side, "patternUnits": "userSpaceOnUse"},
    )
    stroke = {"stroke": _colour(style["color"]), "stroke-width": "1.2", "stroke-linecap": "round", "fill": "none"}
    ElementTree.SubElement(pattern, "path", {"d": style["hatch"], **stroke})
    return pattern


def _cleaned(
    element: ElementTree.Element, known: Mapping[str | None, ElementTree.Element], chart_id: str
) -> list[ElementTree.Element]:
    """What an element becomes: nothing, itself with attributes of ours, or (of groups) its parts."""
    tag = element.tag.removeprefix(_SVG)
    if tag in ("metadata", "style", "defs"):
        return []
    attributes = _attributes(element)
    if tag == "use":  # a marker: its shape, at its place
        place = f"translate({attributes.pop('x')} {attributes.pop('y')})"
        shape = _attributes(known[element.attrib[_LINK][1:]])
        return [ElementTree.Element("path", {**shape, **attributes, "transform": place})]
    parts = [part for child in element for part in _cleaned(child, known, chart_id)]
    name = element.get("id", "")
    if tag == "g" and name.startswith(_BAR):
        number = int(name.removeprefix(_BAR))
        return [each for part in parts for each in _filled(part, chart_id, number)]
    if tag == "g" and (not attributes or not parts):
        return parts
    made = ElementTree.Element(tag, attributes)
    made.text = element.text if tag in ("text", "tspan") else None
    made.extend(parts)
    return [made]


def _filled(outline: ElementTree.Element, chart_id: str, number: int) -> list[ElementTree.Element]:
    """The outline of a bar as two shapes: a light one, and one with the hatch."""
    style = _style(number)
    shape = {name: value for name, value in outline.attrib.items() if name in _GEOMETRY}
    fill = shape | {"fill": _colour(style["color"]), "fill-opacity": "0.45"}
    if style["hatch"]:
        outline.set("fill", f"url(#{chart_id}-hatch-{number})")
    return [ElementTree.Element(outline.tag, fill), outline]


_GEOMETRY = ("d", "x", "y", "width", "height", "transform")
_STYLES = (
    *("fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray"),
    *("opacity", "font-size", "font-weight", "text-anchor"),
)
_INHERITED = (("opacity", "1"), ("font-size", f"{_FONT_SIZE:g}px"))


def _attributes(element: ElementTree.Element) -> dict[str, str]:
    """Geometry, and every style as an attribute of its own, in the page's colours and its font."""
    found = {name: _rounded(element.attrib[name]) for name in _GEOMETRY if name in element.attrib}
    if found.get("transform", "").startswith(("rotate(-0 ", "rotate(0 ")):
        del found["transform"]
    for declaration in filter(str.strip, element.get("style", "").split(";")):
        name, value = (part.strip() for part in declaration.split(":", 1))
        if name == "font" and (font := _FONT.match(value)):  # before matplotlib 3.11
            found["font-size"] = font["size"]
            if font["weight"]:
                found["font-weight"] = font["weight"]
        elif name in _STYLES and (name, value) not in _INHERITED:
            found[name] = _colour(value) if name in ("fill", "stroke") else value
    return found


def _colour(value: str) -> str:
    if value in _SENTINELS:
        return f"var({_SENTINELS[value]}, {COLOURS[_SENTINELS[value]][0]})"
    return "currentColor" if value in (_TEXT, "#000000") else value


def _rounded(text: str) -> str:
    """Numbers with one decimal: a tenth of a pixel."""
    return _NUMBER.sub(lambda found: f"{round(float(found[0]), 1):g}", " ".join(text.split()))
