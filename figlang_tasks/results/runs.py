"""Reads finished runs that a harness saved: lmms-eval or lm-eval.

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
from pathlib import Path

from loguru import logger

from figlang_tasks.core.benchmark import of_dataset, parse_request
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, RunError
from figlang_tasks.core.request import Request
from figlang_tasks.core.samples_files import saved_lines
from figlang_tasks.core.text import LONGEST_NAME, listing, shortened, whole_characters
from figlang_tasks.results.files import (
    SeveralRunsError,
    missing_samples,
    results_path,
    samples_files,
)
from figlang_tasks.results.results_file import (
    Results,
    estimates_of,
    measured_metadata,
    model_name,
    partial_reason,
    read_results_file,
    score_command,
    task_config,
    unscored_tasks,
)
from figlang_tasks.results.run_names import with_distinct_names
from figlang_tasks.results.task_run import SCORE_AGAIN, Run, Sample, TaskRun
from figlang_tasks.scoring import Record, Task
from figlang_tasks.scoring.records import REPEAT

_FIELDS = ("task", "request", "id", "data")
"""Fields that the records of all tasks have, all of them texts."""


def read_all(
    arguments: Sequence[str], repeats: bool = False, require_samples: bool = False
) -> list[Run]:
    """Read several runs, each a path or ``NAME=PATH``; ``NAME=PATTERN`` stands for several.

    Runs that share a name are named by what differs between them, unless they are repeats.

    Args:
        repeats: whether runs to which the user gave one name are repeats, and keep it.
        require_samples: whether results of tasks without samples are an error; else a warning.

    Raises:
        RunError: a run cannot be read, or is given twice.
    """
    runs = []
    for argument in arguments:
        for run_argument in expand_pattern(argument):
            runs.append(_read_one_of_several(run_argument, require_samples))

    count_by_file = Counter(task.path.resolve() for run in runs for task in run.tasks.values())
    for path, count in count_by_file.items():
        if count > 1:
            raise RunError(f"{path} is given {count} times: give each run once")

    return with_distinct_names(runs, repeats)


def _read_one_of_several(argument: str, require_samples: bool) -> Run:
    """Read a run; where its folder holds several runs, the error says how to name them all."""
    try:
        return read(argument, require_samples)
    except SeveralRunsError as error:
        raise RunError(error.advice) from error


def read(argument: str, require_samples: bool = False) -> Run:
    """Read a run: a samples file, a results file or a folder of them, or ``NAME=PATH``.

    Args:
        require_samples: whether results of tasks without samples are an error; else a warning.

    Raises:
        RunError: the run cannot be read, is damaged, or has no task of ours.
    """
    given_name, path = name_and_path(argument)
    samples_by_task = samples_files(path)
    results_by_path: dict[Path, Results] = {}
    for samples_path in samples_by_task.values():
        path_of_results = results_path(samples_path)
        if path_of_results not in results_by_path and path_of_results.exists():
            results_by_path[path_of_results] = read_results_file(path_of_results)

    missing_sentences = tuple(missing_samples(path, samples_by_task, results_by_path))
    if missing_sentences and require_samples:
        raise RunError(f"{missing_sentences[0]}. Or give the samples file of one task alone")
    for sentence in missing_sentences:
        logger.warning(f"figlang_tasks: {sentence}")

    tasks: dict[str, TaskRun] = {}
    for task, samples_path in samples_by_task.items():
        results_of_task = results_by_path.get(results_path(samples_path), {})
        task_run = _read_task(task, samples_path, results_of_task)
        if task_run is not None:  # else the task is none of ours
            tasks[task_run.task] = task_run
    if not tasks:
        raise _error_without_tasks(path, samples_by_task, results_by_path)

    last_results: Results = {}
    if results_by_path:
        last_results = results_by_path[max(results_by_path)]  # names of files contain the date
    name_of_path = path.stem if path.suffix else path.name
    name = given_name or model_name(last_results) or name_of_path
    return Run(whole_characters(name), path, tasks, last_results, given_name, missing_sentences)


def _error_without_tasks(
    path: Path, samples_by_task: Mapping[str, Path], results_by_path: Mapping[Path, Results]
) -> RunError:
    """The error for a run whose samples have no records of our tasks; it says what to do.

    Args:
        path: of the run, as the user gave it.
        samples_by_task: the samples files.
        results_by_path: the contents of the results files beside them.
    """
    unscored: list[str] = []
    for results in results_by_path.values():
        unscored += unscored_tasks(results)
    if unscored:
        is_samples_file = path.suffix == ".jsonl"
        run_path = path if is_samples_file else max(results_by_path).parent
        return RunError(
            "This run used --predict_only and has no scores. To score it:"
            f" {score_command(run_path, unscored)}"
        )
    return RunError(
        f"{path} has only samples of other tasks, or of --predict_only"
        f" ({listing(samples_by_task)}): name another run, or {SCORE_AGAIN}"
    )


def name_and_path(argument: str) -> tuple[str | None, Path]:
    """The name and the path in ``NAME=PATH``; None and the path if the argument is a path alone."""
    name, sign, path = argument.partition("=")
    is_path_with_sign = os.path.exists(argument)
    if sign and not is_path_with_sign:
        return shortened(name, LONGEST_NAME), Path(path)
    return None, Path(argument)


def expand_pattern(argument: str) -> list[str]:
    """``NAME=PATH`` for each path that matches ``NAME=PATTERN``; any other argument unchanged.

    A pattern without matches is unchanged too: reading it raises an error that names it.
    """
    name, path = name_and_path(argument)
    if not name or path.exists():
        return [argument]
    matches = sorted(glob.glob(str(path)))
    if not matches:
        return [argument]
    return [f"{name}={match}" for match in matches]


# --- one task ---


def _read_task(task: str, path: Path, results: Results) -> TaskRun | None:
    """Read the samples file of a task, with its results; None if the task is none of ours.

    Args:
        path: of the samples file.
        results: the content of the results file of the same run; {} without one.

    Raises:
        RunError: the file is damaged or of several runs.
    """
    samples = _read_samples(task, path, results)
    if not samples:
        return None
    records = [sample["sample"] for sample in samples]
    data = _data_of(path, records)
    kind, request = _read_kind_and_request(path, records)
    _check_data_of_request(path, data, request)
    config = task_config(results, task, results_path(path))
    metadata = config.get("metadata") or {}
    scorer = _scorer_of(path, records)
    document_ids = {str(sample.get("doc_id")) for sample in samples}
    task_run = TaskRun(
        task=whole_characters(task),  # a file may have any name
        path=path,
        saved_sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        kind=kind,
        request=request,
        data=data,
        samples=tuple(samples),
        reported=estimates_of(metadata, f"{task} in {results_path(path)}"),
        config=config,
        scorer=scorer,
        signature=metadata.get("explanation_scorer") if scorer else None,
        partial=partial_reason(results, task, sampled_documents=len(document_ids)),
        table=(results.get("results") or {}).get(task) or {},
    )
    if task_run.unanswered:
        logger.warning(
            f"figlang_tasks: {path}: {task_run.unanswered} of {len(samples)} rows have no answer"
            " and count as wrong"
        )
    return task_run


def _check_data_of_request(path: Path, data: DataId, request: Request) -> None:
    """Raise a `RunError` if records are not of the dataset that their request names.

    Args:
        path: of their samples file, for the message.
    """
    if data.dataset != request.dataset:
        raise RunError(
            f"{path}: its records are of {data}, and their request is {request}: restore the file"
            " that the harness wrote"
        )


def _read_samples(task: str, path: Path, results: Results) -> list[Sample]:
    """Read the lines of a samples file; [] if the task is none of ours.

    A task is ours if any line has a record, or if the results file has our metadata of it.

    Raises:
        RunError: the task is ours, and a line has no record.
    """
    samples: list[Sample] = []
    first_without_record = ""  # its file and line
    for file_and_line, sample in saved_lines(path):
        if _is_record(sample.get("sample")):
            samples.append(sample)
        elif not first_without_record:
            first_without_record = file_and_line
    is_ours = bool(samples) or measured_metadata(results, task) is not None
    if is_ours and first_without_record:
        raise RunError(
            f"{first_without_record} has no `sample` record of figlang_tasks"
            f" ({', '.join(_FIELDS)}, status: texts; repeat: a number), but other lines or the"
            " results file have the task: restore the file that the harness wrote"
        )
    return samples


def _is_record(value: object) -> bool:
    """Whether a value has the fields that the records of all tasks share, of the right types."""
    if not isinstance(value, dict):
        return False
    for field in _FIELDS:
        if not isinstance(value.get(field), str):
            return False
    # These two fields may be missing.
    status = value.get("status", "")
    repeat = value.get(REPEAT, 1)
    return isinstance(status, str) and isinstance(repeat, int)


def _data_of(path: Path, records: Sequence[Record]) -> DataId:
    """The data that the records of a samples file are of; an error if they are of several runs.

    Each record names them in its field ``data``: ``V-FLUTE/test@REVISION:DIGEST``.

    Args:
        path: of the samples file, for messages.
        records: all records of the file, at least one.

    Raises:
        RunError: the records are of several runs, or of unknown data.
    """
    # A run has one line for each row and repeat. Where a pair of these comes twice, it is two runs.
    answers = [(record["id"], str(record.get(REPEAT))) for record in records]
    lines_per_answer = Counter(answers)
    (row, _repeat), most_lines = lines_per_answer.most_common(1)[0]
    data_names = list(dict.fromkeys(str(record["data"]) for record in records))
    mixture = ""
    if most_lines > 1:
        mixture = f"{most_lines} lines of the row {row}"
    elif len(data_names) > 1:
        mixture = f"rows of {listing(data_names)}"
    if mixture:
        raise RunError(
            f"{path} has {mixture}: are these several runs? Split the file, one for each"
        )
    try:
        data = DataId.parse(data_names[0])
        of_dataset(data.dataset)  # a dataset that no benchmark has is an error
    except (ValueError, DataError) as error:
        raise RunError(f"{path}: {error}") from error
    return data


def _read_kind_and_request(path: Path, records: Sequence[Record]) -> tuple[Task, Request]:
    """The kind of task that wrote some records, and its request to the dataset.

    Each record names both, in its fields ``task`` and ``request``.

    Args:
        path: of the samples file, for messages.
        records: all records of the file, at least one.

    Raises:
        RunError: several tasks wrote the records, or an unknown one.
    """
    first_lines: dict[tuple[str, str], int] = {}  # by the names of task and request
    for number, record in enumerate(records, start=1):
        first_lines.setdefault((record["task"], record["request"]), number)
    kinds: list[tuple[Task, Request]] = []
    for (task_name, request_text), number in first_lines.items():
        try:
            benchmark, request = parse_request(request_text, key="request")
            kinds.append((benchmark.task(task_name), request))
        except DataError as error:
            raise RunError(f"{path}, line {number}: {error}") from error
    if len(kinds) > 1:
        tasks_with_lines = ", ".join(
            f"{task_name} of {request_text} in line {number}"
            for (task_name, request_text), number in first_lines.items()
        )
        raise RunError(
            f"{path} has records of several tasks ({tasks_with_lines}): split the file, one for"
            " each"
        )
    return kinds[0]


def _scorer_of(path: Path, records: Sequence[Record]) -> str | None:
    """The name of the scorer that scored the explanations; None if no record has scores.

    Args:
        path: of the samples file, for messages.

    Raises:
        RunError: scores are damaged, or of several scorers.
    """
    first_lines: dict[str, int] = {}  # by the name of the scorer
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
        scorers_with_lines = ", ".join(
            f"{scorer} in line {number}" for scorer, number in first_lines.items()
        )
        raise RunError(
            f"{path} has scores of several scorers ({scorers_with_lines}): score the run again"
        )
    return next(iter(first_lines), None)  # the only one, if there is one


def _are_explanation_scores(scores: object) -> bool:
    """Whether a value has the name of a scorer, and a mean that a scorer can give."""
    if not isinstance(scores, Mapping) or not isinstance(scores.get("scorer"), str):
        return False
    mean = scores.get("mean")
    # Scores are 0 to 1, but BLEURT may lie outside by a little.
    return isinstance(mean, int | float) and abs(mean) <= 2
