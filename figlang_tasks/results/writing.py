"""Writes a run again with new samples or values, in the form of the harness."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figlang_tasks.core.samples_files import json_line, samples_content, task_of
from figlang_tasks.metrics.files import write_whole
from figlang_tasks.results import files
from figlang_tasks.results.results_file import read_results_file
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL, Estimates, Measures, to_json
from figlang_tasks.scoring.readings import readings_metadata


@dataclass(frozen=True)
class ChangedTask:
    """A task that is written with other records or values than it was read with.

    Attributes:
        task: with its new samples, and all its estimates, old and new, under `reported`.
        new_values: the estimates to put into the harness's own table.
        metadata: to be added to the task's metadata in the results file; None removes an entry.
        lost_metrics: metrics of the harness's own table that have no value any more.
    """

    task: TaskRun
    new_values: Estimates
    metadata: Mapping[str, Any]
    lost_metrics: Collection[str] = ()


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
        write_whole(new_samples_path, samples_content(changed[name].task.samples))
        content = contents.setdefault(results_path.name, {})
        _add_values(changed[name], content)  # writes into `content`
    for name, content in contents.items():
        write_whole(folder / name, json_line(content, indent=2))
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
    table.update(harness_row(task.measures, changed.new_values))
    for metric in changed.lost_metrics:
        table.pop(f"{metric},none", None)
        table.pop(f"{metric}_stderr,none", None)

    config = results.setdefault("configs", {}).setdefault(task.task, {})
    metadata = {
        **(config.get("metadata") or {}),
        **changed.metadata,
        # All values in all scopes with their intervals, for which the table above has no room.
        "measures": to_json(task.reported),
        # The counts come from the records: a run without a results file has none yet.
        **readings_metadata(task.records),
    }
    config["metadata"] = {name: entry for name, entry in metadata.items() if entry is not None}
    if "version" in changed.metadata:  # the harness has it in a table of its own too
        results.setdefault("versions", {})[task.task] = changed.metadata["version"]


def harness_row(measures: Measures, estimates: Estimates) -> dict[str, float | str]:
    """The row of a task in the harness's own table: its values over all rows, and their errors."""
    row: dict[str, float | str] = {}
    for measure in measures.in_table:
        if measure.name in estimates:
            estimate = estimates[measure.name][OVERALL]
            row[f"{measure.name},none"] = estimate.value
            row[f"{measure.name}_stderr,none"] = (
                "N/A" if estimate.stderr is None else estimate.stderr
            )
    return row


def save_run(run: Run, folder: Path) -> None:
    """Write a run into a folder that exists, in the form of the harness.

    Files of a run that was read are copied; a run that was made in memory is written.
    """
    results_names: set[str] = set()
    for task in run.tasks.values():
        if task.path.exists():
            shutil.copyfile(task.path, folder / samples_name(task))
        else:
            write_whole(folder / samples_name(task), samples_content(task.samples))
        results_path = files.results_path(task.path)
        if results_path.name in results_names:
            continue
        results_names.add(results_path.name)
        if results_path.exists():
            shutil.copyfile(results_path, folder / results_path.name)
        elif run.results:
            write_whole(folder / results_path.name, json_line(run.results, indent=2))
