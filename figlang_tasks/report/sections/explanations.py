"""Charts of labels with their explanations: F1@t of V-FLUTE and Acc@t of FLUTE."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.metrics import classification
from figlang_tasks.report.charts import Chart, IntervalGroup, curve_chart, interval_chart
from figlang_tasks.report.sections.layout import Section
from figlang_tasks.report.sections.task_results import TaskResults, in_percent
from figlang_tasks.results import measures
from figlang_tasks.results.task_run import TaskRun
from figlang_tasks.scoring import OVERALL, Estimate, Measures, Record
from figlang_tasks.scoring.explained import Scheme, Threshold, curve

_INTRO = (
    "A label counts only if the score of its explanation lies above the threshold t. The farther a"
    " curve reaches to the right, the better the explanations."
)


def explanation_section(
    id_prefix: str, results: Sequence[TaskResults], run_names: Sequence[str]
) -> Section | None:
    """The section with the charts of each task that asks for explanations; None without charts.

    A task has a chart by scope, and a chart of curves of the runs whose explanations have scores.

    Args:
        id_prefix: the beginning of the ids of the section and its charts.
        results: the tasks of one dataset.
        run_names: all runs of the report.
    """
    charts_by_scope: list[Chart] = []
    curve_charts: list[Chart] = []
    notes: list[str] = []
    for number, task_results in enumerate(results):
        scheme = task_results.first.kind.scheme
        if scheme is None or not task_results.first.has_explanations:
            continue
        chart_id = f"{id_prefix}-parts-{number}"
        chart = _chart_by_scope(chart_id, task_results, scheme, run_names)
        if chart is not None:
            charts_by_scope.append(chart)
        scored_results = _scored_runs(task_results, scheme)
        if scored_results.runs:
            chart_id = f"{id_prefix}-curves-{number}"
            curve_charts.append(_curve_chart(chart_id, scored_results, scheme, run_names))
        notes += _unscored_notes(task_results, scored_results)
    charts = (*charts_by_scope, *curve_charts)
    if not charts:
        return None
    return Section(
        id=f"{id_prefix}-explanations",
        title="Labels and explanations",
        intro=_INTRO,
        charts=charts,
        notes=tuple(notes),
    )


def _scored_runs(results: TaskResults, scheme: Scheme) -> TaskResults:
    """The results of the runs whose explanations have scores; there may be none."""
    scored: dict[str, TaskRun] = {}
    for run, task_run in results.runs.items():
        if scheme.has_scores(task_run.records):
            scored[run] = task_run
    return TaskResults(results.task, scored)


def _unscored_notes(results: TaskResults, scored: TaskResults) -> list[str]:
    """Name the runs with explanations but without scores in a note; no note if there are none."""
    unscored = []
    for run, task_run in results.runs.items():
        if run not in scored.runs and _has_explanations(task_run):
            unscored.append(run)
    if not unscored:
        return []
    return [
        f"{results.task}: explanations of {', '.join(unscored)} are not scored (figlang score adds"
        " scores)."
    ]


def _has_explanations(task_run: TaskRun) -> bool:
    """Whether any answer of a run has an explanation; a model may have given labels alone."""
    return any((record["explanation"] or "").strip() for record in task_run.records)


def _metric_name(scheme: Scheme) -> str:
    """The name of the metric without its threshold: ``f1`` or ``acc``."""
    return scheme.label_metric.partition("@")[0]


def _shown_thresholds(scheme: Scheme) -> list[Threshold]:
    """The thresholds without those of the first version of the paper (``v1_acc``)."""
    return [threshold for threshold in scheme.thresholds if not threshold.name.startswith("v1")]


def _chart_by_scope(
    chart_id: str, results: TaskResults, scheme: Scheme, run_names: Sequence[str]
) -> Chart | None:
    """A chart of F1@t or Acc@t by scope, a panel for each threshold; None if there is no value."""
    panels: dict[str, dict[str, IntervalGroup]] = {}
    for threshold in _shown_thresholds(scheme):
        for scope in results.scopes():
            group = results.interval_group(threshold.name, scope)
            if group.estimates:
                panels.setdefault(threshold.name, {})[measures.scope_text(scope)] = group
    if not panels:
        return None
    metric = _metric_name(scheme)
    return interval_chart(
        chart_id,
        f"{results.task}: {metric} by {results.benchmark.parts.kind}",
        panels,
        axis_label=f"{metric} (percent)",
        run_order=run_names,
        side_by_side=True,
    )


def _curve_chart(
    chart_id: str, results: TaskResults, scheme: Scheme, run_names: Sequence[str]
) -> Chart:
    """A chart of F1@t or Acc@t over t, a panel for each scope (Figure 11 of V-FLUTE's paper).

    Args:
        results: a task, with the runs whose explanations have scores.
    """
    curves_by_run: dict[str, dict[str, list[Estimate]]] = {}
    for run, task_run in results.runs.items():
        with task_run.reporting_damage():
            curves = _curves_by_scope(scheme, task_run.measures, task_run.records)
        curves_by_run[run] = curves
    panels: dict[str, dict[str, list[Estimate]]] = {}
    for scope in results.scopes():
        for run, curves in curves_by_run.items():
            if scope in curves:
                panels.setdefault(measures.scope_text(scope), {})[run] = curves[scope]

    metric = _metric_name(scheme)
    thresholds: list[float] = []  # ascending
    for threshold in _shown_thresholds(scheme):
        if threshold.at not in thresholds:  # several metrics may have one threshold
            thresholds.append(threshold.at)
    return curve_chart(
        chart_id,
        f"{results.task}: {metric}@t by threshold",
        classification.CURVE_THRESHOLDS,
        panels,
        axis_label=f"{metric}@t (percent)",
        marked_thresholds=thresholds[1:],  # the first is 0, where no score is needed
        run_order=run_names,
    )


def _curves_by_scope(
    scheme: Scheme, declared: Measures, records: Sequence[Record]
) -> dict[str, list[Estimate]]:
    """F1@t or Acc@t in percent at each of `classification.CURVE_THRESHOLDS`, by scope.

    Only the curve over all rows has intervals, and even that has none if it is a mean of the curves
    of several groups.

    Args:
        declared: the measures of the task, which say its scopes and groups.
        records: all records of a run, with explanation scores.
    """
    measure = declared.by_name[scheme.label_metric]
    curves: dict[str, list[Estimate]] = {}
    for scope, scope_records in measure.records_by_scope(records).items():
        if scope != OVERALL and measure.averaged:
            # Such scopes (folds, wordings of a prompt) are several measurements of the same thing.
            # Only their mean is drawn, which is the curve over all rows.
            continue
        # Repeats, or the scopes of a measure that is their mean; otherwise a single group.
        group_curves = [curve(scheme, group) for group in measure.averaged_groups(scope_records)]
        if len(group_curves) > 1:
            curves[scope] = _mean_curve(group_curves)
        elif scope == OVERALL:
            curves[scope] = list(map(in_percent, group_curves[0]))
        else:
            curves[scope] = [Estimate(100 * estimate.value) for estimate in group_curves[0]]
    return curves


def _mean_curve(curves: Sequence[Sequence[Estimate]]) -> list[Estimate]:
    """The mean of several curves at each threshold, in percent and without intervals."""
    mean_curve: list[Estimate] = []
    for estimates_at_threshold in zip(*curves, strict=True):
        mean = Estimate.mean(estimates_at_threshold).value
        mean_curve.append(Estimate(100 * mean))
    return mean_curve
