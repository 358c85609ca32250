"""What a report shows, as plain data: groups of sections with tables and charts.

Texts may hold names of runs and of tasks, which are untrusted: the page has to escape all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from figlang_tasks.report.charts import Chart

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        caption: what it shows.
        shown: texts; the first column is the head of each row.
        note: what stands below; "" if nothing does.
        tooltips: by column, what its head says when the mouse is over it.
    """

    caption: str
    shown: pd.DataFrame
    note: str = ""
    tooltips: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """A part of a group.

    Attributes:
        id: unique on the page; letters, digits and ``-``.
        title, intro: its head, and what to read first.
        charts, tables: what it holds.
        notes: what to know about them, a paragraph each.
        lines: paragraphs that follow the intro.
    """

    id: str
    title: str
    intro: str
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Group:
    """Sections under one heading: those of a dataset, or what concerns all.

    Attributes:
        id: unique on the page; letters, digits and ``-``.
        title: its head.
        sections: at least one.
        after: whether it stands behind the samples.
    """

    id: str
    title: str
    sections: tuple[Section, ...]
    after: bool = False
