"""Differences between runs, with paired tests; what ``figlang compare`` prints and the report's matrix shows."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np
from loguru import logger

from figlang_tasks import explanations, metric_names
from figlang_tasks import statistics as statistics_of
from figlang_tasks.metric_names import DIAGNOSTICS, OVERALL
from figlang_tasks.metrics import significance
from figlang_tasks.metrics.intervals import DEFAULT_SEED
from figlang_tasks.metrics.significance import Statistic, holm
from figlang_tasks.runs import Run, TaskRun
from figlang_tasks.statistics import Line

_LISTED = 5
_IDS_LISTED = 50
_ROUNDING = 1e-6


class ComparisonError(Exception):
    """Runs cannot be compared; the message says why and what to do."""


@dataclass(frozen=True)
class Difference:
    """The second run against the first, by one metric of one task.

    Attributes:
        task: its name; of a comparison across tasks both, ``vflute / vflute_blind``.
        name: the metric as the task reports it, ``f1@0_muse``.
        metric, scope: its parts, ``f1@0`` and ``muse``; the whole is ``all``.
        first, second: names of the runs.
        value_first, value_second: the metric, on its own scale (0 to 1 for shares).
        difference: ``value_second - value_first``.
        low, high: 95 % interval of the difference, by the paired bootstrap; None without a test, and where too few rows
            carry the metric.
        p_randomization: two-sided, of approximate randomization; None without a test: of diagnostics, and of metrics
            that are no function of sums over rows (METEOR, FID, average precision).
        p_holm: the same, adjusted for all tests of the call.
        p_bootstrap: one-sided, of the paired bootstrap, as V-FLUTE reports it. For nothing but a comparison with that
            paper: it calls equal systems different too often (``figlang_tasks.metrics.significance.Comparison``).
    """

    task: str
    name: str
    metric: str
    scope: str
    first: str
    second: str
    value_first: float
    value_second: float
    difference: float
    low: float | None = None
    high: float | None = None
    p_randomization: float | None = None
    p_holm: float | None = None
    p_bootstrap: float | None = None


def statistics(run: TaskRun) -> dict[str, Statistic]:
    """The sufficient statistics of each metric of a task, by the metric's name (``figlang_tasks.statistics``).

    Raises:
        ComparisonError: a row is not as its task writes it; names file and line.
    """
    of_lines: Callable[[Sequence[Line]], dict[str, Statistic]]
    of_lines = import_module(f"figlang_tasks.{run.benchmark}.statistics").statistics
    try:
        return of_lines(run.lines)
    except _DAMAGE as error:
        where = f"{run.path}, line {_damaged_line(run, of_lines)}"
        raise ComparisonError(
            f"{where} is not as the task {run.task} writes it ({type(error).__name__}: {error}): get the file again as "
            f"the harness wrote it; if an earlier version of figlang_tasks did, evaluate again (figlang_replay scores "
            f"saved outputs again without the model)"
        ) from error


_DAMAGE = (LookupError, TypeError, ValueError, AttributeError)


def _damaged_line(run: TaskRun, of_lines: Callable[[Sequence[Line]], dict[str, Statistic]]) -> str:
    """The first line that lacks what most have, or that cannot be read alone."""
    counts = Counter(field for line in run.lines for field in line["sample"])
    usual = {field for field, count in counts.items() if 2 * count > len(run.lines)}
    for number, line in enumerate(run.lines, start=1):
        if usual - line["sample"].keys():
            return str(number)
    for number, line in enumerate(run.lines, start=1):
        try:
            of_lines([line])
        except _DAMAGE:
            return str(number)
    return "unknown"


def compare(
    runs: Sequence[Run],
    metrics: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    overall: bool = False,
    resamples: int = 10_000,
    seed: int = DEFAULT_SEED,
    progress: Callable[[float], object] = lambda share: None,
) -> list[Difference]:
    """Compare every two runs by every metric of every task that they share.

    Runs of one task each, on the same data, are compared across tasks too (zero-shot with hypothesis only, say).

    Args:
        runs: at least two, their names distinct.
        metrics: names, ``f1@60`` with all its sources or ``f1@60_muse`` alone; default all but
            ``figlang_tasks.metric_names.DIAGNOSTICS``.
        tasks: names; default all that two runs share.
        overall: leave out the sources.
        resamples, seed: of both tests.
        progress: told each share of the work that is done; they add up to 1.

    Returns:
        Task by task, pair by pair, metric by metric in the task's own order, the whole before the sources.

    Raises:
        ComparisonError: fewer than two runs, no shared task, rows or data that differ (ids listed), scores of different
            scorers, versions of a task whose scores are not comparable, an unknown task or metric.
    """
    if len(runs) < 2:
        raise ComparisonError("one run alone: name at least two to compare")
    shared = _shared(runs, tasks)
    known: set[str] = set()
    found = []
    for task, of_runs in shared.items():
        _check_comparable(task, of_runs, metrics)
        found += _compare_task(
            task, of_runs, metrics, overall, resamples, seed, known, lambda share: progress(share / len(shared))
        )
    for name in metrics or ():
        if name not in known:
            raise ComparisonError(f"no metric {name!r} in these runs; there are: {', '.join(sorted(known))}")
    return adjusted(found)


def adjusted(found: Sequence[Difference]) -> list[Difference]:
    """The differences with their p adjusted by Holm's method for all tests among them."""
    p_holm = iter(holm([each.p_randomization for each in found if each.p_randomization is not None]))
    return [each if each.p_randomization is None else replace(each, p_holm=next(p_holm)) for each in found]


