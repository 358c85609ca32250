"""Finds numbers in a results file that its samples do not give: the files are of two runs, say."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from figlang_tasks.metrics.explanation.scorers import SCORERS
from figlang_tasks.scoring import OVERALL, Estimate, Estimates, Measure, Measures, full_name
from figlang_tasks.scoring.evaluation import RecordsByScope, evaluate
from figlang_tasks.scoring.readings import count_readings

if TYPE_CHECKING:
    from figlang_tasks.results.task_run import TaskRun

ROUNDING = 1e-6
"""By how much numbers of files may differ from what they are computed from."""


def find_contradictions(task: TaskRun, fully_compared_metrics: Collection[str]) -> list[str]:
    """Texts about all that differs between the results file of a task and its samples.

    ``acc 0.900000 (its samples: 0.500000)``, for example. The list is empty if all agrees.

    Args:
        fully_compared_metrics: names of the metrics whose standard errors and intervals are
            compared too, which may take a second each. Of other metrics only values and numbers
            of rows are compared.
    """
    computed = _compute_estimates(task, fully_compared_metrics)
    return [
        *_check_estimates(task, computed, fully_compared_metrics),
        *_check_table(task, computed, fully_compared_metrics),
        *_check_data(task),
        *_check_scorer(task),
        *_check_readings(task),
    ]


def is_possible(measure: Measure, estimate: Estimate) -> bool:
    """Whether a value lies in its interval (if known), and both in the bounds of the measure."""
    lowest, highest = measure.bounds
    numbers = [lowest, estimate.low, estimate.value, estimate.high, highest]
    known_numbers = [number for number in numbers if number is not None]
    return all(smaller <= larger + ROUNDING for smaller, larger in pairwise(known_numbers))


# --- estimates of the samples ---


def _compute_estimates(
    task: TaskRun, fully_compared_metrics: Collection[str]
) -> dict[str, dict[str, Estimate]]:
    """The estimates that the records give, by metric and scope; {} if no results file has values.

    Args:
        fully_compared_metrics: those with intervals and standard errors too, if the results file
            has our estimates. All other metrics have values and numbers of rows alone.
    """
    # A results file has our own estimates (`reported`) and the harness's table of values. One that
    # lm-eval itself wrote has only the table, which has no intervals to compare with.
    if not task.reported and not task.table:
        return {}
    recomputable = task.measures.recomputable
    fully_compared: list[Measure] = []
    compared_by_value: list[Measure] = []
    for measure in recomputable.all:
        if task.reported and measure.name in fully_compared_metrics:
            fully_compared.append(measure)
        else:
            compared_by_value.append(measure)
    # `row_of` tells which records are of one row of the benchmark.
    estimates = evaluate(task.records, Measures.of(*fully_compared, row_of=recomputable.row_of))
    records_by_scope = RecordsByScope(task.records, task.measures)
    for measure in compared_by_value:
        estimates[measure.name] = _values_by_scope(measure, records_by_scope)
    return estimates


def _values_by_scope(measure: Measure, records_by_scope: RecordsByScope) -> dict[str, Estimate]:
    """The value and the number of rows of a measure in each scope, without an interval.

    Scopes without a value are left out. The result is empty if all rows have no value.
    """
    values: dict[str, Estimate] = {}
    for scope, (scope_records, rows) in records_by_scope.of(measure).items():
        statistic = measure.statistic_of(scope_records)
        if statistic is not None:
            values[scope] = Estimate(statistic.total(), rows=rows)
        elif scope == OVERALL:  # the first scope
            return {}
    return values


def _required_metrics(task: TaskRun) -> set[str]:
    """The metrics that the results file must have, if the samples give them a value.

    A user's task file may name fewer metrics than the benchmark has.
    """
    if not task.reported:  # no results file, or one of lm-eval, which has values in its table alone
        return set()
    metric_list = task.config.get("metric_list")
    if not metric_list:  # unknown: `figlang score` has written the results file, say
        return set(task.measures.by_name)
    # Task files name metrics of the harness's table alone. If one names all of these, its run has
    # all metrics, also those that are not in that table.
    metrics_of_task_file = {str(entry.get("metric")) for entry in metric_list}
    metrics_of_table = {measure.name for measure in task.measures.in_table}
    if metrics_of_table <= metrics_of_task_file:
        return set(task.measures.by_name)
    return metrics_of_task_file


def _scopes_to_compare(
    reported: Mapping[str, Estimate], computed: Mapping[str, Estimate], is_required: bool
) -> Sequence[str]:
    """All scopes of a metric that either side has; if none is reported, OVERALL or nothing.

    A metric that is not reported at all is compared over all rows alone if it is required, so that
    one contradiction says that it is missing; else it is not compared.

    Args:
        reported, computed: the estimates of the metric by scope.
    """
    if reported:
        return list(dict.fromkeys([*reported, *computed]))
    return [OVERALL] if is_required else []


# --- what differs ---


def _check_estimates(
    task: TaskRun, computed: Estimates, fully_compared_metrics: Collection[str]
) -> Iterator[str]:
    """A text for each number in our estimates in the results file that the samples contradict.

    Args:
        computed: the estimates that the samples give (`_compute_estimates`).
        fully_compared_metrics: the metrics whose intervals and standard errors are compared too.
    """
    required_metrics = _required_metrics(task)
    for name, measure in task.measures.by_name.items():
        reported_by_scope = task.reported.get(name, {})
        if any(math.isnan(estimate.value) for estimate in reported_by_scope.values()):
            continue  # The results file itself says that the computation failed.
        if not measure.is_recomputable:
            yield from _find_impossible_numbers(task, measure, reported_by_scope)
            continue
        computed_by_scope = computed.get(name, {})
        scopes = _scopes_to_compare(
            reported_by_scope, computed_by_scope, is_required=name in required_metrics
        )
        for scope in scopes:
            yield from _compare_estimates(
                full_name(name, scope),
                reported_by_scope.get(scope),
                computed_by_scope.get(scope),
                with_intervals=name in fully_compared_metrics,
            )


def _compare_estimates(
    name: str, reported: Estimate | None, computed: Estimate | None, with_intervals: bool
) -> Iterator[str]:
    """A text for each number that differs between two estimates; None is a missing estimate.

    Args:
        name: the metric with its scope.
        with_intervals: whether to compare intervals and standard errors too.
    """
    reported_value = None if reported is None else reported.value
    computed_value = None if computed is None else computed.value
    if not _is_equal(reported_value, computed_value):
        yield _difference_text(name, reported_value, computed_value)
        return  # Another value has another interval: that needs no mention.
    if reported is None or computed is None:
        return  # Both are None, since the values are equal.

    if not _is_equal(reported.rows, computed.rows):
        yield f"rows of {name} {reported.rows} (its samples: {computed.rows})"
    if not with_intervals:
        return
    is_low_equal = _is_equal(reported.low, computed.low)
    is_high_equal = _is_equal(reported.high, computed.high)
    if not (is_low_equal and is_high_equal):
        yield (
            f"interval of {name} {_interval_text(reported)} (its samples:"
            f" {_interval_text(computed)})"
        )
    if not _is_equal(reported.stderr, computed.stderr):
        stderr_name = f"standard error of {name}"
        yield _difference_text(stderr_name, reported.stderr, computed.stderr)


def _find_impossible_numbers(
    task: TaskRun, measure: Measure, reported: Mapping[str, Estimate]
) -> Iterator[str]:
    """A text for each reported number of rows or value that cannot be right.

    For a metric that records alone do not give (METEOR), so that nothing can be compared but the
    number of rows and the bounds of the metric.

    Args:
        reported: the estimates of the metric by scope.
    """
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


def _check_table(
    task: TaskRun, computed: Estimates, fully_compared_metrics: Collection[str]
) -> Iterator[str]:
    """A text for each number in the harness's table that the samples or our estimates contradict.

    The table (`TaskRun.table`) has the values over all rows and their standard errors.

    Args:
        computed: the estimates that the samples give (`_compute_estimates`).
        fully_compared_metrics: the metrics that `computed` has standard errors of.
    """
    for key, number in task.table.items():
        column, _, _ = key.rpartition(",")  # ``acc,none`` or ``acc_stderr,none``
        metric = column.removesuffix("_stderr")
        measure = task.measures.by_name.get(metric)
        if measure is None or not isinstance(number, int | float) or math.isnan(number):
            continue  # the name of the task, "N/A", or a metric that failed
        if column.endswith("_stderr"):
            is_computed = measure.is_recomputable and metric in fully_compared_metrics
            expected = _expected_estimate(task, metric, computed, is_computed)
            yield from _check_table_error(task, metric, number, expected)
        else:
            expected = _expected_estimate(task, metric, computed, measure.is_recomputable)
            yield from _check_table_value(metric, number, expected)


def _check_table_value(metric: str, value: float, expected: Estimate | None) -> Iterator[str]:
    """A text if a value in the harness's table is not the expected one.

    Args:
        expected: None if there is nothing to compare with. If our own estimate has a value that the
            samples do not give, `_compare_estimates` says so.
    """
    if expected is not None and not _is_equal(value, expected.value):
        yield _difference_text(f"{metric} in the table", value, expected.value)


def _check_table_error(
    task: TaskRun, metric: str, stderr: float, expected: Estimate | None
) -> Iterator[str]:
    """A text if a standard error in the harness's table is not that of the expected estimate.

    The table and our own estimate are written together, and an estimate without a standard error
    has "N/A" in the table. So a number beside such an estimate is a contradiction.
    """
    if OVERALL not in task.reported.get(metric, {}):
        return  # lm-eval computed the standard error, by a method of its own
    expected_stderr = None if expected is None else expected.stderr
    if not _is_equal(stderr, expected_stderr):
        yield _difference_text(f"standard error of {metric} in the table", stderr, expected_stderr)


def _expected_estimate(
    task: TaskRun, metric: str, computed: Estimates, is_computed: bool
) -> Estimate | None:
    """The estimate over all rows that the harness's table should agree with; None without one.

    Args:
        computed: the estimates that the samples give.
        is_computed: whether these have the number in question. If not (METEOR, intervals that are
            not compared), our own estimate in the results file is what the table should agree with.
    """
    estimates = computed if is_computed else task.reported
    return estimates.get(metric, {}).get(OVERALL)


def _check_data(task: TaskRun) -> Iterator[str]:
    """A text if the results file names other data than the records."""
    data = task.metadata.get("data")  # names with ", " between them
    if data is not None and str(task.data) not in str(data).split(", "):
        yield f"data {data} (its samples: {task.data})"


def _check_scorer(task: TaskRun) -> Iterator[str]:
    """A text if the results file names another scorer of explanations than the records."""
    if task.scorer is None:
        return  # Rows without any explanation have no scores, whatever the scorer of the run was.
    signature = task.metadata.get("explanation_scorer")
    if signature is None and not task.reported:
        return  # There is no results file, or nothing of ours in it.
    reported_scorer = "none" if signature is None else _scorer_name(signature)
    if reported_scorer != task.scorer:
        yield f"explanation scorer {reported_scorer} (its samples: {task.scorer})"
    elif task.scorer in SCORERS:
        yield from _check_bleurt_presence(task, task.scorer)


def _scorer_name(signature: str) -> str:
    """The scorer that a signature begins with: ``vflute25|...``, or ``none (why)`` without one."""
    return signature.partition("|")[0].partition(" (")[0]


def _check_bleurt_presence(task: TaskRun, scorer: str) -> Iterator[str]:
    """A text for the first record that has BLEURT though the scorer gives none, or the reverse."""
    gives_bleurt = SCORERS[scorer].bleurt is not None
    for record in task.records:
        scores = record.get("explanation_scores") or {}
        if "bertscore" not in scores:
            continue  # no scores, or a mean alone, which tells nothing of BLEURT
        has_bleurt = "bleurt" in scores
        if has_bleurt != gives_bleurt:
            metrics = "BERTScore and BLEURT" if has_bleurt else "BERTScore alone"
            yield f"explanation scorer {scorer} (its samples: {metrics} in row {record['id']})"
            return


def _check_readings(task: TaskRun) -> Iterator[str]:
    """A text for each field of the counts of readings in which results file and records differ.

    Nothing is compared if the results file has no counts, or the records have no answers in words.
    """
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
    """Whether two numbers are equal but for rounding, or both are None."""
    if number is None or other is None:
        return number is None and other is None
    return math.isclose(number, other, rel_tol=0, abs_tol=ROUNDING)


def _difference_text(name: str, reported: float | None, computed: float | None) -> str:
    return f"{name} {_number_text(reported)} (its samples: {_number_text(computed)})"


def _number_text(number: float | None) -> str:
    return "none" if number is None else f"{number:.6f}"


def _interval_text(estimate: Estimate) -> str:
    if estimate.low is None and estimate.high is None:
        return "none"
    return f"[{_number_text(estimate.low)}, {_number_text(estimate.high)}]"
