"""A run is said to be of another model, time, version or data than it is if this fails."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
import saved_runs

from figlang_tasks.benchmarks.vflute.tasks import VFLUTE
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.request import Request
from figlang_tasks.results import provenance, runs
from figlang_tasks.results.task_run import Run, TaskRun


def run_of(**results: Any) -> Run:
    return Run("run", Path(), {}, results)


def task_of(data: str, sample: dict[str, Any], metadata: dict[str, Any]) -> TaskRun:
    """A run of V-FLUTE with one sample and this metadata."""
    return TaskRun(
        task="x",
        path=Path(),
        saved_sha256="",
        kind=VFLUTE,
        request=Request.of("V-FLUTE", split="test"),
        data=DataId.parse(data),
        samples=(sample,),
        reported={},
        config={"metadata": metadata},
        scorer=None,
        signature=None,
    )


@pytest.mark.parametrize(
    ("date", "zone", "expected"),
    [
        (
            "20261122_033916",
            "Asia/Singapore",
            datetime(2026, 11, 21, 19, 39, 16, tzinfo=timezone.utc),
        ),
        ("yesterday", "UTC", None),
        (1767323045.5, "UTC", datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)),  # lm-eval
        (1e300, "UTC", None),
    ],
)
def test_when_a_run_was(date: Any, zone: str, expected: datetime | None) -> None:
    run = run_of(date=date, config={"resolved_cli_args": {"timezone": zone}})
    assert provenance.evaluated_at(run) == expected


def test_the_version_of_the_harness() -> None:
    # The commit is of a folder above the package.
    assert provenance.harness(run_of(lmms_eval_version="main@ab92d7f")) == ("unknown", "unknown")
    run = run_of(lm_eval_version="0.4.12", lmms_eval_version=None)
    assert provenance.harness(run) == ("lm_eval", "0.4.12")
    task = task_of("V-FLUTE/test:0123", {}, {"versions": {"lmms-eval": "0.7.4"}})
    assert provenance.harness(replace(run, tasks={"x": task})) == ("lmms_eval", "0.7.4")


@pytest.mark.parametrize(
    ("config", "options"),
    [
        (
            {"model": "m", "model_args": "a=b c", "device": "cuda:0", "limit": 8},
            {"model": "m", "model_args": "a=b c"},
        ),
        (
            {"batch_size": 4, "gen_kwargs": {"x": 1, "y": True}},
            {"batch_size": "4", "gen_kwargs": "x=1,y=True"},
        ),
        ({"gen_kwargs": {"api_key": "sk-1", "x": 1}}, {"gen_kwargs": "api_key=[REDACTED],x=1"}),
        (
            {"model": "m", "resolved_cli_args": {"model": "n", "seed": [0, 1]}},
            {"model": "m", "seed": "0,1"},
        ),
        ({"resolved_cli_args": 7}, {}),
    ],
)
def test_the_options_are_those_that_the_results_file_tells(
    config: dict[str, Any], options: dict[str, str]
) -> None:
    assert provenance.option_texts(run_of(config=config)) == options


def test_what_a_report_says_of_a_run(tmp_path: Path) -> None:
    lines = {"figlang_mini": saved_runs.sample_lines("figlang_mini", 2)}
    facts_of_harness = {
        "lmms_eval_version": "main@ab92d7f",
        "total_evaluation_time_seconds": "12.7",
    }
    folder = saved_runs.write_run(
        tmp_path / "run", lines, {"model": "figlang_random"}, **facts_of_harness
    )
    run = runs.read(f"mine={folder}")
    facts = provenance.run_facts(run)
    task = provenance.task_facts(run.tasks["figlang_mini"])
    assert (facts["model"], facts["seconds"]) == ("figlang_random", "12")
    assert "ab92d7f" not in str(facts)  # of the folder above the harness's package
    (file,) = folder.glob("*.jsonl")
    assert task["SHA-256 of the samples"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert task["samples file"] == file.name
    assert (task["version"], task["prompt hash"], task["rows"]) == ("2-0", "abc123", "2")
    next(folder.glob("*results.json")).unlink()
    assert provenance.run_facts(runs.read(str(folder))) == {"read from": "[local]/run"}
