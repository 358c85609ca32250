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

import numpy as np
from loguru import logger
from tqdm import tqdm

from figlang_tasks.benchmarks.irfl.measures import LITERAL_ROLES
from figlang_tasks.benchmarks.irfl.rows import LETTERS
from figlang_tasks.core import hub
from figlang_tasks.core.prompting import render
from figlang_tasks.core.text import printable
from figlang_tasks.metrics import entailment, ranking
from figlang_tasks.metrics.intervals import DEFAULT_SEED
from figlang_tasks.report import charts
from figlang_tasks.report.charts import Chart, Entry
from figlang_tasks.results import comparison, measures
from figlang_tasks.results import published as papers
from figlang_tasks.results import runs as finished
from figlang_tasks.results.comparison import ComparisonError, Difference
from figlang_tasks.results.runs import Run, TaskRun
from figlang_tasks.scoring import OVERALL, Estimate, Estimates, Measure, Measures, Record, explained, full_name
from figlang_tasks.scoring.records import PARAPHRASE_AND_SARCASM


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
    """A part of the report.

    Attributes:
        id: unique on the page; letters and ``-``.
        title, intro: its head, and what to read first.
        tables, charts: what it holds.
        notes: what to know about them, a paragraph each.
    """

    id: str
    title: str
    intro: str
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    notes: tuple[str, ...] = ()


SOURCES: Mapping[str, tuple[str, str]] = {
    "vismet": ("HAIVMet", "metaphor / simile"),
    "irfl_metaphor_simile": ("IRFL (metaphor / simile)", "metaphor / simile"),
    "irfl_idiom": ("IRFL (idiom)", "idiom"),
    "muse": ("MuSE", "sarcasm"),
    "memecap": ("MemeCap", "humor"),
    "nycartoons": ("NYCartoons", "humor"),
}
"""Name and phenomenon of V-FLUTE's sources (arXiv 2405.01474, Table 3; Table 7 and Figure 11 group by them)."""

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

_DATASETS = {"figlang_mini": "figlang_mini (V-FLUTE)"}
_FLUTE_SCOPES = {PARAPHRASE_AND_SARCASM: "paraphrase + sarcasm"}
_HEADLINES = (
    "acc",
    "p@k",
    "p@1",
    "mc_macro_f1",
    "sc_macro_f1",
    "em",
    "mw_em",
    "sw_em",
    "me_bleu4",
    "se_bleu4",
    "st_bleu4",
)
_INSTRUCTION = re.compile(r"(?P<of>.+)_instruction_(?P<number>\d\d)")
_IRFL_TASK = re.compile(
    r"(?P<family>detect|match|random2|random4|retrieve)_(?P<what>[a-z_]+?)(?:_(?P<variant>grid|circular|phrase_only))?"
)
_FAMILIES = {
    "detect": "Choice among four images, in words",
    "detect_grid": "Choice among the four parts of one picture",
    "detect_circular": "Choice in words, mean of all four rotations",
    "detect_phrase_only": "Choice in words, idioms without definitions",
    "match": "Highest matching score of four images",
    "match_phrase_only": "Highest matching score, idioms without definitions",
    "random4": "Answer among three random images",
    "random4_phrase_only": "Answer among three random images, idioms without definitions",
    "random2": "Answer and one random image",
    "random2_phrase_only": "Answer and one random image, idioms without definitions",
    "retrieve": "Figurative above partial-literal images",
    "retrieve_phrase_only": "Figurative above partial-literal images, idioms without definitions",
}
_DETECTION = {
    "detect": "in words",
    "match": "by matching scores",
    "random2": "among random images",
    "random4": "among random images",
}
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
    def heads(self) -> list[str]:
        """The measures with a value of all rows, those that tell how the run went last."""
        overall = [name for name, scopes in self.estimates.items() if OVERALL in scopes]
        return sorted(overall, key=lambda name: self.of.measures.by_name[name].diagnostic)

    def estimate(self, measure: str, scope: str = OVERALL) -> Estimate | None:
        return self.estimates.get(measure, {}).get(scope)


_Results = Mapping[str, Sequence[_Result]]


