"""Differences between runs, with paired tests; what ``figlang compare`` prints and the report's matrix shows."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from loguru import logger

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import listing
from figlang_tasks.metrics import significance
from figlang_tasks.metrics.intervals import DEFAULT_SEED
from figlang_tasks.metrics.significance import Statistic, holm
from figlang_tasks.results import measures
from figlang_tasks.results.runs import Run, TaskRun, by_repeat
from figlang_tasks.scoring import OVERALL, Estimate, Measure, flat, full_name
from figlang_tasks.scoring.explained import MEAN_SCORE, SCHEMES
from figlang_tasks.scoring.measure import unit_of

OF_EXPLANATIONS = {threshold.name for scheme in SCHEMES.values() for threshold in scheme.thresholds} | {MEAN_SCORE}

_OF_A_TEST = ("low", "high", "p_randomization", "p_repeats", "p_bootstrap", "smallest")

Place: TypeAlias = tuple[str, str]
"""Name of a measure, and scope."""

Sides: TypeAlias = Mapping[str, Sequence[TaskRun]]
"""The runs of a task by name; several of one name are repeats."""


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
        value_first, value_second: the metric, on its own scale (0 to 1 for shares); of repeats the mean.
        difference: ``value_second - value_first``.
        low, high: 95 % interval of the difference, by the paired bootstrap; None without a test, and where too few rows
            carry the metric.
        p_randomization: two-sided, of approximate randomization; None without a test: of diagnostics, and of metrics
            that are no function of sums over rows (METEOR, FID, average precision).
        p_holm: the same, adjusted for all tests of the call.
        p_bootstrap: one-sided, of the paired bootstrap, for a comparison with V-FLUTE's paper alone: it calls equal
            systems different too often.
        n_first, n_second: rows of the benchmark in the value; None where unknown, or where repeats differ in them.
        p_repeats: in place of p_randomization where a run has repeats, two-sided, of the hierarchical bootstrap.
        repeats_first, repeats_second: how many runs each value is the mean of.
        sd_first, sd_second: standard deviation of these runs; None of one.
        smallest: the smallest true difference that these rows show in four of five samples; None without a test, and
            where the runs disagree too little to say (``figlang_tasks.metrics.significance.smallest_difference``).
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
    def rows_text(self) -> str:
        """How many rows there are, ``76``, or ``12 / 15`` if the runs differ; "" if unknown."""
        return " / ".join(dict.fromkeys(str(n) for n in (self.n_first, self.n_second) if n is not None))

    @property
    def values(self) -> tuple[float, float]:
        """The values of both runs."""
        return self.value_first, self.value_second

    @property
    def p(self) -> float | None:
        """The two-sided p, before adjustment; None without a test."""
        return self.p_randomization if self.p_repeats is None else self.p_repeats


def compare(
    runs: Sequence[Run],
    metrics: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    overall: bool = False,
    resamples: int = 10_000,
    seed: int = DEFAULT_SEED,
    *,
    every: bool = False,
) -> list[Difference]:
    """The differences of every two runs on every task that they share; arguments as of `figlang_tasks.compare`.

    Runs of one task each, on the same data, are compared across tasks too (zero-shot with hypothesis only, say).
    """
    if len({run.name for run in runs}) < 2:
        raise ComparisonError("only one run: give at least two to compare")
    runs = [each for run in runs for each in by_repeat(run)]
    shared = _shared(runs, tasks)
    for task, sides in shared.items():
        _check_comparable(task, sides, Counter(run.name for run in runs))
    there = [run for sides in shared.values() for own in sides.values() for run in own]
    known = {name for run in there for place in _values(run) for name in (place[0], full_name(*place))}
    if unknown := [name for name in metrics or () if name not in known]:
        raise ComparisonError(f"no metric {unknown[0]!r} in these runs; there are: {', '.join(sorted(known))}")

    def is_chosen(place: Place, main: str, measure: Measure) -> bool:
        return chosen(place, main, measure, metrics, overall, every)

    return adjusted(
        [each for task, sides in shared.items() for each in _compare_task(task, sides, is_chosen, resamples, seed)]
    )


def chosen(
    place: Place, main: str, measure: Measure, metrics: Sequence[str] | None, overall: bool, every: bool
) -> bool:
    """Whether a call compares a measure in a scope; `main` is the headline metric of the task, the rest of `compare`.

    Scopes that repeat one evaluation (folds, instructions) are compared where they are named alone.
    """
    (metric, scope), name = place, full_name(*place)
    left_out = scope != OVERALL and (overall or measure.averaged)
    if metrics is not None:
        return name in metrics or (metric in metrics and not left_out)
    return not measure.diagnostic and not left_out if every else name == main


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


# --- what can be compared ---


def _shared(runs: Sequence[Run], tasks: Sequence[str] | None) -> dict[str, Sides]:
    """By task the runs that have it, of each task that two names share."""
    by_task: dict[str, dict[str, list[TaskRun]]] = {}
    for run in runs:
        for task, own in run.tasks.items():
            by_task.setdefault(task, {}).setdefault(run.name, []).append(own)
    shared = {task: sides for task, sides in by_task.items() if len(sides) > 1}
    if not shared and all(len(run.tasks) == 1 for run in runs) and len({_only(run).data for run in runs}) == 1:
        by_name = {run.name: [_only(each) for each in runs if each.name == run.name] for run in runs}
        shared, by_task = {" / ".join(dict.fromkeys(_only(run).task for run in runs)): by_name}, {}
    if not shared:
        of_runs = (f"{own.task} on {own.data} in {run.name}" for run in runs for own in run.tasks.values())
        raise ComparisonError(
            f"no two of the runs share a task ({listing(of_runs)}), nor are they of one task each on the same data"
        )
    if unknown := [task for task in tasks or () if task not in shared]:
        raise ComparisonError(
            f"no two of the runs share the task {unknown[0]}; they share: {', '.join(sorted(shared))}"
        )
    if alone := sorted(by_task.keys() - shared.keys()):
        logger.warning(f"figlang_tasks: {len(alone)} tasks in one run only, not compared: {listing(alone, 50)}")
    return {task: sides for task, sides in shared.items() if not tasks or task in tasks}


def _only(run: Run) -> TaskRun:
    return next(iter(run.tasks.values()))


def _check_comparable(task: str, sides: Sides, repeats: Mapping[str, int]) -> None:
    named: list[tuple[str, TaskRun]] = []
    for name, own in sides.items():
        if len(own) < repeats[name]:
            raise ComparisonError(
                f"{task}: {len(own)} of the {repeats[name]} repeats of {name} have it: evaluate it with all of them, "
                "or name other tasks (--task)"
            )
        named += [(name if len(own) == 1 else f"{name} ({run.path})", run) for run in own]
    (first_name, first), *others = named
    for name, other in others:
        _check_rows(task, first_name, first, name, other)
        if first.task != other.task:
            continue
        versions = {run.version.partition("-")[0] for run in (first, other) if run.version is not None}
        if len(versions) > 1:
            raise ComparisonError(
                f"{task}: {first_name} is of task version {first.version}, {name} of {other.version}, whose scores are "
                f"not comparable: evaluate one again (figlang_replay scores saved outputs again without the model)"
            )
        if len({run.metadata.get("prompt_hash") for run in (first, other)} - {None}) > 1:
            logger.warning(f"figlang_tasks: {task}: {first_name} and {name} used different prompts")


def _check_rows(task: str, first_name: str, first: TaskRun, name: str, other: TaskRun) -> None:
    if first.data != other.data:
        raise ComparisonError(
            f"{task}: {first_name} was evaluated on {first.data}, {name} on {other.data}: evaluate both on one version"
        )
    units, others = ({record["id"]: unit_of(record) for record in run.records} for run in (first, other))
    only = {first_name: sorted(units.keys() - others.keys()), name: sorted(others.keys() - units.keys())}
    if any(only.values()):
        told = "; ".join(f"only in {of}: {len(ids)} ({listing(ids)})" for of, ids in only.items() if ids)
        raise ComparisonError(
            f"{task}: {first_name} and {name} were not evaluated on the same rows; {told}. Evaluate both on the same "
            "rows (was one run with --limit?)"
        )
    if apart := sorted(row for row, unit in units.items() if others[row] != unit):
        raise ComparisonError(
            f"{task}: {first_name} and {name} differ in which rows belong together (`unit` of {len(apart)}: "
            f"{listing(apart)}), so they cannot be paired: evaluate one again (figlang_replay scores saved outputs "
            "again without the model)"
        )


def _check_scorers(task: str, sides: Sides) -> None:
    """Explanation scores of different scorers, or of some runs alone, make no comparison."""
    explained = [(name, run) for name, own in sides.items() for run in own if run.explained]
    signatures = {run.signature for _, run in explained} - {None}  # a lone samples file has none
    if len({run.scorer for _, run in explained}) > 1 or len(signatures) > 1:
        found = "; ".join(f"{name}: {run.signature or run.scorer or 'no scores'}" for name, run in explained)
        raise ComparisonError(
            f"{task}: the explanations have different scorers ({found}). Score all with one scorer (figlang score "
            "--scorer), or compare labels alone (--metric acc)"
        )


# --- one task ---


def _values(run: TaskRun) -> dict[Place, Estimate]:
    """The estimates of a run that have a value."""
    return {(metric, scope): each for metric, scope, each in flat(run.estimates) if np.isfinite(each.value)}


def _compare_task(
    task: str,
    sides: Sides,
    is_chosen: Callable[[Place, str, Measure], bool],
    resamples: int,
    seed: int,
) -> list[Difference]:
    declared = {measure.name: measure for own in sides.values() for run in own for measure in run.measures.all}
    values = {name: [_values(run) for run in own] for name, own in sides.items()}
    places = list(dict.fromkeys(itertools.chain(*itertools.chain(*values.values()))))
    heads, scopes = list(declared), list(dict.fromkeys(scope for _, scope in places))
    places.sort(key=lambda place: (heads.index(place[0]), scopes.index(place[1])))
    main = measures.headline(metric for metric, scope in places if scope == OVERALL)
    compared = [place for place in places if is_chosen(place, main, declared[place[0]])]
    if any(metric in OF_EXPLANATIONS for metric, _ in compared):
        _check_scorers(task, sides)
    tests = _tests(
        [[run.statistics for run in own] for own in sides.values()],
        [place for place in compared if not declared[place[0]].diagnostic],
        resamples,
        seed,
    )
    found = []
    for (i, first), (j, second) in itertools.combinations(enumerate(values), 2):
        for place in compared:
            pair = [[own.get(place) for own in values[name]] for name in (first, second)]
            known = [[each for each in own if each is not None] for own in pair]
            if known == pair:
                found.append(_difference(task, place, (first, second), known, tests[i, j].get(full_name(*place))))
    return found


def _difference(
    task: str,
    place: Place,
    names: tuple[str, str],
    pair: Sequence[Sequence[Estimate]],
    test: significance.Comparison | None,
) -> Difference:
    """The difference of two runs, each given by the estimates of its repeats."""
    numbers = [[each.value for each in own] for own in pair]
    first, second = (float(np.mean(own)) for own in numbers)
    counts = [{each.rows for each in own} for own in pair]
    n_first, n_second = (own.pop() if len(own) == 1 else None for own in counts)
    sd_first, sd_second = (float(np.std(own, ddof=1)) if len(own) > 1 else None for own in numbers)
    numbers_of_test = {name: getattr(test, name) for name in _OF_A_TEST} if test is not None else {}
    tested: dict[str, Any] = {name: None if np.isnan(each) else each for name, each in numbers_of_test.items()}
    return Difference(
        task,
        full_name(*place),
        *place,
        *names,
        value_first=first,
        value_second=second,
        difference=second - first,
        n_first=n_first,
        n_second=n_second,
        repeats_first=len(numbers[0]),
        repeats_second=len(numbers[1]),
        sd_first=sd_first,
        sd_second=sd_second,
        **tested,
    )


def _tests(
    statistics: Sequence[Sequence[Mapping[Place, Statistic]]],
    tested: Sequence[Place],
    resamples: int,
    seed: int,
) -> Mapping[tuple[int, int], Mapping[str, significance.Comparison]]:
    """The tests of every two runs: by randomization, or over seeds too where one of the two has repeats.

    Where a metric counts some rows only, depending on the answers (failures, say), rows that it leaves out add nothing
    to its sums.
    """
    systems: list[list[dict[str, Statistic]]] = [[{} for _ in own] for own in statistics]
    for place in tested:
        units = sorted({unit for own in statistics for run in own if place in run for unit in run[place].units})
        for side, own in zip(systems, statistics, strict=True):
            for system, run in zip(side, own, strict=True):
                if place in run:
                    system[full_name(*place)] = _extended(run[place], units)
    single = significance.compare([own[0] if len(own) == 1 else {} for own in systems], resamples, seed)
    if all(len(own) == 1 for own in systems):
        return single
    pooled = significance.compare_repeats(systems, resamples, seed)
    return {(i, j): single[i, j] if len(systems[i]) == len(systems[j]) == 1 else of for (i, j), of in pooled.items()}


def _extended(statistic: Statistic, units: Sequence[str]) -> Statistic:
    """The statistic with a row of zeros for each unit that it lacks."""
    zeros = np.zeros((len(units), statistic.rows.shape[1]))
    return Statistic((*statistic.units, *units), np.concatenate([statistic.rows, zeros]), statistic.value)
