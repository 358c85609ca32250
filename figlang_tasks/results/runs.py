"""Reads finished runs: what a harness saved, lmms-eval or lm-eval.

A run is a samples file, a results file, or a folder that holds them; ``figlang score`` writes runs
of the same form. A samples file has one JSON object a line, with what a harness knows of a sample
(``target``, ``filtered_resps``, ...), one key for each metric, and under ``sample`` the record of
our task (`figlang_tasks.scoring.explained`).
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from loguru import logger

from figlang_tasks.core.benchmark import of_dataset, parse_request
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, RunError
from figlang_tasks.core.request import Request
from figlang_tasks.core.samples_files import saved_lines
from figlang_tasks.core.text import LONGEST_NAME, listing, shortened, whole_characters
from figlang_tasks.results.files import missing_samples, results_path, samples_files
from figlang_tasks.results.results_file import (
    estimates_of,
    measured_metadata,
    model_name,
    partial_reason,
    read_results_file,
    task_config,
)
from figlang_tasks.results.task_run import SCORE_AGAIN, Run, TaskRun
from figlang_tasks.scoring import Record, Task
from figlang_tasks.scoring.measure import REPEAT

_FIELDS = ("task", "request", "id", "data")
"""Texts in every record."""


def read_all(
    arguments: Sequence[str], repeats: bool = False, require_samples: bool = False
) -> list[Run]:
    """Read several runs; names that two of them share are followed by their paths.

    ``NAME=PATTERN`` names several; with `repeats`, runs of one given name keep it.
    `require_samples` is that of `read`.
    """
    runs = []
    for argument in arguments:
        for run_argument in _matching(argument):
            runs.append(read(run_argument, require_samples))

    files = Counter(task.path.resolve() for run in runs for task in run.tasks.values())
    for path, count in files.items():
        if count > 1:
            raise RunError(f"{path} is given {count} times: give each run once")

    names = Counter(run.name for run in runs)
    for position, run in enumerate(runs):
        is_repeat = repeats and run.given_name
        if names[run.name] > 1 and not is_repeat:
            runs[position] = replace(run, name=f"{run.name} ({run.path})")
    return runs


def read(argument: str, require_samples: bool = False) -> Run:
    """Read a run: a path, or ``NAME=PATH``.

    Results without samples are a warning; with `require_samples`, they are an error.
    """
    name, path = _name_and_path(argument)
    samples_by_task = samples_files(path)
    results_by_path: dict[Path, dict[str, Any]] = {}
    for samples in samples_by_task.values():
        beside = results_path(samples)
        if beside not in results_by_path and beside.exists():
            results_by_path[beside] = read_results_file(beside)

    missing = tuple(missing_samples(path, samples_by_task, results_by_path))
    if missing and require_samples:
        raise RunError(f"{missing[0]}. Or give the samples file of one task alone")
    for sentence in missing:
        logger.warning(f"figlang_tasks: {sentence}")

    tasks: dict[str, TaskRun] = {}
    for task, samples in samples_by_task.items():
        task_run = _read_task(task, samples, results_by_path.get(results_path(samples), {}))
        if task_run is not None:
            tasks[task_run.task] = task_run
    if not tasks:
        raise RunError(
            f"{path} has only samples of other tasks, or of --predict_only"
            f" ({listing(samples_by_task)}): name another run, or {SCORE_AGAIN}"
        )

    results = results_by_path[max(results_by_path)] if results_by_path else {}
    shown_name = name or model_name(results) or (path.stem if path.suffix else path.name)
    return Run(whole_characters(shown_name), path, tasks, results, name, missing)


def _name_and_path(argument: str) -> tuple[str | None, Path]:
    """Name and path that the user gave."""
    name, sign, path = argument.partition("=")
    if sign and not os.path.exists(argument):
        return shortened(name, LONGEST_NAME), Path(path)
    return None, Path(argument)


def _matching(argument: str) -> list[str]:
    """``NAME=PATH`` for each path that a pattern after a name matches; else the argument."""
    name, path = _name_and_path(argument)
    if not name or path.exists():
        return [argument]
    return [f"{name}={match}" for match in sorted(glob.glob(str(path)))] or [argument]


# --- one task ---


def _read_task(task: str, path: Path, results: Mapping[str, Any]) -> TaskRun | None:
    """Read the samples file of a task, and what the results file says of it; None if the task is
    none of ours.
    """
    lines = _lines_with_records(task, path, results)
    if not lines:
        return None
    records = [line["sample"] for line in lines]
    data = _data_of(path, records)
    kind, request = _kind_of(path, records)
    if data.dataset != request.dataset:
        raise RunError(
            f"{path}: its records are of {data}, and their request is {request}: restore the file"
            " that the harness wrote"
        )
    config = task_config(results, task, results_path(path))
    metadata = config.get("metadata") or {}
    scorer = _scorer_of(path, records)
    documents = {str(line.get("doc_id")) for line in lines}
    run = TaskRun(
        task=whole_characters(task),  # a file may have any name
        path=path,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        kind=kind,
        request=request,
        data=data,
        samples=tuple(lines),
        reported=estimates_of(metadata, f"{task} in {results_path(path)}"),
        config=config,
        scorer=scorer,
        signature=metadata.get("explanation_scorer") if scorer else None,
        partial=partial_reason(results, task, len(documents)),
        table=(results.get("results") or {}).get(task) or {},
    )
    if run.unanswered:
        logger.warning(
            f"figlang_tasks: {path}: {run.unanswered} of {len(lines)} rows have no answer and count"
            " as wrong"
        )
    return run


def _lines_with_records(task: str, path: Path, results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The lines of a samples file; none if no line has a record and the results file does not have
    the task.
    """
    lines: list[dict[str, Any]] = []
    first_without = ""
    for place, line in saved_lines(path):
        if _is_record(line.get("sample")):
            lines.append(line)
        elif not first_without:
            first_without = place
    is_ours = bool(lines) or measured_metadata(results, task) is not None
    if is_ours and first_without:
        raise RunError(
            f"{first_without} has no `sample` record of figlang_tasks ({', '.join(_FIELDS)},"
            " status: texts; repeat: a number), but other lines or the results file have the task:"
            " restore the file that the harness wrote"
        )
    return lines


