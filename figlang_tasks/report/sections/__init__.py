"""What a report shows, as plain data; the tables and charts depend on the tasks of the runs.

Shares are in percent, as the papers print them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from figlang_tasks.report.buckets import TaskBuckets
from figlang_tasks.report.picture_gain import picture_gains
from figlang_tasks.report.sections.declared_charts import declared_section
from figlang_tasks.report.sections.differences import compare_pairs, difference_section
from figlang_tasks.report.sections.explanations import explanation_section
from figlang_tasks.report.sections.layout import Group, Section, Table
from figlang_tasks.report.sections.metrics_table import metrics_section
from figlang_tasks.report.sections.overview import overview_section
from figlang_tasks.report.sections.parsing import parsing_section
from figlang_tasks.report.sections.task_results import (
    TaskResults,
    collect_results,
    dataset_name,
    slug,
)
from figlang_tasks.results.task_run import Run

__all__ = ["Group", "Section", "Table", "build"]


def build(runs: Sequence[Run], buckets: Sequence[TaskBuckets] = ()) -> list[Group]:
    """Make the sections of a report, in groups in the order of the page.

    The overview counts the rows in each of the `buckets`, if there are any.

    Groups: the overview, each dataset, the differences between runs, and how outputs were read.
    Sections and groups without content are left out.
    """
    run_names = [run.name for run in runs]
    results = collect_results(runs)
    differences, failures = compare_pairs(runs, [task_results.task for task_results in results])

    # Repeats have the name that the user gave, as in comparisons.
    named_runs = [replace(run, name=run.given_name or run.name) for run in runs]
    gains = picture_gains(named_runs)
    overview = overview_section(runs, results, differences, buckets, gains)
    groups = [Group("overview", "Overview", (overview,))]
    results_by_dataset: dict[str, list[TaskResults]] = {}
    for task_results in results:
        results_by_dataset.setdefault(task_results.dataset, []).append(task_results)
    for dataset, dataset_results in results_by_dataset.items():
        sections = _dataset_sections(slug(dataset), dataset_results, run_names)
        groups.append(Group(slug(dataset), dataset_name(dataset), _without_none(sections)))

    comparison = _without_none([difference_section(results, differences, failures)])
    parsing = _without_none([parsing_section(results)])
    groups.append(Group("differences", "Differences between runs", comparison, after_samples=True))
    groups.append(Group("parsing", "Parsing", parsing, after_samples=True))
    return [group for group in groups if group.sections]


def _dataset_sections(
    id_prefix: str, results: Sequence[TaskResults], run_names: Sequence[str]
) -> list[Section | None]:
    """The sections about one dataset, in the order of the page; None in place of an empty one.

    First the charts of explanations, then those that the benchmark declares, then the tables of all
    metrics.

    Args:
        id_prefix: the beginning of the ids of the sections and their charts.
        results: the tasks of the dataset, at least one.
        run_names: all runs of the report.
    """
    sections = [explanation_section(id_prefix, results, run_names)]
    charts = results[0].benchmark.module("charts")  # a dataset is of one benchmark
    if charts is not None:
        for declaration in charts.CHARTS:
            sections.append(declared_section(id_prefix, declaration, results, run_names))
    sections.append(metrics_section(id_prefix, results))
    return sections


def _without_none(sections: Iterable[Section | None]) -> tuple[Section, ...]:
    return tuple(section for section in sections if section is not None)
