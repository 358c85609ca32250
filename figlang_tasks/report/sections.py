"""The tables and charts of a report, as plain data: which there are depends on the tasks that the runs have.

Shares are in percent, as the papers print them. Texts may hold names of runs and of tasks, which are untrusted: the
page has to escape all of them.
"""

from __future__ import annotations

import math
import re
import statistics as descriptive
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, product
from os.path import commonprefix
from typing import NamedTuple

import numpy as np
from loguru import logger
from tqdm import tqdm

from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import Benchmark, benchmarks
from figlang_tasks.core.presentation import BarChart, Bars, BarSection, Instructions, Parts
from figlang_tasks.core.text import printable
from figlang_tasks.metrics import entailment
from figlang_tasks.metrics.intervals import DEFAULT_SEED
from figlang_tasks.report import charts
from figlang_tasks.report.charts import Chart, Entry
from figlang_tasks.results import comparison, measures
from figlang_tasks.results import published as papers
from figlang_tasks.results import runs as finished
from figlang_tasks.results.comparison import ComparisonError, Difference
from figlang_tasks.results.runs import Run, TaskRun
from figlang_tasks.scoring import OVERALL, Estimate, Estimates, Measure, Measures, Record, explained, full_name


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: what stands there.
        title: more about it, for a tooltip; "" if there is nothing to add.
        numeric: to be set flush right.
        published: from a paper, not measured in these runs.
    """

    text: str
    title: str = ""
    numeric: bool = False
    published: bool = False


@dataclass(frozen=True)
class Table:
    """A table; the first cell of a row is its head.

    Attributes:
        caption: what it shows.
        head: heads of the columns.
        rows: as many cells as `head` each.
        note: what stands below; "" if nothing does.
    """

    caption: str
    head: tuple[Cell, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A part of a group.

    Attributes:
        id: unique on the page; letters, digits and ``-``.
        title, intro: its head, and what to read first.
        tables, charts: what it holds; the page shows charts first.
        notes: what to know about them, a paragraph each.
    """

    id: str
    title: str
    intro: str
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Group:
    """Sections under one heading: those of a dataset, or what concerns all.

    Attributes:
        id: unique on the page; letters, digits and ``-``.
        title: its head.
        sections: at least one.
    """

    id: str
    title: str
    sections: tuple[Section, ...]


METRICS: Mapping[str, str] = {
    **{f"f1@{t}": f"F1@{t}" for t in (0, 53, 60)},
    **{f"acc@{t}": f"Acc@{t}" for t in (0, 50, 60)},
    **{f"v1_acc@{t}": f"Acc@{t} (v1)" for t in (50, 60)},
    "explanation_score": "ExplanationScore",
    "acc": "accuracy",
    "p@k": "precision@k",
    "p@1": "precision@1",
    "em": "exact match",
    "bleu4": "BLEU-4",
    "rouge_l": "ROUGE-L",
    "meteor": "METEOR",
    "cider": "CIDEr",
    "spice": "SPICE",
    "fid": "FID",
}
"""Names of metrics as the papers print them; others are shown as they are, with blanks."""

_INSTRUCTION = re.compile(r"(?P<of>.+)_instruction_(?P<number>\d\d)")
_MOST_IN_ONE_MATRIX = 3  # runs, before there is a matrix for each metric
_ALPHA = 0.05


@dataclass(frozen=True)
class _Result:
    """One task of one run."""

    run: str
    of: TaskRun
    runs: tuple[str, ...]  # all of the report
    measured: papers.Measured

    @cached_property
    def estimates(self) -> Estimates:
        """What was reported, else what the samples give; measures that failed are no number."""
        failed = {name: {OVERALL: Estimate(math.nan)} for name in self.of.failed}
        found = {**self.of.estimates, **failed}
        return {name: found[name] for name in self.of.measures.by_name if name in found}

    @property
    def benchmark(self) -> Benchmark:
        return benchmarks()[self.of.benchmark]

    @property
    def heads(self) -> list[str]:
        """The measures with a value of all rows, those that tell how the run went last."""
        overall = [name for name, scopes in self.estimates.items() if OVERALL in scopes]
        return sorted(overall, key=lambda name: self.of.measures.by_name[name].diagnostic)

    def estimate(self, measure: str, scope: str = OVERALL) -> Estimate | None:
        return self.estimates.get(measure, {}).get(scope)