# --- what can be compared --------------------------------------------------------------------------------------------


def _shared(runs: Sequence[Run], tasks: Sequence[str] | None) -> dict[str, list[tuple[str, TaskRun]]]:
    """By task the runs that have it, each with its name."""
    by_task: dict[str, list[tuple[str, TaskRun]]] = {}
    for run in runs:
        for task, of_run in run.tasks.items():
            by_task.setdefault(task, []).append((run.name, of_run))
    shared = {task: of_runs for task, of_runs in by_task.items() if len(of_runs) > 1}
    singles = [next(iter(run.tasks.values())) for run in runs if len(run.tasks) == 1]
    if not shared and len(singles) == len(runs) and len({single.data for single in singles}) == 1:
        label = " / ".join(single.task for single in singles)
        shared = {label: [(run.name, single) for run, single in zip(runs, singles, strict=True)]}
    if not shared:
        have = "; ".join(f"{run.name}: {', '.join(sorted(run.tasks)[:_LISTED])}" for run in runs)
        of = "; ".join(f"{run.name}: {single.data}" for run, single in zip(runs, singles, strict=False))
        other_data = f", and their data differ ({of})" if len(singles) == len(runs) else ""
        raise ComparisonError(f"no two of the runs share a task ({have}){other_data}")
    for task in tasks or ():
        if task not in shared:
            raise ComparisonError(f"no two of the runs share the task {task}; they share: {', '.join(sorted(shared))}")
    if alone := sorted(set(by_task) - set(shared) - {single.task for single in singles}):
        logger.warning(f"figlang_tasks: tasks in one run only, not compared: {_listing(alone)}")
    return {task: of_runs for task, of_runs in shared.items() if not tasks or task in tasks}


def _check_comparable(task: str, runs: Sequence[tuple[str, TaskRun]], metrics: Sequence[str] | None) -> None:
    (first_name, first), *others = runs
    for name, other in others:
        _check_rows(task, first_name, first, name, other)
        versions = [str(run.version).partition("-")[0] for run in (first, other) if run.version is not None]
        if first.task == other.task and len(set(versions)) > 1:
            raise ComparisonError(
                f"{task}: {first_name} is of task version {first.version}, {name} of {other.version}, whose scores are "
                f"not comparable: evaluate one again (figlang_replay scores saved outputs again without the model)"
            )
        prompts = [(run.config.get("metadata") or {}).get("prompt_hash") for run in (first, other)]
        hashes = {str(prompt) for prompt in prompts if prompt is not None}
        if first.task == other.task and len(hashes) > 1:
            logger.warning(f"figlang_tasks: {task}: {first_name} and {name} were asked with different prompts")
    _check_scorers(task, runs, metrics)


def _check_rows(task: str, first_name: str, first: TaskRun, name: str, other: TaskRun) -> None:
    only = [sorted(set(a.ids) - set(b.ids)) for a, b in ((first, other), (other, first))]
    if any(only):
        told = [f"only in {of}: {_listing(ids)}" for of, ids in zip((first_name, name), only, strict=True) if ids]
        raise ComparisonError(
            f"{task}: {first_name} and {name} were not evaluated on the same rows; {'; '.join(told)}. Evaluate both on "
            f"the same rows (was one run with --limit?)"
        )
    units = [{line["sample"]["id"]: statistics_of.unit(line) for line in run.lines} for run in (first, other)]
    if apart := sorted(row for row, unit in units[0].items() if units[1][row] != unit):
        raise ComparisonError(
            f"{task}: {first_name} and {name} do not say the same of which rows are independent (`unit` of "
            f"{_listing(apart)}): one is of an earlier version of figlang_tasks, or of data with other pictures. "
            f"Evaluate one again (figlang_replay scores saved outputs again without the model)"
        )
    if first.data != other.data:
        raise ComparisonError(
            f"{task}: {first_name} was evaluated on {first.data}, {name} on {other.data}: evaluate both on one version"
        )


def _listing(ids: Sequence[str]) -> str:
    more = f", and {len(ids) - _IDS_LISTED} more" if len(ids) > _IDS_LISTED else ""
    return f"{len(ids)} ({', '.join(ids[:_IDS_LISTED])}{more})"


