"""Tells which form a file of predictions has, and reads it."""

from __future__ import annotations

from pathlib import Path

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.samples_files import task_of
from figlang_tasks.core.text import listing
from figlang_tasks.results.predictions import harness_samples, tables
from figlang_tasks.results.predictions.prediction import ColumnNames, PredictionFile


def read_predictions(path: Path, names: ColumnNames, task: str) -> PredictionFile:
    """Read the predictions of one model for one task.

    Args:
        path: a file of any form; or a folder with samples files of a harness.
        names: the columns that the user named.
        task: the name of the task, by which a samples file is found in a folder.

    Raises:
        RunError: the file does not exist, cannot be read, or has no predictions.
    """
    if not path.exists():
        raise RunError(f"{path} does not exist")
    if path.is_dir():
        path = _samples_file_in(path, task)
    if harness_samples.is_samples_file(path):
        return harness_samples.read_samples(path)
    suffix = path.suffix.lower()
    if suffix not in tables.FORM_BY_SUFFIX:
        raise RunError(
            f"{path}: files that end in {suffix or 'nothing'} are not read; give one of"
            f" {', '.join(tables.FORM_BY_SUFFIX)}"
        )
    return tables.read_table(path, names)


def _samples_file_in(folder: Path, task: str) -> Path:
    """The only samples file of a task below a folder; a `RunError` if there are none or several."""
    paths = sorted(path for path in folder.rglob("*.jsonl") if task_of(path) == task)
    if len(paths) == 1:
        return paths[0]
    if not paths:
        raise RunError(f"{folder} has no samples file of {task}: give the file of the predictions")
    raise RunError(f"{folder} has several samples files of {task}: give one of {listing(paths)}")