def _is_record(value: object) -> bool:
    """Whether a value is a record, as far as any task has the same."""
    if not isinstance(value, dict) or not all(
        isinstance(value.get(field), str) for field in _FIELDS
    ):
        return False
    return isinstance(value.get("status", ""), str) and isinstance(value.get(REPEAT, 1), int)


def _data_of(path: Path, records: Sequence[Record]) -> DataId:
    """The data that all records of a samples file are of; a `RunError` if they are of several
    runs.
    """
    answers_by_row = Counter((record["id"], str(record.get(REPEAT))) for record in records)
    (row, _), count = answers_by_row.most_common(1)[0]
    names = list(dict.fromkeys(str(record["data"]) for record in records))
    if count > 1 or len(names) > 1:
        mixture = f"{count} lines of the row {row}" if count > 1 else f"rows of {listing(names)}"
        raise RunError(
            f"{path} has {mixture}: are these several runs? Split the file, one for each"
        )
    try:
        data = DataId.parse(names[0])
        of_dataset(data.dataset)
    except (ValueError, DataError) as error:
        raise RunError(f"{path}: {error}") from error
    return data


def _kind_of(path: Path, records: Sequence[Record]) -> tuple[Task, Request]:
    """The kind of task that wrote all records of a samples file, and its request."""
    first_lines: dict[tuple[str, str], int] = {}
    for number, record in enumerate(records, start=1):
        first_lines.setdefault((record["task"], record["request"]), number)
    kinds: list[tuple[Task, Request]] = []
    for (name, text), number in first_lines.items():
        try:
            benchmark, request = parse_request(text, key="request")
            kinds.append((benchmark.task(name), request))
        except DataError as error:
            raise RunError(f"{path}, line {number}: {error}") from error
    if len(kinds) > 1:
        places = ", ".join(
            f"{name} of {text} in line {number}" for (name, text), number in first_lines.items()
        )
        raise RunError(
            f"{path} has records of several tasks ({places}): split the file, one for each"
        )
    return kinds[0]


def _scorer_of(path: Path, records: Sequence[Record]) -> str | None:
    """The scorer of the explanations; None if they have no scores."""
    first_lines: dict[str, int] = {}
    for number, record in enumerate(records, start=1):
        scores = record.get("explanation_scores")
        if scores is None:
            continue
        if not _are_explanation_scores(scores):
            raise RunError(
                f"{path}, line {number}: explanation_scores are damaged: score the run again"
            )
        first_lines.setdefault(scores["scorer"], number)
    if len(first_lines) > 1:
        places = ", ".join(f"{scorer} in line {number}" for scorer, number in first_lines.items())
        raise RunError(f"{path} has scores of several scorers ({places}): score the run again")
    return next(iter(first_lines), None)


def _are_explanation_scores(scores: object) -> bool:
    """Whether a value has the name of a scorer and a mean that a scorer can give, which is about 0
    to 1.
    """
    if not isinstance(scores, Mapping):
        return False
    mean = scores.get("mean")
    return (
        isinstance(scores.get("scorer"), str) and isinstance(mean, int | float) and abs(mean) <= 2
    )
