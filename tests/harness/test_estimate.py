"""The lines that say what a run is going to ask."""

from __future__ import annotations

import re
from typing import Any

import pytest
from demo_runs import evaluate, mini_tasks
from lmms_eval.tasks import get_task_dict

import figlang_tasks
from figlang_tasks.core import status
from figlang_tasks.harness import estimate


@pytest.mark.parametrize(
    ("tasks", "options", "expected"),
    [
        (["figlang_mini"], {}, ["figlang_mini: 76 requests of up to 256 tokens"]),
        (["figlang_mini"], {"limit": 1}, ["figlang_mini: 1 request of up to 256 tokens"]),
        (["figlang_mini"], {"limit": -1}, ["figlang_mini: 76 requests of up to 256 tokens"]),
        (["figlang_mini"], {"limit": 0.1, "offset": 4}, ["figlang_mini: 8 requests of up to 256 tokens"]),
        (["figlang_mini"], {"limit": 50, "offset": 70}, ["figlang_mini: 6 requests of up to 256 tokens"]),
        (["mini_sg"], {}, ["mini_sg: 76 requests of up to 256 tokens in up to 2 rounds"]),
        (["figlang_mini_irfl_match_simile"], {"model": "figlang_vlm"}, ["figlang_mini_irfl_match_simile: 10 requests"]),
        (
            ["figlang_mini_irfl_retrieve", "figlang_mini"],
            {},
            [
                "figlang_mini_irfl_retrieve: 2 tasks, 85 requests",
                "figlang_mini: 76 requests of up to 256 tokens",
            ],
        ),
    ],
)
def test_the_lines_count_what_is_asked(tasks: list[str], options: dict[str, Any], expected: list[str]) -> None:
    manager = figlang_tasks.task_manager(
        include_defaults=False, include_path=mini_tasks(), model_name=options.pop("model", "figlang_random")
    )
    found = get_task_dict(tasks, manager, "simple")
    assert sorted(estimate.lines(found, **options)) == sorted(expected)


def test_a_group_without_tasks_asks_nothing() -> None:
    assert estimate.lines({"empty": {}}) == ["empty: 0 requests"]


def test_many_lines_end_with_a_sum() -> None:
    manager = figlang_tasks.task_manager(include_defaults=False, model_name="figlang_random")
    task = get_task_dict(["figlang_mini"], manager, "simple")["figlang_mini"]
    assert estimate.lines({f"copy_{number}": task for number in range(9)}) == [
        *(f"copy_{number}: 76 requests of up to 256 tokens" for number in range(7)),
        "and 2 more; all: 9 tasks, 684 requests of up to 256 tokens",
    ]


@pytest.mark.parametrize("options", [{}, {"limit": 0.1}, {"limit": 7, "offset": 7}], ids=str)
def test_the_harness_asks_as_many(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(status, "_shown", True)
    results = evaluate(["figlang_mini", "figlang_mini_irfl_retrieve_idiom"], "figlang_random", **options)
    said = re.findall(r"lmms_eval: (\w+): ([\d,]+) requests", capsys.readouterr().err)
    assert {task: int(count) for task, count in said} == {
        task: len(samples) for task, samples in results["samples"].items()
    }
