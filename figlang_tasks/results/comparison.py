"""Differences between runs, with paired tests; what ``figlang compare`` prints and the report's
matrix shows.
"""

from __future__ import annotations

import itertools
import math
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
from figlang_tasks.results.task_run import SCORE_AGAIN, Run, TaskRun, outputs
from figlang_tasks.scoring import OVERALL, Estimate, Measure, Record, flat, full_name
from figlang_tasks.scoring.measure import REPEAT, by_repeat, unit_of

MOST_ANSWERS = 1000
"""Answers to a row up to which runs are compared that have different numbers of them."""

_OF_A_TEST = ("low", "high", "p_randomization", "p_repeats", "smallest")

Place: TypeAlias = tuple[str, str]  # name of a measure, and scope
# The runs of a task by name; several of one name are repeats
Sides: TypeAlias = Mapping[str, Sequence[TaskRun]]


class ComparisonError(FigLangError):
    """Runs cannot be compared; the message says why and what to do."""


@dataclass(frozen=True)
class Difference:
    """A candidate run minus a baseline run, by one metric of one task.

    Attributes:
        task: its name; across tasks the names of both: ``vflute / vflute_blind``.
        name: the metric with its scope: ``f1@0_muse``.
        scope: ``all`` for all rows.
        baseline: the name of the run that was given earlier.
        candidate: the name of the run that was given later.
        baseline_value: on the scale of the metric; the mean over repeats, and over several answers
            to a row.
        difference: the candidate's value minus the baseline's.
        low, high: the 95 % interval of the difference. Like each p, None without a test, or with
            too few rows.
        p_randomization: two-sided; None where a run has repeats.
        p_holm: `p`, adjusted for all tests of the call.
        baseline_rows: rows of the benchmark in the value; None if unknown, or if repeats differ.
        smallest: the smallest true difference that these rows can show
            (`figlang_tasks.metrics.significance.smallest_difference`).
        p_repeats: two-sided, in place of `p_randomization` where a run has repeats.
        baseline_repeats: runs of that name; several answers to a row (``--repeats``) are one run.
        baseline_sd: the standard deviation over repeats; None for one run.
    """

    task: str
    name: str
    metric: str
    scope: str
    baseline: str
    candidate: str
    baseline_value: float
    candidate_value: float
    difference: float
    low: float | None = None
    high: float | None = None
    p_randomization: float | None = None
    p_holm: float | None = None
    baseline_rows: int | None = None
    candidate_rows: int | None = None
    smallest: float | None = None
    p_repeats: float | None = None
    baseline_repeats: int = 1
    candidate_repeats: int = 1
    baseline_sd: float | None = None
    candidate_sd: float | None = None

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
    """The differences of every two runs on every task that they share; arguments as of
    `figlang_tasks.compare`.

    Runs of one task each, on the same data, are compared across tasks too (zero-shot with
    hypothesis only, say).
    """
    if len({run.name for run in runs}) < 2:
        raise ComparisonError("only one run: give at least two to compare")
    shared = _shared(runs, tasks)
    for task, sides in shared.items():
        _check_comparable(task, sides, Counter(run.name for run in runs))
    there = [run for sides in shared.values() for own in sides.values() for run in own]
    known = {
        name for run in there for place in _values(run) for name in (place[0], full_name(*place))
    }
    if unknown := [name for name in metrics or () if name not in known]:
        raise ComparisonError(
            f"no metric {unknown[0]!r} in these runs; there are: {', '.join(sorted(known))}"
        )

    def is_chosen(place: Place, main: str, measure: Measure) -> bool:
        (metric, scope), name = place, full_name(*place)
        # Scopes that repeat one evaluation (folds, instructions) are compared where they are named
        # alone.
        left_out = scope != OVERALL and (overall or measure.averaged)
        if metrics is not None:
            return name in metrics or (metric in metrics and not left_out)
        return not measure.is_diagnostic and not left_out if every else name == main

    return adjust_p_values(
        [
            each
            for task, sides in shared.items()
            for each in _compare_task(task, sides, is_chosen, resamples, seed)
        ]
    )


def adjust_p_values(found: Sequence[Difference]) -> list[Difference]:
    """The differences with their p adjusted by Holm's method for all tests among them."""
    p_holm = iter(holm([each.p for each in found if each.p is not None]))
    return [each if each.p is None else replace(each, p_holm=next(p_holm)) for each in found]


# --- what can be compared ---