_Results = Mapping[str, Sequence[_Result]]


def build(runs: Sequence[Run], published: bool = True, seed: int = DEFAULT_SEED) -> list[Group]:
    """Return what a report on some runs shows, in the order of the page; what has no content is left out.

    Args:
        runs: at least one, their names distinct (`figlang_tasks.results.runs.read_all`).
        published: whether to show what papers published beside the runs' own results.
        seed: of the tests for significance.

    Returns:
        The overview, a group for each dataset, the differences between runs, and how outputs were read.

    Raises:
        ValueError: there are no runs.
        PublishedError: a data file of published results is faulty.
    """
    if not runs:
        raise ValueError("there are no runs")
    results = _by_task(runs)
    plain = {task: of for task, of in results.items() if _instruction_of(task, of) is None}
    makers: dict[tuple[str, str], list[Callable[[], Section | None]]] = {
        ("overview", "Overview"): [lambda: _overview(runs, results)]
    }
    for dataset in dict.fromkeys(of_task[0].of.dataset for of_task in results.values()):
        makers[_slug(dataset), _dataset_name(dataset)] = _of_dataset(dataset, results, plain, published)
    makers["differences", "Differences between runs"] = [lambda: _significance(runs, plain, seed)]
    makers["parsing", "Parsing"] = [lambda: _outcomes(plain)]
    groups = []
    for (group_id, title), own in tqdm(makers.items(), "sections", delay=2, leave=False, disable=None):
        if found := [section for make in own if (section := make()) is not None]:
            groups.append(Group(group_id, title, tuple(found)))
    return groups


def _of_dataset(
    dataset: str, results: _Results, plain: _Results, published: bool
) -> list[Callable[[], Section | None]]:
    """What makes the sections of a dataset, charts before tables."""
    results, plain = (
        {task: of for task, of in all_.items() if of[0].of.dataset == dataset} for all_ in (results, plain)
    )
    slug, benchmark = _slug(dataset), next(iter(results.values()))[0].benchmark
    return [
        lambda: _explanation_quality(slug, plain),
        *(partial(_bar_section, slug, section, plain) for section in benchmark.charts),
        lambda: _instructions(slug, results),
        lambda: _scopes(slug, plain, published),
        lambda: _summary(slug, plain, published),
    ]


def _slug(dataset: str) -> str:
    """A dataset's name as part of an id."""
    return re.sub("[^a-z0-9]+", "-", dataset.lower()).strip("-")


def _by_task(runs: Sequence[Run]) -> _Results:
    """The results of every task, benchmark by benchmark."""
    order, names = list(hub.sources()), tuple(run.name for run in runs)
    found: dict[str, list[_Result]] = {}
    for run in runs:
        for task, of in run.tasks.items():
            measured = finished.measured(run, of)
            found.setdefault(task, []).append(_Result(run.name, of, names, measured))
    return dict(sorted(found.items(), key=lambda each: (order.index(each[1][0].of.dataset), each[0])))


def _declared(results: Sequence[_Result]) -> dict[str, Measure]:
    """The measures of a task by name."""
    return {name: measure for result in results for name, measure in result.of.measures.by_name.items()}


# --- cells and texts -------------------------------------------------------------------------------------------------


def _cell(found: Estimate | None, measure: str, n: int | None = None) -> Cell:
    if found is None:
        return Cell("")
    if not np.isfinite(found.value):
        return Cell("failed", "not a number: see the log of the run")
    return Cell(measures.estimate_text(measure, found, n), numeric=True)


