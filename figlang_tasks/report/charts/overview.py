"""All tasks and runs in one picture: a row for each task, a mark for each run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from figlang_tasks.core.text import csv_text
from figlang_tasks.report.charts import style
from figlang_tasks.report.charts.bars import draw_references, interval
from figlang_tasks.report.charts.chart import Chart, Reference, numbered
from figlang_tasks.report.charts.sheet import HALF, LINE, WHOLE, Scale, Sheet, drawing, shortened, text_width, wrapped
from figlang_tasks.scoring import Estimate

_WITH_VALUES = 3  # runs; with more, their marks are put closer, and the values are in tables alone
_HEAD, _MOST_IN_ONE_COLUMN = 28.0, 14


@dataclass(frozen=True)
class Row:
    """A task.

    Attributes:
        label: its name, without what the group says.
        task: its whole name.
        metric: what is shown of it.
        values: by run, 0 to 100.
        references: what was published, and chance.
    """

    label: str
    task: str
    metric: str
    values: Mapping[str, Estimate]
    references: Sequence[Reference] = ()


def overview(
    chart_id: str, title: str, alt: str, groups: Mapping[str, Sequence[Row]], *, label: str, order: Sequence[str] = ()
) -> Chart:
    """Draw a mark with its interval for each run, in a row for each task; many tasks take two columns.

    Args:
        chart_id, title, alt: see `Chart`.
        groups: the tasks of each dataset.
        label: of the axis.
        order: as in `bars`.

    Raises:
        ValueError: the id is not valid, or there are no tasks.
    """
    rows = [row for group in groups.values() for row in group]
    series = numbered((row.values for row in rows), order)
    wide = len(rows) > _MOST_IN_ONE_COLUMN
    with drawing(chart_id):
        sheet = Sheet(WHOLE if wide else HALF)
        references = [each for row in rows for each in row.references]
        legend = [(name, sheet.sample_marks(number)) for name, number in series.items()]
        start = sheet.legend(0, [*legend, *sheet.samples_of_references(references)]) + 4
        labels = min(max(max(text_width(row.label), text_width(row.metric)) for row in rows), 190) + 12
        drawn_rows = _Rows(sheet, series, labels)
        bottoms = []
        whole: list[str | Row] = []
        for dataset, group in groups.items():
            whole += [dataset, *group]
        for place, column in enumerate(_columns(whole, drawn_rows.height) if wide else [whole]):
            left = place * (WHOLE - HALF)
            bottoms.append(drawn_rows.column(column, left, start, label))
        drawn = sheet.svg(max(bottoms), chart_id, title, alt)
    head = ("dataset", "task", "metric", "kind", "name", "value", "low", "high")
    return Chart(chart_id, title, alt, drawn, csv_text(head, _data(groups)), wide)


def _columns(every: list[str | Row], height: Callable[[Row], float]) -> list[list[str | Row]]:
    """Heads and rows in two columns of about the same height; a group that is cut has its head again."""
    tall = [_HEAD if isinstance(each, str) else height(each) for each in every]
    heads = [place for place, each in enumerate(every) if isinstance(each, str)]

    def tallest(cut: int) -> float:
        """Of both columns; a cut through a group costs its second head and a little more."""
        return max(sum(tall[:cut]), sum(tall[cut:]) + (0 if cut in heads else 2 * _HEAD))

    cut = min((place for place in range(1, len(every)) if place - 1 not in heads), key=tallest)
    if cut in heads:
        return [every[:cut], every[cut:]]
    head = every[max(place for place in heads if place < cut)]
    return [every[:cut], [f"{head} (continued)", *every[cut:]]]


@dataclass
class _Rows:
    sheet: Sheet
    series: Mapping[str, int]
    labels: float

    @property
    def _step(self) -> float:
        return 15.0 if len(self.series) <= _WITH_VALUES else 9.0

    @property
    def _value(self) -> float:
        return 46.0 if len(self.series) <= _WITH_VALUES else 0.0

    def _label(self, row: Row) -> list[str]:
        return [*wrapped(row.label, self.labels - 12), shortened(row.metric, self.labels - 12)]

    def height(self, row: Row) -> float:
        marks = len(self.series) * self._step + (13 if row.references else 0) + 10
        return max(marks, LINE * len(self._label(row)) + 6)

    def column(self, rows: Sequence[str | Row], left: float, top: float, label: str) -> float:
        """Draw heads and rows; returns where they end."""
        sheet = self.sheet
        scale = Scale(0, 100, left + self.labels, left + HALF - self._value - 10)
        y = top
        for row in rows:
            if isinstance(row, str):
                sheet.text(left, y + _HEAD - 12, shortened(row, self.labels + 200, True), weight="bold")
                y += _HEAD
                begin = y
            else:
                self._row(row, y, scale)
                y += self.height(row)
                sheet.segments([(left, y, scale.last, y)], **style.GRID)
                sheet.grid(scale, begin, y, (0, 25, 50, 75, 100), named=False)
                begin = y
        sheet.grid(scale, y, y, (0, 25, 50, 75, 100))
        sheet.text((scale.first + scale.last) / 2, y + 28, label, "center", quiet=True)
        return y + 40

    def _row(self, row: Row, y: float, scale: Scale) -> None:
        sheet, height, label = self.sheet, self.height(row), self._label(row)
        sheet.lines(scale.first - 12, y + height / 2, label, "right", quiet_from=len(label) - 1)
        below = [each for each in row.references if each.kind != "chance"]
        for each in row.references:
            if each.kind == "chance":
                sheet.segments([(scale(each.value), y + 3, scale(each.value), y + height - 3)], **style.CHANCE)
        marks = len(self.series) * self._step + (13 if below else 0)
        top = y + (height - marks) / 2
        for place, (name, number) in enumerate(self.series.items()):
            found = row.values.get(name)
            if found is None or not math.isfinite(found.value):
                continue
            at = top + (place + 0.5) * self._step
            if ends := interval(found):
                colour = style.of_series(number)["color"]
                sheet.segments([(scale(ends[0]), at, scale(ends[1]), at)], color=colour, linewidth=1.4)
            sheet.line([scale(found.value)], [at], **style.marks(number))
            if self._value:
                sheet.text(scale.last + self._value, at, f"{found.value:.1f}", "right")
        draw_references(sheet, below, scale, top + len(self.series) * self._step + 6.5)


def _data(groups: Mapping[str, Sequence[Row]]) -> Iterator[tuple[object, ...]]:
    for dataset, rows in groups.items():
        for row in rows:
            about = (dataset, row.task, row.metric)
            for name, found in row.values.items():
                yield (*about, "run", name, found.value, found.low, found.high)
            for each in row.references:
                yield (*about, each.csv_kind, each.name, each.value, None, None)
