"""The leaderboard of one task: ranked runs, published results, and runs that are not compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.text import listing, without_paths
from figlang_tasks.leaderboard.conditions import (
    UNEVEN_ANSWERS,
    has_current_version,
    has_even_answers,
    has_expected_scorer,
)
from figlang_tasks.results import measures, published_tables
from figlang_tasks.results.published import PublishedFigure, comparable_metrics
from figlang_tasks.results.standings import ComparableSet, Standing, comparable_sets
from figlang_tasks.results.task_run import Run, TaskRun


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

    Of several sets of comparable runs one is ranked: that of the current task version and of the
    paper's scorer, else the largest.

    Args:
        task: its name.
        runs: each with a name of its own.

    Raises:
        RunError: a run has a damaged record.
    """
    # Without its other tasks: comparisons warn of tasks that runs do not share.
    runs_of_task = [
        replace(run, tasks={task: run.tasks[task]}) for run in runs if task in run.tasks
    ]
    reasons_by_run: dict[str, list[str]] = {}
    comparable_runs = []
    for run in runs_of_task:
        reasons = _reasons_not_to_compare(run, run.tasks[task])
        if reasons:
            reasons_by_run[run.name] = reasons
        else:
            comparable_runs.append(run)

    sets = sorted(comparable_sets(task, comparable_runs), key=_order_of_sets)
    ranked_standings: list[Standing] = []
    for position, comparable_set in enumerate(sets):
        for standing in comparable_set.standings:
            if position > 0:
                reasons_by_run[standing.name] = _differences(standing, sets[0].standings[0])
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
        published=_published_results(task, metric, comparable.names),
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
    """Why a run has no place in any ranking of the task; [] if it may have one.

    Args:
        run: has the task alone.
    """
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


def _order_of_sets(comparable_set: ComparableSet) -> tuple[bool, bool, int]:
    """Sort key: first the current task version, then the paper's scorer, then the largest set."""
    task_run = comparable_set.standings[0].task_runs[0]
    return (
        not has_current_version(task_run),
        not has_expected_scorer(task_run),
        -len(comparable_set.standings),
    )


def _differences(standing: Standing, ranked: Standing) -> list[str]:
    """How a run differs from the ranked ones, so that they cannot be compared.

    Args:
        standing: of the run.
        ranked: of any ranked run.
    """
    task_run = standing.task_runs[0]
    ranked_run = ranked.task_runs[0]
    reasons = []
    if task_run.version != ranked_run.version:
        reasons.append(f"task version {task_run.version}, not {ranked_run.version}")
    scorers = _differing_scorers(task_run, ranked_run)
    if scorers is not None:
        reasons.append(f"explanations scored by {scorers[0]}; those of ranked runs by {scorers[1]}")
    if task_run.data != ranked_run.data:
        reasons.append(f"data {task_run.data}, not {ranked_run.data}")
    return reasons or ["other rows than the ranked runs"]


def _differing_scorers(task_run: TaskRun, ranked_run: TaskRun) -> tuple[str, str] | None:
    """The names of two runs' scorers, or their signatures if the names are equal; None if both are.

    Args:
        task_run, ranked_run: the first and the second of the returned pair.
    """
    if _scorer(task_run) == _scorer(ranked_run):
        return None
    if task_run.scorer != ranked_run.scorer:
        return task_run.scorer or "no scorer", ranked_run.scorer or "no scorer"
    return _scorer(task_run) or "", _scorer(ranked_run) or ""


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
    task: str, metric: str, comparable_names: Sequence[str]
) -> list[PublishedResult]:
    """The published results of a task's metric, best first.

    Args:
        comparable_names: the metric, if published results are comparable with the ranked runs.
    """
    results = []
    for row in published_tables.published_rows(task, comparable_names):
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
