"""The contract of all measures: what tasks report is what everything after a run computes, names
and reads.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from pathlib import Path

import pytest
import varied_runs
from demo_runs import OWN_TASKS
from task_metrics import reported

from figlang_tasks.cli.tasks import definitions
from figlang_tasks.core import task_files
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.results import measures, published, runs
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL, evaluate, flat, full_name

LISTS = {
    content["task"]: content["metric_list"]
    for path in tasks_dir().rglob("*.yaml")
    if "task" in (content := task_files.read(path.resolve())) and "group" not in content
}
"""Where each task has its metrics from; those of lm-eval have the same
(tests/tasks/test_contract.py).
"""


@cache
def run(name: str) -> Run:
    return runs.read(str({"weak": varied_runs.weak, "strong": varied_runs.strong}[name]()))


@pytest.mark.parametrize("name", sorted(set(LISTS.values())))
def test_tables_are_short_and_names_say_one_thing(name: str) -> None:
    entries = pkgutil.resolve_name(name)
    found = entries[0]["aggregation"].task.measures
    rows = [entry["metric"] for entry in entries]
    assert len(set(rows)) == len(rows)
    assert (
        rows == [measure.name for measure in found.all if measure.in_table]
        and len(set(rows) - {"unfinished"}) <= 10
    )
    places = [
        (measure.name, scope)
        for measure in found.all
        for scope in (OVERALL, *(measure.scopes.names if measure.scopes else ()))
    ]
    names = [full_name(*place) for place in places]
    assert len(set(names)) == len(names)
    told = [measures.find_measure(each) for each in names]
    assert [(of[0].name, of[1]) for of in told if of] == places
    assert measures.find_measure(f"{names[0]}_nobody") is None
    for of, (declared, _) in zip(
        found.all, {each[0].name: each for each in told if each}.values(), strict=True
    ):
        facts = ("higher_is_better", "percent", "role", "interval")
        assert [getattr(of, fact) for fact in facts] == [
            getattr(declared, fact) for fact in facts
        ], of.name


@pytest.mark.parametrize("model", ["weak", "strong"])
@pytest.mark.parametrize("task", varied_runs.TASKS)
def test_sums_over_saved_records_give_what_was_reported_and_the_harness_has_it_in_its_table(
    task: str, model: str
) -> None:
    of: TaskRun = run(model).tasks[task]
    entries = pkgutil.resolve_name(
        LISTS[Path(OWN_TASKS[task][0]).name if task in OWN_TASKS else task]
    )
    own = entries[0]["aggregation"].task.measures
    assert of.measures is of.kind.measures is own
    computed = {
        (measure.name, scope): statistic.total()
        for measure in own.all
        for scope, statistic in measure.statistics_by_scope(of.records).items()
    }
    reported = {(name, scope): estimate.value for name, scope, estimate in flat(of.reported)}
    assert computed == pytest.approx({place: reported[place] for place in computed}, abs=1e-12)
    assert all(own.by_name[name].estimate_of for name, _ in reported.keys() - computed.keys())
    again = evaluate(of.records, own.recomputable)
    assert {name: scopes for name, scopes in of.reported.items() if name in again} == again
    assert {name for name, scopes in again.items() if scopes[OVERALL].rows == of.rows}, (
        "some measure counts all rows"
    )
    values = {
        name.partition(",")[0]: value for name, value in run(model).results["results"][task].items()
    }
    headline = [entry["metric"] for entry in entries if entry["metric"] in of.reported]
    assert {name: values[name] for name in headline} == {
        name: of.reported[name][OVERALL].value for name in headline
    }
    assert values.keys() & own.by_name.keys() == set(headline)


def test_every_published_figure_belongs_to_a_metric_that_its_tasks_report() -> None:
    known = {(task, metric) for task, metrics in reported().items() for metric in metrics}
    for group, each in definitions().items():  # its value is made of those of its tasks
        known |= {(group, metric) for task, metric in known if task in each.members}
    figures = [
        (task, figure.metric) for task, own in published.figures_by_task().items() for figure in own
    ]
    assert len(figures) > 500 and set(figures) <= known


def test_the_parts_that_benchmarks_name_are_scopes_of_measures() -> None:
    known = {
        scope
        for measure in measures.all_measures()
        if measure.scopes
        for scope in measure.scopes.names
    }
    for parts in (benchmark.parts for benchmark in benchmarks().values()):
        assert {*parts.of, *parts.in_short} <= known
