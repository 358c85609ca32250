"""Finds the files of finished runs, and tells which are missing or were not written whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from loguru import logger

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.files import PARTIAL
from figlang_tasks.core.samples_files import SAMPLES_NAME, task_of
from figlang_tasks.core.text import listing
from figlang_tasks.results.results_file import (
    EVALUATE_AGAIN,
    Results,
    read_results_file,
    tasks_of_ours,
)

_RESULTS_NAME = re.compile(r"(?:.+_)?results(?:_\d{4}-\d\d-\d\dT[\d.-]+)?\.json")

_NOT_WHOLE = "is what could be written of a file, for example on a full disk"


# --- which files there are ---


def samples_files(path: Path) -> dict[str, Path]:
    """The samples file of each task of a run.

    Args:
        path: a samples file, a results file (its samples have its date), or a folder, of which the
            newest samples of each task are used.

    Raises:
        RunError: there are none, or the folder holds folders of several runs.
    """
    if not path.exists():
        raise RunError(
            f"{path} does not exist: give a samples file, a results file or the folder of a run"
        )
    if path.suffix == ".jsonl":
        return {task_of(path) or path.stem.replace(".", "_"): path}
    if path.is_file():
        return _samples_of_results(path)

    files_by_task: dict[str, list[Path]] = {}
    for file in _samples_in(path):
        files_by_task.setdefault(task_of(file), []).append(file)
    if not files_by_task:
        return _samples_below(path)
    repeated_tasks = [task for task, files in files_by_task.items() if len(files) > 1]
    if repeated_tasks:
        used_files = dict.fromkeys(files_by_task[task][-1].name for task in repeated_tasks)
        logger.warning(
            f"figlang_tasks: {path} holds several runs of {listing(repeated_tasks)}: the newest is"
            f" used, {listing(used_files)}"
        )
    return {task: files[-1] for task, files in sorted(files_by_task.items())}


def find_runs(folder: Path) -> list[Path]:
    """A file of each run in a folder and below it: its results file, else its samples files.

    A file that could not be written whole stands for its run if the run has no results file.
    """
    results_files: set[Path] = set()
    samples_paths: list[Path] = []
    unfinished_files: list[Path] = []
    for file in _files_below(folder):
        if _RESULTS_NAME.fullmatch(file.name):
            results_files.add(file)
        elif task_of(file):
            samples_paths.append(file)
        elif _is_unfinished(file):
            unfinished_files.append(file)

    runs = list(results_files)
    for file in samples_paths:
        if results_path(file) not in results_files:
            runs.append(file)
    for file in unfinished_files:
        if results_path(_intended_path(file)) not in results_files:
            runs.append(file)
    return sorted(runs)


def results_path(samples: Path) -> Path:
    """Where the results file beside a samples file is, if there is one; a results file itself."""
    if _RESULTS_NAME.fullmatch(samples.name):
        return samples
    match = SAMPLES_NAME.fullmatch(samples.name)
    if match is None:
        return samples.with_name("results.json")
    name_parts = [part for part in (match["before"], "results", match["after"]) if part]
    return samples.with_name("_".join(name_parts) + ".json")


def _samples_of_results(path: Path) -> dict[str, Path]:
    """The samples files of a results file by task: those beside it with its date.

    Raises:
        RunError: there are none; says which tasks should have some.
    """
    if _is_unfinished(path):
        raise RunError(f"{path} {_NOT_WHOLE}: {EVALUATE_AGAIN}")
    samples_by_task: dict[str, Path] = {}
    for file in _samples_in(path.parent):
        if results_path(file) == path:
            samples_by_task[task_of(file)] = file
    if samples_by_task:
        return samples_by_task

    if _RESULTS_NAME.fullmatch(path.name):
        tasks = tasks_of_ours(read_results_file(path))  # raises if a kill has cut the file off
        if tasks:
            raise RunError(without_samples_message(path, tasks))
    raise RunError(f"{path} is of no run with samples (--log_samples): give another")


def _samples_below(path: Path) -> dict[str, Path]:
    """The samples files of the one run below a folder without any: harnesses name it by model.

    Raises:
        RunError: there are no runs below the folder, or several.
    """
    folders = sorted({file.parent for file in _files_below(path) if task_of(file)})
    if len(folders) == 1:
        return samples_files(folders[0])
    if folders:
        raise RunError(f"{path} holds several runs: name one of {listing(folders)}")
    for file in find_runs(path):  # a results file without samples, or a file that is not whole
        _samples_of_results(file)  # raises an error that says what is missing
    raise RunError(f"there are no samples files in {path} (evaluate with --log_samples)")


def _files_below(folder: Path) -> Iterator[Path]:
    """All files below a folder, but for the hidden folders that commands write into."""
    for file in folder.rglob("*"):
        folder_names = file.relative_to(folder).parts[:-1]
        if not any(name.startswith(".") and name.endswith(PARTIAL) for name in folder_names):
            yield file


def _samples_in(folder: Path) -> list[Path]:
    """The harness's samples files in a folder, by date: their names begin or end with it."""
    return [file for file in sorted(folder.glob("*samples_*.jsonl")) if task_of(file)]