def _cells(result: _Result, columns: Sequence[str], scope: str) -> list[Cell]:
    """The name of a run, n, and its measures; those that were taken over fewer rows have their own n beside them."""
    found = [result.estimate(column, scope) for column in columns]
    counts = [each.rows for each in found if each is not None and each.rows is not None]
    n = result.of.rows if scope == OVERALL else max(counts, default=None)
    cells = [_cell(each, column, n) for each, column in zip(found, columns, strict=True)]
    return [Cell(result.run), Cell("" if n is None else str(n), numeric=True), *cells]


_N = Cell("n", "rows of the benchmark", numeric=True)


def _heads(columns: Sequence[str], results: Sequence[_Result]) -> list[Cell]:
    """Heads of the columns of some measures of `results`."""
    scales = {name: "percent" if each.percent else "on its own scale" for name, each in _declared(results).items()}
    return [Cell(_metric_name(column), f"{column}, {scales[column]}", numeric=True) for column in columns]


def _metric_name(metric: str) -> str:
    return METRICS.get(metric, metric.replace("_", " "))


def _scope_name(parts: Parts, scope: str) -> str:
    return "all" if scope == OVERALL else parts.name(scope)


def _dataset_name(dataset: str) -> str:
    return hub.source(dataset).title or dataset


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")


def _percent(found: Estimate) -> Estimate:
    """A share in percent, with its interval alone."""
    low, high = (None if end is None else 100 * end for end in (found.low, found.high))
    return Estimate(100 * found.value, low, high)


def _listed(values: Mapping[str, float]) -> str:
    """``A 85.5, B 60.0``."""
    return ", ".join(f"{name} {value:.1f}" for name, value in values.items() if np.isfinite(value))


def _told(panels: charts.Panels, references: Mapping[tuple[str, str], float] | None = None) -> str:
    """The values of a chart of bars as a sentence for each panel."""
    sentences = []
    for panel, groups in panels.items():
        parts = []
        for category, group in groups.items():
            reference = (references or {}).get((panel, category))
            chance = "" if reference is None else f" (chance {reference:.1f})"
            parts.append(f"{category}: {_listed({name: found.value for name, found in group.items()})}{chance}")
        sentences.append((f"{panel}: " if panel else "") + "; ".join(parts) + ".")
    return " ".join(sentences)


# --- 1. summary, 2. sources ------------------------------------------------------------------------------------------


def _overview(runs: Sequence[Run], results: _Results) -> Section | None:
    """What to know about the runs before their numbers are read."""
    notes = [f"{caveat}." for run in runs for caveat in finished.caveats(run)]
    every = [result for of_task in results.values() for result in of_task]
    without = sorted({result.run for result in every if not result.of.reported})
    if without:
        notes.append(f"{', '.join(without)}: no reported metrics; values are from the samples.")
    for result in every:
        if unknown := [name for name in result.of.reported if name not in result.of.measures.by_name]:
            notes.append(
                f"{result.run}, {result.of.task}: not shown, since this version does not know it: {', '.join(unknown)}."
            )
    return Section("overview-tasks", "All tasks", "", notes=tuple(notes)) if notes else None


def _summary(slug: str, results: _Results, published: bool) -> Section | None:
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
                (*([Cell("task")] if len(tasks) > 1 else []), Cell("model"), _N, *_heads(columns, every)),
                tuple(rows),
                _notes_of_table({task: results[task] for task in tasks}, columns if published else []),
            )
        )
    if not tables:
        return None
    return Section(
        f"{slug}-numbers",
        "All metrics",
        "In percent unless a column says otherwise, with 95 % intervals.",
        tuple(tables),
    )


