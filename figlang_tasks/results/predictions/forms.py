"""Tells which form a file of predictions has, and reads it.

The form is told by what is inside the file, where names do not tell: a ``.json`` file may be a
table, or come from HELM or inspect_ai.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.files import MOST_BYTES_OF_SAMPLES, check_file
from figlang_tasks.core.row_files import json_lines
from figlang_tasks.core.samples_files import task_of
from figlang_tasks.core.text import listing
from figlang_tasks.results.predictions import (
    every_eval_ever,
    harness_samples,
    helm,
    inspect_logs,
    tables,
)
from figlang_tasks.results.predictions.json_fields import read_json
from figlang_tasks.results.predictions.prediction import ColumnNames, PredictionFile

_PACKED_LOG = ".eval"
_PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".joblib", ".npy", ".npz")
"""Endings of files that run as code when they are loaded, or may."""


def read_predictions(path: Path, names: ColumnNames, task: str) -> PredictionFile:
    """Read the predictions of one model for one task.

    Args:
        path: a file of any form; or a folder with samples files of a harness, or of a run of HELM.
        names: the columns that the user named.
        task: the name of the task, by which a samples file is found in a folder.

    Raises:
        RunError: the file does not exist, cannot be read, or has no predictions.
    """
    if not path.exists():
        raise RunError(f"{path} does not exist")
    if path.is_dir():
        path = _file_in(path, task)
    try:
        return _read_file(path, names, task)
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror or error}") from error


def _read_file(path: Path, names: ColumnNames, task: str) -> PredictionFile:
    """Read a file by the reader of its form.

    Raises:
        OSError: the file cannot be read.
        RunError: it has no form that is read, or no predictions.
    """
    check_file(path, MOST_BYTES_OF_SAMPLES)  # opening a pipe would wait for ever
    suffix = path.suffix.lower()
    if suffix == _PACKED_LOG or (suffix != ".xlsx" and inspect_logs.is_packed_log(path)):
        return inspect_logs.read_packed_log(path)
    if suffix == ".jsonl":
        return _read_json_lines(path, names, task)
    if suffix == ".json":
        return _read_json(path, names)
    if suffix in _PICKLES:
        raise RunError(
            f"{path}: files that end in {suffix} are not read, because loading them may run code;"
            " save the predictions as CSV or JSON"
        )
    if suffix not in tables.FORM_BY_SUFFIX:
        forms = [*tables.FORM_BY_SUFFIX, _PACKED_LOG]
        raise RunError(
            f"{path}: files that end in {suffix or 'nothing'} are not read; give one of"
            f" {', '.join(forms)}"
        )
    return tables.read_table(path, names)


def _read_json_lines(path: Path, names: ColumnNames, task: str) -> PredictionFile:
    """Read samples of a harness, instances of Every Eval Ever, or a table, by the first line."""
    first_line = _first_line(path)
    if harness_samples.is_sample(first_line):
        return harness_samples.read_samples(path)
    if every_eval_ever.is_instance(first_line):
        return every_eval_ever.read_instances(path, task)
    return tables.read_table(path, names)


def _first_line(path: Path) -> Mapping[str, object]:
    """The object in the first line of JSON Lines; empty if the file is, or the line is no object.

    The reader of the table then says what is wrong.
    """
    with path.open("rb") as file:
        for _, line in json_lines(file):
            return {} if isinstance(line, str) else line
    return {}


def _read_json(path: Path, names: ColumnNames) -> PredictionFile:
    """Read the JSON of HELM or inspect_ai, or a table.

    Raises:
        RunError: the file has values of a run and no answers, or another form.
    """
    content = read_json(path)
    if helm.is_scenario_state(content):
        return helm.read_scenario_state(path, content)
    if inspect_logs.is_log(content):
        return inspect_logs.read_log(path, content)
    if _is_results_file(content):
        raise RunError(
            f"{path} has the values of a run, and no answers: give the file of its samples, which"
            " the harness writes beside it with --log_samples"
        )
    if every_eval_ever.is_aggregate(content):
        raise RunError(
            f"{path} has the values of an evaluation, and no answers: give the file of its"
            " instances, ..._samples.jsonl"
        )
    return tables.read_json_table(path, content, names)


def _is_results_file(content: object) -> bool:
    """Whether the content of a JSON file is that of a results file of lmms-eval or lm-eval."""
    return isinstance(content, Mapping) and {"results", "configs"} <= set(content)


def _file_in(folder: Path, task: str) -> Path:
    """The file of predictions in a folder: of samples of a task, or of a run of HELM.

    Raises:
        RunError: there is none, or there are several.
    """
    paths = sorted(path for path in folder.rglob("*.jsonl") if task_of(path) == task)
    if not paths:
        paths = sorted(folder.rglob(helm.FILE_NAME))
    if len(paths) == 1:
        return paths[0]
    if not paths:
        raise RunError(
            f"{folder} has no samples file of {task}, and no {helm.FILE_NAME} of HELM: give the"
            " file of the predictions"
        )
    raise RunError(f"{folder} has several files of predictions: give one of {listing(paths)}")