def _check_scorers(task: str, runs: Sequence[tuple[str, TaskRun]], metrics: Sequence[str] | None) -> None:
    """Explanation scores of different scorers, or of some runs alone, make no comparison."""
    explained = {name: run for name, run in runs if run.explained}
    signatures = {run.signature for run in explained.values()} - {None}
    alike = len({run.scorer for run in explained.values()}) <= 1 and len(signatures) <= 1
    thresholded = {name for scheme in explanations.SCHEMES.values() for name in scheme.thresholds}
    need = thresholded | {explanations.MEAN_SCORE}
    asked = metrics is None or any(name == of or name.startswith(f"{of}_") for name in metrics for of in need)
    if not asked:
        return
    if not alike:
        found = "; ".join(f"{name}: {run.signature or run.scorer or 'no scores'}" for name, run in explained.items())
        raise ComparisonError(
            f"{task}: the explanations are not scored alike ({found}). Score all with one scorer (figlang score), and "
            f"name it (--scorer); or compare labels alone (--metric acc)"
        )
    if signatures and (unknown := [name for name, run in explained.items() if run.signature is None]):
        logger.warning(
            f"figlang_tasks: {task}: nothing beside the samples of {', '.join(unknown)} says with which models their "
            f"explanations were scored; taken for {', '.join(map(str, signatures))}"
        )


# --- one task --------------------------------------------------------------------------------------------------------


def _compare_task(
    task: str,
    runs: Sequence[tuple[str, TaskRun]],
    metrics: Sequence[str] | None,
    overall: bool,
    resamples: int,
    seed: int,
    known: set[str],
    progress: Callable[[float], object],
) -> list[Difference]:
    of_runs = [statistics(run) for _, run in runs]
    for (name, run), own in zip(runs, of_runs, strict=True):
        _check_reported(name, run, own)
    reported = [{name: value for name, value in run.metrics.items() if metric_names.is_metric(name)} for _, run in runs]
    names = list(dict.fromkeys(itertools.chain(*reported, *of_runs)))
    scoped = metric_names.scoped(names)
    known.update(scoped, (metric for metric, _ in scoped.values()))
    scopes = list(dict.fromkeys(scope for _, scope in scoped.values()))
    heads = list(dict.fromkeys(metric for metric, _ in scoped.values()))
    names.sort(key=lambda name: (heads.index(scoped[name][0]), scopes.index(scoped[name][1])))
    chosen = [name for name in names if _wanted(name, scoped[name], metrics, overall)]
    tested = [name for name in chosen if scoped[name][0] not in DIAGNOSTICS]
    systems = _aligned([{name: own[name] for name in tested if name in own} for own in of_runs])
    tests = significance.compare(systems, resamples, seed, progress=progress)
    found = []
    for i, j in itertools.combinations(range(len(runs)), 2):
        for name in chosen:
            about = (task, name, *scoped[name], runs[i][0], runs[j][0])
            if test := tests[i, j].get(name):
                found.append(
                    Difference(
                        *about,
                        value_first=test.first,
                        value_second=test.second,
                        difference=test.difference,
                        low=None if np.isnan(test.low) else test.low,
                        high=None if np.isnan(test.high) else test.high,
                        p_randomization=test.p_randomization,
                        p_bootstrap=test.p_bootstrap,
                    )
                )
            elif name in reported[i] and name in reported[j]:
                one, other = reported[i][name], reported[j][name]
                found.append(Difference(*about, value_first=one, value_second=other, difference=other - one))
    return found


def _wanted(name: str, scoped: tuple[str, str], metrics: Sequence[str] | None, overall: bool) -> bool:
    metric, scope = scoped
    if metrics is None:
        named = metric not in DIAGNOSTICS
    else:
        named = metric in metrics or name in metrics
    return named and (scope == OVERALL or not overall or (metrics is not None and name in metrics))


def _check_reported(name: str, run: TaskRun, own: Mapping[str, Statistic]) -> None:
    """Tell where a results file says something else than its samples."""
    for metric, statistic in own.items():
        reported, recomputed = run.metrics.get(metric), statistic.total()
        if reported is not None and np.isfinite(recomputed) and abs(reported - recomputed) > _ROUNDING:
            logger.warning(
                f"figlang_tasks: {name}, {run.task}: its results say {metric} {reported:.6f}, its samples give "
                f"{recomputed:.6f}: files of two runs, or of another version? The samples are used"
            )


def _aligned(systems: Sequence[Mapping[str, Statistic]]) -> list[dict[str, Statistic]]:
    """The same units for one metric in all systems.

    Where a metric counts some rows only, depending on the answers (failures, say), rows that it leaves out add nothing
    to its sums. Metrics that are undefined for a system are left out of it.
    """
    defined = [{name: own for name, own in system.items() if np.isfinite(own.total())} for system in systems]
    found = []
    for system in defined:
        aligned = {}
        for name, own in system.items():
            units = sorted({unit for other in defined if name in other for unit in other[name].units})
            aligned[name] = own if len(units) == len(own.units) else _extended(own, units)
        found.append(aligned)
    return found


def _extended(statistic: Statistic, units: Sequence[str]) -> Statistic:
    places = {unit: place for place, unit in enumerate(units)}
    rows = np.zeros((len(units), statistic.rows.shape[1]))
    rows[[places[unit] for unit in statistic.units]] = statistic.rows
    return Statistic(tuple(units), rows, statistic.value)
