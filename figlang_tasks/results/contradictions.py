"""Finds numbers in a results file that its samples do not give: the files are of two runs, say."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from figlang_tasks.metrics.explanation.scorers import SCORERS
from figlang_tasks.scoring import OVERALL, Estimate, Estimates, Measure, Measures, full_name
from figlang_tasks.scoring.evaluation import evaluate
from figlang_tasks.scoring.readings import count_readings

if TYPE_CHECKING:
    from figlang_tasks.results.task_run import TaskRun

ROUNDING = 1e-6
"""By how much numbers of files may differ from what they are computed from."""


def find_contradictions(task: TaskRun, metrics: Collection[str]) -> list[str]:
    """List what differs between the results file of a task and its samples.

    Args:
        metrics: names of those whose standard errors and intervals are compared too, which may take
            a second each.

    Returns:
        A text for each difference: ``acc 0.900000 (its samples: 0.500000)``.
    """
    computed = _compute_estimates(task, metrics)
    expected_metrics = _expected_metrics(task)
    contradictions: list[str] = []
    for name, measure in task.measures.by_name.items():
        reported_by_scope = task.reported.get(name, {})
        if any(math.isnan(estimate.value) for estimate in reported_by_scope.values()):
            continue  # The run has said that the computation failed.
        if measure.estimate_of is not None:
            contradictions += _find_impossible_numbers(task, measure, reported_by_scope)
            continue
        computed_by_scope = computed.get(name, {})
        for scope in _scopes(reported_by_scope, computed_by_scope, name in expected_metrics):
            contradictions += _compare_estimates(
                full_name(name, scope),
                reported_by_scope.get(scope),
                computed_by_scope.get(scope),
                with_intervals=name in metrics,
            )
    contradictions += _check_table(task, computed, metrics)
    contradictions += _check_data(task)
    contradictions += _check_scorer(task)
    contradictions += _check_readings(task)
    return contradictions


def is_possible(measure: Measure, estimate: Estimate) -> bool:
    """Whether an estimate lies in its interval, and both lie in the bounds of the measure."""
    lowest, highest = measure.bounds
    numbers = [lowest, estimate.low, estimate.value, estimate.high, highest]
    known_numbers = [number for number in numbers if number is not None]
    return all(smaller <= larger + ROUNDING for smaller, larger in pairwise(known_numbers))


# --- estimates of the samples ---


def _compute_estimates(task: TaskRun, metrics: Collection[str]) -> dict[str, dict[str, Estimate]]:
    """The estimates that the records give, by metric and scope.

    Metrics outside of `metrics` have values and numbers of rows alone.
    """
    if not task.reported and not task.table:
        return {}
    recomputable = task.measures.recomputable
    estimates: dict[str, dict[str, Estimate]] = {}
    if task.reported:
        with_intervals = [measure for measure in recomputable.all if measure.name in metrics]
        estimates.update(
            evaluate(task.records, Measures.of(*with_intervals, row_of=recomputable.row_of))
        )
    for measure in recomputable.all:
        if measure.name not in estimates:
            estimates[measure.name] = _values_by_scope(task, measure)
    return estimates


def _values_by_scope(task: TaskRun, measure: Measure) -> dict[str, Estimate]:
    """The value and the number of rows of a measure in each scope, without an interval."""
    records_by_scope = measure.records_by_scope(task.records)
    values: dict[str, Estimate] = {}
    for scope, statistic in measure.statistics_by_scope(task.records).items():
        rows = task.measures.count_rows(records_by_scope[scope])
        values[scope] = Estimate(statistic.total(), rows=rows)
    return values


def _expected_metrics(task: TaskRun) -> set[str]:
    """The metrics that the results must have if the samples give them.

    A task file may name fewer metrics than its benchmark has.
    """
    if not task.reported:
        return set()
    metric_list = task.config.get("metric_list") or ()
    metrics_of_task_file = {str(entry.get("metric")) for entry in metric_list}
    metrics_of_benchmark = {measure.name for measure in task.measures.in_table}
    if not metrics_of_task_file or metrics_of_benchmark <= metrics_of_task_file:
        return set(task.measures.by_name)
    return metrics_of_task_file


def _scopes(
    reported: Mapping[str, Estimate], computed: Mapping[str, Estimate], is_expected: bool
) -> Sequence[str]:
    """The scopes in which the reported and the computed estimates of a metric are compared."""
    if reported:
        return list(dict.fromkeys([*reported, *computed]))
    return [OVERALL] if is_expected else []


# --- what differs ---


def _compare_estimates(
    name: str, reported: Estimate | None, computed: Estimate | None, with_intervals: bool
) -> Iterator[str]:
    """How the reported estimate of a metric differs from the one that the samples give."""
    reported_value = None if reported is None else reported.value
    computed_value = None if computed is None else computed.value
    if not _is_equal(reported_value, computed_value):
        yield _difference_text(name, reported_value, computed_value)
        return  # Another value has another interval.
    if reported is None or computed is None:
        return

    if not _is_equal(reported.rows, computed.rows):
        yield f"rows of {name} {reported.rows} (its samples: {computed.rows})"
    if not with_intervals:
        return
    has_equal_limits = _is_equal(reported.low, computed.low) and _is_equal(
        reported.high, computed.high
    )
    if not has_equal_limits:
        yield (
            f"interval of {name} {_interval_text(reported)} (its samples:"
            f" {_interval_text(computed)})"
        )
    if not _is_equal(reported.stderr, computed.stderr):
        yield _difference_text(f"standard error of {name}", reported.stderr, computed.stderr)


def _find_impossible_numbers(
    task: TaskRun, measure: Measure, reported: Mapping[str, Estimate]
) -> Iterator[str]:
    """What cannot be true of a metric that records alone do not give (METEOR, FID)."""
    records_by_scope = measure.records_by_scope(task.records)
    for scope, estimate in reported.items():
        name = full_name(measure.name, scope)
        rows = task.measures.count_rows(records_by_scope.get(scope, []))
        if estimate.rows is not None and estimate.rows != rows:
            yield f"rows of {name} {estimate.rows} (its samples: {rows})"
        if not is_possible(measure, estimate):
            lowest, highest = measure.bounds
            yield (
                f"{name} {estimate.value:.6f} {_interval_text(estimate)} (must be {lowest:g} to"
                f" {highest:g} and in its interval)"
            )


def _check_table(task: TaskRun, computed: Estimates, metrics: Collection[str]) -> Iterator[str]:
    """What differs in the harness's own table: values of all rows, and their standard errors.

    A number that is not computed here must be that of the other place in the results file.
    """
    for key, number in task.table.items():
        column, _, _ = key.rpartition(",")
        metric = column.removesuffix("_stderr")
        measure = task.measures.by_name.get(metric)
        if measure is None or not isinstance(number, int | float) or math.isnan(number):
            continue
        is_stderr = column.endswith("_stderr")
        reported = task.reported.get(metric, {}).get(OVERALL)
        if is_stderr and reported is None:
            continue  # lm-eval reports nothing else, and has a method of its own.

        if measure.estimate_of is None and (metric in metrics or not is_stderr):
            expected = computed.get(metric, {}).get(OVERALL)
        else:
            expected = reported
        if is_stderr:
            name = f"standard error of {metric} in the table"
            expected_number = None if expected is None else expected.stderr
        elif expected is not None:
            name = f"{metric} in the table"
            expected_number = expected.value
        else:
            continue
        if not _is_equal(number, expected_number):
            yield _difference_text(name, number, expected_number)


def _check_data(task: TaskRun) -> Iterator[str]:
    """Whether the results name the data that the records are of."""
    data = task.metadata.get("data")
    if data is not None and str(task.data) not in str(data).split(", "):
        yield f"data {data} (its samples: {task.data})"


def _check_scorer(task: TaskRun) -> Iterator[str]:
    """Whether the results name the scorer of the records' explanations, and they have its scores.

    Rows without any explanation have no scores, whatever the scorer of the run was.
    """
    signature = task.metadata.get("explanation_scorer")
    if task.scorer is None or (signature is None and not task.reported):
        return
    reported_scorer = "none"
    if signature is not None:
        reported_scorer = signature.partition("|")[0].partition(" (")[0]
    if reported_scorer != task.scorer:
        yield f"explanation scorer {reported_scorer} (its samples: {task.scorer})"
        return
    if task.scorer not in SCORERS:
        return

    has_bleurt = SCORERS[task.scorer].bleurt is not None
    for record in task.records:
        scores = record.get("explanation_scores") or {}
        if "bertscore" in scores and ("bleurt" in scores) != has_bleurt:
            metrics = "BERTScore and BLEURT" if "bleurt" in scores else "BERTScore alone"
            yield f"explanation scorer {task.scorer} (its samples: {metrics} in row {record['id']})"
            return


def _check_readings(task: TaskRun) -> Iterator[str]:
    """Whether the results count the answers as read, or left, as the records do."""
    reported_readings = task.metadata.get("readings")
    readings = count_readings(task.records)
    if reported_readings is None or readings is None:
        return
    for key, counts in readings.items():
        reported_counts = reported_readings.get(key)
        if reported_counts != counts:
            yield f"readings, {key}: {reported_counts} (its samples: {counts})"


# --- numbers as texts ---


def _is_equal(number: float | None, other: float | None) -> bool:
    """Whether two numbers are equal but for rounding, or both unknown."""
    if number is None or other is None:
        return number is other
    return math.isclose(number, other, rel_tol=0, abs_tol=ROUNDING)


def _difference_text(name: str, reported: float | None, computed: float | None) -> str:
    return f"{name} {_number_text(reported)} (its samples: {_number_text(computed)})"


def _number_text(number: float | None) -> str:
    return "none" if number is None else f"{number:.6f}"


def _interval_text(estimate: Estimate) -> str:
    if estimate.low is None and estimate.high is None:
        return "none"
    return f"[{_number_text(estimate.low)}, {_number_text(estimate.high)}]"