def _caption(dataset: str, tasks: Sequence[str]) -> str:
    shared = commonprefix(list(tasks))
    named = tasks[0] if len(tasks) == 1 else f"{shared}… ({len(tasks)} tasks)"
    return f"{_dataset_name(dataset)}: {named}"


def _notes_of_table(results: _Results, metrics: Sequence[str]) -> str:
    """The scorers, and how the published figures of `metrics` came about or why they are left out."""
    parts = []
    every = [result for of_task in results.values() for result in of_task]
    signatures = {result.run: result.of.signature for result in every if result.of.signature}
    if len(set(signatures.values())) == 1:
        parts.append(f"Explanation scorer: {next(iter(signatures.values()))}.")
    elif signatures:
        parts.append("Explanation scorers: " + "; ".join(f"{run}: {each}" for run, each in signatures.items()) + ".")
    found = {task: _comparable(task, of_task, metrics) for task, of_task in results.items()}
    if protocols := sorted({papers.protocol(task, shown) for task, (shown, _) in found.items() if shown}):
        parts.append(f"Published, not measured here: {' / '.join(protocols)}.")
    return " ".join([*parts, *(f"{task}: {told}." for task, (_, told) in found.items() if told)])


def _comparable(task: str, results: Sequence[_Result], metrics: Sequence[str]) -> tuple[list[str], str]:
    return papers.comparable(task, metrics, [result.measured for result in results])


def _published_rows(
    task: str, results: Sequence[_Result], metrics: Sequence[str], about: Sequence[Cell]
) -> list[tuple[Cell, ...]]:
    """What was published for a task and is comparable with all its results: cells that tell what the row is about, the
    model, no n, a figure for each metric."""
    shown, _ = _comparable(task, results, metrics)
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


def _scopes(slug: str, results: _Results, published: bool) -> Section | None:
    """A table for the tasks of a dataset that report the same measures by source, type or part; and phenomena."""
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    places = {task: _places(of_task) for task, of_task in results.items()}
    for task, of_task in results.items():
        heads = {head for scope, of in places[task].items() if scope != OVERALL for head in of}
        shown = tuple(dict.fromkeys(head for result in of_task for head in result.heads if head in heads))
        if shown:
            groups.setdefault((shown, tuple(places[task])), []).append(task)
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
        top = [*(Cell(kind) for kind in (*(["task"] if len(tasks) > 1 else []), *kinds, "model")), _N]
        for task in tasks if published else ():
            parts = [full_name(head, scope) for scope, of in places[task].items() if scope != OVERALL for head in of]
            _, told = _comparable(task, results[task], parts)
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
    return Section(f"{slug}-parts", f"By {next(iter(results.values()))[0].benchmark.parts.kind}", intro, tuple(tables))


def _places(results: Sequence[_Result]) -> dict[str, list[str]]:
    """The measures that have a value, by scope: all first, then in the order in which the measures declare them."""
    known = [scope for each in _declared(results).values() if each.scopes for scope in each.scopes.names]
    found: dict[str, list[str]] = {scope: [] for scope in (OVERALL, *known)}
    for result in results:
        for measure, scopes in result.estimates.items():
            for scope in scopes:
                of_scope = found.setdefault(scope, [])
                of_scope += [measure] * (measure not in of_scope)
    return {scope: of_scope for scope, of_scope in found.items() if of_scope}


def _scope_cells(parts: Parts, scope: str) -> tuple[Cell, ...]:
    name = Cell(_scope_name(parts, scope), scope)
    return (name, Cell(parts.of[scope].group if scope in parts.of else "")) if parts.group_kind else (name,)


def _pooled_parts(task: str, parts: Parts, results: Sequence[_Result]) -> Table:
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
        (Cell(parts.group_kind), Cell("model"), _N, *_heads(columns, results)),
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


# --- 3. curves, 4. drops ---------------------------------------------------------------------------------------------


