"""Draws charts of rows: each row has a label, and marks with intervals on a common scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from figlang_tasks.core.text import printable
from figlang_tasks.report.charts.chart import Reference, ReferenceKind
from figlang_tasks.report.charts.figure import (
    MUTED,
    LegendEntry,
    PlotStyle,
    draw_legend,
    legend_height,
    styled_figure,
    to_svg,
    wrap,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

# Heights in pixels
_MARK = 16
_LABEL_LINE = 15
_PADDING = 10
_PANEL_TITLE = 26
_TITLE_MIDDLE = 17  # from the top of a panel to the middle of its title: nearer to its rows
_AXIS = 56

# How each kind of reference is drawn, and its name in the legend
_REFERENCES: Mapping[ReferenceKind, LegendEntry] = {
    "model": LegendEntry(
        "published models",
        {"color": "black", "marker": "|", "linestyle": "none", "markeredgewidth": 1.5},
    ),
    "people": LegendEntry(
        "people (published)",
        {"color": "black", "marker": "D", "linestyle": "none", "markerfacecolor": "none"},
    ),
    "chance": LegendEntry("chance", {"color": "black", "linestyle": "--", "linewidth": 1.2}),
}


class Mark(NamedTuple):
    """A value in a row, with its interval, and the text at the right of the chart.

    If the value is NaN, nothing is drawn, but the place of the mark stays. Without an interval, low
    and high are None or NaN.
    """

    value: float
    low: float | None
    high: float | None
    text: str
    style: PlotStyle
    is_bold: bool = False


@dataclass(frozen=True)
class Row:
    """A row of a chart.

    Attributes:
        label: at the left, in one line or several.
        marks: one below the other.
        references: what the marks are read against: chance is a line across them, published values
            stand below them.
        has_reference_line: whether there is room for published values below the marks. Rows of
            panels side by side must agree in it, so that they are equally high.
    """

    label: str
    marks: Sequence[Mark]
    references: Sequence[Reference] = ()
    has_reference_line: bool = False

    @property
    def marks_height(self) -> int:
        """The height of the marks and of the line of published values."""
        return _MARK * (len(self.marks) + self.has_reference_line)

    @property
    def height(self) -> int:
        """The height of the whole row."""
        label_height = _LABEL_LINE * (self.label.count("\n") + 1)
        return max(self.marks_height, label_height) + _PADDING


RowPanels: TypeAlias = Mapping[str, Sequence[Row]]
"""Rows by the title of their panel; the title may be empty."""


def draw_rows(
    panels: RowPanels,
    axis_label: str,
    legend: Sequence[LegendEntry],
    width: float,
    limits: tuple[float, float] = (0, 100),
    side_by_side: bool = False,
) -> str:
    """Draw panels of rows on one scale, and return the SVG.

    Args:
        legend: how each run looks; the references that occur are added to it.
        width: of the chart in pixels.
        limits: both ends of the scale.
        side_by_side: whether panels stand beside each other, in which case all must have rows with
            the same labels; otherwise they stand below each other.
    """
    # Each column has axes of its own, and holds one panel, or all of them below each other.
    columns: list[RowPanels] = [panels]
    if side_by_side:
        columns = [{title: rows} for title, rows in panels.items()]
    entries = [*legend, *_reference_entries(panels)]
    # All columns are equally high, so the first stands for all.
    height = _panels_height(columns[0]) + legend_height(entries, width) + _AXIS
    title_length = int(width / len(columns) / 7)  # a character is about 7 pixels wide
    with styled_figure(width, height) as figure:
        draw_legend(figure, entries)
        figure.set_layout_engine("constrained", wspace=0.03)
        all_axes = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
        for axes, column in zip(all_axes, columns, strict=True):
            axes.set(xlim=limits, xlabel=printable(axis_label))
            axes.grid(False, axis="y")
            # Titles begin above the labels of rows, but side by side each above its own axes.
            title_transform = axes.transAxes if side_by_side else figure.transFigure
            _draw_column(axes, column, title_transform, title_length)
        return to_svg(figure)


def _reference_entries(panels: RowPanels) -> list[LegendEntry]:
    """The entries of the legend for the kinds of references that the rows have."""
    kinds: set[ReferenceKind] = set()
    for rows in panels.values():
        for row in rows:
            kinds.update(reference.kind for reference in row.references)
    return [entry for kind, entry in _REFERENCES.items() if kind in kinds]


def _panels_height(panels: RowPanels) -> int:
    """The height in pixels of panels that stand below each other."""
    height = 0
    for title, rows in panels.items():
        if title:
            height += _PANEL_TITLE
        height += sum(row.height for row in rows)
    return height


def _draw_column(
    axes: Axes, panels: RowPanels, title_transform: Transform, title_length: int
) -> None:
    """Draw panels below each other into the axes.

    Args:
        title_transform: of the axes, or of the whole figure: titles begin at the left edge of what
            it stands for.
        title_length: characters after which a title is cut.
    """
    from matplotlib import rcParams
    from matplotlib.transforms import blended_transform_factory

    # The y axis counts pixels downwards: 0 is the top of the column.
    top = 0.0
    labels: dict[float, str] = {}  # by the y of the middle of their row
    for title, rows in panels.items():
        if title:
            axes.text(
                0,
                top + _TITLE_MIDDLE,
                printable(title, title_length),
                transform=blended_transform_factory(title_transform, axes.transData),
                weight="bold",
                va="center",
                in_layout=False,  # else the axes would shrink to make room for a long title
            )
            top += _PANEL_TITLE
        for row in rows:
            bottom = top + row.height
            has_negative_values = axes.get_xlim()[0] < 0
            if has_negative_values:
                axes.plot([0, 0], [top, bottom], color="black", linewidth=1)
            _draw_row(axes, row, top)
            labels[top + row.height / 2] = row.label
            top = bottom
            axes.axhline(bottom, color=rcParams["grid.color"], linewidth=0.8, zorder=0.5)
    axes.set_yticks(list(labels), list(labels.values()))
    axes.set_ylim(bottom=top, top=0)  # `top` is by now the end of the last row


def _draw_row(axes: Axes, row: Row, top: float) -> None:
    """Draw the marks and references of a row whose upper edge is at the height `top`."""
    # The marks stand in the middle of the row, which is higher if its label is.
    marks_top = top + (row.height - row.marks_height) / 2
    for number, mark in enumerate(row.marks):
        if math.isfinite(mark.value):
            _draw_mark(axes, mark, marks_top + _MARK * (number + 0.5))

    references_y = marks_top + _MARK * (len(row.marks) + 0.5)
    for reference in row.references:
        style = _REFERENCES[reference.kind].style
        if reference.kind == "chance":
            # A line across the row, which leaves 2 pixels free at both edges
            axes.plot([reference.value] * 2, [top + 2, top + row.height - 2], **style)
        else:
            axes.plot([reference.value], [references_y], clip_on=False, **style)
    models = [reference for reference in row.references if reference.kind == "model"]
    if models:
        best = max(models, key=lambda model: model.value)
        _label_best_model(axes, best, references_y)


def _draw_mark(axes: Axes, mark: Mark, y: float) -> None:
    """Draw a value at the height `y`, its interval, and its text at the right of the axes."""
    if mark.low is not None and mark.high is not None:
        if math.isfinite(mark.low) and math.isfinite(mark.high):
            axes.plot([mark.low, mark.high], [y, y], color=mark.style["color"], linewidth=1.5)
    axes.plot([mark.value], [y], clip_on=False, **mark.style)
    axes.annotate(
        printable(mark.text),
        xy=(1, y),
        xycoords=axes.get_yaxis_transform(),
        xytext=(10, 0),
        textcoords="offset points",
        va="center",
        weight="bold" if mark.is_bold else "normal",
    )


def _label_best_model(axes: Axes, model: Reference, y: float) -> None:
    """Write ``best: NAME 71.2`` beside the mark of a published model, where there is more room."""
    is_in_left_half = model.value < 50
    axes.annotate(
        f"best: {wrap(model.name, 24)} {model.value:.1f}",
        xy=(model.value, y),
        xytext=(7 if is_in_left_half else -7, 0),
        textcoords="offset points",
        ha="left" if is_in_left_half else "right",
        va="center",
        color=MUTED,
        fontsize=11,
    )
