"""The charts that benchmarks declare (`ChartSection`): points with intervals, by category."""

from __future__ import annotations

import math
from collections.abc import Sequence

from figlang_tasks.core.presentation import ChartCategory, ChartSection
from figlang_tasks.report.charts import IntervalGroup, Reference, interval_chart
from figlang_tasks.report.sections.layout import Section
from figlang_tasks.report.sections.task_results import TaskResults, dataset_name
from figlang_tasks.scoring import OVERALL


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
    # The panels of each chart, by its title and the label of its axis
    panels_by_chart: dict[tuple[str, str], dict[str, dict[str, IntervalGroup]]] = {}
    for task_results in results:
        dataset = dataset_name(task_results.dataset)
        # By measure, then by scope: a declaration asks only which scopes each measure has.
        scopes_by_measure = task_results.first.estimates
        for declared in declaration.categories(dataset, task_results.task, scopes_by_measure):
            group = _interval_group(task_results, declared)
            if group.estimates:
                panels = panels_by_chart.setdefault((declared.title, declared.label), {})
                panels.setdefault(declared.panel, {})[declared.category] = group
    if not panels_by_chart:
        return None

    section_id = f"{id_prefix}-{declaration.id}"
    charts = []
    for number, ((title, axis_label), panels) in enumerate(panels_by_chart.items()):
        chart_id = f"{section_id}-{number}"
        charts.append(
            interval_chart(chart_id, title, panels, axis_label=axis_label, run_order=run_names)
        )
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
