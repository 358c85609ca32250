"""What a benchmark declares for tables and charts of its results: names of its parts, charts of
bars.

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
        of: by scope, in the order of tables; scopes that are not there are shown as they are.
        kind: what a part is.
        in_short: scopes that are shown beside the whole where there is room for few, as in the
            paper's main table.
    """

    of: Mapping[str, Part] = field(default_factory=dict)
    kind: str = "part"
    in_short: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Bars:
    """The bars of a task in a chart, one for each run; those of one panel stand together.

    Attributes:
        title, label: of the chart, unique in the report, and of its axis; bars that share both are
            drawn into one.
        measure, scope: what is drawn; without a value there are no bars.
        category: what stands below the bars.
        panel: title of a part of the chart; "" if it has none.
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
class BarSection:
    """A section of the report: charts of bars, in the order in which `bars` first names them.

    Attributes:
        id: unique on the page; letters and ``-``.
        bars: ``(dataset, task, scopes) -> bars`` of a task; `scopes`: those that each measure has a
            value in.
    """

    id: str
    title: str
    intro: str
    bars: Callable[[str, str, Mapping[str, Collection[str]]], Iterable[Bars]]
