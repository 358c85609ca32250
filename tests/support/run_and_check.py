"""What a run refuses, ``figlang data check`` finds; what it finds, a run refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from figlang_tasks.cli.tasks import requests_of
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import Benchmark, task_faults
from figlang_tasks.core.checks import check
from figlang_tasks.core.errors import DataError, FigLangError
from figlang_tasks.core.hub import downloading_nothing
from figlang_tasks.core.request import Request


def refused(benchmark: Benchmark, dataset: str, **parameters: str) -> str:
    """The message that a run ends with; the check has the same fault."""
    with pytest.raises(DataError) as raised:
        benchmark.documents(Request.of(dataset, **parameters), check_images=True)
    message = str(raised.value)
    fault = re.sub(r" \d+ more fault\(s\): `figlang data check \w+` lists them\.$", "", message)
    assert any(fault in line for line in report(benchmark)[0])
    return message


def accepted(benchmark: Benchmark, dataset: str, **parameters: str) -> Any:
    """The documents of a run; the check finds no fault either."""
    assert report(benchmark)[1] == []
    return benchmark.documents(Request.of(dataset, **parameters), check_images=True)


def preflight(config: Mapping[str, Any]) -> None:
    """Raise what is wrong with the options and the data of a task."""
    if found := task_faults(config):
        raise FigLangError("\n".join(map(str, found)))


def report(benchmark: Benchmark) -> tuple[list[str], list[str]]:
    """What ``figlang data check`` says, and the faults in it."""
    hub.clear_caches()
    with downloading_nothing():
        return check(benchmark, requests_of(benchmark.name))