def _explanation_quality(slug: str, results: _Results) -> Section | None:
    found: list[Chart] = []
    notes = []
    for number, (task, of_task) in enumerate(results.items()):
        if not of_task[0].of.explained:
            continue
        scored = [result for result in of_task if explained.has_scores(result.of.records)]
        if scored:
            found.append(_curves(f"{slug}-curves-{number}", task, scored))
            drops = _drops(f"{slug}-drops-{number}", task, scored)
            found += [drops] if drops else []
        if missing := [result.run for result in of_task if result not in scored and _explains(result)]:
            notes.append(f"{task}: explanations of {', '.join(missing)} are not scored (figlang score adds scores).")
    if not found and not notes:
        return None
    intro = (
        "A label counts only if the score of its explanation lies above the threshold t. The farther a curve reaches "
        "to the right, the better the explanations."
    )
    return Section(f"{slug}-explanations", "Explanation quality", intro, charts=tuple(found), notes=tuple(notes))


def _explains(result: _Result) -> bool:
    """Whether there is any explanation; a task may ask for labels alone."""
    return any((record["explanation"] or "").strip() for record in result.of.records)


def _curves(chart_id: str, task: str, results: Sequence[_Result]) -> Chart:
    """Figure 11 of V-FLUTE's paper; of FLUTE the same for its accuracy."""
    named = results[0].benchmark.parts
    scheme = explained.scheme_of(results[0].of.records[0])
    by_run = {result.run: result.of.computed(_curves_by_scope) for result in results}
    panels: dict[str, dict[str, list[float]]] = {}
    for scope in _places(results):
        for run, curves in by_run.items():
            if scope in curves:
                panels.setdefault(_scope_name(named, scope), {})[run] = curves[scope]
    thresholds = list(dict.fromkeys(threshold.at for threshold in scheme.thresholds))
    told = []
    for result in results:
        own = {name: lines[result.run] for name, lines in panels.items() if result.run in lines}
        at = {name: [curve[round(100 * t)] for t in thresholds] for name, curve in own.items()}
        values = ", ".join(f"{value:.1f} at {t:.2f}" for value, t in zip(at["all"], thresholds, strict=True))
        last = {name: values[-1] for name, values in at.items() if name != "all"}
        parts = f"; at {thresholds[-1]:.2f} by part: {_listed(last)}" if last else ""
        told.append(f"{result.run}, all rows: {values}{parts}.")
    name = f"{_metric_name(scheme.of_labels).partition('@')[0]}@t"
    return charts.curves(
        chart_id,
        f"{task}: {name} by threshold",
        f"Curves of {name} (percent) for t from 0 to 1, a panel for each part of {task}. {' '.join(told)}",
        entailment.CURVE_THRESHOLDS,
        panels,
        x_label="threshold t",
        y_label=f"{name} (percent)",
        marks=thresholds[1:],
        order=results[0].runs,
    )


def _curves_by_scope(declared: Measures, records: Sequence[Record]) -> dict[str, list[float]]:
    """F1@t or Acc@t in percent at `entailment.CURVE_THRESHOLDS`."""
    of_labels = declared.by_name[explained.scheme_of(records[0]).of_labels]
    return {
        scope: [100 * value for value in explained.curve(own)] for scope, own in of_labels.in_scopes(records).items()
    }


def _drops(chart_id: str, task: str, results: Sequence[_Result]) -> Chart | None:
    """Figure 6 of V-FLUTE's paper."""
    parts = results[0].benchmark.parts
    groups: dict[str, dict[str, Estimate]] = {}
    for scope in _places(results):
        for result in results:
            before, after = (result.estimate(f"f1@{t}", scope) for t in (0, 60))
            if before is not None and after is not None:
                drop = relative_drop(before.value, after.value)
                groups.setdefault(_scope_name(parts, scope), {})[result.run] = Estimate(drop)
    if not groups:
        return None
    panels = {"": groups}
    return charts.bars(
        chart_id,
        f"{task}: drop of F1 from t = 0 to t = 0.60",
        "Bars of the relative decrease from F1@0 to F1@60 in percent; a higher drop means more right labels with poor "
        f"explanations. {_told(panels)}",
        panels,
        label="decrease from F1@0 to F1@60 (percent of F1@0)",
        order=results[0].runs,
    )


