"""The charts of bars that benchmarks declare (`BarSection`)."""

from __future__ import annotations

import math

from figlang_tasks.core.presentation import BarSection
from figlang_tasks.report import charts
from figlang_tasks.report.charts import Reference
from figlang_tasks.report.sections.layout import Section
from figlang_tasks.report.sections.results import Results, dataset_name, references, values_of
from figlang_tasks.scoring import OVERALL, Estimate


def bar_section(prefix: str, section: BarSection, results: Results) -> Section | None:
    """The charts of a section."""
    drawn: dict[tuple[str, str], dict[str, dict[str, dict[str, Estimate]]]] = {}
    beside: dict[tuple[str, str], dict[tuple[str, str], list[Reference]]] = {}
    for task, of_task in results.items():
        for bars in section.bars(
            dataset_name(of_task[0].of.data.dataset), task, of_task[0].of.estimates
        ):
            scope = bars.scope or OVERALL
            found = values_of(of_task, bars.measure, scope)
            if not found:
                continue
            chart = bars.title, bars.label
            drawn.setdefault(chart, {}).setdefault(bars.panel, {})[bars.category] = found
            level = 100 * bars.chance(next(of for of in of_task if of.run in found).of.records)
            chance = [Reference("chance", level, "chance")] if math.isfinite(level) else []
            papers = references(task, of_task, bars.measure, scope)
            beside.setdefault(chart, {})[bars.panel, bars.category] = [*chance, *papers]
    found_charts = [
        charts.bars(
            f"{prefix}-{section.id}-{number}",
            title,
            of_panels,
            label=label,
            references=beside[title, label],
            order=next(iter(results.values()))[0].runs,
        )
        for number, ((title, label), of_panels) in enumerate(drawn.items())
    ]
    if not found_charts:
        return None
    return Section(
        f"{prefix}-{section.id}", section.title, section.intro, charts=tuple(found_charts)
    )
