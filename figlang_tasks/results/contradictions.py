"""What a results file says otherwise than its samples: a run whose files do not fit together is no
result.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from figlang_tasks.metrics.explanation.scorers import SCORERS
from figlang_tasks.scoring import OVERALL, Estimate, Estimates, Measure, Measures, Record, full_name
from figlang_tasks.scoring.evaluation import evaluate
from figlang_tasks.scoring.readings import count_readings

ROUNDING = 1e-6
"""By how much numbers of files may differ from what they are computed from."""


@dataclass(frozen=True)
class SavedTask:
    """What was saved of a task.

    Attributes:
        reported: the estimates of the results file; NaN where the computation failed.
        table: the task's row of the harness's own table, ``{"acc,none": 0.5, ...}``.
        config: the task's entry in the results file.
        data: what the records name as their data.
        scorer: of the explanations' scores in the records; None if they have none.
    """

    measures: Measures
    records: Sequence[Record]
    reported: Estimates
    table: Mapping[str, Any]
    config: Mapping[str, Any]
    data: str
    scorer: str | None

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self.config.get("metadata") or {}


def find_contradictions(task: SavedTask, metrics: Collection[str]) -> list[str]:
    """What the results file of a task says, and its samples do not: ``acc 0.900000 (its samples:
    0.500000)``.

    Args:
        metrics: names of those whose standard errors and intervals are compared too, which may take
            a second each.
    """
    computed = _computed(task, metrics)
    expected = _expected(task)
    contradictions: list[str] = []
    for name, measure in task.measures.by_name.items():
        reported = task.reported.get(name, {})
        if any(math.isnan(estimate.value) for estimate in reported.values()):
            continue  # its computation failed, which the run said
        if measure.estimate_of is not None:
            contradictions += _of_uncomputed(task, measure, reported)
            continue
        given = computed.get(name, {})
        if reported:
            scopes = [*reported, *(scope for scope in given if scope not in reported)]
        else:
            scopes = [OVERALL] if name in expected else []
        for scope in scopes:
            contradictions += _of_estimate(
                full_name(name, scope), reported.get(scope), given.get(scope), name in metrics
            )
    contradictions += _of_table(task, computed, metrics)
    contradictions += _of_metadata(task)
    return contradictions


def is_possible(measure: Measure, estimate: Estimate) -> bool:
    """Whether an estimate lies in its interval, and both in the bounds of its measure."""
    low, high = measure.bounds
    known = [
        end for end in (low, estimate.low, estimate.value, estimate.high, high) if end is not None
    ]
    return all(before <= after + ROUNDING for before, after in pairwise(known))


def _computed(task: SavedTask, metrics: Collection[str]) -> dict[str, dict[str, Estimate]]:
    """The estimates that the records give; of other metrics than `metrics` values and numbers of
    rows alone.
    """
    if not task.reported and not task.table:
        return {}
    of_sums = task.measures.recomputable
    whole = [measure for measure in of_sums.all if measure.name in metrics]
    estimates = (
        evaluate(task.records, Measures.of(*whole, row_of=of_sums.row_of)) if task.reported else {}
    )
    for measure in of_sums.all:
        if measure.name in estimates:
            continue
        rows = {
            scope: of_sums.count_rows(records)
            for scope, records in measure.records_by_scope(task.records).items()
        }
        estimates[measure.name] = {
            scope: Estimate(statistic.total(), rows=rows[scope])
            for scope, statistic in measure.statistics_by_scope(task.records).items()
        }
    return estimates


def _expected(task: SavedTask) -> set[str]:
    """The metrics that a run reports where its records give them: a task file may name fewer than
    its benchmark.
    """
    if not task.reported:
        return set()
    of_task_file = {str(entry.get("metric")) for entry in task.config.get("metric_list") or ()}
    of_benchmark = {measure.name for measure in task.measures.in_table}
    if not of_task_file or of_benchmark <= of_task_file:
        return set(task.measures.by_name)
    return of_task_file


def _of_estimate(
    name: str, reported: Estimate | None, given: Estimate | None, is_whole: bool
) -> Iterator[str]:
    """How the reported estimate of a metric differs from the one that the samples give; `is_whole`:
    in all parts.
    """
    reported_value = None if reported is None else reported.value
    given_value = None if given is None else given.value
    if not _equal(reported_value, given_value):
        yield _text(name, reported_value, given_value)
        return  # an interval is that of its value
    if reported is None or given is None:
        return

    if not _equal(reported.rows, given.rows):
        yield f"rows of {name} {reported.rows} (its samples: {given.rows})"
    if not is_whole:
        return
    if not (_equal(reported.low, given.low) and _equal(reported.high, given.high)):
        reported_interval = _interval(reported.low, reported.high)
        yield (
            f"interval of {name} {reported_interval} (its samples:"
            f" {_interval(given.low, given.high)})"
        )
    if not _equal(reported.stderr, given.stderr):
        yield _text(f"standard error of {name}", reported.stderr, given.stderr)


def _of_uncomputed(
    task: SavedTask, measure: Measure, reported: Mapping[str, Estimate]
) -> Iterator[str]:
    """What is impossible of a metric that is not computed from records alone: it may need Java,
    models or pictures.
    """
    records = measure.records_by_scope(task.records)
    for scope, estimate in reported.items():
        name = full_name(measure.name, scope)
        rows = task.measures.count_rows(records.get(scope, []))
        if estimate.rows is not None and estimate.rows != rows:
            yield f"rows of {name} {estimate.rows} (its samples: {rows})"
        if not is_possible(measure, estimate):
            low, high = measure.bounds
            interval = _interval(estimate.low, estimate.high)
            yield (
                f"{name} {estimate.value:.6f} {interval} (must be {low:g} to {high:g} and in its"
                " interval)"
            )


def _of_table(task: SavedTask, computed: Estimates, metrics: Collection[str]) -> Iterator[str]:
    """What differs in the harness's own table, which has values of all rows and their standard
    errors.
    """
    for key, value in task.table.items():
        name, _, _ = key.rpartition(",")
        metric = name.removesuffix("_stderr")
        measure = task.measures.by_name.get(metric)
        if measure is None or not isinstance(value, int | float) or math.isnan(value):
            continue
        reported = task.reported.get(metric, {}).get(OVERALL)
        is_stderr = name != metric
        if is_stderr and reported is None:
            continue  # lm-eval, which reports nothing more, has a method of its own
        is_computed = measure.estimate_of is None and (metric in metrics or not is_stderr)
        given = computed.get(metric, {}).get(OVERALL) if is_computed else reported

        if is_stderr:
            stderr = None if given is None else given.stderr
            if not _equal(value, stderr):
                yield _text(f"standard error of {metric} in the table", value, stderr)
        elif given is not None and not _equal(value, given.value):
            yield _text(f"{metric} in the table", value, given.value)


def _of_metadata(task: SavedTask) -> Iterator[str]:
    """What differs in the facts about the records: their data, their scorer, and how answers were
    read.
    """
    metadata = task.metadata
    data = metadata.get("data")
    if data is not None and task.data not in str(data).split(", "):
        yield f"data {data} (its samples: {task.data})"

    signature = metadata.get("explanation_scorer")
    # Rows without any explanation have no scores, whatever the scorer of the run was.
    if task.scorer is not None and (signature is not None or task.reported):
        named = "none" if signature is None else signature.partition("|")[0].partition(" (")[0]
        if named != task.scorer:
            yield f"explanation scorer {named} (its samples: {task.scorer})"
        elif task.scorer in SCORERS:
            yield from _of_parts(task, task.scorer)

    readings = metadata.get("readings")
    given = count_readings(task.records)
    if readings is not None and given is not None:
        for part, counts in given.items():
            if readings.get(part) != counts:
                yield f"readings, {part}: {readings.get(part)} (its samples: {counts})"


def _of_parts(task: SavedTask, scorer: str) -> Iterator[str]:
    """Whether explanation scores are of the parts that their scorer has: BERTScore, and BLEURT
    beside it or not.
    """
    has_bleurt = SCORERS[scorer].bleurt is not None
    for record in task.records:
        scores = record.get("explanation_scores") or {}
        if "bertscore" in scores and ("bleurt" in scores) != has_bleurt:
            parts = "BERTScore and BLEURT" if "bleurt" in scores else "BERTScore alone"
            yield f"explanation scorer {scorer} (its samples: {parts} in row {record['id']})"
            return


def _equal(first: float | None, second: float | None) -> bool:
    """Whether two numbers are equal but for rounding, or both unknown."""
    if first is None or second is None:
        return first is second
    return math.isclose(first, second, rel_tol=0, abs_tol=ROUNDING)


def _text(name: str, reported: float | None, given: float | None) -> str:
    return f"{name} {_number(reported)} (its samples: {_number(given)})"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.6f}"


def _interval(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "none"
    return f"[{_number(low)}, {_number(high)}]"