def relative_drop(before: float, after: float) -> float:
    """Relative decrease in percent (V-FLUTE, Figure 6); NaN of nothing."""
    return 100 * (before - after) / before if before > 0 else float("nan")


# --- 5. what benchmarks declare --------------------------------------------------------------------------------------


class _Drawn(NamedTuple):
    """A chart of bars in the making."""

    panels: dict[str, dict[str, dict[str, Estimate]]]
    references: dict[tuple[str, str], float]


def _bar_section(slug: str, section: BarSection, results: _Results) -> Section | None:
    """The charts of a section."""
    drawn: dict[BarChart, _Drawn] = {}
    for task, of_task in results.items():
        for bars in section.bars(_dataset_name(of_task[0].of.dataset), task, of_task[0].estimates):
            _add(drawn, bars, of_task)
    found = [
        charts.bars(
            f"{slug}-{section.id}-{number}",
            chart.title,
            f"{chart.about} {_told(*drawn[chart])}",
            drawn[chart].panels,
            label=chart.label,
            references=drawn[chart].references,
            order=next(iter(results.values()))[0].runs,
        )
        for number, chart in enumerate(sorted(drawn, key=section.order))
    ]
    return Section(f"{slug}-{section.id}", section.title, section.intro, charts=tuple(found)) if found else None


def _add(drawn: dict[BarChart, _Drawn], bars: Bars, results: Sequence[_Result]) -> None:
    """Add bars to their chart, if any run has the measure in the scope."""
    scope = bars.scope or OVERALL
    found = [(result, value) for result in results if (value := result.estimate(bars.measure, scope)) is not None]
    if found:
        panels, references = drawn.setdefault(bars.chart, _Drawn({}, {}))
        panels.setdefault(bars.panel, {})[bars.category] = {of.run: _percent(value) for of, value in found}
        level = 100 * found[0][0].of.computed(lambda _, records: bars.chance(records))
        if np.isfinite(level):
            references[bars.panel, bars.category] = level


# --- 6. prompt sensitivity -------------------------------------------------------------------------------------------


