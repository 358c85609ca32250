"""``figlang tasks BENCHMARK --metrics``: what each metric means, and where it is from."""

from __future__ import annotations

from itertools import chain
from typing import TypeAlias

from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.homes import names
from figlang_tasks.core.text import did_you_mean

_MetricRow: TypeAlias = tuple[str, str, str, str]
"""Name with an arrow to better values, role, description and source of a metric."""


def benchmark_with_metrics(argument: str | None) -> str:
    """The benchmark that the user names beside ``--metrics``, after a check that it is one.

    Args:
        argument: what the user gave; None if nothing.

    Raises:
        FigLangError: there is no such benchmark, or none is named.
    """
    if argument is not None and argument in names():
        return argument
    mistake = ""
    if argument is not None:
        mistake = f", not {argument!r}{did_you_mean(argument, names())}"
    raise FigLangError(
        f"figlang tasks --metrics takes a benchmark{mistake}; give one of {', '.join(names())}"
    )


def metrics_text(benchmark: str) -> str:
    """The metrics of each kind of task of a benchmark, a line each, and what the roles mean.

    Args:
        benchmark: its name; not `MINI`, which declares no metrics of its own.
    """
    rows_by_title = _metric_rows(benchmark)
    all_rows = list(chain.from_iterable(rows_by_title.values()))
    widths = [max(map(len, column)) for column in zip(*all_rows, strict=True)]
    lines = []
    for title, rows in rows_by_title.items():
        lines.append(title)
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            lines.append(f"  {'  '.join(cells)}".rstrip())
    lines.append("\nheadline: it stands for its task where one number has to.")
    lines.append("diagnostic: it says how a run went, not how good the model is.")
    return "\n".join(lines)


def _metric_rows(benchmark: str) -> dict[str, list[_MetricRow]]:
    """A row for each metric of each kind of task, by a title with the kind and its description."""
    from figlang_tasks.results.measures import headline_metric

    rows_by_title: dict[str, list[_MetricRow]] = {}
    for task in benchmarks()[benchmark].tasks:
        measure_by_name = task.measures.by_name
        main_metric = headline_metric(list(measure_by_name), measures_by_name=measure_by_name)
        rows: list[_MetricRow] = []
        for measure in task.measures.all:
            role = measure.role
            # Where no measure is declared as the headline, the main metric stands for the task,
            # unless all of its measures are diagnostic.
            if measure.name == main_metric and not measure.is_diagnostic:
                role = "headline"
            name = f"{measure.name} {measure.arrow}"
            rows.append((name, role, measure.description, measure.source))
        rows_by_title[f"{task.name}: {task.description}"] = rows
    return rows_by_title