def _shared(runs: Sequence[Run], tasks: Sequence[str] | None) -> dict[str, Sides]:
    """By task the runs that have it, of each task that two names share."""
    by_task: dict[str, dict[str, list[TaskRun]]] = {}
    for run in runs:
        for task, own in run.tasks.items():
            by_task.setdefault(task, {}).setdefault(run.name, []).append(own)
    shared = {task: sides for task, sides in by_task.items() if len(sides) > 1}
    if (
        not shared
        and all(len(run.tasks) == 1 for run in runs)
        and len({_only(run).data for run in runs}) == 1
    ):
        by_name = {
            run.name: [_only(each) for each in runs if each.name == run.name] for run in runs
        }
        shared, by_task = {" / ".join(dict.fromkeys(_only(run).task for run in runs)): by_name}, {}
    if not shared:
        of_runs = (
            f"{own.task} on {own.data} in {run.name}" for run in runs for own in run.tasks.values()
        )
        raise ComparisonError(
            f"no two of the runs share a task ({listing(of_runs)}), nor are they of one task each"
            " on the same data"
        )
    if alone := sorted(by_task.keys() - shared.keys()):
        logger.warning(f"figlang_tasks: in one run only, not compared: {listing(alone)}")
    if unknown := [task for task in tasks or () if task not in shared]:
        raise ComparisonError(
            f"no two of the runs share the task {unknown[0]}; they share:"
            f" {', '.join(sorted(shared))}"
        )
    return {task: sides for task, sides in shared.items() if not tasks or task in tasks}


def _only(run: Run) -> TaskRun:
    return next(iter(run.tasks.values()))


def _check_comparable(task: str, sides: Sides, repeats: Mapping[str, int]) -> None:
    named: list[tuple[str, TaskRun]] = []
    for name, own in sides.items():
        if len(own) < repeats[name]:
            raise ComparisonError(
                f"{task}: {len(own)} of the {repeats[name]} repeats of {name} have it: evaluate it"
                " with all of them, or name other tasks (--task)"
            )
        if len(
            {str([(line["sample"]["id"], outputs(line)) for line in run.samples]) for run in own}
        ) < len(own):
            logger.warning(
                f"figlang_tasks: {task}: repeats of {name} have equal answers in all rows: leave"
                " out copies (figlang score writes one), with which the interval is too narrow"
            )
        named += [(name if len(own) == 1 else f"{name} ({run.path})", run) for run in own]
    (first_name, first), *others = named
    for name, other in others:
        check_same_rows(task, first_name, first, name, other)
        if first.task != other.task:
            continue
        versions = {
            run.version.partition("-")[0] for run in (first, other) if run.version is not None
        }
        if len(versions) > 1:
            raise ComparisonError(
                f"{task}: {first_name} is of task version {first.version}, {name} of"
                f" {other.version}, whose scores are not comparable: {SCORE_AGAIN}"
            )
        if len({run.metadata.get("prompt_hash") for run in (first, other)} - {None}) > 1:
            logger.warning(f"figlang_tasks: {task}: {first_name} and {name} used different prompts")


def check_same_rows(task: str, first_name: str, first: TaskRun, name: str, other: TaskRun) -> None:
    """Check that two runs are of the same rows of the same data; the error begins with `task`."""
    if first.data != other.data:
        raise ComparisonError(
            f"{task}: {first_name} was evaluated on {first.data}, {name} on {other.data}: evaluate"
            " both on one version"
        )
    # With the units, by which rows are paired.
    rows, others = (
        {(record["id"], unit_of(record)) for record in run.records} for run in (first, other)
    )
    told = [
        f"only in {of}: {len(found)} ({listing(sorted(row for row, _ in found))})"
        for of, found in ((first_name, rows - others), (name, others - rows))
        if found
    ]
    if told:
        raise ComparisonError(
            f"{task}: {first_name} and {name} were not evaluated on the same rows;"
            f" {'; '.join(told)}. Evaluate both on the same rows (was one with --limit?)"
        )


def check_same_scorer(task: str, sides: Sides) -> None:
    """Explanation scores of different scorers, or of some runs alone, make no comparison."""
    explained = [(name, run) for name, own in sides.items() for run in own if run.has_explanations]
    signatures = {run.signature for _, run in explained} - {None}  # a lone samples file has none
    if len({run.scorer for _, run in explained}) > 1 or len(signatures) > 1:
        found = "; ".join(
            f"{name}: {run.signature or run.scorer or 'no scores'}" for name, run in explained
        )
        raise ComparisonError(
            f"{task}: the explanations have different scorers ({found}). Score all with one scorer"
            " (figlang score --scorer), or compare labels alone (figlang compare --metric acc)"
        )


# --- one task ---


def _values(run: TaskRun) -> dict[Place, Estimate]:
    """The estimates of a run that have a value."""
    return {
        (metric, scope): each
        for metric, scope, each in flat(run.estimates)
        if np.isfinite(each.value)
    }


