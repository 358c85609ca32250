"""What a benchmark declares for tables and charts of its results: names of its parts, and charts.

Plain data: the report draws it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from figlang_tasks.core.record import Record


@dataclass(frozen=True)
class Part:
    """A part of a benchmark, a scope of its measures: its name, and a note."""

    name: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts of a benchmark.

    Attributes:
        by_scope: by scope, in the order of tables; scopes that are not there are shown as they are.
        kind: what a part is.
        in_short: scopes that are shown beside the whole where there is room for few, as in the
            paper's main table.
    """

    by_scope: Mapping[str, Part] = field(default_factory=dict)
    kind: str = "part"
    in_short: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ChartCategory:
    """A category of a chart: the value of a task in each run, as a point with its interval.

    Attributes:
        title, label: of the chart, unique in the report, and of its axis; categories that share
            both are drawn into one chart.
        measure, scope: what is drawn (scope None: over all rows); a category without a value is
            left out.
        category: its label.
        panel: title of the part of the chart that it stands in; "" if the chart has no parts.
        chance: ``(records) -> level``: the share by chance, 0 to 1; NaN where there is none.
    """

    title: str
    label: str
    measure: str
    category: str
    chance: Callable[[Sequence[Record]], float]
    scope: str | None = None
    panel: str = ""


@dataclass(frozen=True, kw_only=True)
class ChartSection:
    """A section of the report: charts, in the order in which `categories` first names them.

    Attributes:
        id: unique on the page; letters and ``-``.
        categories: ``(dataset, task, scopes) -> categories`` of a task; `scopes`: those that each
            measure has a value in.
    """

    id: str
    title: str
    intro: str
    categories: Callable[[str, str, Mapping[str, Collection[str]]], Iterable[ChartCategory]]
