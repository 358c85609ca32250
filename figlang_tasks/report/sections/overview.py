"""All tasks and runs in one picture, and what to know about the runs before their numbers are
read.
"""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.report import charts
from figlang_tasks.report.charts import Reference
from figlang_tasks.report.sections.layout import Section
from figlang_tasks.report.sections.results import (
    Results,
    dataset_name,
    headline,
    references,
    short_names,
    values_of,
)
from figlang_tasks.report.verdict import caveats, verdicts
from figlang_tasks.results.comparison import Difference
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring import Estimate


def overview(runs: Sequence[Run], results: Results, differences: Sequence[Difference]) -> Section:
    """Which of every two runs is better on each task, the main metric of each task, and notes on
    the runs.
    """
    panels: dict[str, dict[str, dict[str, Estimate]]] = {}
    beside: dict[tuple[str, str], list[Reference]] = {}
    for task, of_task in results.items():
        if (metric := headline(of_task)) is None:
            continue
        dataset = of_task[0].of.data.dataset
        short = short_names(
            [each for each, own in results.items() if own[0].of.data.dataset == dataset]
        )
        panel, category = dataset_name(dataset), f"{short[task]} {metric}"
        panels.setdefault(panel, {})[category] = values_of(of_task, metric)
        beside[panel, category] = references(task, of_task, metric)
    notes = _notes(runs)
    drawn = []
    if panels:
        chart = charts.bars(
            "overview-all",
            "The main metric of each task",
            panels,
            label="percent, with 95 % intervals",
            references=beside,
            order=next(iter(results.values()))[0].runs,
            whole=True,
        )
        drawn.append(chart)
    return Section(
        "overview-tasks",
        "Overview",
        "",
        (),
        tuple(drawn),
        tuple(notes),
        tuple(verdicts(differences)),
    )


def _notes(runs: Sequence[Run]) -> list[str]:
    """What to know about the runs before their numbers are read."""
    notes = []
    for run in runs:
        # A page that others read tells nothing about this machine.
        run_path = "RUN" if run.path.is_absolute() else str(run.path)
        notes += [f"{caveat}." for caveat in caveats(run, run_path=run_path)]
    if without := [run.name for run in runs if not all(of.reported for of in run.tasks.values())]:
        notes.append(f"{', '.join(without)}: no reported metrics; values are from the samples.")
    return notes
