"""What a report shows, as plain data: groups of sections with tables and charts.

Texts may hold names of runs and tasks, which are untrusted: the page has to escape all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from figlang_tasks.report.buckets import TaskBuckets
from figlang_tasks.report.charts import Chart

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Attributes:
        caption: what it shows.
        cells: texts; the first column is the head of each row.
        note: what stands below; may be empty.
        tooltips: by column, what its head says when the mouse is over it.
    """

    caption: str
    cells: pd.DataFrame
    note: str = ""
    tooltips: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BucketTable:
    """How many rows of each task are in each bucket, with links to them.

    Attributes:
        caption: what it shows.
        tasks: the buckets of each task.
        note: what stands below: what the buckets are.
    """

    caption: str
    tasks: tuple[TaskBuckets, ...]
    note: str


@dataclass(frozen=True, kw_only=True)
class Section:
    """Tables and charts under one heading.

    Attributes:
        id: unique on the page; letters, digits and ``-``.
        title: its heading.
        intro: what to read first; may be empty.
        verdicts: sentences that follow the intro, a paragraph each.
        picture_gains: sentences that follow the verdicts, likewise: what the pictures add.
        buckets: follows the verdicts; None for none.
        notes: what to know about the charts and tables, a paragraph each.
    """

    id: str
    title: str
    intro: str = ""
    verdicts: tuple[str, ...] = ()
    picture_gains: tuple[str, ...] = ()
    buckets: BucketTable | None = None
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Group:
    """Sections under one heading: those of a dataset, or those about all datasets.

    Attributes:
        id: unique on the page; letters, digits and ``-``.
        title: its heading.
        after_samples: whether it stands below the samples on the page.
    """

    id: str
    title: str
    sections: tuple[Section, ...]
    after_samples: bool = False
