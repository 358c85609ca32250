"""The charts of bars that benchmarks declare (`BarSection`)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from figlang_tasks.core.presentation import Bars, BarSection
from figlang_tasks.report.charts import BarGroup, Reference, bar_chart
from figlang_tasks.report.sections.layout import Section
from figlang_tasks.report.sections.task_results import TaskResults, dataset_name
from figlang_tasks.scoring import OVERALL


def bar_section(
    prefix: str,
    declaration: BarSection,
    results: Sequence[TaskResults],
    run_names: Sequence[str],
) -> Section | None:
    """Draw the section of bar charts that a benchmark declares; None if no run has values for it.

    Args:
        prefix: the beginning of the ids of the section and its charts.
        results: the tasks of one dataset.
        run_names: all runs of the report.
    """
    # By title and label of the axis, which together make a chart: its panels
    panels_by_chart: dict[tuple[str, str], dict[str, dict[str, BarGroup]]] = {}
    for task_results in results:
        dataset = dataset_name(task_results.dataset)
        scopes = task_results.first.estimates
        for bars in declaration.bars(dataset, task_results.task, scopes):
            group = _bar_group(task_results, bars)
            if group.estimates:
                panels = panels_by_chart.setdefault((bars.title, bars.label), {})
                panels.setdefault(bars.panel, {})[bars.category] = group
    if not panels_by_chart:
        return None

    section_id = f"{prefix}-{declaration.id}"
    charts = []
    for number, ((title, axis_label), panels) in enumerate(panels_by_chart.items()):
        chart_id = f"{section_id}-{number}"
        charts.append(
            bar_chart(chart_id, title, panels, axis_label=axis_label, run_order=run_names)
        )
    return Section(
        id=section_id, title=declaration.title, intro=declaration.intro, charts=tuple(charts)
    )


def _bar_group(results: TaskResults, bars: Bars) -> BarGroup:
    """Collect a bar for each run of a task, with chance and published values to compare."""
    scope = bars.scope or OVERALL
    estimates, references = results.bar_group(bars.measure, scope)
    if not estimates:
        return BarGroup({})
    # Chance is that of the rows of the first run with a value.
    run_with_value = next(iter(estimates))
    chance = 100 * bars.chance(results.runs[run_with_value].records)
    if math.isfinite(chance):
        references = [Reference("chance", chance, "chance"), *references]
    return BarGroup(estimates, references)
