"""Writes a run again with new samples or values, in the form of the harness."""

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
from figlang_tasks.scoring.readings import readings_metadata


@dataclass(frozen=True)
class ChangedTask:
    """A task that is written with other records or values than it was read with.

    Attributes:
        task: with its new samples, and all its estimates, old and new, under `reported`.
        new_values: the estimates to put into the harness's own table.
        metadata: to be added to the task's metadata in the results file.
    """

    task: TaskRun
    new_values: Estimates
    metadata: Mapping[str, Any]


def write_run(run: Run, changed: Mapping[str, ChangedTask], folder: Path) -> list[dict[str, Any]]:
    """Write a run with its changed tasks into a folder; return the contents of its results files.

    The samples of other tasks are copied as they are. Where a changed task has no results file, one
    is written.

    Args:
        changed: the changed tasks by name.
    """
    contents: dict[str, dict[str, Any]] = {}  # by the name of the results file
    for name, task in run.tasks.items():
        # Several tasks may share a results file, which is read once. It keeps its name, and so do
        # the samples, unless the user has renamed them: files that belong together have one date.
        results_path = files.results_path(task.path)
        if results_path.name not in contents and results_path.exists():
            contents[results_path.name] = read_results_file(results_path)
        new_samples_path = folder / samples_name(task)
        if name not in changed:
            shutil.copyfile(task.path, new_samples_path)
            continue
        lines = [_json_line(sample) for sample in changed[name].task.samples]
        write_whole(new_samples_path, b"".join(lines))
        content = contents.setdefault(results_path.name, {})
        _add_values(changed[name], content)  # writes into `content`
    for name, content in contents.items():
        write_whole(folder / name, _json_line(content, indent=2))
    return list(contents.values())


def samples_name(task: TaskRun) -> str:
    """The name to save the samples of a task under: the old one if a harness gave it.

    ``samples_TASK.jsonl`` for a file that the user has renamed.
    """
    return task.path.name if task_of(task.path) else f"samples_{task.task}.jsonl"


def _add_values(changed: ChangedTask, results: dict[str, Any]) -> None:
    """Write the values, intervals and metadata of a changed task into `results`."""
    task = changed.task
    # The harness's own table: ``{"acc,none": 0.5, "acc_stderr,none": "N/A"}``.
    table = results.setdefault("results", {}).setdefault(task.task, {})
    for measure in task.measures.in_table:
        if measure.name in changed.new_values:
            estimate = changed.new_values[measure.name][OVERALL]
            stderr = "N/A" if estimate.stderr is None else estimate.stderr
            table[f"{measure.name},none"] = estimate.value
            table[f"{measure.name}_stderr,none"] = stderr

    config = results.setdefault("configs", {}).setdefault(task.task, {})
    metadata = {
        **(config.get("metadata") or {}),
        **changed.metadata,
        # All values in all scopes with their intervals, for which the table above has no room.
        "measures": to_json(task.reported),
        # The counts come from the records: a run without a results file has none yet.
        **readings_metadata(task.records),
    }
    config["metadata"] = metadata


def _json_line(content: Mapping[str, Any], indent: int | None = None) -> bytes:
    """JSON as the harness writes it, and a line break.

    Half a surrogate pair, for which UTF-8 has no bytes, becomes the escape that JSON has for it.
    """
    text = json.dumps(content, ensure_ascii=False, indent=indent) + "\n"
    return text.encode("utf-8", "backslashreplace")
