"""Tasks of benchmarks without a harness: the check of their data, their measures and metrics."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pytest

from figlang_tasks.cli.tasks import requests_of
from figlang_tasks.core import hub, task_files
from figlang_tasks.core.benchmark import Benchmark, parse_request, task_faults
from figlang_tasks.core.checks import check
from figlang_tasks.core.errors import DataError, FigLangError
from figlang_tasks.core.hub import downloading_nothing
from figlang_tasks.core.request import Request
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.scoring import OVERALL, Measures, Record, Task, full_name

# --- what a run refuses, `figlang data check` reports, and the other way round ---


def refused_data(benchmark: Benchmark, dataset: str, **parameters: str) -> str:
    """The message that a run ends with; asserts that the check reports the same fault."""
    with pytest.raises(DataError) as raised:
        benchmark.documents(Request.of(dataset, **parameters), check_images=True)
    message = str(raised.value)
    fault = re.sub(r" \d+ more fault\(s\): `figlang data check \w+` lists them\.$", "", message)
    lines, _ = check_data(benchmark)
    assert any(fault in line for line in lines)
    return message


def accepted_data(benchmark: Benchmark, dataset: str, **parameters: str) -> Any:
    """The documents of a run; asserts that the check reports no fault."""
    _, faults = check_data(benchmark)
    assert faults == []
    return benchmark.documents(Request.of(dataset, **parameters), check_images=True)


def check_data(benchmark: Benchmark) -> tuple[list[str], list[str]]:
    """The lines that ``figlang data check`` prints, and the faults among them."""
    hub.clear_caches()
    with downloading_nothing():
        return check(benchmark, requests_of(benchmark.name))


def check_task(config: Mapping[str, Any]) -> None:
    """Raise what is wrong with the options and the data of a task."""
    if faults := task_faults(config):
        raise FigLangError("\n".join(map(str, faults)))


# --- measures and metrics ---


def measures_of(records: Sequence[Record]) -> Measures:
    """The measures of the one kind of task that wrote the records."""
    ((name, request),) = {(record["task"], record["request"]) for record in records}
    benchmark, _ = parse_request(request)
    return benchmark.task(name).measures


def task_with(measures: Measures) -> Task:
    """A kind of task with these measures, whose documents and answers a test makes itself."""
    return Task(
        name="test",
        description="What a test asks.",
        documents=_not_implemented,
        record=_not_implemented,
        measures=measures,
    )


def _not_implemented(*arguments: Any) -> Any:
    raise NotImplementedError


@cache
def reported_metrics() -> dict[str, set[str]]:
    """The metrics of every task of lmms-eval, over all rows and for each scope, as task files name
    them.
    """
    metrics_by_task: dict[str, set[str]] = {}
    for path in tasks_dir().rglob("*.yaml"):
        content = task_files.read(path.resolve())
        if "task" not in content or "group" in content:
            continue
        first_metric = pkgutil.resolve_name(content["metric_list"])[0]
        metrics: set[str] = set()
        for measure in first_metric["aggregation"].task.measures.all:
            metrics.add(full_name(measure.name, OVERALL))
            if measure.scopes:
                metrics.update(full_name(measure.name, scope) for scope in measure.scopes.names)
        metrics_by_task[content["task"]] = metrics
    return metrics_by_task
