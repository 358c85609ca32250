"""Single lines about a finished task: its place among published models, and its result to quote."""

from __future__ import annotations

import math
from typing import NamedTuple

from figlang_tasks.cli.finished_task import FinishedTask
from figlang_tasks.results import measures, published, published_tables
from figlang_tasks.scoring import OVERALL


class _PublishedModel(NamedTuple):
    """A published model with its value of a metric, and both as the line shows them."""

    value: float
    text: str


def placement_line(task: FinishedTask) -> str:
    """The place of a run, ``vflute: place 3 by f1@60 beside 7 published models, after A (62.1)``.

    It goes on: ``, before B (57.0)``. The place is by the main metric, or by the first metric that
    gives one if the main metric gives none; "" if nothing comparable was published.
    """
    main_metric = measures.headline_metric(task.overall_metrics)
    # The main metric is tried first; the others keep their order.
    metrics = sorted(task.comparable_metrics.names, key=lambda metric: metric != main_metric)
    for metric in metrics:
        line = _placement_by(metric, task)
        if line:
            return line
    return ""


def _placement_by(metric: str, task: FinishedTask) -> str:
    """The line of `placement_line` by one metric; "" if the run or all models lack a value of it.

    A run stands before a model of the same value.

    Args:
        metric: its full name.
        task: has an estimate of the metric.
    """
    measure, scope = published.measure_and_scope(metric)
    value = task.estimates[measure.name][scope].value
    models = _published_models_best_first(task, metric, measure.higher_is_better)
    if not models or math.isnan(value):
        return ""

    better_models = []
    other_models = []
    for model in models:
        is_better = model.value > value if measure.higher_is_better else model.value < value
        if is_better:
            better_models.append(model)
        else:
            other_models.append(model)

    # Both lists have their best model first, so the run is between the last of the better ones and
    # the first of the others.
    neighbours = []
    if better_models:
        neighbours.append(f"after {better_models[-1].text}")
    if other_models:
        neighbours.append(f"before {other_models[0].text}")

    place = f"place {len(better_models) + 1} by {measures.name_text(metric)}"
    count = "1 published model" if len(models) == 1 else f"{len(models)} published models"
    return f"{task.name}: {place} beside {count}, {', '.join(neighbours)}"


def _published_models_best_first(
    task: FinishedTask, metric: str, higher_is_better: bool
) -> list[_PublishedModel]:
    """The models with a published value of a metric, best first; people and chance are left out."""
    models = []
    release = task.comparable_metrics.release
    for row in published_tables.published_rows(task.name, [metric], release):
        figure = row.values[metric]
        if row.kind not in published_tables.KINDS_WITHOUT_MODEL and figure.value is not None:
            models.append(_PublishedModel(figure.value, f"{row.label} ({figure.text()})"))

    def order(model: _PublishedModel) -> tuple[float, str]:
        """Sort key: the best value first, equal ones by the model's name."""
        return (-model.value if higher_is_better else model.value, model.text)

    return sorted(models, key=order)


def result_line(task: FinishedTask, model: str) -> str:
    """A result to quote, ``llava on vflute: f1@60 57.0 [53.1, 60.9], 723 rows, ...``, or "".

    It ends with the scorer of explanations, if there is one, and ``figlang_tasks 1.2``. A partial
    run must not be quoted, nor a model without a name, nor a task without a main metric or with a
    diagnostic one.

    Args:
        task: the task.
        model: its name; "" if it has none.
    """
    metric = measures.headline_metric(task.overall_metrics)
    if not model or not metric or task.conditions.partial:
        return ""
    if measures.measure_of(metric).is_diagnostic:
        return ""
    value = measures.estimate_text(metric, task.estimates[metric][OVERALL], task.conditions.rows)
    facts = [f"{model} on {task.name}: {metric} {value}"]
    if task.conditions.has_user_rows:
        facts.append(f"{task.conditions.rows} own rows")
    else:
        facts.append(f"{task.conditions.rows} rows")
    facts += _scorer_facts(task.conditions.scorer)
    facts.append(f"figlang_tasks {task.version}")
    return ", ".join(facts)


def _scorer_facts(signature: str | None) -> list[str]:
    """The name and the number type of an explanation scorer: ``scorer vflute25``, ``dtype:fp32``.

    Args:
        signature: its name and details between ``|``; None or "" without a scorer, then the
            result is empty. The name also says whether its models are others than the paper's.
    """
    if not signature:
        return []
    name, *details = signature.split("|")
    facts = [f"scorer {name}"] if name else []
    for detail in details:
        if "dtype:" in detail:
            facts.append(detail)
    return facts
