"""The leaderboard of one task: ranked runs, published results, and runs that are not compared."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.text import listing, without_paths
from figlang_tasks.leaderboard.conditions import (
    UNEVEN_ANSWERS,
    has_current_version,
    has_even_answers,
    has_expected_scorer,
    has_released_rows,
)
from figlang_tasks.results import measures, published_tables
from figlang_tasks.results.provenance import option_text
from figlang_tasks.results.published import (
    ComparableMetrics,
    PublishedFigure,
    comparable_metrics,
)
from figlang_tasks.results.results_file import model_name
from figlang_tasks.results.standings import ComparableSet, Standing, comparable_sets
from figlang_tasks.results.task_run import Run, TaskRun, outputs


@dataclass(frozen=True)
class RankedRun:
    """A run in the ranking of a task.

    Attributes:
        run: its name.
        rank: 1 for the best; runs of one value share a rank.
        value: of the headline metric, on its scale: shares are 0 to 1.
        low, high: the 95 % interval; None without one.
        letters: two runs that share a letter cannot be told apart; "" where nothing was tested.
        rows: how many rows of the benchmark it has.
        scorer: the signature of the scorer of explanations; None without scores.
    """

    run: str
    rank: int
    value: float
    low: float | None
    high: float | None
    letters: str
    rows: int
    scorer: str | None


@dataclass(frozen=True)
class UnrankedRun:
    """A run that the ranking leaves out.

    Attributes:
        run, rows, scorer: as in `RankedRun`.
        metric: the one that the value is of; "" without a value.
        value: by its samples; None if no value could be computed.
        reasons: why it is left out, in sentences without a full stop.
    """

    run: str
    metric: str
    value: float | None
    rows: int
    scorer: str | None
    reasons: list[str]


@dataclass(frozen=True)
class PublishedResult:
    """What a paper printed for a model, on the rows and with the scorer of the ranked runs.

    Attributes:
        model: its name, with what tells its setting from others.
        kind: ``zero-shot``, ``humans``, ``chance``.
        value: on the scale of the metric; the middle of a range.
        low, high: the ends of a range; None for a single number.
        text: the figure as tables print it.
        paper, table: the source.
    """

    model: str
    kind: str
    value: float
    low: float | None
    high: float | None
    text: str
    paper: str
    table: str


@dataclass(frozen=True)
class TaskBoard:
    """The ranking of a task; without ranked runs only task, dataset and the other runs are known.

    Attributes:
        task: its name.
        dataset: the dataset that it asks about, as people read its name.
        metric: the headline metric; "" if no run is ranked.
        is_share: whether its values are shares, 0 to 1, that people read in percent.
        higher_is_better: whether the largest value is the best.
        version: of the task, in the best run; None if unknown.
        scorer: the signature of the scorer of the ranked runs; None without scores.
        tests: how many tests the letters rest on; their p are adjusted for all of them.
        ranked: best first.
        not_compared: in the order of their names.
        published: best first.
        published_note: why published figures are left out; "" if none are.
    """

    task: str
    dataset: str
    metric: str = ""
    is_share: bool = False
    higher_is_better: bool = True
    version: str | None = None
    scorer: str | None = None
    tests: int = 0
    ranked: list[RankedRun] = field(default_factory=list)
    not_compared: list[UnrankedRun] = field(default_factory=list)
    published: list[PublishedResult] = field(default_factory=list)
    published_note: str = ""


def task_board(task: str, runs: Sequence[Run]) -> TaskBoard:
    """Rank the runs that have a task, and say why others are not compared.

    Of several sets of comparable runs one is ranked: that with all released rows, of the current
    task version and of the scorer that the task asks for, else the largest.

    Args:
        task: its name.
        runs: each with a name of its own.

    Raises:
        RunError: a run has a damaged record.
    """
    runs_of_task = [run for run in runs if task in run.tasks]
    reasons_by_run: dict[str, list[str]] = {}
    comparable_runs = []
    for run in runs_of_task:
        reasons = _reasons_not_to_compare(run, run.tasks[task])
        if reasons:
            reasons_by_run[run.name] = reasons
        else:
            comparable_runs.append(run)
    for copy, original in _originals_of_copies(task, comparable_runs).items():
        reasons_by_run[copy] = [f"a copy: the model, its arguments and all answers of {original}"]
    comparable_runs = [run for run in comparable_runs if run.name not in reasons_by_run]

    sets = sorted(comparable_sets(task, comparable_runs), key=_order_of_sets)
    ranked_standings: list[Standing] = []
    for position, comparable_set in enumerate(sets):
        for standing in comparable_set.standings:
            if position > 0:
                reasons_by_run[standing.name] = comparable_set.reasons_apart_from(sets[0])
            elif standing.value is None:
                reasons_by_run[standing.name] = ["no value of the metric could be computed"]
            else:
                ranked_standings.append(standing)
    tests = sets[0].tests if sets else 0
    unranked_runs = []
    for run in runs_of_task:
        if run.name in reasons_by_run:
            unranked_runs.append(_unranked_run(run, task, reasons_by_run[run.name]))
    dataset = runs_of_task[0].tasks[task].data.dataset
    return _board(task, dataset, ranked_standings, tests, unranked_runs)


def _board(
    task: str,
    dataset: str,
    standings: Sequence[Standing],
    tests: int,
    unranked_runs: list[UnrankedRun],
) -> TaskBoard:
    """Put the board together.

    Args:
        standings: of the ranked runs, best first; they have values.
        tests: how many tests their letters rest on.
    """
    dataset_name = source_of(dataset).title or dataset
    if not standings:
        return TaskBoard(task, dataset_name, not_compared=unranked_runs)
    metric = standings[0].metric
    measure = measures.measure_of(metric)
    best_run = standings[0].task_runs[0]
    conditions = [standing.task_runs[0].conditions for standing in standings]
    comparable = comparable_metrics(task, [metric], conditions)
    return TaskBoard(
        task=task,
        dataset=dataset_name,
        metric=metric,
        is_share=measure.percent,
        higher_is_better=measure.higher_is_better,
        version=best_run.version,
        scorer=_scorer(best_run),
        tests=tests,
        ranked=_ranked_runs(standings),
        not_compared=unranked_runs,
        published=_published_results(task, metric, comparable),
        published_note=comparable.left_out,
    )


def _ranked_runs(standings: Sequence[Standing]) -> list[RankedRun]:
    """The runs of a set with their ranks: 1, 2, 2 and 4 if two values are equal."""
    ranked_runs: list[RankedRun] = []
    for position, standing in enumerate(standings, start=1):
        assert standing.value is not None  # others are not ranked
        rank = position
        if ranked_runs and ranked_runs[-1].value == standing.value:
            rank = ranked_runs[-1].rank
        task_run = standing.task_runs[0]
        assert standing.estimate is not None  # Only repeats, which share a name, have none.
        ranked_runs.append(
            RankedRun(
                run=standing.name,
                rank=rank,
                value=standing.value,
                low=standing.estimate.low,
                high=standing.estimate.high,
                letters=standing.letters,
                rows=task_run.rows,
                scorer=_scorer(task_run),
            )
        )
    return ranked_runs


# --- runs that are not compared ---


def _reasons_not_to_compare(run: Run, task_run: TaskRun) -> list[str]:
    """Why a run has no place in any ranking of the task; [] if it may have one."""
    reasons = []
    if not run.results:
        reasons.append("no results file, so it is unknown whether the run is whole")
    if task_run.contradictions:
        reasons.append(f"contradicts its samples: {listing(task_run.contradictions)}")
    if task_run.partial:
        reasons.append(f"partial: {without_paths(task_run.partial)}")
    if task_run.has_user_rows:
        reasons.append("rows of its author's own, not those of the release")
    if not has_even_answers(task_run):
        reasons.append(UNEVEN_ANSWERS)
    return reasons


def _originals_of_copies(task: str, runs: Sequence[Run]) -> dict[str, str]:
    """The names of runs that repeat one before them, with the name of that run.

    Each copy would take a rank, and would add to the tests that p is adjusted for. A run that was
    scored again, by another version of the task or by another scorer, is no copy.
    """
    name_by_digest: dict[str, str] = {}
    original_by_copy: dict[str, str] = {}
    for run in runs:
        original = name_by_digest.setdefault(_digest_of_answers(run, run.tasks[task]), run.name)
        if original != run.name:
            original_by_copy[run.name] = original
    return original_by_copy


def _digest_of_answers(run: Run, task_run: TaskRun) -> str:
    """A digest of the model, its arguments, its answers, and how these were read and scored."""
    model = (model_name(run.results), option_text(run, "model"), option_text(run, "model_args"))
    answers = [outputs(sample) for sample in task_run.samples]
    scores = (task_run.version, _scorer(task_run))
    content = repr((model, scores, task_run.records, answers))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def _order_of_sets(comparable_set: ComparableSet) -> tuple[bool, bool, bool, int]:
    """Sort key: first all released rows, the task's version of today, its scorer; then the size."""
    task_run = comparable_set.standings[0].task_runs[0]
    return (
        not has_released_rows(task_run),
        not has_current_version(task_run),
        not has_expected_scorer(task_run),
        -len(comparable_set.standings),
    )


