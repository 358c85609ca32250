"""The charts of bars that benchmarks declare (`BarSection`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from figlang_tasks.core.presentation import BarChart, Bars, BarSection
from figlang_tasks.report import charts
from figlang_tasks.report.charts import Reference
from figlang_tasks.report.sections.layout import Section
from figlang_tasks.report.sections.results import Result, Results, dataset_name, percent, references
from figlang_tasks.scoring import OVERALL, Estimate, Measures, Record


class _Drawn(NamedTuple):
    """A chart of bars in the making."""

    panels: dict[str, dict[str, dict[str, Estimate]]]
    references: dict[tuple[str, str], list[Reference]]


def bar_section(prefix: str, section: BarSection, results: Results, published: bool) -> Section | None:
    """The charts of a section."""
    drawn: dict[BarChart, _Drawn] = {}
    for task, of_task in results.items():
        for bars in section.bars(dataset_name(of_task[0].of.dataset), task, of_task[0].estimates):
            _add(drawn, bars, task, of_task, published)
    found = [
        charts.bars(
            f"{prefix}-{section.id}-{number}",
            chart.title,
            drawn[chart].panels,
            label=chart.label,
            references=drawn[chart].references,
            order=next(iter(results.values()))[0].runs,
        )
        for number, chart in enumerate(sorted(drawn, key=section.order))
    ]
    return Section(f"{prefix}-{section.id}", section.title, section.intro, charts=tuple(found)) if found else None


def _add(drawn: dict[BarChart, _Drawn], bars: Bars, task: str, results: Sequence[Result], published: bool) -> None:
    """Add bars to their chart, if any run has the measure in the scope."""
    for category, found, beside in _categories(bars, task, results, published):
        panels, of_chart = drawn.setdefault(bars.chart, _Drawn({}, {}))
        panels.setdefault(bars.panel, {})[category] = {run: percent(value) for run, value in found.items()}
        if beside:
            of_chart[bars.panel, category] = beside


def _categories(
    bars: Bars, task: str, results: Sequence[Result], published: bool
) -> Iterator[tuple[str, dict[str, Estimate], list[Reference]]]:
    """Each category with the values of the runs and what to read them beside."""
    scope = bars.scope or OVERALL
    if bars.split is None:
        found = {of.run: value for of in results if (value := of.estimate(bars.measure, scope)) is not None}
        if found:
            records = next(of for of in results if of.run in found).of.records
            beside = references(task, results, bars.measure, scope) if published else []
            yield bars.category, found, [*_chance(bars, records), *beside]
        return
    split = {of.run: of.of.computed(lambda declared, records: _split(bars, declared, records)) for of in results}
    for category in dict.fromkeys(category for parts in split.values() for category in parts):
        parts = {run: own[category] for run, own in split.items() if category in own}
        first = next(iter(parts.values()))
        yield (
            f"{category} (n {first.rows})",
            {run: own.value for run, own in parts.items()},
            _chance(bars, first.records),
        )


class _Part(NamedTuple):
    """Some of a task's records, and a measure of them."""

    records: Sequence[Record]
    rows: int
    value: Estimate


def _split(bars: Bars, declared: Measures, records: Sequence[Record]) -> dict[str, _Part]:
    assert bars.split is not None
    measure = declared.by_name[bars.measure]
    found = {}
    for category, own in bars.split(records).items():
        counted = [record for record in own if measure.counts(record)]
        if counted and (value := measure.estimate(counted)) is not None:
            found[category] = _Part(own, declared.rows(own), value)
    return found


def _chance(bars: Bars, records: Sequence[Record]) -> list[Reference]:
    level = 100 * bars.chance(records)
    return [Reference("chance", level, "chance")] if np.isfinite(level) else []
