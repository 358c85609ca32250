"""Statistics of runs for paired tests, also of runs with several answers to a row."""

from __future__ import annotations

import math
from collections.abc import Sequence

from figlang_tasks.core.text import listing
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.results.comparability import ComparisonError, RunsByName
from figlang_tasks.results.measures import MetricScope
from figlang_tasks.results.task_run import TaskRun
from figlang_tasks.scoring import OVERALL, Measure, Record
from figlang_tasks.scoring.records import REPEAT, by_repeat

MOST_ANSWERS = 1000
"""Answers to a row up to which runs with different numbers of answers are compared."""


def paired_statistics(
    task: str, runs_by_name: RunsByName, metric_scopes: Sequence[MetricScope]
) -> list[list[dict[str, Statistic]]]:
    """The statistics to test: for each name, for each of its runs, a statistic by metric name.

    Runs with fewer answers to a row than others are counted several times, so that all have equally
    many: a test swaps sums over answers. All answers of a run to a unit are in one row of a
    statistic, so a test resamples and swaps them together.

    Raises:
        ComparisonError: the numbers of answers have no common multiple up to `MOST_ANSWERS`.
    """
    counts_by_name: dict[str, list[int]] = {}  # the answers to a row, for each run of the name
    answer_counts: set[int] = set()
    for name, runs in runs_by_name.items():
        counts_by_name[name] = [answers_per_row(task, name, run) for run in runs]
        answer_counts.update(counts_by_name[name])

    common_count = math.lcm(*answer_counts)
    if common_count > MOST_ANSWERS:
        raise ComparisonError(
            f"{task}: the runs have {listing(sorted(answer_counts))} answers to each row, which"
            f" have no common multiple up to {MOST_ANSWERS}: evaluate again with equally many"
            " (--repeats)"
        )
    statistics: list[list[dict[str, Statistic]]] = []
    for name, runs in runs_by_name.items():
        statistics_of_repeats: list[dict[str, Statistic]] = []
        for run, answer_count in zip(runs, counts_by_name[name], strict=True):
            copies = common_count // answer_count  # has no rest: it is a multiple of all counts
            statistics_of_repeats.append(_statistics_by_name(run, copies, metric_scopes))
        statistics.append(statistics_of_repeats)
    return statistics


def answers_per_row(task: str, name: str, run: TaskRun) -> int:
    """The number of answers that a run has to each row (``--repeats``).

    Raises:
        ComparisonError: some rows have fewer answers than others; names the task and the run.
    """
    answers_by_repeat = by_repeat(run.records)  # the first answers to all rows, the second, ...
    rows = len(set(run.ids))
    if any(len(answers) < rows for answers in answers_by_repeat):
        raise ComparisonError(
            f"{task}: {name} has up to {len(answers_by_repeat)} answers to a row, but"
            f" {len(run.records)} to {rows} rows: some have fewer than others. Restore the file"
            f" that the harness wrote ({run.path}), or evaluate again"
        )
    return len(answers_by_repeat)


def _statistics_by_name(
    run: TaskRun, copies: int, metric_scopes: Sequence[MetricScope]
) -> dict[str, Statistic]:
    """The statistics of a run by metric name, as if each answer had been given `copies` times.

    Copies change no value, since each is a mean over answers. A metric that the run has no
    statistic of (METEOR, FID) is left out.
    """
    records = run.records if copies == 1 else _copy_records(run.records, copies)
    scopes_by_metric: dict[str, list[str]] = {}
    for metric, scope in metric_scopes:
        scopes_by_metric.setdefault(metric, []).append(scope)

    statistics: dict[MetricScope, Statistic] = {}
    for metric, scopes in scopes_by_metric.items():
        measure = run.measures.by_name.get(metric)
        if measure is None:  # only the other task has it, in a comparison across tasks
            continue
        with run.reporting_damage():
            for scope, statistic in _statistics_by_scope(measure, records, scopes).items():
                statistics[MetricScope(metric, scope)] = statistic
    statistics_by_name: dict[str, Statistic] = {}
    for metric_scope in metric_scopes:
        if metric_scope in statistics:
            statistics_by_name[metric_scope.name] = statistics[metric_scope]
    return statistics_by_name


def _statistics_by_scope(
    measure: Measure, records: Sequence[Record], scopes: Sequence[str]
) -> dict[str, Statistic]:
    """The statistics of a measure by scope: of all rows alone if no other scope is asked for."""
    if set(scopes) != {OVERALL}:
        return measure.statistics_by_scope(records)
    statistic = measure.overall_statistic(records)
    return {} if statistic is None else {OVERALL: statistic}


def _copy_records(records: Sequence[Record], copies: int) -> list[Record]:
    """The records, `copies` times; answers 1 and 2 to a row become 3 and 4 in the second copy."""
    last_number = max(record.get(REPEAT, 1) for record in records)
    copied: list[Record] = []
    for copy in range(copies):
        for record in records:
            number = record.get(REPEAT, 1) + copy * last_number
            copied.append({**record, REPEAT: number})
    return copied
