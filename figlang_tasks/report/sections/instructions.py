"""How much a score depends on the wording of the instruction."""

from __future__ import annotations

import statistics as descriptive

import numpy as np

from figlang_tasks.core.presentation import Instructions
from figlang_tasks.report import charts
from figlang_tasks.report.sections.layout import Cell, Section, Table
from figlang_tasks.report.sections.results import Results, instruction_of, metric_name, percent
from figlang_tasks.report.sections.tables import N
from figlang_tasks.scoring import Estimate


def prompt_sensitivity(prefix: str, results: Results) -> Section | None:
    """A measure by instruction, for the tasks that ask all rows with one and the same."""
    by_base: dict[str, dict[str, dict[int, Estimate]]] = {}
    counts: dict[tuple[str, str], set[int]] = {}
    declared: dict[str, Instructions] = {}
    for task, of_task in results.items():
        if named := instruction_of(task, of_task):
            base, number, declares = named
            declared[base] = declares
            for result in of_task:
                if (value := result.estimate(declares.measure)) is not None:
                    by_base.setdefault(base, {}).setdefault(result.run, {})[number] = percent(value)
                    counts.setdefault((base, result.run), set()).add(result.of.rows)
    tables, found = [], []
    for place, (base, series) in enumerate(by_base.items()):
        of, name = declared[base], metric_name(declared[base].measure)
        told = []
        rows = []
        for run, values in series.items():
            finite = {number: each.value for number, each in values.items() if np.isfinite(each.value)}
            if not finite:
                continue
            worst, best = (end(finite, key=lambda number: finite[number]) for end in (min, max))
            mean = descriptive.fmean(finite.values())
            spread = descriptive.stdev(finite.values()) if len(finite) > 1 else 0.0
            told.append(
                f"{run}: {finite[worst]:.1f} (instruction {worst}) to {finite[best]:.1f} (instruction {best}), mean "
                f"{mean:.1f}, standard deviation {spread:.1f}."
            )
            numbers = (finite[worst], mean, finite[best], spread)
            rows.append(
                (
                    Cell(run),
                    Cell(" / ".join(map(str, sorted(counts[base, run]))), numeric=True),
                    Cell(str(len(finite)), numeric=True),
                    *(Cell(f"{each:.1f}", numeric=True) for each in numbers),
                    *(Cell(str(number), of.text(number), True) for number in (worst, best)),
                )
            )
        if not rows:
            continue
        heads = ("instructions", "min", "mean", "max", "sd", "worst instruction", "best instruction")
        tables.append(
            Table(
                f"{base}: {name} over the instructions",
                (Cell("model"), N, *(Cell(head, numeric=True) for head in heads)),
                tuple(rows),
                f"Percent; sd: standard deviation of the sample of instructions. They are those of {of.source}.",
            )
        )
        found.append(
            charts.dots(
                f"{prefix}-instructions-{place}",
                f"{base}: {name} by instruction",
                f"A dot for each instruction and run, and a line at each run's mean. {' '.join(told)}",
                series,
                x_label="instruction",
                y_label=f"{name} (percent)",
                order=next(iter(results.values()))[0].runs,
            )
        )
    if not tables:
        return None
    times = " or ".join(str(count) for count in sorted({declared[base].count for base in by_base}))
    intro = f"All rows asked with one and the same instruction, {times} times: how much a score depends on the wording."
    return Section(f"{prefix}-instructions", "Prompt sensitivity", intro, tuple(tables), tuple(found))
