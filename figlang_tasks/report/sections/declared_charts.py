"""The charts that benchmarks declare (`ChartSection`): points with intervals, by category."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from figlang_tasks.core.presentation import ChartCategory, ChartSection
from figlang_tasks.report.charts import IntervalGroup, Reference, interval_chart
from figlang_tasks.report.sections.layout import Section
from figlang_tasks.report.sections.task_results import TaskResults, dataset_name
from figlang_tasks.scoring import OVERALL

_Panels: TypeAlias = dict[str, dict[str, IntervalGroup]]
"""The groups of a chart, by the title of their panel and the label of their category."""


class _ChartKey(NamedTuple):
    """What the categories of a chart have in common: its title and the label of its axis."""

    title: str
    axis_label: str


def declared_section(
    id_prefix: str,
    declaration: ChartSection,
    results: Sequence[TaskResults],
    run_names: Sequence[str],
) -> Section | None:
    """The section that a benchmark declares; None if no run has a value for its charts.

    Args:
        id_prefix: the beginning of the ids of the section and its charts.
        results: the tasks of one dataset.
        run_names: all runs of the report.
    """
    panels_by_chart: dict[_ChartKey, _Panels] = {}
    for task_results in results:
        dataset = dataset_name(task_results.dataset)
        # The first run's estimates by measure and scope, of which a declaration reads the keys
        # alone: which scopes each measure has. Runs of a task have the same rows, and so the same
        # scopes; one that the first run lacks all the same (--limit) has no category.
        scopes_by_measure = task_results.first.estimates
        for declared in declaration.categories(dataset, task_results.task, scopes_by_measure):
            group = _interval_group(task_results, declared)
            if group.estimates:
                chart_key = _ChartKey(declared.title, declared.label)
                panels = panels_by_chart.setdefault(chart_key, {})
                panels.setdefault(declared.panel, {})[declared.category] = group
    if not panels_by_chart:
        return None

    section_id = f"{id_prefix}-{declaration.id}"
    charts = []
    for number, (chart_key, panels) in enumerate(panels_by_chart.items()):
        chart = interval_chart(
            f"{section_id}-{number}",
            chart_key.title,
            panels,
            axis_label=chart_key.axis_label,
            run_order=run_names,
        )
        charts.append(chart)
    return Section(
        id=section_id, title=declaration.title, intro=declaration.intro, charts=tuple(charts)
    )


def _interval_group(results: TaskResults, declared: ChartCategory) -> IntervalGroup:
    """The values of a category to draw, chance and published values included; may have none."""
    scope = declared.scope or OVERALL
    estimates, references = results.interval_group(declared.measure, scope)
    if not estimates:
        return IntervalGroup(estimates={})
    # Chance depends on the rows; those of the first run with a value stand for all.
    run_with_value = next(iter(estimates))
    chance = 100 * declared.chance(results.runs[run_with_value].records)
    if math.isfinite(chance):
        references = [Reference("chance", chance, "chance"), *references]
    return IntervalGroup(estimates, references)
