"""How runs stand on a task: sets of comparable runs, each with a ranking and letters of groups.

Tables of many runs and leaderboards are made from these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TypeAlias

from figlang_tasks.metrics.intervals import DEFAULT_SEED
from figlang_tasks.results import measures
from figlang_tasks.results.comparability import (
    ComparisonError,
    check_same_rows,
    check_same_scorer,
    check_same_version,
)
from figlang_tasks.results.comparison import Difference, compare
from figlang_tasks.results.groups import group_letters
from figlang_tasks.results.metric_choice import finite_estimates
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL, Estimate, Measure

_Check: TypeAlias = Callable[[str, str, TaskRun, str, TaskRun], None]
"""A check of two runs of a task: takes the task, and the name of each run before the run."""


@dataclass(frozen=True)
class Standing:
    """One run on one task, by the headline metric of the task over all rows.

    Attributes:
        name: of the run; repeats, which share a name, have one standing.
        task_runs: its results of the task; several for repeats.
        metric: the name of the headline metric; "" if no value of it could be computed.
        value: the mean over repeats, on the scale of the metric; None without one.
        estimate: the value with its interval; None for repeats, and without a value.
        letters: two runs of a set that share a letter cannot be told apart. "" where there was no
            test: of a single run, or of a metric without one.
    """

    name: str
    task_runs: Sequence[TaskRun]
    metric: str
    value: float | None
    estimate: Estimate | None
    letters: str


@dataclass(frozen=True)
class ComparableSet:
    """Runs of one task on the same rows, of the same version and with the same scorer.

    Attributes:
        task: its name.
        standings: best first; runs without a value last.
        tests: how many tests the p behind the letters are adjusted for (Holm).
        differences: those between every two runs behind the letters; empty without letters.
    """

    task: str
    standings: Sequence[Standing]
    tests: int
    differences: Sequence[Difference] = ()

    @property
    def partial(self) -> str | None:
        """Why the runs are partial: ``limit 8``; None for whole ones."""
        return self.standings[0].task_runs[0].partial

    @property
    def scorer(self) -> str | None:
        """The signature, else the name, of the scorer of explanations; None without scores."""
        task_run = self.standings[0].task_runs[0]
        return task_run.signature or task_run.scorer

    @property
    def metric(self) -> str:
        """The metric that the runs are ranked by; "" if none has a value."""
        return self.standings[0].metric

    def reasons_apart_from(self, other: ComparableSet) -> list[str]:
        """Why the runs cannot be compared with those of another set: ``partial (limit 8)``."""
        task_run = self.standings[0].task_runs[0]
        other_runs: list[TaskRun] = []
        for standing in other.standings:
            other_runs += standing.task_runs
        reasons = _differences_in_rows(self.task, task_run, other_runs[0])
        return reasons + _differences_in_scoring(self.task, task_run, other_runs)


def comparable_sets(
    task: str, runs: Sequence[Run], resamples: int = 10_000, seed: int = DEFAULT_SEED
) -> list[ComparableSet]:
    """Put the runs that have a task into sets of comparable ones, and rank each set.

    The largest set of whole runs comes first, sets of partial runs come last.

    Args:
        task: its name. Runs without it are left out.
        runs: those of one name are repeats that differ in the seed.
        resamples, seed: of the paired tests.

    Raises:
        RunError: a run has a damaged record.
    """
    sets_of_runs: list[list[Run]] = []
    for run in runs:
        if task in run.tasks:
            # Without its other tasks: comparisons warn of tasks that runs do not share.
            run_of_task = replace(run, tasks={task: run.tasks[task]})
            _add_to_set(task, run_of_task, sets_of_runs)
    sets = [_ranked_set(task, members, resamples, seed) for members in sets_of_runs]
    return sorted(sets, key=lambda ranked: (ranked.partial is not None, -len(ranked.standings)))


def _add_to_set(task: str, run: Run, sets_of_runs: list[list[Run]]) -> None:
    """Add a run to the first set with which it is comparable, else to a new set at the end.

    It must be comparable with each run of the set: of two versions or scorers, both are comparable
    with a run of which neither is known, and not with each other.
    """
    for members in sets_of_runs:
        task_runs = [member.tasks[task] for member in members]
        # Rows that equal those of the first run equal those of all.
        has_same_rows = not _differences_in_rows(task, run.tasks[task], task_runs[0])
        if has_same_rows and not _differences_in_scoring(task, run.tasks[task], task_runs):
            members.append(run)
            return
    sets_of_runs.append([run])


def _differences_in_rows(task: str, run: TaskRun, other: TaskRun) -> list[str]:
    """Why a run has other rows than another one; [] if it has the same, with the same limit."""
    reasons = []
    if run.partial != other.partial:
        reasons.append(f"partial ({run.partial})" if run.partial else "all rows")
    if run.data != other.data:
        reasons.append(f"data {run.data}, not {other.data}")
    if not reasons and not _passes(check_same_rows, task, run, other):
        reasons.append(f"other rows ({run.rows})")
    return reasons


def _differences_in_scoring(task: str, run: TaskRun, others: Sequence[TaskRun]) -> list[str]:
    """Why a run is scored otherwise than any of some other runs; [] if it is not."""
    reasons = []
    for other in others:
        if not _passes(check_same_version, task, run, other):
            reasons.append(f"task version {run.version}, not {other.version}")
            break
    for other in others:
        if not _has_same_scorer(task, run, other):
            reasons.append(_text_of_other_scorer(run, other))
            break
    return reasons


def _text_of_other_scorer(run: TaskRun, other: TaskRun) -> str:
    """How the scorer of a run differs from that of another one."""
    scorer = run.scorer or "no scorer"
    if run.scorer == other.scorer:
        return f"explanations scored by another version of {scorer}"
    return f"explanations scored by {scorer}, not by {other.scorer or 'no scorer'}"


def _has_same_scorer(task: str, run: TaskRun, other: TaskRun) -> bool:
    """Whether one scorer scored the explanations of two runs."""
    try:
        check_same_scorer(task, {"a": [run], "b": [other]})
    except ComparisonError:
        return False
    return True


def _passes(check: _Check, task: str, run: TaskRun, other: TaskRun) -> bool:
    """Whether two runs pass a check, which would raise an error."""
    try:
        check(task, "a", run, "b", other)
    except ComparisonError:
        return False
    return True


def _ranked_set(task: str, runs: Sequence[Run], resamples: int, seed: int) -> ComparableSet:
    """Rank comparable runs by the headline metric, and test which can be told apart."""
    task_runs_by_name: dict[str, list[TaskRun]] = {}
    for run in runs:
        task_runs_by_name.setdefault(run.name, []).append(run.tasks[task])
    metric = _headline_metric(task_runs_by_name)
    values: dict[str, float] = {}
    for name, task_runs in task_runs_by_name.items():
        value = _mean_value(task_runs, metric)
        if value is not None:
            values[name] = value

    ranking = list(values)
    if metric:
        higher_is_better = measures.measure_of(metric).higher_is_better
        ranking = sorted(values, key=values.__getitem__, reverse=higher_is_better)
    differences = _tested_differences(task, runs, ranking, metric, resamples, seed)
    letters = group_letters(ranking, differences) if differences else {}
    standings = []
    for name in [*ranking, *(name for name in task_runs_by_name if name not in values)]:
        task_runs = task_runs_by_name[name]
        standings.append(
            Standing(
                name=name,
                task_runs=task_runs,
                metric=metric,
                value=values.get(name),
                estimate=_only_estimate(task_runs, metric),
                letters=letters.get(name, ""),
            )
        )
    return ComparableSet(task, standings, tests=len(differences), differences=differences)


def _headline_metric(task_runs_by_name: Mapping[str, Sequence[TaskRun]]) -> str:
    """The headline metric of those that any run has a value of, over all rows; "" without one."""
    measures_by_name: dict[str, Measure] = {}
    metrics_with_value: dict[str, None] = {}  # a set that keeps its order
    for task_runs in task_runs_by_name.values():
        for task_run in task_runs:
            measures_by_name.update(task_run.measures.by_name)
            for metric_scope in finite_estimates(task_run):
                if metric_scope.scope == OVERALL:
                    metrics_with_value[metric_scope.metric] = None
    return measures.headline_metric(metrics_with_value, measures_by_name)


def _mean_value(task_runs: Sequence[TaskRun], metric: str) -> float | None:
    """The mean of a metric over repeats, over all rows; None if one of them has no value."""
    values = []
    for task_run in task_runs:
        estimate = _overall_estimate(task_run, metric)
        if estimate is None:
            return None
        values.append(estimate.value)
    return fmean(values)


def _only_estimate(task_runs: Sequence[TaskRun], metric: str) -> Estimate | None:
    """The estimate of a run without repeats; None for repeats, and without a value."""
    if len(task_runs) > 1:
        return None
    return _overall_estimate(task_runs[0], metric)


def _overall_estimate(task_run: TaskRun, metric: str) -> Estimate | None:
    """The estimate of a metric over all rows; None if it has no value."""
    for metric_scope, estimate in finite_estimates(task_run).items():
        if metric_scope.metric == metric and metric_scope.scope == OVERALL:
            return estimate
    return None


def _tested_differences(
    task: str,
    runs: Sequence[Run],
    names: Sequence[str],
    metric: str,
    resamples: int,
    seed: int,
) -> list[Difference]:
    """The tested differences between every two runs by a metric over all rows.

    [] if there is only one run, or a pair has no test: then no letters can be given.

    Args:
        names: of the runs that have a value.
    """
    if len(names) < 2:
        return []
    compared_runs = [run for run in runs if run.name in names]
    differences = compare(
        compared_runs, [metric], [task], only_overall=True, resamples=resamples, seed=seed
    )
    if any(difference.p is None for difference in differences):
        return []
    return differences