# --- what is missing or not whole ---


def _intended_path(unfinished: Path) -> Path:
    """The path that a file would have if it had been written whole."""
    return unfinished.with_name(unfinished.name.removesuffix(PARTIAL))


def _is_unfinished(path: Path) -> bool:
    """Whether a file is the beginning of a results or samples file that was not written whole."""
    if not path.name.endswith(PARTIAL):
        return False
    intended_path = _intended_path(path)
    return bool(_RESULTS_NAME.fullmatch(intended_path.name) or task_of(intended_path))


def missing_samples(
    path: Path, used: Mapping[str, Path], contents: Mapping[Path, Results]
) -> list[str]:
    """A sentence for each results file of a run that has tasks without a samples file.

    Args:
        path: as a user named the run; of a single samples file nothing is missing.
        used: the samples file of each task that is read. Results that are older than it are of an
            earlier run.
        contents: the content of the results files that were read already.
    """
    if path.suffix == ".jsonl":
        return []
    if path.is_file():
        candidates = [path]
    else:
        folder = next(iter(used.values())).parent
        candidates = sorted(folder.iterdir())
    newest_name = max(results_path(samples).name for samples in used.values())

    sentences = []
    for file in candidates:
        if not _RESULTS_NAME.fullmatch(file.name):
            continue
        try:
            results = contents.get(file) or read_results_file(file)
            tasks = tasks_of_ours(results)
        except RunError as error:
            if file.name > newest_name:
                sentences.append(str(error))
            continue
        tasks_without_samples = [task for task in tasks if _lacks_samples(task, file, used)]
        if tasks_without_samples:
            sentences.append(without_samples_message(file, tasks_without_samples))
    return sentences


def _lacks_samples(task: str, results: Path, used: Mapping[str, Path]) -> bool:
    """Whether a task of a results file has no samples file of its date, nor a later one."""
    if task in used and results_path(used[task]).name >= results.name:
        return False
    # A task with a full stop in its name has a samples file that is not recognized as one.
    return not _samples_path(results, task).exists()


def _samples_path(results: Path, task: str) -> Path:
    """Where the samples file of a task is, beside a results file."""
    before, _, after = results.name.partition("results")
    return results.with_name(f"{before}samples_{task}{after.removesuffix('.json')}.jsonl")


def without_samples_message(results: Path, tasks: list[str]) -> str:
    """A message that tasks of a results file have no samples, and what to do."""
    unfinished_names = []
    for task in tasks:
        name = _samples_path(results, task).name + PARTIAL
        if results.with_name(name).exists():
            unfinished_names.append(name)
    reason = f" ({listing(unfinished_names)} {_NOT_WHOLE})" if unfinished_names else ""
    return (
        f"{results}: results of {listing(tasks)} have no samples{reason}: restore the samples"
        f" files that the harness wrote (--log_samples), or {EVALUATE_AGAIN}"
    )
