"""The results that a report shows, task by task, and how they are named."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix

from figlang_tasks.core.benchmark import source_of, sources
from figlang_tasks.report.charts import Reference
from figlang_tasks.results import measures
from figlang_tasks.results import published as papers
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL, Estimate, Measure, full_name


@dataclass(frozen=True)
class Result:
    """One task of one run."""

    run: str
    of: TaskRun
    runs: tuple[str, ...]  # all of the report

    @property
    def heads(self) -> list[str]:
        """The measures with a value of all rows, those that tell how the run went last."""
        overall = [name for name, scopes in self.of.estimates.items() if OVERALL in scopes]
        return sorted(overall, key=lambda name: self.of.measures.by_name[name].is_diagnostic)


Results = Mapping[str, Sequence[Result]]
"""The results of each task, one for each run that has it."""


def by_task(runs: Sequence[Run]) -> Results:
    """The results of every task, benchmark by benchmark."""
    order, names = list(sources()), tuple(run.name for run in runs)
    found: dict[str, list[Result]] = {}
    for run in runs:
        for task, of in run.tasks.items():
            found.setdefault(task, []).append(Result(run.name, of, names))
    return dict(
        sorted(found.items(), key=lambda each: (order.index(each[1][0].of.data.dataset), each[0]))
    )


def headline(results: Sequence[Result]) -> str | None:
    """The metric that stands for a task, if it is a share of right answers; of those that are
    comparable, if any is.
    """
    shared = [head for head in results[0].heads if all(head in result.heads for result in results)]
    if (
        results[0].of.has_explanations
        and len({result.of.signature or result.of.scorer for result in results}) > 1
    ):
        shared = [head for head in shared if head not in results[0].of.metrics_of_explanations]
    declared: dict[str, Measure] = {}
    for result in results:
        declared.update(result.of.measures.by_name)
    metric = measures.headline_metric(
        shared or [head for result in results for head in result.heads], declared
    )
    if not metric:
        return None
    is_share = declared[metric].percent and not declared[metric].is_diagnostic
    return metric if is_share else None


def places(results: Sequence[Result]) -> list[str]:
    """The scopes that a measure has a value in, all first."""
    found = [
        scope for result in results for scopes in result.of.estimates.values() for scope in scopes
    ]
    return list(dict.fromkeys((OVERALL, *found)))


def values_of(results: Sequence[Result], measure: str, scope: str = OVERALL) -> dict[str, Estimate]:
    """A share of each run that has it, in percent."""
    found = {result.run: result.of.estimates.get(measure, {}).get(scope) for result in results}
    return {run: percent(value) for run, value in found.items() if value is not None}


def references(
    task: str, results: Sequence[Result], measure: str, scope: str = OVERALL
) -> list[Reference]:
    """Published values of a share, in percent, that are comparable with all results."""
    metric = full_name(measure, scope)
    shown, _ = papers.comparable_metrics(
        task, [metric], [result.of.conditions for result in results]
    )
    figures = [(row, row.values[metric].value) for row in papers.published_rows(task, shown)]
    kinds = {"humans": "people", "chance": "chance"}
    return [
        Reference(row.label, 100 * value, kinds.get(row.kind, "model"))
        for row, value in figures
        if value is not None  # a range
    ]


# --- names and texts ---


def slug(dataset: str) -> str:
    """A dataset's name as part of an id."""
    return re.sub("[^a-z0-9]+", "-", dataset.lower()).strip("-")


def short_names(tasks: Collection[str]) -> dict[str, str]:
    """Names of a dataset's tasks without the words that all begin with (``irfl_``), by task."""
    shared = commonprefix(list(tasks)) if len(tasks) > 1 else ""
    start = shared.rfind("_") + 1
    return {task: task[start:] for task in tasks}


def dataset_name(dataset: str) -> str:
    """As people read it."""
    return source_of(dataset).title or dataset


def percent(found: Estimate) -> Estimate:
    """A share in percent, with its interval alone."""
    low, high = (None if end is None else 100 * end for end in (found.low, found.high))
    return Estimate(100 * found.value, low, high)