def _instructions(slug: str, results: _Results) -> Section | None:
    """A measure by instruction, for the tasks that ask all rows with one and the same."""
    by_base: dict[str, dict[str, dict[int, Estimate]]] = {}
    counts: dict[tuple[str, str], set[int]] = {}
    declared: dict[str, Instructions] = {}
    for task, of_task in results.items():
        if named := _instruction_of(task, of_task):
            base, number, declares = named
            declared[base] = declares
            for result in of_task:
                if (value := result.estimate(declares.measure)) is not None:
                    by_base.setdefault(base, {}).setdefault(result.run, {})[number] = _percent(value)
                    counts.setdefault((base, result.run), set()).add(result.of.rows)
    tables, found = [], []
    for place, (base, series) in enumerate(by_base.items()):
        of, name = declared[base], _metric_name(declared[base].measure)
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
                (Cell("model"), _N, *(Cell(head, numeric=True) for head in heads)),
                tuple(rows),
                f"Percent; sd: standard deviation of the sample of instructions. They are those of {of.source}.",
            )
        )
        found.append(
            charts.dots(
                f"{slug}-instructions-{place}",
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
    return Section(f"{slug}-instructions", "Prompt sensitivity", intro, tuple(tables), tuple(found))


def _instruction_of(task: str, results: Sequence[_Result]) -> tuple[str, int, Instructions] | None:
    """Of a task that asks all rows with one instruction: the name without it, its number, and where it is from."""
    declared, named = results[0].benchmark.instructions, _INSTRUCTION.fullmatch(task)
    return None if declared is None or named is None else (named["of"], int(named["number"]), declared)


# --- 7. significance -------------------------------------------------------------------------------------------------


def _significance(runs: Sequence[Run], results: _Results, seed: int) -> Section | None:
    """Every two runs by the headline metrics of the tasks that they share, Holm's correction over all of them."""
    differences: list[Difference] = []
    notes = []
    for task, of_task in results.items():
        metrics = _headlines(of_task)
        if len(of_task) < 2 or not metrics:
            continue
        alone = [replace(run, tasks={task: run.tasks[task]}) for run in runs if task in run.tasks]
        try:
            differences += comparison.compare(alone, metrics, overall=True, seed=seed)
        except ComparisonError:  # of some pair; the others can be compared
            for pair in combinations(alone, 2):
                try:
                    differences += comparison.compare(pair, metrics, overall=True, seed=seed)
                except ComparisonError as error:
                    notes.append(f"Not compared: {error}.")
                    logger.warning(f"figlang_tasks: the report has no comparison: {printable(error)}")
    differences = comparison.adjusted(differences)
    tests = sum(each.p_randomization is not None for each in differences)
    found = []
    datasets = dict.fromkeys(of[0].of.dataset for of in results.values())
    for number, dataset in enumerate(datasets):
        own = [each for each in differences if results[each.task][0].of.dataset == dataset]
        if own and len(runs) <= _MOST_IN_ONE_MATRIX:
            found.append(_matrix_of_pairs(f"matrix-{number}", _dataset_name(dataset), own))
        elif own:
            by_metric: dict[tuple[str, str], list[Difference]] = {}
            for each in own:
                by_metric.setdefault((each.task, each.name), []).append(each)
            for place, group in enumerate(by_metric.values()):
                found.append(_matrix_of_runs(f"matrix-{number}-{place}", group))
    if not found and not notes:
        return None
    intro = (
        "Differences in points, and p of approximate randomization (two-sided, 10,000 swaps) after Holm's correction "
        f"for the {_number(tests, 'test')} shown here. Bold and framed: p < {_ALPHA:.2f}. Blue: better; orange: "
        "worse."
    )
    return Section("differences-pairs", "Every two runs", intro, charts=tuple(found), notes=tuple(notes))


def _headlines(results: Sequence[_Result]) -> list[str]:
    """The metrics to test: those of the thresholds where the scores of all runs are of one scorer, else the main."""
    declared = _declared(results)
    shared = [head for head in results[0].heads if all(head in result.heads for result in results)]
    heads = [head for head in shared if declared[head].higher_is_better and not declared[head].diagnostic]
    if results[0].of.explained:
        scheme = explained.scheme_of(results[0].of.records[0])
        scorers = {result.of.signature or result.of.scorer for result in results}
        thresholds = [each.name for each in scheme.thresholds if each.name in heads and not each.name.startswith("v1")]
        return thresholds if len(scorers) == 1 else [name for name in heads if name == "acc"]
    return ([name for name in heads if declared[name].main] or heads)[:1]


def _entry(of: Difference, sign: int = 1) -> Entry:
    """A difference in points; `sign` -1: of the first run against the second."""
    found, p = measures.named(of.metric), of.p_holm
    difference = sign * of.difference * (100 if found is None or found[0].percent else 1)
    told = "no test" if p is None else "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".", 1)
    points = round(difference, 1)
    return Entry(difference, (f"{points:+.1f}" if points else "0.0", told), p is not None and p < _ALPHA)


def _told_differences(found: Sequence[Difference]) -> str:
    sentences = []
    for each in found:
        entry = _entry(each)
        sentences.append(f"{each.task}, {_metric_name(each.metric)}, {each.second} against {each.first}: ")
        sentences[-1] += f"{entry.text[0]}, {entry.text[1]}."
    return " ".join(sentences)


def _differences_data(found: Sequence[Difference]) -> list[tuple[object, ...]]:
    head = ("task", "metric", "first", "second", "value_first", "value_second", "difference", "low", "high")
    tests = ("p_randomization", "p_holm", "p_bootstrap")
    rows: list[tuple[object, ...]] = [(*head, *tests)]
    for each in found:
        rows.append((each.task, each.name, *(getattr(each, name) for name in (*head[2:], *tests))))
    return rows


def _matrix_of_pairs(chart_id: str, dataset: str, found: Sequence[Difference]) -> Chart:
    """A row for each metric of each task, a column for each pair of runs."""
    pairs = list(dict.fromkeys((each.first, each.second) for each in found))
    rows = list(dict.fromkeys((each.task, each.metric) for each in found))
    entries = {
        (rows.index((each.task, each.metric)), pairs.index((each.first, each.second))): _entry(each) for each in found
    }
    return charts.matrix(
        chart_id,
        f"{dataset}: differences between runs",
        f"A matrix of differences in points. {_told_differences(found)}",
        [f"{task} {_metric_name(metric)}" for task, metric in rows],
        [f"{second} against {first}" for first, second in pairs],
        entries,
        _differences_data(found),
    )


def _matrix_of_runs(chart_id: str, found: Sequence[Difference]) -> Chart:
    """The difference of the run of a row against the run of a column, by one metric."""
    names = list(dict.fromkeys(name for each in found for name in (each.first, each.second)))
    entries = {}
    for each in found:
        first, second = names.index(each.first), names.index(each.second)
        entries[second, first] = _entry(each)
        entries[first, second] = _entry(each, -1)
    task, metric = found[0].task, _metric_name(found[0].metric)
    return charts.matrix(
        chart_id,
        f"{task}: differences of {metric} between runs (row against column)",
        f"A matrix of differences in points, the run of the row against that of the column. {_told_differences(found)}",
        names,
        names,
        entries,
        _differences_data(found),
    )


# --- 8. outcomes of parsing -----------------------------------------------------------------------------------------


def _outcomes(results: _Results) -> Section | None:
    """How many outputs were read in which way, by benchmark."""
    tables = []
    datasets = dict.fromkeys(of[0].of.dataset for of in results.values())
    for dataset in datasets:
        counts: list[tuple[str, str, Counter[str], int, int]] = []
        for task, of_task in results.items():
            for result in of_task if of_task[0].of.dataset == dataset else ():
                records = result.of.records
                statuses = Counter(str(record["status"]) for record in records if "status" in record)
                unexplained = sum("explanation" in r and not (r["explanation"] or "").strip() for r in records)
                if statuses:
                    counts.append((result.run, task, statuses, len(records), unexplained))
        columns = list(dict.fromkeys(status for _, _, statuses, _, _ in counts for status in sorted(statuses)))
        asked = any(of[0].of.explained for of in results.values() if of[0].of.dataset == dataset)
        rows = [
            (
                Cell(task),
                Cell(run),
                Cell(str(total), numeric=True),
                *(_count(statuses[status], total) for status in columns),
                *([_count(unexplained, total)] if asked else []),
            )
            for run, task, statuses, total, unexplained in counts
        ]
        heads = [Cell(each.replace("_", " "), numeric=True) for each in ("rows", *columns)]
        if asked:
            heads.append(Cell("no explanation", "the output holds no explanation", numeric=True))
        if rows:
            tables.append(Table(_dataset_name(dataset), (Cell("task"), Cell("model"), *heads), tuple(rows)))
    if not tables:
        return None
    intro = (
        "What is neither a label nor a choice counts as wrong; a low score with few answers "
        "read says more about the format than about the model."
    )
    return Section("parsing-outcomes", "How the outputs were read", intro, tuple(tables))


def _count(count: int, total: int) -> Cell:
    return Cell(str(count), f"{100 * count / total:.1f} %", numeric=True) if count else Cell("")