def _unranked_run(run: Run, task: str, reasons: list[str]) -> UnrankedRun:
    """A run that is not compared, with its value by its samples."""
    standing = comparable_sets(task, [run])[0].standings[0]
    task_run = run.tasks[task]
    return UnrankedRun(
        run=run.name,
        metric=standing.metric,
        value=standing.value,
        rows=task_run.rows,
        scorer=_scorer(task_run),
        reasons=reasons,
    )


def _scorer(task_run: TaskRun) -> str | None:
    """The signature, else the name, of the scorer of explanations; None without scores."""
    return task_run.signature or task_run.scorer


# --- published results ---


def _published_results(
    task: str, metric: str, comparable: ComparableMetrics
) -> list[PublishedResult]:
    """The published results of a task's metric, best first.

    Args:
        comparable: the metric, if published results are comparable with the ranked runs, and the
            release that these results are for.
    """
    results = []
    for row in published_tables.published_rows(task, comparable.names, comparable.release):
        for figure in row.values.values():
            results.append(_published_result(row, figure))
    higher_is_better = measures.measure_of(metric).higher_is_better
    return sorted(results, key=lambda result: result.value, reverse=higher_is_better)


def _published_result(
    row: published_tables.PublishedRow, figure: PublishedFigure
) -> PublishedResult:
    """A published figure with its source; a range has its middle as the value."""
    value = figure.value
    if value is None:
        assert figure.low is not None and figure.high is not None  # A figure has one of the two.
        value = (figure.low + figure.high) / 2
    return PublishedResult(
        model=row.label,
        kind=row.kind,
        value=value,
        low=figure.low,
        high=figure.high,
        text=figure.text(),
        paper=row.paper,
        table=row.table,
    )