def _compare_task(
    task: str,
    sides: Sides,
    is_chosen: Callable[[Place, str, Measure], bool],
    resamples: int,
    seed: int,
) -> list[Difference]:
    declared = {
        measure.name: measure
        for own in sides.values()
        for run in own
        for measure in run.measures.all
    }
    values = {name: [_values(run) for run in own] for name, own in sides.items()}
    places = list(dict.fromkeys(itertools.chain(*itertools.chain(*values.values()))))
    heads, scopes = list(declared), list(dict.fromkeys(scope for _, scope in places))
    places.sort(key=lambda place: (heads.index(place[0]), scopes.index(place[1])))
    main = measures.headline_metric(
        (metric for metric, scope in places if scope == OVERALL), declared
    )
    compared = [place for place in places if is_chosen(place, main, declared[place[0]])]
    of_explanations = {
        metric for runs in sides.values() for run in runs for metric in run.metrics_of_explanations
    }
    if any(metric in of_explanations for metric, _ in compared):
        check_same_scorer(task, sides)
    tested = [place for place in compared if not declared[place[0]].is_diagnostic]
    tests = significance.compare_any(_statistics(task, sides, tested), resamples, seed)
    found = []
    for (i, first), (j, second) in itertools.combinations(enumerate(values), 2):
        for place in compared:
            pair = [[own.get(place) for own in values[name]] for name in (first, second)]
            known = [[each for each in own if each is not None] for own in pair]
            if known == pair:
                found.append(
                    _difference(
                        task, place, (first, second), known, tests[i, j].get(full_name(*place))
                    )
                )
    return found


def answers_per_row(task: str, name: str, run: TaskRun) -> int:
    """The number of answers that a run has to each row (``--repeats``); errors name the task and
    the run.
    """
    answers = by_repeat(run.records)
    rows = len(set(run.ids))
    if any(len(records) < rows for records in answers):
        raise ComparisonError(
            f"{task}: {name} has up to {len(answers)} answers to a row, but {len(run.records)} to"
            f" {rows} rows: some have fewer than others. Restore the file that the harness wrote"
            f" ({run.path}), or {SCORE_AGAIN}"
        )
    return len(answers)


def _statistics(
    task: str, sides: Sides, places: Sequence[Place]
) -> list[list[dict[str, Statistic]]]:
    """The statistics of each run of each name, by full name of the metric, as if all had equally
    many answers to a row.

    All answers of a run to a unit are in one row of a statistic, so a test resamples and swaps them
    together.
    """
    answers = {
        name: [answers_per_row(task, name, run) for run in runs] for name, runs in sides.items()
    }
    numbers = sorted(set(itertools.chain.from_iterable(answers.values())))
    common = math.lcm(*numbers)
    if common > MOST_ANSWERS:
        raise ComparisonError(
            f"{task}: the runs have {listing(numbers)} answers to each row, which have no common"
            f" multiple up to {MOST_ANSWERS}: evaluate again with equally many (--repeats)"
        )
    statistics = []
    for name, runs in sides.items():
        statistics.append(
            [
                _statistics_of_copies(run, common // number, places)
                for run, number in zip(runs, answers[name], strict=True)
            ]
        )
    return statistics


def _statistics_of_copies(
    run: TaskRun, copies: int, places: Sequence[Place]
) -> dict[str, Statistic]:
    """The statistics of a run, by full name of the metric, as if each answer had been given
    `copies` times.

    That changes no value, which is a mean over answers.
    """
    statistics = run.statistics
    if copies > 1:
        records = _copied(run.records, copies)
        names = dict.fromkeys(metric for metric, _ in places)
        statistics = {
            (name, scope): statistic
            for name in names
            for scope, statistic in run.measures.by_name[name].statistics_by_scope(records).items()
        }
    return {full_name(*place): statistics[place] for place in places if place in statistics}


def _copied(records: Sequence[Record], copies: int) -> list[Record]:
    """The records, `copies` times, with new numbers of the answers to a row."""
    last_answer = max(record.get(REPEAT, 1) for record in records)
    copied: list[Record] = []
    for copy in range(copies):
        copied += [
            {**record, REPEAT: record.get(REPEAT, 1) + copy * last_answer} for record in records
        ]
    return copied


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
    baseline_rows, candidate_rows = (own.pop() if len(own) == 1 else None for own in counts)
    baseline_sd, candidate_sd = (
        float(np.std(own, ddof=1)) if len(own) > 1 else None for own in numbers
    )
    numbers_of_test = {name: getattr(test, name) for name in _OF_A_TEST} if test is not None else {}
    tested: dict[str, Any] = {
        name: None if np.isnan(each) else each for name, each in numbers_of_test.items()
    }
    return Difference(
        task,
        full_name(*place),
        *place,
        *names,
        baseline_value=first,
        candidate_value=second,
        difference=second - first,
        baseline_rows=baseline_rows,
        candidate_rows=candidate_rows,
        baseline_repeats=len(numbers[0]),
        candidate_repeats=len(numbers[1]),
        baseline_sd=baseline_sd,
        candidate_sd=candidate_sd,
        **tested,
    )
