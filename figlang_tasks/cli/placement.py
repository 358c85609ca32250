"""Single lines about a finished task: its place among published models, and its result to quote."""

from __future__ import annotations

import math
from typing import NamedTuple

from figlang_tasks.cli.finished_task import FinishedTask
from figlang_tasks.results import measures, published
from figlang_tasks.scoring import OVERALL


class _PublishedModel(NamedTuple):
    """A published model with its value of a metric, and both as the line shows them."""

    value: float
    text: str


def placement_line(task: FinishedTask) -> str:
    """The place of a run among published models; "" if nothing comparable was published.

    The place is by the main metric. If no model has a published value of it, it is by the first
    metric that was published.
    """
    main_metric = measures.headline_metric(task.overall_metrics)
    metrics = list(task.published_metrics)
    if main_metric in metrics:
        metrics.remove(main_metric)
        metrics.insert(0, main_metric)
    for metric in metrics:
        line = _placement_by(metric, task)
        if line:
            return line
    return ""


def _placement_by(metric: str, task: FinishedTask) -> str:
    """The place by one metric; "" if the run or all models have no value of it.

    A run stands before a model of the same value.
    """
    measure, scope = published.measure_and_scope(metric)
    value = task.estimates[measure.name][scope].value
    models = _published_models(task.name, metric, measure.higher_is_better)
    if not models or math.isnan(value):
        return ""

    better_models = []
    for model in models:
        is_better = model.value > value if measure.higher_is_better else model.value < value
        if is_better:
            better_models.append(model)
    other_models = models[len(better_models) :]
    neighbours = []
    if better_models:
        neighbours.append(f"after {better_models[-1].text}")
    if other_models:
        neighbours.append(f"before {other_models[0].text}")

    place = f"place {len(better_models) + 1} by {measures.name_text(metric)}"
    count = "1 published model" if len(models) == 1 else f"{len(models)} published models"
    return f"{task.name}: {place} beside {count}, {', '.join(neighbours)}"


def _published_models(task: str, metric: str, higher_is_better: bool) -> list[_PublishedModel]:
    """The models with a published value of a metric, best first; people and chance are left out."""
    models = []
    for row in published.published_rows(task, [metric]):
        figure = row.values[metric]
        if row.kind not in published.WITHOUT_MODEL and figure.value is not None:
            models.append(_PublishedModel(figure.value, f"{row.label} ({figure.text()})"))

    def order(model: _PublishedModel) -> tuple[float, str]:
        """Sort key: the best value first, equal ones by the model's name."""
        return (-model.value if higher_is_better else model.value, model.text)

    return sorted(models, key=order)


def result_line(task: FinishedTask, model: str) -> str:
    """The main value of a run with what it depends on, in one line to quote.

    It is "" for a partial run, for a model without a name, and if the main metric is diagnostic.
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
    """The name and the number type in the signature of an explanation scorer.

    The name also says whether its models are other ones than the paper's.
    """
    if not signature:
        return []
    name, *details = signature.split("|")
    facts = [f"scorer {name}"] if name else []
    return facts + [detail for detail in details if "dtype:" in detail]
