"""Labels and their explanations: F1@t of V-FLUTE, Acc@t of FLUTE, by part and over the
threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from figlang_tasks.metrics import classification
from figlang_tasks.report import charts
from figlang_tasks.report.charts import Chart, Reference
from figlang_tasks.report.sections.layout import Section
from figlang_tasks.report.sections.results import (
    Result,
    Results,
    percent,
    places,
    references,
    values_of,
)
from figlang_tasks.results import measures
from figlang_tasks.scoring import OVERALL, Estimate, Measures, Record
from figlang_tasks.scoring.explained import Scheme, Threshold, curve


def explanation_quality(prefix: str, results: Results) -> Section | None:
    """Charts of each task with explanations."""
    by_part, curves, notes = [], [], []
    for number, (task, of_task) in enumerate(results.items()):
        scheme = of_task[0].of.kind.scheme
        if scheme is None or not of_task[0].of.has_explanations:
            continue
        scored = [result for result in of_task if scheme.has_scores(result.of.records)]
        by_part.append(_by_part(f"{prefix}-parts-{number}", task, of_task, scheme))
        if scored:
            curves.append(_curves(f"{prefix}-curves-{number}", task, scored, scheme))
        if missing := [
            result.run for result in of_task if result not in scored and _explains(result)
        ]:
            notes.append(
                f"{task}: explanations of {', '.join(missing)} are not scored (figlang score adds"
                " scores)."
            )
    found = [chart for chart in (*by_part, *curves) if chart is not None]
    if not found:
        return None
    intro = (
        "A label counts only if the score of its explanation lies above the threshold t. The"
        " farther a curve reaches to the right, the better the explanations."
    )
    return Section(
        f"{prefix}-explanations",
        "Labels and explanations",
        intro,
        charts=tuple(found),
        notes=tuple(notes),
    )


def _explains(result: Result) -> bool:
    """Whether there is any explanation; a task may ask for labels alone."""
    return any((record["explanation"] or "").strip() for record in result.of.records)


def _thresholds(scheme: Scheme) -> tuple[str, list[Threshold]]:
    """``f1`` or ``acc``, and the thresholds of it, without those of the first version of the paper
    (``v1_acc``).
    """
    thresholds = [
        threshold for threshold in scheme.thresholds if not threshold.name.startswith("v1")
    ]
    return scheme.label_metric.partition("@")[0], thresholds


def _by_part(chart_id: str, task: str, results: Sequence[Result], scheme: Scheme) -> Chart | None:
    parts = results[0].of.benchmark.parts
    panels: dict[str, dict[str, dict[str, Estimate]]] = {}
    beside: dict[tuple[str, str], list[Reference]] = {}
    name, thresholds = _thresholds(scheme)
    for threshold in thresholds:
        for scope in places(results):
            panel, category = threshold.name, measures.scope_text(scope)
            if found := values_of(results, threshold.name, scope):
                panels.setdefault(panel, {})[category] = found
                if own := references(task, results, threshold.name, scope):
                    beside[panel, category] = own
    if not panels:
        return None
    return charts.bars(
        chart_id,
        f"{task}: {name} by {parts.kind}",
        panels,
        label=f"{name} (percent)",
        references=beside,
        order=results[0].runs,
        side_by_side=True,
    )


def _curves(chart_id: str, task: str, results: Sequence[Result], scheme: Scheme) -> Chart:
    """Figure 11 of V-FLUTE's paper; of FLUTE the same for its accuracy."""
    by_run = {
        result.run: result.of.compute_from_records(partial(_curves_by_scope, scheme))
        for result in results
    }
    panels: dict[str, dict[str, list[Estimate]]] = {}
    for scope in places(results):
        for run, curves in by_run.items():
            if scope in curves:
                panels.setdefault(measures.scope_text(scope), {})[run] = curves[scope]
    name, thresholds = _thresholds(scheme)
    return charts.curves(
        chart_id,
        f"{task}: {name}@t by threshold",
        classification.CURVE_THRESHOLDS,
        panels,
        y_label=f"{name}@t (percent)",
        marks=list(dict.fromkeys(threshold.at for threshold in thresholds))[1:],
        order=results[0].runs,
    )


def _curves_by_scope(
    scheme: Scheme, declared: Measures, records: Sequence[Record]
) -> dict[str, list[Estimate]]:
    """F1@t or Acc@t in percent at `classification.CURVE_THRESHOLDS`, of all rows with intervals."""
    of_labels = declared.by_name[scheme.label_metric]
    curve_by_scope: dict[str, list[Estimate]] = {}
    for scope, members in of_labels.records_by_scope(records).items():
        if scope != OVERALL and of_labels.averaged:
            continue
        first, *others = [curve(scheme, part) for part in of_labels.averaged_groups(members)]
        if scope != OVERALL or others:
            first = [Estimate(Estimate.mean(at).value) for at in zip(first, *others, strict=True)]
        curve_by_scope[scope] = list(map(percent, first))
    return curve_by_scope