def build(runs: Sequence[Run], published: bool = True, seed: int = DEFAULT_SEED) -> list[Section]:
    """Return the sections of a report on some runs, in the order of the page; those without content are left out.

    Args:
        runs: at least one, their names distinct (`figlang_tasks.results.runs.read_all`).
        published: whether to show what papers published beside the runs' own results.
        seed: of the tests for significance.

    Raises:
        ValueError: there are no runs.
        PublishedError: a data file of published results is faulty.
    """
    if not runs:
        raise ValueError("there are no runs")
    results = _by_task(runs)
    plain = {task: of for task, of in results.items() if not _INSTRUCTION.fullmatch(task)}
    makers: list[Callable[[], Section | None]] = [
        lambda: _summary(runs, plain, published),
        lambda: _scopes(plain, published),
        lambda: _explanation_quality(plain),
        lambda: _choices(plain),
        lambda: _position_bias(plain),
        lambda: _retrieval(plain),
        lambda: _instructions(results),
        lambda: _significance(runs, plain, seed),
        lambda: _outcomes(plain),
    ]
    sections = [make() for make in tqdm(makers, "sections", delay=2, leave=False, disable=None)]
    return [section for section in sections if section is not None]


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


def _scope_name(benchmark: str, scope: str) -> str:
    if scope == OVERALL:
        return "all"
    if benchmark == "vflute" and scope in SOURCES:
        return SOURCES[scope][0]
    return _FLUTE_SCOPES.get(scope) or scope.replace("_", " ")


def _dataset_name(dataset: str) -> str:
    return _DATASETS.get(dataset, dataset)


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


