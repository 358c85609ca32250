"""A finished task with all that the summary on the screen says of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from figlang_tasks import scoring
from figlang_tasks.core.hub import USER_ROWS
from figlang_tasks.results import measures, published, results_file
from figlang_tasks.scoring import OVERALL, Estimates
from figlang_tasks.scoring.output_warnings import unread_warning


@dataclass(frozen=True)
class FinishedTask:
    """A task in the results of a run, with what may stand beside its values.

    Attributes:
        name: of the task.
        estimates: its values with their intervals.
        conditions: what decides whether published figures are comparable.
        version: of the figlang_tasks that scored it.
        comparable_metrics: those whose published figures are comparable with this run.
        unread_warning: what unread answers mean for the score; "" if nearly all were read.
    """

    name: str
    estimates: Estimates
    conditions: published.RunConditions
    version: str
    comparable_metrics: published.ComparableMetrics
    unread_warning: str

    @property
    def overall_metrics(self) -> list[str]:
        """The metrics with a value over all rows."""
        return [metric for metric, scopes in self.estimates.items() if OVERALL in scopes]


def read_finished_task(results: Mapping[str, Any], name: str, estimates: Estimates) -> FinishedTask:
    """Take a task of ours out of results, and find the metrics with comparable published figures.

    Args:
        results: as the harness returns them, or the content of a results file.
        name: of the task.
        estimates: its values in these results.
    """
    metadata = results["configs"][name]["metadata"]
    versions = metadata.get("versions") or {}
    counts_of_answers = metadata.get("readings")  # `scoring.readings.Readings`, None in old files
    dataset_and_part = str(metadata.get("data") or "").partition("@")[0]  # Behind @: the revision.
    # Metrics of a scope, and those that leave rows out, have fewer rows than the task.
    most_rows = 0
    full_names = []
    for metric, scope, estimate in scoring.flat(estimates):
        full_names.append(scoring.full_name(metric, scope))
        most_rows = max(most_rows, estimate.rows or 0)
    conditions = published.RunConditions(
        rows=most_rows,
        partial=results_file.partial_reason(results, name),
        scorer=metadata.get("explanation_scorer"),
        # Rows that the user brought have `USER_ROWS` in place of a revision.
        has_user_rows=metadata.get("data_revision") == USER_ROWS,
        data=dataset_and_part,
    )
    return FinishedTask(
        name=name,
        estimates=estimates,
        conditions=conditions,
        version=str(versions.get("figlang-tasks", "of unknown version")),
        comparable_metrics=published.comparable_metrics(name, full_names, [conditions]),
        unread_warning=unread_warning(counts_of_answers),
    )


def metrics_to_show(estimates: Estimates) -> list[str]:
    """The names of the metrics to show after a run.

    They are those of the harness's table, but a diagnostic one only if it found a fault, and any
    metric that could not be computed.
    """
    metrics = []
    for metric, estimate_by_scope in estimates.items():
        values = [estimate.value for estimate in estimate_by_scope.values()]
        if _is_to_be_shown(metric, values):
            metrics.append(metric)
    return metrics


def _is_to_be_shown(metric: str, values: Sequence[float]) -> bool:
    """Whether a metric with these values, one for each scope, is shown after a run.

    One that failed in a scope (NaN) is always shown, a diagnostic one only if it found a fault, and
    any other if it belongs into the harness's table.
    """
    has_failed = any(math.isnan(value) for value in values)
    if has_failed:
        return True
    measure = measures.measure_of(metric)
    if not measure.in_table:
        return False
    if not measure.is_diagnostic:
        return True
    # A diagnostic metric is a share. A value that is printed like the best share is no fault.
    faultless_value = 1.0 if measure.higher_is_better else 0.0
    faultless_text = measure.text(faultless_value)
    return any(measure.text(value) != faultless_text for value in values)
