"""Differences between runs, with paired tests; what ``figlang compare`` prints and the report's matrix shows."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from loguru import logger

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import listing
from figlang_tasks.metrics import significance
from figlang_tasks.metrics.intervals import DEFAULT_SEED
from figlang_tasks.metrics.significance import Statistic, holm
from figlang_tasks.results import measures
from figlang_tasks.results.runs import Run, RunError, TaskRun, by_repeat
from figlang_tasks.scoring import OVERALL, Measure, flat, full_name
from figlang_tasks.scoring.explained import MEAN_SCORE, SCHEMES
from figlang_tasks.scoring.measure import unit_of

_LISTED = 5
_NAMES_LISTED = 50

Place: TypeAlias = tuple[str, str]
"""Name of a measure, and scope."""


class ComparisonError(FigLangError):
    """Runs cannot be compared; the message says why and what to do."""


@dataclass(frozen=True)
class Difference:
    """The second run against the first, by one metric of one task.

    Attributes:
        task: its name; of a comparison across tasks both, ``vflute / vflute_blind``.
        name: metric and scope in one word, ``f1@0_muse``.
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
        n_first, n_second: how many rows of the benchmark the metric was taken over in each run; None where its samples
            hold no row that counts, and where its repeats differ in them.
        p_repeats: in place of p_randomization where a run has repeats, of the hierarchical bootstrap, two-sided
            (``figlang_tasks.metrics.significance.compare_repeats``).
        repeats_first, repeats_second: how many runs each value is the mean of.
        sd_first, sd_second: standard deviation of these runs; None of one.
        smallest: the smallest true difference that these rows show in four of five samples (two-sided test, p below
            .05, before Holm's adjustment), of runs that disagree as much as these; None without a test, and where the
            runs disagree too little to say (``figlang_tasks.metrics.significance.smallest_difference``).
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
    n_first: int | None = None
    n_second: int | None = None
    smallest: float | None = None
    p_repeats: float | None = None
    repeats_first: int = 1
    repeats_second: int = 1
    sd_first: float | None = None
    sd_second: float | None = None

    @property
    def values(self) -> tuple[float, float]:
        """The values of both runs."""
        return self.value_first, self.value_second

    @property
    def p(self) -> float | None:
        """The two-sided p, before adjustment; None without a test."""
        return self.p_randomization if self.p_repeats is None else self.p_repeats


def _counts(run: TaskRun) -> dict[Place, int]:
    """How many rows of the benchmark count for each measure in each scope."""
    return run.computed(
        lambda measures, records: {
            (measure.name, scope): measures.rows(own)
            for measure in measures.all
            for scope, own in measure.in_scopes(records).items()
        }
    )


@dataclass(frozen=True)
class _Choice:
    """What was asked for, as the arguments of `compare`."""

    metrics: Sequence[str] | None
    overall: bool
    every: bool

    def has(self, place: Place, main: str, measure: Measure) -> bool:
        """Whether it has a measure in a scope; `main` is the headline metric of the task.

        Scopes that repeat one evaluation (folds, instructions) are compared where they are named alone.
        """
        (metric, scope), name = place, full_name(*place)
        left_out = scope != OVERALL and (self.overall or measure.averaged)
        if self.metrics is not None:
            return name in self.metrics or (metric in self.metrics and not left_out)
        if self.every:
            return not measure.diagnostic and not left_out
        return name == main


def compare(
    runs: Sequence[Run],
    metrics: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    overall: bool = False,
    resamples: int = 10_000,
    seed: int = DEFAULT_SEED,
    progress: Callable[[float], object] = lambda share: None,
    *,
    every: bool = False,
) -> list[Difference]:
    """The differences of every two runs on every task that they share.

    Runs of one task each, on the same data, are compared across tasks too (zero-shot with hypothesis only, say).

    Args:
        runs: of at least two names. Those of one name are repeats, which differ in the seed alone: their mean is
            compared, and the test is over rows and seeds. One that was cut short may be left out (`whole`).
        metrics: names, ``f1@60`` with all its sources or ``f1@60_muse`` alone; default the headline metric of each task
            over all rows.
        tasks: names; default all that two runs share.
        overall: leave out the sources.
        resamples, seed: of both tests.
        progress: called with each share of the work that is done; the shares add up to 1.
        every: all metrics but diagnostics, with their sources.

    Returns:
        Task by task, pair by pair, metric by metric in the task's own order, the whole before the sources.

    Raises:
        ComparisonError: fewer than two runs, no shared task, rows or data that differ, scores of different scorers,
            versions of a task whose scores are not comparable, an unknown task or metric, a damaged row.
    """
    if len({run.name for run in runs}) < 2:
        raise ComparisonError("only one run: give at least two to compare")
    runs = [each for run in runs for each in by_repeat(run)]
    runs, left_out = whole(runs, tasks)
    if left_out:
        logger.warning(f"figlang_tasks: {left_out}")
    shared = _shared(runs, tasks)
    known: set[str] = set()
    found = []
    given = Counter(run.name for run in runs)
    for task, of_runs in shared.items():
        for name, repeats in Counter(name for name, _ in of_runs).items():
            if repeats < given[name]:
                raise ComparisonError(
                    f"{task}: {repeats} of the {given[name]} repeats of {name} have it: evaluate it with all of them, "
                    "or name other tasks (--task)"
                )
        _check_comparable(task, of_runs, metrics)
        choice = _Choice(metrics, overall, every)
        found += _compare_task(
            task, of_runs, choice, resamples, seed, known, lambda share: progress(share / len(shared))
        )
    for name in metrics or ():
        if name not in known:
            raise ComparisonError(f"no metric {name!r} in these runs; there are: {', '.join(sorted(known))}")
    return adjusted(found)


def whole(runs: Sequence[Run], tasks: Sequence[str] | None = None) -> tuple[list[Run], str]:
    """The runs without the tasks in which they alone were cut short, and in words what is left out."""
    kept, told = [], []
    for run in runs:
        cut = {}
        for task, own in run.tasks.items():
            others = {other.name for other in runs if task in other.tasks and not other.tasks[task].cut} - {run.name}
            if own.cut and len(others) > 1 and (not tasks or task in tasks):
                cut[task] = own.cut
        if cut:
            told.append(f"{run.name} ({listing(dict.fromkeys(cut.values()))})")
        if rest := {task: own for task, own in run.tasks.items() if task not in cut}:
            kept.append(replace(run, tasks=rest))
    return kept, f"not compared, because cut short: {', '.join(dict.fromkeys(told))}" if told else ""


def adjusted(found: Sequence[Difference]) -> list[Difference]:
    """The differences with their p adjusted by Holm's method for all tests among them."""
    p_holm = iter(holm([each.p for each in found if each.p is not None]))
    return [each if each.p is None else replace(each, p_holm=next(p_holm)) for each in found]


def headline(pair: Sequence[Difference]) -> Difference:
    """The difference that stands for two runs on a task: by its headline metric; a tested one, if any is."""
    tested = [each for each in pair if each.p is not None] or pair
    whole = [each for each in tested if each.scope == OVERALL] or tested
    metric = measures.headline(each.metric for each in whole)
    return next(each for each in whole if each.metric == metric)


# --- what can be compared --------------------------------------------------------------------------------------------


def _shared(runs: Sequence[Run], tasks: Sequence[str] | None) -> dict[str, list[tuple[str, TaskRun]]]:
    """By task the runs that have it, each with its name."""
    by_task: dict[str, list[tuple[str, TaskRun]]] = {}
    for run in runs:
        for task, of_run in run.tasks.items():
            by_task.setdefault(task, []).append((run.name, of_run))
    shared = {task: of_runs for task, of_runs in by_task.items() if len({name for name, _ in of_runs}) > 1}
    singles = [next(iter(run.tasks.values())) for run in runs if len(run.tasks) == 1]
    if not shared and len(singles) == len(runs) and len({single.data for single in singles}) == 1:
        label = " / ".join(dict.fromkeys(single.task for single in singles))
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
        logger.warning(f"figlang_tasks: tasks in one run only, not compared: {_counted(alone)}")
    return {task: of_runs for task, of_runs in shared.items() if not tasks or task in tasks}


def _check_comparable(task: str, runs: Sequence[tuple[str, TaskRun]], metrics: Sequence[str] | None) -> None:
    names = Counter(name for name, _ in runs)
    of_name: dict[str, TaskRun] = {}
    for name, run in runs:
        if name in of_name and of_name[name].records == run.records:
            logger.warning(
                f"figlang_tasks: {task}: {of_name[name].path} and {run.path}, repeats of {name}, have the same "
                "answers: the seed makes no difference, or one is a copy"
            )
        of_name.setdefault(name, run)
    runs = [(name if names[name] == 1 else f"{name} ({run.path})", run) for name, run in runs]
    (first_name, first), *others = runs
    for name, other in others:
        _check_rows(task, first_name, first, name, other)
        versions = [str(run.version).partition("-")[0] for run in (first, other) if run.version is not None]
        if first.task == other.task and len(set(versions)) > 1:
            raise ComparisonError(
                f"{task}: {first_name} is of task version {first.version}, {name} of {other.version}, whose scores are "
                f"not comparable: evaluate one again (figlang_replay scores saved outputs again without the model)"
            )
        prompts = [run.metadata.get("prompt_hash") for run in (first, other)]
        hashes = {str(prompt) for prompt in prompts if prompt is not None}
        if first.task == other.task and len(hashes) > 1:
            logger.warning(f"figlang_tasks: {task}: {first_name} and {name} used different prompts")
    _check_scorers(task, runs, metrics)


def _check_rows(task: str, first_name: str, first: TaskRun, name: str, other: TaskRun) -> None:
    only = {
        first_name: sorted(set(first.ids) - set(other.ids)),
        name: sorted(set(other.ids) - set(first.ids)),
    }
    if any(only.values()):
        told = [f"only in {of}: {_counted(ids, _LISTED)}" for of, ids in only.items() if ids]
        raise ComparisonError(
            f"{task}: {first_name} and {name} were not evaluated on the same rows; {'; '.join(told)}. Evaluate both on "
            f"the same rows (was one run with --limit?)"
        )
    units = [{record["id"]: unit_of(record) for record in run.records} for run in (first, other)]
    if apart := sorted(row for row, unit in units[0].items() if units[1][row] != unit):
        raise ComparisonError(
            f"{task}: {first_name} and {name} differ in which rows belong together (`unit` of "
            f"{_counted(apart, _LISTED)}): an "
            "earlier version of figlang_tasks wrote one of them, or the pictures differ. Evaluate one again "
            "(figlang_replay scores saved outputs again without the model)"
        )
    if first.data != other.data:
        raise ComparisonError(
            f"{task}: {first_name} was evaluated on {first.data}, {name} on {other.data}: evaluate both on one version"
        )


def _counted(names: Sequence[str], most: int = _NAMES_LISTED) -> str:
    return f"{len(names)} ({listing(names, most)})"


def _check_scorers(task: str, runs: Sequence[tuple[str, TaskRun]], metrics: Sequence[str] | None) -> None:
    """Explanation scores of different scorers, or of some runs alone, make no comparison."""
    explained = {name: run for name, run in runs if run.explained}
    signatures = {run.signature for run in explained.values()} - {None}
    alike = len({run.scorer for run in explained.values()}) <= 1 and len(signatures) <= 1
    need = {threshold.name for scheme in SCHEMES.values() for threshold in scheme.thresholds} | {MEAN_SCORE}
    # A scope may be a source of the user's own rows.
    if metrics is not None and not any(f"{name}_".startswith(f"{each}_") for name in metrics for each in need):
        return
    if not alike:
        found = "; ".join(f"{name}: {run.signature or run.scorer or 'no scores'}" for name, run in explained.items())
        raise ComparisonError(
            f"{task}: the explanations have different scorers ({found}). Score all with one scorer (figlang score "
            "--scorer), or compare labels alone (--metric acc)"
        )
    if signatures and (unknown := [name for name, run in explained.items() if run.signature is None]):
        logger.warning(
            f"figlang_tasks: {task}: no file next to the samples of {', '.join(unknown)} names the models that scored "
            f"their explanations; assumed: {', '.join(map(str, signatures))}"
        )


# --- one task --------------------------------------------------------------------------------------------------------


def _compare_task(
    task: str,
    runs: Sequence[tuple[str, TaskRun]],
    choice: _Choice,
    resamples: int,
    seed: int,
    known: set[str],
    progress: Callable[[float], object],
) -> list[Difference]:
    try:
        of_runs = [run.statistics for _, run in runs]
        counts = [_counts(run) for _, run in runs]
    except RunError as error:
        raise ComparisonError(str(error)) from error
    values = [_values(name, run, own) for (name, run), own in zip(runs, of_runs, strict=True)]
    declared = {measure.name: measure for _, run in runs for measure in run.measures.all}
    places = list(dict.fromkeys(itertools.chain(*values)))
    known.update(name for place in places for name in (place[0], full_name(*place)))
    heads, scopes = list(declared), list(dict.fromkeys(scope for _, scope in places))
    places.sort(key=lambda place: (heads.index(place[0]), scopes.index(place[1])))
    main = measures.headline(metric for metric, scope in places if scope == OVERALL)
    chosen = [place for place in places if choice.has(place, main, declared[place[0]])]
    tested = [place for place in chosen if not declared[place[0]].diagnostic]
    systems = _aligned([{full_name(*place): own[place] for place in tested if place in own} for own in of_runs])
    members: dict[str, list[int]] = {}
    for at, (name, _) in enumerate(runs):
        members.setdefault(name, []).append(at)
    tests = _tests(systems, list(members.values()), resamples, seed, progress)
    found = []
    for (i, (first, of_first)), (j, (second, of_second)) in itertools.combinations(enumerate(members.items()), 2):
        for place in chosen:
            name = full_name(*place)
            about = (task, name, *place, first, second)
            ns = [{counts[at].get(place) for at in own} for own in (of_first, of_second)]
            n_first, n_second = (own.pop() if len(own) == 1 else None for own in ns)
            if test := tests[i, j].get(name):
                one = Difference(
                    *about,
                    value_first=test.first,
                    value_second=test.second,
                    difference=test.difference,
                    low=_known(test.low),
                    high=_known(test.high),
                    p_randomization=_known(test.p_randomization),
                    p_bootstrap=test.p_bootstrap,
                    n_first=n_first,
                    n_second=n_second,
                    smallest=_known(test.smallest),
                    p_repeats=_known(test.p_repeats),
                )
            elif all(place in values[at] for at in [*of_first, *of_second]):
                a, b = (float(np.mean([values[at][place] for at in own])) for own in (of_first, of_second))
                one = Difference(*about, a, b, b - a, n_first=n_first, n_second=n_second)
            else:
                continue
            sds = [_sd([values[at][place] for at in own]) for own in (of_first, of_second)]
            sizes = len(of_first), len(of_second)
            found.append(
                replace(one, repeats_first=sizes[0], repeats_second=sizes[1], sd_first=sds[0], sd_second=sds[1])
            )
    return found


def _sd(values: Sequence[float]) -> float | None:
    return float(np.std(values, ddof=1)) if len(values) > 1 else None


def _tests(
    systems: Sequence[Mapping[str, Statistic]],
    members: Sequence[Sequence[int]],
    resamples: int,
    seed: int,
    progress: Callable[[float], object],
) -> Mapping[tuple[int, int], Mapping[str, significance.Comparison]]:
    """The tests of every two runs: by randomization, or over seeds too where one of the two has repeats."""
    single = [len(own) == 1 for own in members]
    if all(single):
        return significance.compare(systems, resamples, seed, progress=progress)
    pooled = significance.compare_repeats(
        [[systems[at] for at in own] for own in members], resamples, seed, progress=progress
    )
    alone = significance.compare([systems[own[0]] if len(own) == 1 else {} for own in members], resamples, seed)
    return {(i, j): alone[i, j] if single[i] and single[j] else of for (i, j), of in pooled.items()}


def _known(number: float) -> float | None:
    return None if np.isnan(number) else number


def _values(name: str, run: TaskRun, own: Mapping[Place, Statistic]) -> dict[Place, float]:
    """The values by the samples; of what has no statistic by the results file. Told is where they do not agree."""
    reported = {(metric, scope): estimate.value for metric, scope, estimate in flat(run.reported)}
    if unknown := sorted({metric for metric, _ in reported} - run.measures.by_name.keys()):
        logger.warning(
            f"figlang_tasks: {name}, {run.task}: its results have {_counted(unknown)}, which this version of "
            "figlang_tasks does not know; they are not compared"
        )
    values = {place: statistic.total() for place, statistic in own.items()}
    for each in run.contradictions:
        logger.warning(
            f"figlang_tasks: {name}, {run.task}: its results say {each}. Are these files of two runs, or of another "
            "version? The samples are used"
        )
    without = {name for name, measure in run.measures.by_name.items() if measure.own is not None}
    return {place: value for place, value in reported.items() if place[0] in without} | values


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
