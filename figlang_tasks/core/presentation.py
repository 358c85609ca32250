"""What a benchmark declares for tables and charts of its results: names of its parts, and charts.

It declares plain data, and the report draws them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from figlang_tasks.core.record import Record


@dataclass(frozen=True)
class Part:
    """A part of a benchmark, which is a scope of its measures.

    Attributes:
        name: the name in tables and charts.
        note: a sentence about it; "" for none.
    """

    name: str
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts of a benchmark.

    Attributes:
        by_scope: the parts by scope, in the order of tables. A scope that is missing here is shown
            by its own name.
        kind: what a part is called: ``part``, ``source``.
        in_short: the scopes that are shown beside the whole where there is room for few, as in the
            paper's main table.
    """

    by_scope: Mapping[str, Part] = field(default_factory=dict)
    kind: str = "part"
    in_short: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ChartCategory:
    """A category of a chart: the value of a task in each run, as a point with its interval.

    Attributes:
        title: the title of the chart, unique in the report.
        label: the label of the chart's axis. Categories with the same title and label are drawn
            into one chart.
        measure: the name of the measure whose value is drawn.
        category: the label of the category.
        chance: ``(records) -> level``: the share by chance, 0 to 1; NaN where there is none.
        scope: the scope of the value; None for all rows. A category without a value is left out.
        panel: the title of the part of the chart that it stands in; "" if the chart has no parts.
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
        id: its id, unique on the page; letters and ``-``.
        title: its heading.
        intro: a paragraph before the charts.
        categories: ``(dataset, task, scopes by measure) -> categories`` of a task. The scopes are
            those in which a measure has a value.
    """

    id: str
    title: str
    intro: str
    categories: Callable[[str, str, Mapping[str, Collection[str]]], Iterable[ChartCategory]]
