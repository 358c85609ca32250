"""What a report shows, as plain data: groups of sections with tables and charts.

Texts may hold names of runs and of tasks, which are untrusted: the page has to escape all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from figlang_tasks.report.charts import Chart


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: what stands there.
        title: more about it, for a tooltip; "" if there is nothing to add.
        numeric: to be set flush right.
        published: from a paper, not measured in these runs.
    """

    text: str
    title: str = ""
    numeric: bool = False
    published: bool = False


@dataclass(frozen=True)
class Table:
    """A table; the first cell of a row is its head.

    Attributes:
        caption: what it shows.
        head: heads of the columns.
        rows: as many cells as `head` each.
        note: what stands below; "" if nothing does.
    """

    caption: str
    head: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A part of a group.

    Attributes:
        id: unique on the page; letters, digits and ``-``.
        title, intro: its head, and what to read first.
        tables, charts: what it holds; the page shows charts first.
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
