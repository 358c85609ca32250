"""What a report shows, as plain data: which tables and charts there are depends on the tasks that the runs have.

Shares are in percent, as the papers print them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

from tqdm import tqdm

from figlang_tasks.metrics.intervals import DEFAULT_SEED
from figlang_tasks.report.sections.bars import bar_section
from figlang_tasks.report.sections.differences import compared, differences
from figlang_tasks.report.sections.explanations import explanation_quality
from figlang_tasks.report.sections.layout import Group, Section, Table
from figlang_tasks.report.sections.overview import overview
from figlang_tasks.report.sections.parsing import parsing
from figlang_tasks.report.sections.results import Results, by_task, dataset_name, slug
from figlang_tasks.report.sections.tables import numbers
from figlang_tasks.results.runs import Run

__all__ = ["Group", "Section", "Table", "build"]

_Maker = Callable[[], Section | None]


def build(runs: Sequence[Run], seed: int = DEFAULT_SEED) -> list[Group]:
    """Return what a report on some runs shows, in the order of the page; what has no content is left out."""
    if not runs:
        raise ValueError("there are no runs")
    results = by_task(runs)
    tests = cache(lambda: compared(runs, results, seed))
    makers: dict[tuple[str, str], list[_Maker]] = {
        ("overview", "Overview"): [lambda: overview(runs, results, tests()[0])]
    }
    for dataset in dict.fromkeys(of_task[0].of.dataset for of_task in results.values()):
        makers[slug(dataset), dataset_name(dataset)] = _of_dataset(dataset, results)
    makers["differences", "Differences between runs"] = [lambda: differences(results, *tests())]
    makers["parsing", "Parsing"] = [lambda: parsing(results)]
    groups = []
    for (group_id, title), own in tqdm(makers.items(), "sections", delay=2, leave=False, disable=None):
        if found := [section for make in own if (section := make()) is not None]:
            groups.append(Group(group_id, title, tuple(found), after=group_id in ("differences", "parsing")))
    return groups


def _of_dataset(dataset: str, results: Results) -> list[_Maker]:
    """What makes the sections of a dataset, charts before tables."""
    own = {task: of for task, of in results.items() if of[0].of.dataset == dataset}
    prefix, benchmark = slug(dataset), next(iter(own.values()))[0].benchmark
    return [
        lambda: explanation_quality(prefix, own),
        *(partial(bar_section, prefix, section, own) for section in benchmark.charts),
        lambda: numbers(prefix, own),
    ]
