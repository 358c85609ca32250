"""What tasks report is not what everything after a run computes and names if these tests fail."""

from __future__ import annotations

import pkgutil
from functools import cache
from pathlib import Path
from typing import Any

import demo_runs
import pytest
from demo_runs import MINI_TASKS
from tasks_without_harness import reported_metrics

from figlang_tasks.cli.tasks import definitions
from figlang_tasks.core import task_files
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.results import measures, published, runs
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL, Measure, Measures, evaluate, flat, full_name


def _metric_lists() -> dict[str, str]:
    """The name of the metric list of each task of lmms-eval.

    Those of lm-eval have the same lists (tests/benchmarks/test_contract.py).
    """
    metric_lists: dict[str, str] = {}
    for path in tasks_dir().rglob("*.yaml"):
        content = task_files.read(path.resolve())
        if "task" in content and "group" not in content:
            metric_lists[content["task"]] = content["metric_list"]
    return metric_lists


METRIC_LISTS = _metric_lists()


@cache
def run(name: str) -> Run:
    """The run of a weak or a strong model over all tasks."""
    folder = demo_runs.weak_run() if name == "weak" else demo_runs.strong_run()
    return runs.read(str(folder))


@pytest.mark.parametrize("name", sorted(set(METRIC_LISTS.values())))
def test_tables_are_short_and_names_say_one_thing(name: str) -> None:
    entries = pkgutil.resolve_name(name)
    task_measures: Measures = entries[0]["aggregation"].task.measures
    metrics = [entry["metric"] for entry in entries]
    assert metrics == [measure.name for measure in task_measures.in_table]
    assert len(set(metrics)) == len(metrics)
    assert len(set(metrics) - {"unfinished"}) <= 10

    metric_scopes: list[tuple[Measure, str]] = []
    for measure in task_measures.all:
        metric_scopes.append((measure, OVERALL))
        if measure.scopes is not None:
            metric_scopes += [(measure, scope) for scope in measure.scopes.names]
    names = [full_name(measure.name, scope) for measure, scope in metric_scopes]
    assert len(set(names)) == len(names)
    assert measures.find_measure(f"{names[0]}_nobody") is None
    for metric_name, (measure, scope) in zip(names, metric_scopes, strict=True):
        declared_measure_and_scope = measures.find_measure(metric_name)
        assert declared_measure_and_scope is not None
        declared, declared_scope = declared_measure_and_scope
        assert (declared.name, declared_scope) == (measure.name, scope)
        for attribute in ("higher_is_better", "percent", "role", "interval"):
            expected = getattr(declared, attribute)
            value = getattr(measure, attribute)
            assert value == expected, (
                f"the {attribute} of {metric_name} is {expected!r} in {benchmark_of(declared)}, and"
                f" {value!r} in {benchmark_of(measure)}. Metrics with the same name must agree in"
                " all benchmarks: change one, or give it another name"
            )


def benchmark_of(measure: Measure) -> str:
    """The name of the benchmark that declares a measure."""
    for name, benchmark in benchmarks().items():
        for task in benchmark.tasks:
            for measures_of_task in (task.measures, *task.boards):
                if any(declared is measure for declared in measures_of_task.all):
                    return name
    return "another benchmark"


@pytest.mark.parametrize("model", ["weak", "strong"])
@pytest.mark.parametrize("task", demo_runs.VARIED_TASKS)
def test_saved_records_give_what_was_reported_and_the_harness_has_it_in_its_table(
    task: str, model: str
) -> None:
    task_run: TaskRun = run(model).tasks[task]
    task_file = Path(MINI_TASKS[task][0]).name if task in MINI_TASKS else task
    entries = pkgutil.resolve_name(METRIC_LISTS[task_file])
    task_measures: Measures = entries[0]["aggregation"].task.measures
    assert task_run.measures is task_run.kind.measures is task_measures

    computed: dict[tuple[str, str], float] = {}
    for measure in task_measures.all:
        for scope, statistic in measure.statistics_by_scope(task_run.records).items():
            computed[measure.name, scope] = statistic.total()
    reported: dict[tuple[str, str], float] = {}
    for metric, scope, estimate in flat(task_run.reported):
        reported[metric, scope] = estimate.value
    reported_of_computed = {metric_scope: reported[metric_scope] for metric_scope in computed}
    assert computed == pytest.approx(reported_of_computed, abs=1e-12)
    for metric, _ in reported.keys() - computed.keys():
        assert not task_measures.by_name[metric].is_recomputable

    again = evaluate(task_run.records, task_measures.recomputable)
    assert {metric: task_run.reported[metric] for metric in again} == again
    rows = [scopes[OVERALL].rows for scopes in again.values()]
    assert task_run.rows in rows, "some measure counts all rows"

    table: dict[str, Any] = {}
    for key, value in run(model).results["results"][task].items():
        metric, _, _ = key.partition(",")
        table[metric] = value
    metrics = [entry["metric"] for entry in entries if entry["metric"] in task_run.reported]
    for metric in metrics:
        assert table[metric] == task_run.reported[metric][OVERALL].value
    assert table.keys() & task_measures.by_name.keys() == set(metrics)


def test_every_published_figure_belongs_to_a_metric_that_its_tasks_report() -> None:
    task_metrics: set[tuple[str, str]] = set()
    for task, metrics in reported_metrics().items():
        task_metrics |= {(task, metric) for metric in metrics}
    for group, definition in definitions().items():  # a group's value is made of its tasks' values
        for task, metric in tuple(task_metrics):
            if task in definition.members:
                task_metrics.add((group, metric))
    figures: list[tuple[str, str]] = []
    for task, figures_of_task in published.figures_by_task().items():
        figures += [(task, figure.metric) for figure in figures_of_task]
    assert len(figures) > 500
    assert set(figures) <= task_metrics


def test_the_parts_that_benchmarks_name_are_scopes_of_measures() -> None:
    scopes: set[str] = set()
    for measure in measures.all_measures():
        if measure.scopes is not None:
            scopes.update(measure.scopes.names)
    for benchmark in benchmarks().values():
        assert {*benchmark.parts.by_scope, *benchmark.parts.in_short} <= scopes
