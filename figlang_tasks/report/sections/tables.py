"""Tables: all metrics of a dataset's tasks, and the same by its parts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from os.path import commonprefix

import numpy as np

from figlang_tasks.core.presentation import Parts
from figlang_tasks.report.sections.layout import Cell, Section, Table
from figlang_tasks.report.sections.results import (
    Result,
    Results,
    comparable,
    dataset_name,
    measures_of,
    metric_name,
    places,
    scope_name,
)
from figlang_tasks.results import measures
from figlang_tasks.results import published as papers
from figlang_tasks.scoring import OVERALL, Estimate, Measures, Record, full_name


def _cell(found: Estimate | None, measure: str, n: int | None = None) -> Cell:
    if found is None:
        return Cell("")
    if not np.isfinite(found.value):
        return Cell("failed", "not a number: see the log of the run")
    return Cell(measures.estimate_text(measure, found, n), numeric=True)


def _cells(result: Result, columns: Sequence[str], scope: str) -> list[Cell]:
    """The name of a run, n, and its measures; those that were taken over fewer rows have their own n beside them."""
    found = [result.estimate(column, scope) for column in columns]
    counts = [each.rows for each in found if each is not None and each.rows is not None]
    n = result.of.rows if scope == OVERALL else max(counts, default=None)
    cells = [_cell(each, column, n) for each, column in zip(found, columns, strict=True)]
    return [Cell(result.run), Cell("" if n is None else str(n), numeric=True), *cells]


N = Cell("n", "rows of the benchmark", numeric=True)


def _heads(columns: Sequence[str], results: Sequence[Result]) -> list[Cell]:
    """Heads of the columns of some measures of `results`."""
    scales = {name: "percent" if each.percent else "on its own scale" for name, each in measures_of(results).items()}
    return [Cell(metric_name(column), f"{column}, {scales[column]}", numeric=True) for column in columns]


def all_metrics(prefix: str, results: Results, published: bool) -> Section | None:
    """A table for the tasks of a dataset that report the same metrics."""
    groups: dict[frozenset[str], list[str]] = {}
    heads: dict[str, list[str]] = {}
    for task, of_task in results.items():
        heads[task] = list(dict.fromkeys(head for result in of_task for head in result.heads))
        if heads[task]:
            groups.setdefault(frozenset(heads[task]), []).append(task)
    tables = []
    for tasks in groups.values():
        columns, every = heads[tasks[0]], [result for task in tasks for result in results[task]]
        rows: list[tuple[Cell, ...]] = []
        for task in tasks:
            about = (Cell(task),) if len(tasks) > 1 else ()
            rows += [(*about, *_cells(result, columns, OVERALL)) for result in results[task]]
            rows += _published_rows(task, results[task], columns, about) if published else []
        tables.append(
            Table(
                _caption(every[0].of.dataset, tasks),
                (*([Cell("task")] if len(tasks) > 1 else []), Cell("model"), N, *_heads(columns, every)),
                tuple(rows),
                _notes_of_table({task: results[task] for task in tasks}, columns if published else []),
            )
        )
    if not tables:
        return None
    return Section(
        f"{prefix}-numbers",
        "All metrics",
        "In percent unless a column says otherwise, with 95 % intervals.",
        tuple(tables),
    )


def _caption(dataset: str, tasks: Sequence[str]) -> str:
    shared = commonprefix(list(tasks))
    _, *end = commonprefix([task[::-1] for task in tasks])[::-1].partition("_")  # "", or "_circular"
    named = tasks[0] if len(tasks) == 1 else f"{shared}…{''.join(end)} ({len(tasks)} tasks)"
    return f"{dataset_name(dataset)}: {named}"


def _notes_of_table(results: Results, metrics: Sequence[str]) -> str:
    """The scorers, and how the published figures of `metrics` came about or why they are left out."""
    parts = []
    every = [result for of_task in results.values() for result in of_task]
    signatures = {result.run: result.of.signature for result in every if result.of.signature}
    if len(set(signatures.values())) == 1:
        parts.append(f"Explanation scorer: {next(iter(signatures.values()))}.")
    elif signatures:
        parts.append("Explanation scorers: " + "; ".join(f"{run}: {each}" for run, each in signatures.items()) + ".")
    folds = {task: len(of_task[0].of.folds) for task, of_task in results.items() if of_task[0].of.folds}
    parts += [f"{task}: unweighted mean of {count} folds." for task, count in folds.items()]
    found = {task: comparable(task, of_task, metrics) for task, of_task in results.items()}
    if protocols := sorted({papers.protocol(task, shown) for task, (shown, _) in found.items() if shown}):
        parts.append(f"Published, not measured here: {' / '.join(protocols)}.")
    return " ".join([*parts, *(f"{task}: {told}." for task, (_, told) in found.items() if told)])


def _published_rows(
    task: str, results: Sequence[Result], metrics: Sequence[str], about: Sequence[Cell]
) -> list[tuple[Cell, ...]]:
    """What was published for a task and is comparable with all its results: cells that tell what the row is about, the
    model, no n, a figure for each metric."""
    shown, _ = comparable(task, results, metrics)
    return [
        (
            *(replace(cell, published=True) for cell in about),
            Cell(row.label, f"{row.setting}; {row.paper}, {row.table}; {row.source}", published=True),
            Cell("", published=True),
            *(_published_cell(row.values.get(metric)) for metric in metrics),
        )
        for row in papers.rows(task, shown)
    ]


def _published_cell(figure: papers.Published | None) -> Cell:
    if figure is None:
        return Cell("", published=True)
    return Cell(figure.text(), f"{figure.paper}, {figure.table}; {figure.source}", numeric=True, published=True)


def by_part(prefix: str, results: Results, published: bool) -> Section | None:
    """A table for the tasks of a dataset that report the same measures by source, type or part; and phenomena."""
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    scopes_of = {task: places(of_task) for task, of_task in results.items()}
    for task, of_task in results.items():
        heads = {head for scope, of in scopes_of[task].items() if scope != OVERALL for head in of}
        shown = tuple(dict.fromkeys(head for result in of_task for head in result.heads if head in heads))
        if shown:
            groups.setdefault((shown, tuple(scopes_of[task])), []).append(task)
    tables = []
    for (columns, scopes), tasks in groups.items():
        dataset = results[tasks[0]][0].of.dataset
        named = results[tasks[0]][0].benchmark.parts
        rows: list[tuple[Cell, ...]] = []
        notes = [named.of[scope].note for scope in scopes if scope in named.of and named.of[scope].note]
        for task, scope in product(tasks, scopes):
            about = (*([Cell(task)] if len(tasks) > 1 else []), *_scope_cells(named, scope))
            rows += [(*about, *_cells(result, columns, scope)) for result in results[task]]
            if published and scope != OVERALL:
                rows += _published_rows(task, results[task], [full_name(head, scope) for head in columns], about)
        kinds = (named.kind, *([named.group_kind] if named.group_kind else []))
        top = [*(Cell(kind) for kind in (*(["task"] if len(tasks) > 1 else []), *kinds, "model")), N]
        for task in tasks if published else ():
            parts = [full_name(head, scope) for scope, of in scopes_of[task].items() if scope != OVERALL for head in of]
            _, told = comparable(task, results[task], parts)
            notes += [f"{task}: {told}."] * bool(told)
        every = [result for task in tasks for result in results[task]]
        tables.append(
            Table(
                f"{_caption(dataset, tasks)}, by {named.kind}",
                (*top, *_heads(columns, every)),
                tuple(rows),
                " ".join(notes),
            )
        )
        if named.group_kind:
            tables += [_pooled_parts(task, named, results[task]) for task in tasks]
    if not tables:
        return None
    intro = "The same metrics for each part of a benchmark. Intervals are wide where a part has few rows."
    return Section(
        f"{prefix}-parts", f"By {next(iter(results.values()))[0].benchmark.parts.kind}", intro, tuple(tables)
    )


def _scope_cells(parts: Parts, scope: str) -> tuple[Cell, ...]:
    name = Cell(scope_name(parts, scope), scope)
    return (name, Cell(parts.of[scope].group if scope in parts.of else "")) if parts.group_kind else (name,)


def _pooled_parts(task: str, parts: Parts, results: Sequence[Result]) -> Table:
    """The rows of a task pooled over the parts of each group."""
    columns: list[str] = []
    rows = []
    for group, scopes in parts.groups().items():
        for result in results:
            count, values = result.of.computed(partial(_pooled, scopes))
            columns += [measure for measure in values if measure not in columns]
            rows.append((group, result.run, count, values))
    cells = [
        (
            Cell(group),
            Cell(run),
            Cell(str(count), numeric=True),
            *(_cell(values.get(measure), measure) for measure in columns),
        )
        for group, run, count, values in rows
    ]
    told = "; ".join(f"{group}: {', '.join(map(parts.name, scopes))}" for group, scopes in parts.groups().items())
    return Table(
        f"{task}, by {parts.group_kind}",
        (Cell(parts.group_kind), Cell("model"), N, *_heads(columns, results)),
        tuple(cells),
        f"Rows pooled over {parts.kind}s: {told} ({parts.group_source}).",
    )


def _pooled(scopes: Collection[str], declared: Measures, records: Sequence[Record]) -> tuple[int, dict[str, Estimate]]:
    """How many records are of some scopes, and their measures, without those that tell how a run went."""
    of = next(measure.scopes.of for measure in declared.all if measure.scopes is not None)
    chosen = [record for record in records if not set(scopes).isdisjoint(of(record))]
    found = {}
    for measure in declared.all:
        counted = [record for record in chosen if measure.counts(record)]
        if counted and not measure.diagnostic and (estimate := measure.estimate(counted)) is not None:
            found[measure.name] = estimate
    return len(chosen), found
