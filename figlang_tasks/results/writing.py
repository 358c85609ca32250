"""Writes a run again with new values, in the form of the harness."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figlang_tasks.core.samples_files import task_of
from figlang_tasks.metrics.files import write_whole
from figlang_tasks.results import files
from figlang_tasks.results.results_file import read_results_file
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL, Estimates, to_json
from figlang_tasks.scoring.readings import count_readings

Results = dict[str, Any]
"""The content of a results file."""


@dataclass(frozen=True)
class ChangedTask:
    """A task that is written with other records or values than it was read with.

    Attributes:
        task: with its new lines, and all values under `reported`.
        new_values: those that the harness's own table gets.
        metadata: what the results say of the task beside its values.
    """

    task: TaskRun
    new_values: Estimates
    metadata: Mapping[str, Any]


def write_run(run: Run, changed: Mapping[str, ChangedTask], folder: Path) -> list[Results]:
    """Write a run with its changed tasks into a folder, and return the contents of its results
    files.

    The samples of other tasks are copied as they are.
    """
    contents: dict[str, Results] = {}
    for name, task in run.tasks.items():
        results_path = files.results_path(task.path)
        if results_path.name not in contents and results_path.exists():
            contents[results_path.name] = read_results_file(results_path)
        samples_path = folder / samples_name(task)
        if name in changed:
            lines = changed[name].task.samples
            write_whole(samples_path, b"".join(_json(line) for line in lines))
            _add_values(changed[name], contents.setdefault(results_path.name, {}))
        else:
            shutil.copyfile(task.path, samples_path)
    for name, content in contents.items():
        write_whole(folder / name, _json(content, indent=2))
    return list(contents.values())


def samples_name(task: TaskRun) -> str:
    """The name of the samples file of a task, as the harness names it."""
    return task.path.name if task_of(task.path) else f"samples_{task.task}.jsonl"


def _add_values(changed: ChangedTask, results: Results) -> None:
    """Put values, intervals and metadata of a task into the content of a results file, as in a run
    that has them.
    """
    task = changed.task
    table = results.setdefault("results", {}).setdefault(task.task, {})
    for measure in task.measures.in_table:
        if measure.name in changed.new_values:
            estimate = changed.new_values[measure.name][OVERALL]
            table[f"{measure.name},none"] = estimate.value
            table[f"{measure.name}_stderr,none"] = (
                "N/A" if estimate.stderr is None else estimate.stderr
            )
    config = results.setdefault("configs", {}).setdefault(task.task, {})
    metadata = {
        **(config.get("metadata") or {}),
        **changed.metadata,
        "measures": to_json(task.reported),
    }
    readings = count_readings(task.records)
    if readings:  # of a samples file alone there may be none yet
        metadata["readings"] = readings
    config["metadata"] = metadata


def _json(content: Any, indent: int | None = None) -> bytes:
    # As the harness writes it; half a surrogate pair, which UTF-8 has no bytes for, as the escape
    # that JSON has for it.
    return (json.dumps(content, ensure_ascii=False, indent=indent) + "\n").encode(
        "utf-8", "backslashreplace"
    )
