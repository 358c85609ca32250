"""What a report shows, as plain data: which tables and charts there are depends on the tasks that
the runs have.

Shares are in percent, as the papers print them.
"""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.report.sections.bars import bar_section
from figlang_tasks.report.sections.differences import compared, differences
from figlang_tasks.report.sections.explanations import explanation_quality
from figlang_tasks.report.sections.layout import Group, Section, Table
from figlang_tasks.report.sections.overview import overview
from figlang_tasks.report.sections.results import by_task, dataset_name, slug
from figlang_tasks.report.sections.tables import numbers, parsing
from figlang_tasks.results.task_run import Run

__all__ = ["Group", "Section", "Table", "build"]


def build(runs: Sequence[Run]) -> list[Group]:
    """What a report on some runs shows, in the order of the page; what has no content is left
    out.
    """
    results = by_task(runs)
    tests, notes = compared(runs, results)
    groups = [_group("overview", "Overview", overview(runs, results, tests))]
    datasets = dict.fromkeys(of_task[0].of.data.dataset for of_task in results.values())
    for dataset in datasets:
        prefix, own = (
            slug(dataset),
            {task: of for task, of in results.items() if of[0].of.data.dataset == dataset},
        )
        charts = next(iter(own.values()))[0].of.benchmark.module("charts")
        bars = (
            []
            if charts is None
            else [bar_section(prefix, section, own) for section in charts.CHARTS]
        )
        # Charts before tables
        shown = [explanation_quality(prefix, own), *bars, numbers(prefix, own)]
        groups.append(_group(prefix, dataset_name(dataset), *shown))
    groups.append(
        _group(
            "differences",
            "Differences between runs",
            differences(results, tests, notes),
            after=True,
        )
    )
    groups.append(_group("parsing", "Parsing", parsing(results), after=True))
    return [group for group in groups if group.sections]


def _group(group_id: str, title: str, *sections: Section | None, after: bool = False) -> Group:
    return Group(group_id, title, tuple(filter(None, sections)), after)