def _summary(runs: Sequence[Run], results: _Results, published: bool) -> Section | None:
    """A table for the tasks of a dataset that report the same metrics."""
    groups: dict[tuple[str, frozenset[str]], list[str]] = {}
    heads: dict[str, list[str]] = {}
    for task, of_task in results.items():
        heads[task] = list(dict.fromkeys(head for result in of_task for head in result.heads))
        if heads[task]:
            groups.setdefault((of_task[0].of.dataset, frozenset(heads[task])), []).append(task)
    tables = []
    for (dataset, _), tasks in groups.items():
        columns, every = heads[tasks[0]], [result for task in tasks for result in results[task]]
        rows: list[tuple[Cell, ...]] = []
        for task in tasks:
            about = (Cell(task),) if len(tasks) > 1 else ()
            rows += [(*about, *_cells(result, columns, OVERALL)) for result in results[task]]
            rows += _published_rows(task, results[task], columns, about) if published else []
        tables.append(
            Table(
                _caption(dataset, tasks),
                (*([Cell("task")] if len(tasks) > 1 else []), Cell("model"), _N, *_heads(columns, every)),
                tuple(rows),
                _notes_of_table({task: results[task] for task in tasks}, columns if published else []),
            )
        )
    notes = [f"{caveat}." for run in runs for caveat in finished.caveats(run)]
    without = sorted({result.run for of_task in results.values() for result in of_task if not result.of.reported})
    if without:
        notes.append(f"{', '.join(without)}: no reported metrics; values are from the samples.")
    for result in (result for of_task in results.values() for result in of_task):
        if unknown := [name for name in result.of.reported if name not in result.of.measures.by_name]:
            notes.append(
                f"{result.run}, {result.of.task}: not shown, since this version does not know it: {', '.join(unknown)}."
            )
    if not tables and not notes:
        return None
    return Section(
        "summary",
        "Summary",
        "All tasks of the runs, in percent unless a column says otherwise, with 95 % intervals.",
        tuple(tables),
        notes=tuple(notes),
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


def _scopes(results: _Results, published: bool) -> Section | None:
    """A table for the tasks of a dataset that report the same measures by source, type or part; and phenomena."""
    groups: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    places = {task: _places(of_task) for task, of_task in results.items()}
    for task, of_task in results.items():
        heads = {head for scope, of in places[task].items() if scope != OVERALL for head in of}
        shown = tuple(dict.fromkeys(head for result in of_task for head in result.heads if head in heads))
        if shown:
            groups.setdefault((of_task[0].of.dataset, shown, tuple(places[task])), []).append(task)
    tables = []
    for (dataset, columns, scopes), tasks in groups.items():
        benchmark = results[tasks[0]][0].of.benchmark
        rows: list[tuple[Cell, ...]] = []
        notes = [_NYCARTOONS] if "nycartoons" in scopes else []
        for task, scope in product(tasks, scopes):
            about = (*([Cell(task)] if len(tasks) > 1 else []), *_scope_cells(benchmark, scope))
            rows += [(*about, *_cells(result, columns, scope)) for result in results[task]]
            if published and scope != OVERALL:
                rows += _published_rows(task, results[task], [full_name(head, scope) for head in columns], about)
        kinds = ("source", "phenomenon") if benchmark == "vflute" else ("part",)
        top = [*(Cell(kind) for kind in (*(["task"] if len(tasks) > 1 else []), *kinds, "model")), _N]
        for task in tasks if published else ():
            parts = [full_name(head, scope) for scope, of in places[task].items() if scope != OVERALL for head in of]
            _, told = _comparable(task, results[task], parts)
            notes += [f"{task}: {told}."] * bool(told)
        every = [result for task in tasks for result in results[task]]
        tables.append(
            Table(
                f"{_caption(dataset, tasks)}, by {kinds[0]}",
                (*top, *_heads(columns, every)),
                tuple(rows),
                " ".join(notes),
            )
        )
        if benchmark == "vflute":
            tables += [_phenomena(task, results[task]) for task in tasks if results[task][0].of.explained]
    if not tables:
        return None
    intro = "The same metrics for each part of a benchmark. Intervals are wide where a part has few rows."
    return Section("sources", "By source and phenomenon", intro, tuple(tables))


_NYCARTOONS = "NYCartoons is all entailment: one predicted contradiction halves its macro F1. Read accuracy beside it."


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


def _scope_cells(benchmark: str, scope: str) -> tuple[Cell, ...]:
    name = Cell(_scope_name(benchmark, scope), scope)
    return (name, Cell(SOURCES.get(scope, ("", ""))[1])) if benchmark == "vflute" else (name,)


def _phenomena(task: str, results: Sequence[_Result]) -> Table:
    """V-FLUTE's rows pooled over the sources of each phenomenon."""
    columns: list[str] = []
    rows = []
    for phenomenon in dict.fromkeys(phenomenon for _, phenomenon in SOURCES.values()):
        sources = [name for name, (_, of) in SOURCES.items() if of == phenomenon]
        for result in results:
            count, values = result.of.computed(partial(_pooled, sources))
            columns += [measure for measure in values if measure not in columns]
            rows.append((phenomenon, result.run, count, values))
    cells = [
        (
            Cell(phenomenon),
            Cell(run),
            Cell(str(count), numeric=True),
            *(_cell(values.get(measure), measure) for measure in columns),
        )
        for phenomenon, run, count, values in rows
    ]
    pooled: dict[str, list[str]] = {}
    for name, phenomenon in SOURCES.values():
        pooled.setdefault(phenomenon, []).append(name)
    told = "; ".join(f"{phenomenon}: {', '.join(names)}" for phenomenon, names in pooled.items())
    return Table(
        f"{task}, by phenomenon",
        (Cell("phenomenon"), Cell("model"), _N, *_heads(columns, results)),
        tuple(cells),
        f"Rows pooled over sources: {told} (arXiv 2405.01474, Table 3).",
    )


def _pooled(sources: Collection[str], declared: Measures, records: Sequence[Record]) -> tuple[int, dict[str, Estimate]]:
    """How many records are of some sources, and their measures, without those that tell how a run went."""
    chosen = [record for record in records if record["report_group"] in sources]
    found = {}
    for measure in declared.all:
        counted = [record for record in chosen if measure.counts(record)]
        if counted and not measure.diagnostic and (estimate := measure.estimate(counted)) is not None:
            found[measure.name] = estimate
    return len(chosen), found


# --- 3. curves, 4. drops ---------------------------------------------------------------------------------------------


def _explanation_quality(results: _Results) -> Section | None:
    found: list[Chart] = []
    notes = []
    for number, (task, of_task) in enumerate(results.items()):
        if not of_task[0].of.explained:
            continue
        scored = [result for result in of_task if explained.has_scores(result.of.records)]
        if scored:
            found.append(_curves(f"curves-{number}", task, scored))
            drops = _drops(f"drops-{number}", task, scored)
            found += [drops] if drops else []
        if missing := [result.run for result in of_task if result not in scored and _explains(result)]:
            notes.append(f"{task}: explanations of {', '.join(missing)} are not scored (figlang score adds scores).")
    if not found and not notes:
        return None
    intro = (
        "A label counts only if the score of its explanation lies above the threshold t. The farther a curve reaches "
        "to the right, the better the explanations."
    )
    return Section("explanations", "Explanation quality", intro, charts=tuple(found), notes=tuple(notes))


def _explains(result: _Result) -> bool:
    """Whether there is any explanation; a task may ask for labels alone."""
    return any((record["explanation"] or "").strip() for record in result.of.records)


def _curves(chart_id: str, task: str, results: Sequence[_Result]) -> Chart:
    """Figure 11 of V-FLUTE's paper; of FLUTE the same for its accuracy."""
    benchmark = results[0].of.benchmark
    scheme = explained.scheme_of(results[0].of.records[0])
    by_run = {result.run: result.of.computed(_curves_by_scope) for result in results}
    panels: dict[str, dict[str, list[float]]] = {}
    for scope in _places(results):
        for run, curves in by_run.items():
            if scope in curves:
                panels.setdefault(_scope_name(benchmark, scope), {})[run] = curves[scope]
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
    benchmark = results[0].of.benchmark
    groups: dict[str, dict[str, Estimate]] = {}
    for scope in _places(results):
        for result in results:
            before, after = (result.estimate(f"f1@{t}", scope) for t in (0, 60))
            if before is not None and after is not None:
                drop = relative_drop(before.value, after.value)
                groups.setdefault(_scope_name(benchmark, scope), {})[result.run] = Estimate(drop)
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


# --- 5. IRFL and MetaCLUE: choices, 6. position bias -----------------------------------------------------------------


@dataclass(frozen=True)
class _Irfl:
    """What the name of a task of IRFL says."""

    family: str
    variant: str
    what: str

    @property
    def panel(self) -> str:
        return _FAMILIES["_".join(filter(None, (self.family, self.variant)))]


def _irfl(task: str) -> _Irfl | None:
    """None for a task whose name is none of ours."""
    named = _IRFL_TASK.fullmatch(task.rpartition("irfl_")[2])
    if named is None:
        return None
    found = _Irfl(named["family"], named["variant"] or "", named["what"].replace("_", " "))
    return found if "_".join(filter(None, (found.family, found.variant))) in _FAMILIES else None


@dataclass
class _Bars:
    """A chart of bars in the making."""

    panels: dict[str, dict[str, dict[str, Estimate]]]
    references: dict[tuple[str, str], float]
    order: tuple[str, ...] = ()

    @classmethod
    def empty(cls) -> _Bars:
        return cls({}, {})

    def add(
        self,
        panel: str,
        category: str,
        results: Sequence[_Result],
        measure: str,
        chance: Callable[[Sequence[Record]], float],
        scope: str = OVERALL,
    ) -> None:
        """Add a group of bars, if any run has the measure in the scope."""
        found = [(result, value) for result in results if (value := result.estimate(measure, scope)) is not None]
        if found:
            self.order = results[0].runs
            self.panels.setdefault(panel, {})[category] = {of.run: _percent(value) for of, value in found}
            level = 100 * found[0][0].of.computed(lambda _, records: chance(records))
            if np.isfinite(level):
                self.references[panel, category] = level

    def chart(self, chart_id: str, title: str, about: str, label: str) -> list[Chart]:
        if not self.panels:
            return []
        alt = f"{about} {_told(self.panels, self.references)}"
        drawn = charts.bars(
            chart_id, title, alt, self.panels, label=label, references=self.references, order=self.order
        )
        return [drawn]


def _choices(results: _Results) -> Section | None:
    """IRFL: accuracy of choices, literal preference, the order of pairs, retrieval; by dataset."""
    found: list[Chart] = []
    datasets = dict.fromkeys(of[0].of.dataset for of in results.values() if of[0].of.benchmark == "irfl")
    for number, dataset in enumerate(datasets):
        accuracy: dict[str, _Bars] = {}
        preference, orders, retrieval = (_Bars.empty() for _ in range(3))
        for task, of_task in results.items():
            named = _irfl(task)
            if of_task[0].of.dataset != dataset or named is None:
                continue
            if named.family == "retrieve":
                _by_class(retrieval, named, of_task, "p@k", _chance_of_retrieval)
                continue
            kind = _DETECTION[named.family]
            _by_class(accuracy.setdefault(kind, _Bars.empty()), named, of_task, "acc", _chance_of_choice)
            preference.add(named.panel, named.what, of_task, "literal_preference", _chance_of_literal)
            for metric in ("figurative_over_source", "source_over_target"):
                orders.add(f"{named.panel}: {named.what}", metric.replace("_", " "), of_task, metric, lambda _: 0.5)
        name = _dataset_name(dataset)
        for place, (kind, bars) in enumerate(accuracy.items()):
            found += bars.chart(
                f"choices-{number}-{place}",
                f"{name}: detection {kind}",
                f"Bars of the accuracy of choosing the figurative image {kind}, in percent.",
                "accuracy (percent)",
            )
        found += preference.chart(
            f"literal-{number}",
            f"{name}: literal preference",
            "Bars of the share of failures in which a partially literal image was chosen, in percent; chance is that "
            "of a failure at random.",
            "literal preference (percent of failures)",
        )
        found += orders.chart(
            f"orders-{number}",
            f"{name}: order of the images of a simile",
            "Bars of the share of similes whose first image scores higher than the second, in percent.",
            "share of similes (percent)",
        )
        found += retrieval.chart(
            f"retrieval-{number}",
            f"{name}: retrieval",
            "Bars of the precision at k of ranking figurative above partially literal images, in percent; chance is "
            "that of a ranking by scores.",
            "precision@k (percent)",
        )
    if not found:
        return None
    intro = "Which image shows the figurative meaning? Dashed lines are the chance levels on the rows of these runs."
    return Section("detection", "Detection and retrieval (IRFL)", intro, charts=tuple(found))


def _by_class(
    bars: _Bars, named: _Irfl, results: Sequence[_Result], measure: str, chance: Callable[..., float]
) -> None:
    """Add a task: an idiom's classes apart, as the paper reports them, where the task has both."""
    classes = [kind for kind in ("figurative", "figurative_literal") if results[0].estimate(measure, kind)]
    if len(classes) < 2:
        bars.add(named.panel, named.what, results, measure, chance)
        return
    for kind in classes:
        category = f"{named.what}, {kind.replace('_', ' + ')}"
        bars.add(named.panel, category, results, measure, partial(chance, kind=kind), kind)


def _roles(records: Sequence[Record], kind: str | None = None) -> list[Sequence[str]]:
    return [record["roles"] for record in records if kind is None or record["type"] == kind]


def _chance_of_choice(records: Sequence[Record], kind: str | None = None) -> float:
    return float(np.mean([1 / len(roles) for roles in _roles(records, kind)]))


def _chance_of_literal(records: Sequence[Record]) -> float:
    """Share of partially literal images among the wrong ones, mean over rows."""
    wrong = [[role for role in roles if role != "answer"] for roles in _roles(records)]
    return float(np.mean([sum(role in LITERAL_ROLES for role in roles) / len(roles) for roles in wrong]))


def _chance_of_retrieval(records: Sequence[Record], kind: str | None = None) -> float:
    """Expected precision@k of a random order, mean over the rows that are complete; NaN if none is."""
    positives: dict[str, list[bool]] = {}
    images: dict[str, int] = {}
    for record in records:
        if kind is None or record["type"] == kind:
            positives.setdefault(record["row"], []).append(record["positive"])
            images[record["row"]] = record["images"]
    complete = [of for row, of in positives.items() if len(of) == images[row]]
    if not complete:
        return float("nan")
    return descriptive.fmean(ranking.expected_precision_at_k(sum(of), len(of)) for of in complete)


def _position_bias(results: _Results) -> Section | None:
    found = []
    for number, (task, of_task) in enumerate(results.items()):
        bars = _Bars.empty()
        for letter in LETTERS:
            bars.add("", letter, of_task, f"share_{letter}", lambda _: 1 / len(LETTERS))
        found += bars.chart(
            f"position-{number}",
            f"{task}: letters named",
            "Bars of the share of each letter among the letters that the model named when every row was asked in all "
            "four rotations, in percent; without position bias each has 25.",
            "share of the letters named (percent)",
        )
    if not found:
        return None
    intro = "Every row was asked in all four orders of its images: each letter is right equally often."
    return Section("position", "Position bias", intro, charts=tuple(found))


def _retrieval(results: _Results) -> Section | None:
    """MetaCLUE: precision@1 by kind of candidates."""
    found = []
    datasets = dict.fromkeys(of[0].of.dataset for of in results.values() if of[0].of.benchmark == "metaclue")
    for number, dataset in enumerate(datasets):
        bars = _Bars.empty()
        for task, of_task in results.items():
            if of_task[0].of.dataset == dataset and "candidates" in of_task[0].of.records[0]:
                kind = task.rpartition("retrieve_")[2].replace("_", " ")
                bars.add("", kind, of_task, "p@1", _chance_of_candidates)
        found += bars.chart(
            f"metaclue-{number}",
            f"{_dataset_name(dataset)}: retrieval by kind of candidates",
            "Bars of the precision at 1 of finding an image's own metaphor among other statements, in percent.",
            "precision@1 (percent)",
        )
    if not found:
        return None
    intro = "Which statement is conveyed by the image? Dashed lines are the chance levels."
    return Section("metaclue", "Retrieval (MetaCLUE)", intro, charts=tuple(found))


def _chance_of_candidates(records: Sequence[Record]) -> float:
    return float(np.mean([1 / record["candidates"] for record in records]))


# --- 7. prompt sensitivity -------------------------------------------------------------------------------------------


def _instructions(results: _Results) -> Section | None:
    """F1@0 by instruction, for the tasks that ask all rows with one of Table 8's."""
    by_base: dict[str, dict[str, dict[int, Estimate]]] = {}
    counts: dict[tuple[str, str], set[int]] = {}
    for task, of_task in results.items():
        if named := _INSTRUCTION.fullmatch(task):
            for result in of_task:
                if (value := result.estimate("f1@0")) is not None:
                    of_run = by_base.setdefault(named["of"], {}).setdefault(result.run, {})
                    of_run[int(named["number"])] = _percent(value)
                    counts.setdefault((named["of"], result.run), set()).add(result.of.rows)
    tables, found = [], []
    for number, (base, series) in enumerate(by_base.items()):
        told = []
        rows = []
        for run, values in series.items():
            finite = {place: each.value for place, each in values.items() if np.isfinite(each.value)}
            if not finite:
                continue
            worst, best = (of(finite, key=lambda place: finite[place]) for of in (min, max))
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
                    *(Cell(str(place), _instruction(place), True) for place in (worst, best)),
                )
            )
        if not rows:
            continue
        heads = ("instructions", "min", "mean", "max", "sd", "worst instruction", "best instruction")
        tables.append(
            Table(
                f"{base}: F1@0 over the instructions",
                (Cell("model"), _N, *(Cell(head, numeric=True) for head in heads)),
                tuple(rows),
                "Percent; sd: standard deviation of the sample of instructions. They are those of Table 8 (arXiv "
                "2405.01474).",
            )
        )
        found.append(
            charts.dots(
                f"instructions-{number}",
                f"{base}: F1@0 by instruction",
                f"A dot for each instruction and run, and a line at each run's mean. {' '.join(told)}",
                series,
                x_label="instruction",
                y_label="F1@0 (percent)",
                order=next(iter(results.values()))[0].runs,
            )
        )
    if not tables:
        return None
    intro = "All rows asked with one and the same instruction, 21 times: how much a score depends on the wording."
    return Section("instructions", "Prompt sensitivity", intro, tuple(tables), tuple(found))


