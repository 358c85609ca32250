"""Finds the files of finished runs, and tells which are missing or were not written whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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

# Follows the name of a file in messages.
_NOT_WHOLE = "is what could be written of a file, for example on a full disk"


class SeveralRunsError(RunError):
    """A folder that should be that of one run holds several.

    Attributes:
        advice: what to write where a command takes several runs.
    """

    def __init__(self, path: Path, folders: Sequence[Path]) -> None:
        """Make the error for a folder, whose runs are in these folders below it."""
        super().__init__(f"{path} holds several runs: name one of {listing(folders)}")
        pattern = f"{path}/{_pattern_of_subfolders(path, folders)}"
        self.advice = (
            f"{path} holds several runs: name each of them ({listing(folders)}), or {pattern} for"
            " all of them"
        )


def _pattern_of_subfolders(path: Path, folders: Sequence[Path]) -> str:
    """The pattern that tells folders below a path apart: ``*``, or ``*/*`` in a deeper tree."""
    parts_of_folders = [folder.relative_to(path).parts for folder in folders]
    for depth in range(1, max(map(len, parts_of_folders))):
        if len({parts[:depth] for parts in parts_of_folders}) == len(folders):
            return "/".join("*" * depth)
    return "/".join("*" * max(map(len, parts_of_folders)))


# --- which files there are ---


def samples_files(path: Path) -> dict[str, Path]:
    """The samples file of each task of a run, by the task's name.

    Args:
        path: a samples file; a results file, whose samples have its date; or a folder. If a folder
            has several samples files of a task, the newest one is used, with a warning.

    Raises:
        RunError: there are no samples files, or the folder holds folders of several runs.
    """
    if not path.exists():
        raise RunError(
            f"{path} does not exist: give a samples file, a results file or the folder of a run"
        )
    if path.suffix == ".jsonl":
        # If the user has renamed the file, the task is called like the file: ``my_run``. A full
        # stop would keep the file that `figlang score` writes, ``samples_TASK.jsonl``, from being
        # recognized as a samples file.
        task = task_of(path) or path.stem.replace(".", "_")
        return {task: path}
    if path.is_file():  # any other file should be a results file
        return _samples_of_results(path)

    files_by_task: dict[str, list[Path]] = {}  # of each task, the newest file comes last
    for file in _samples_directly_in(path):
        files_by_task.setdefault(task_of(file), []).append(file)
    if not files_by_task:
        return _samples_in_subfolders(path)
    repeated_tasks = [task for task, files in files_by_task.items() if len(files) > 1]
    if repeated_tasks:
        used_files = dict.fromkeys(files_by_task[task][-1].name for task in repeated_tasks)
        logger.warning(
            f"figlang_tasks: {path} holds several runs of {listing(repeated_tasks)}: the newest is"
            f" used, {listing(used_files)}"
        )
    return {task: files[-1] for task, files in sorted(files_by_task.items())}


def find_runs(folder: Path) -> list[Path]:
    """The results file of each run in a folder, at any depth; without one, its samples files.

    A file that could not be written whole counts as a samples file here. Each of the paths can be
    read as a run, or the error of reading it says what is wrong.
    """
    results_files: set[Path] = set()
    samples_paths: list[Path] = []
    unfinished_files: list[Path] = []
    for file in _paths_below(folder):
        if _RESULTS_NAME.fullmatch(file.name):
            results_files.add(file)
        elif task_of(file):
            samples_paths.append(file)
        elif _is_unfinished(file):
            unfinished_files.append(file)

    run_paths = list(results_files)
    for file in samples_paths:
        if results_path(file) not in results_files:
            run_paths.append(file)
    for file in unfinished_files:
        path_of_results = results_path(_intended_path(file))
        if path_of_results not in results_files:
            run_paths.append(file)
    return sorted(run_paths)


def results_path(samples: Path) -> Path:
    """The path of the results file that belongs to a samples file, whether or not it exists.

    ``DATE_results.json`` of ``DATE_samples_TASK.jsonl`` (lmms-eval), ``results_DATE.json`` of
    ``samples_TASK_DATE.jsonl`` (lm-eval), and ``results.json`` of a samples file that was renamed,
    ``my_run.jsonl``. The path of a results file comes back unchanged.
    """
    if _RESULTS_NAME.fullmatch(samples.name):
        return samples
    match = SAMPLES_NAME.fullmatch(samples.name)
    if match is None:  # The user has renamed the samples file.
        return samples.with_name("results.json")
    # lmms-eval writes the date before, lm-eval after.
    name_parts = [part for part in (match["before"], "results", match["after"]) if part]
    return samples.with_name("_".join(name_parts) + ".json")


def _samples_of_results(path: Path) -> dict[str, Path]:
    """The samples files that belong to a results file, by task: those beside it with its date.

    Args:
        path: the file that the user named; it may be no results file.

    Raises:
        RunError: there are none; says which tasks should have some.
    """
    samples_by_task: dict[str, Path] = {}
    for file in _samples_directly_in(path.parent):
        if results_path(file) == path:
            samples_by_task[task_of(file)] = file
    if not samples_by_task:
        raise _error_without_samples(path)
    return samples_by_task


def _error_without_samples(path: Path) -> RunError:
    """The error for a file to which no samples files belong; it says what is missing.

    Args:
        path: a results file, a file that was not written whole, or any file that a user named.

    Raises:
        RunError: it is a results file that cannot be read, because a kill has cut it off, say.
    """
    if _is_unfinished(path):
        return RunError(f"{path} {_NOT_WHOLE}: {EVALUATE_AGAIN}")
    if _RESULTS_NAME.fullmatch(path.name):
        tasks = tasks_of_ours(read_results_file(path))
        if tasks:
            return RunError(without_samples_message(path, tasks))
    return RunError(f"{path} is of no run with samples (--log_samples): give another")


def _samples_in_subfolders(path: Path) -> dict[str, Path]:
    """The samples file of each task in the only subfolder with samples files; else an error.

    Subfolders of any depth count. Harnesses put a run into one that has the name of the model.

    Raises:
        RunError: no subfolder has samples files, or several have.
    """
    folders = sorted({file.parent for file in _paths_below(path) if task_of(file)})
    if len(folders) == 1:
        return samples_files(folders[0])
    if folders:
        raise SeveralRunsError(path, folders)
    # Without samples files, a run is a results file, or a file that was not written whole. The
    # first one serves as an example: its error says what is missing.
    runs_without_samples = find_runs(path)
    if runs_without_samples:
        raise _error_without_samples(runs_without_samples[0])
    raise RunError(f"there are no samples files in {path} (evaluate with --log_samples)")


def _paths_below(folder: Path) -> Iterator[Path]:
    """All paths below a folder (of files and of subfolders), except what commands still write.

    Until a command has ended, its files are in a hidden folder, ``.NAME.partial``.
    """
    for path in folder.rglob("*"):
        subfolders = path.relative_to(folder).parts[:-1]
        if not any(map(_is_hidden_and_partial, subfolders)):
            yield path


def _is_hidden_and_partial(name: str) -> bool:
    """Whether a name is ``.NAME.partial``, that of a folder that a command still writes."""
    return name.startswith(".") and name.endswith(PARTIAL)


def _samples_directly_in(folder: Path) -> list[Path]:
    """The samples files in a folder itself; those of a task by date, the newest last."""
    # The names of a harness begin or end with the date, so their order is that of dates.
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
    path: Path, samples_by_task: Mapping[str, Path], results_by_path: Mapping[Path, Results]
) -> list[str]:
    """A sentence for each results file of a run that has tasks without samples, or is damaged.

    A results file beside newer samples of the same task is of an earlier run: it lacks nothing.

    Args:
        path: as a user named the run; of a single samples file nothing is missing.
        samples_by_task: the samples file of each task that is read: the newest one.
        results_by_path: the contents of the results files that were read already.
    """
    if path.suffix == ".jsonl":
        return []
    if path.is_file():
        files = [path]
    else:
        folder = next(iter(samples_by_task.values())).parent  # all of them are in one folder
        files = sorted(folder.iterdir())
    # Names of results files differ in the date alone, so the later name is the newer file. This is
    # the name of the results file that belongs to the newest samples.
    newest_used_name = max(results_path(samples).name for samples in samples_by_task.values())

    sentences = []
    for file in files:
        if not _RESULTS_NAME.fullmatch(file.name):
            continue
        try:
            results = results_by_path.get(file) or read_results_file(file)
            tasks = tasks_of_ours(results)
        except RunError as error:
            # Which tasks a damaged file has is unknown. It is reported only if it is newer than all
            # samples that are used.
            if file.name > newest_used_name:
                sentences.append(str(error))
            continue
        tasks_without_samples = [
            task for task in tasks if _lacks_samples(task, file, samples_by_task)
        ]
        if tasks_without_samples:
            sentences.append(without_samples_message(file, tasks_without_samples))
    return sentences


def _lacks_samples(task: str, results_file: Path, samples_by_task: Mapping[str, Path]) -> bool:
    """Whether a task of a results file has no samples file, neither of its date nor a later one.

    Args:
        samples_by_task: the newest samples file of each task.
    """
    if task in samples_by_task:
        results_of_newest_samples = results_path(samples_by_task[task])
        if results_of_newest_samples.name >= results_file.name:  # names have the order of dates
            return False
    # A task with a full stop in its name has a samples file that is not recognized as one.
    return not _samples_path(results_file, task).exists()


def _samples_path(results_file: Path, task: str) -> Path:
    """The path of the samples file of a task beside a results file, whether or not it exists."""
    # ``DATE_results.json`` of lmms-eval, or ``results_DATE.json`` of lm-eval
    before, _, after = results_file.name.partition("results")
    return results_file.with_name(f"{before}samples_{task}{after.removesuffix('.json')}.jsonl")


def without_samples_message(results_file: Path, tasks: list[str]) -> str:
    """A message that says that tasks of a results file have no samples, and what to do."""
    unfinished_names = []
    for task in tasks:
        name = _samples_path(results_file, task).name + PARTIAL
        if results_file.with_name(name).exists():
            unfinished_names.append(name)
    reason = f" ({listing(unfinished_names)} {_NOT_WHOLE})" if unfinished_names else ""
    return (
        f"{results_file}: results of {listing(tasks)} have no samples{reason}: restore the"
        f" samples files that the harness wrote (--log_samples), or {EVALUATE_AGAIN}"
    )
