"""How much a score depends on the wording of the instruction."""

from __future__ import annotations

import numpy as np

from figlang_tasks.report import charts
from figlang_tasks.report.sections.layout import Section, Table
from figlang_tasks.report.sections.results import Results, instruction_of, metric_name, percent
from figlang_tasks.scoring import Estimate


def prompt_sensitivity(prefix: str, results: Results) -> Section | None:
    """A measure by instruction, for the tasks that ask all rows with one and the same."""
    import pandas as pd

    by_base: dict[str, dict[str, dict[int, Estimate]]] = {}
    declared = next(iter(results.values()))[0].benchmark.instructions
    for task, of_task in results.items():
        if declared and (named := instruction_of(task, of_task)):
            base, number = named
            for result in of_task:
                value = result.estimate(declared.measure)
                if value is not None and np.isfinite(value.value):
                    by_base.setdefault(base, {}).setdefault(result.run, {})[number] = percent(value)
    if declared is None or not by_base:
        return None
    name = metric_name(declared.measure)
    drawn, tables = [], []
    for place, (base, series) in enumerate(by_base.items()):
        values = pd.DataFrame({run: {n: each.value for n, each in found.items()} for run, found in series.items()})
        shown = values.agg(["count", "min", "mean", "max", "std"]).T.rename(columns={"count": "instructions"})
        shown = shown.map("{:.1f}".format).assign(
            instructions=values.count().map(str), worst=values.idxmin().map(str), best=values.idxmax().map(str)
        )
        shown = shown.rename_axis("model").reset_index()
        note = f"Percent; std: standard deviation over the instructions, those of {declared.source}."
        tables.append(Table(f"{base}: {name} over the instructions", shown, note))
        drawn.append(
            charts.dots(
                f"{prefix}-instructions-{place}",
                f"{base}: {name} by instruction",
                series,
                x_label="instruction",
                y_label=f"{name} (percent)",
                order=next(iter(results.values()))[0].runs,
            )
        )
    intro = "All rows asked with one and the same instruction: how much a score depends on the wording."
    return Section(f"{prefix}-instructions", "Prompt sensitivity", intro, tuple(tables), tuple(drawn))