def _instruction(number: int) -> str:
    return render("vflute/question.jinja", instruction=number, claim="...")


# --- 8. significance -------------------------------------------------------------------------------------------------


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
    return Section("significance", "Significance", intro, charts=tuple(found), notes=tuple(notes))


def _headlines(results: Sequence[_Result]) -> list[str]:
    """The metrics to test: those of the thresholds where the scores of all runs are of one scorer, else the first."""
    declared = _declared(results)
    shared = [head for head in results[0].heads if all(head in result.heads for result in results)]
    heads = [head for head in shared if declared[head].higher_is_better and not declared[head].diagnostic]
    if results[0].of.explained:
        scheme = explained.scheme_of(results[0].of.records[0])
        scorers = {result.of.signature or result.of.scorer for result in results}
        thresholds = [each.name for each in scheme.thresholds if each.name in heads and not each.name.startswith("v1")]
        return thresholds if len(scorers) == 1 else [name for name in heads if name == "acc"]
    return [next(name for name in _HEADLINES if name in heads)] if set(heads) & set(_HEADLINES) else heads[:1]


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


# --- 10. outcomes of parsing -----------------------------------------------------------------------------------------


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
        "How the outputs were read. What is neither a label nor a choice counts as wrong; a low score with few answers "
        "read says more about the format than about the model."
    )
    return Section("outcomes", "Outcomes of parsing", intro, tuple(tables))


def _count(count: int, total: int) -> Cell:
    return Cell(str(count), f"{100 * count / total:.1f} %", numeric=True) if count else Cell("")
