"""The files of finished runs: where they are, and which of them are missing or not whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from loguru import logger

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.files import PARTIAL
from figlang_tasks.core.samples_files import SAMPLES_NAME, task_of
from figlang_tasks.core.text import listing
from figlang_tasks.results.results_file import EVALUATE_AGAIN, read_results_file, tasks_of_ours

_RESULTS_NAME = re.compile(r"(?:.+_)?results(?:_\d{4}-\d\d-\d\dT[\d.-]+)?\.json")


# --- which files there are ---


def samples_files(path: Path) -> dict[str, Path]:
    """The samples file of each task of a run: of a folder the newest, of a results file those of
    its date.
    """
    if not path.exists():
        raise RunError(
            f"{path} does not exist: give a samples file, a results file or the folder of a run"
        )
    if path.suffix == ".jsonl":
        return {task_of(path) or path.stem.replace(".", "_"): path}
    if path.is_file():
        return _samples_of_results(path)
    files: dict[str, list[Path]] = {}
    for file in _samples_in(path):
        files.setdefault(task_of(file), []).append(file)
    if not files:
        return _samples_below(path)
    if again := [task for task, own in files.items() if len(own) > 1]:
        used = listing(dict.fromkeys(files[task][-1].name for task in again))
        logger.warning(
            f"figlang_tasks: {path} holds several runs of {listing(again)}: the newest is used,"
            f" {used}"
        )
    return {task: own[-1] for task, own in sorted(files.items())}


def find_runs(folder: Path) -> list[Path]:
    """A file of each run in a folder and below it: its results file, or its samples files where it
    has none.

    Files that could not be written whole are among them where no other file of their run tells of
    them.
    """
    results: set[Path] = set()
    samples: list[Path] = []
    partial: list[Path] = []
    for file in _files_below(folder):
        if _RESULTS_NAME.fullmatch(file.name):
            results.add(file)
        elif task_of(file):
            samples.append(file)
        elif _is_partial(file):
            partial.append(file)
    alone = [file for file in samples if results_path(file) not in results]
    untold = [file for file in partial if results_path(_whole(file)) not in results]
    return sorted([*results, *alone, *untold])


def results_path(samples: Path) -> Path:
    """Where the results file of a samples file is, if there is one; of a results file, itself."""
    if _RESULTS_NAME.fullmatch(samples.name):
        return samples
    named = SAMPLES_NAME.fullmatch(samples.name)
    parts = [named["before"], "results", named["after"]] if named else ["results"]
    return samples.with_name("_".join(filter(None, parts)) + ".json")


def _samples_of_results(path: Path) -> dict[str, Path]:
    """The samples files of the date of a results file."""
    if _is_partial(path):
        raise RunError(f"{path} {_NOT_WHOLE}: {EVALUATE_AGAIN}")
    samples = {
        task_of(file): file for file in _samples_in(path.parent) if results_path(file) == path
    }
    if samples:
        return samples
    if _RESULTS_NAME.fullmatch(path.name):
        results = read_results_file(path)  # one that a kill has cut off is told as such
        if tasks := tasks_of_ours(results):
            raise RunError(without_samples_message(path, tasks))
    raise RunError(f"{path} is of no run with samples (--log_samples): give another")


def _samples_below(path: Path) -> dict[str, Path]:
    """The samples files of the one run below a folder that holds none itself: the harness names a
    folder by model.
    """
    folders = sorted({file.parent for file in _files_below(path) if task_of(file)})
    if len(folders) == 1:
        return samples_files(folders[0])
    if folders:
        raise RunError(f"{path} holds several runs: name one of {listing(folders)}")
    for file in find_runs(path):  # a results file, or what could not be written whole
        _samples_of_results(file)
    raise RunError(f"there are no samples files in {path} (evaluate with --log_samples)")


def _files_below(folder: Path) -> Iterator[Path]:
    """All files below a folder, but for those that a command writes, or wrote when it was
    killed.
    """
    for file in folder.rglob("*"):
        folders = file.relative_to(folder).parts[:-1]
        if not any(name.startswith(".") and name.endswith(PARTIAL) for name in folders):
            yield file


def _samples_in(folder: Path) -> list[Path]:
    """The harness's samples files in a folder, the older of each task first: names begin or end
    with the date.
    """
    return [file for file in sorted(folder.glob("*samples_*.jsonl")) if task_of(file)]


# --- what is missing or not whole ---

_NOT_WHOLE = "is what could be written of a file, for example on a full disk"


def _whole(partial: Path) -> Path:
    """What a partial file would be if it were whole."""
    return partial.with_name(partial.name.removesuffix(PARTIAL))


def _is_partial(path: Path) -> bool:
    """Whether a file is what could be written of a results file or a samples file."""
    whole = _whole(path)
    return path.name.endswith(PARTIAL) and bool(
        _RESULTS_NAME.fullmatch(whole.name) or task_of(whole)
    )


def missing_samples(
    path: Path, used: Mapping[str, Path], contents: Mapping[Path, Mapping[str, Any]]
) -> list[str]:
    """What is missing of a run: a sentence for each results file with values of tasks that have no
    samples file.

    Args:
        path: as a user named the run; of a single samples file nothing is missing.
        used: the samples file of each task that is read. Results that are older than it are of an
            earlier run.
        contents: the content of the results files that were read already.
    """
    if path.suffix == ".jsonl":
        return []
    folder = path.parent if path.is_file() else next(iter(used.values())).parent
    candidates = [path] if path.is_file() else sorted(folder.iterdir())
    sentences = []
    for file in candidates:
        if not _RESULTS_NAME.fullmatch(file.name):
            continue
        try:
            tasks = tasks_of_ours(contents[file] if file in contents else read_results_file(file))
        except RunError as error:
            if file.name > max(results_path(samples).name for samples in used.values()):
                sentences.append(str(error))
            continue
        absent = [task for task in tasks if _is_missing(task, file, used)]
        if absent:
            sentences.append(without_samples_message(file, absent))
    return sentences


def _is_missing(task: str, results: Path, used: Mapping[str, Path]) -> bool:
    """Whether a task of a results file has no samples file of its date, nor a later one."""
    if task in used and results_path(used[task]).name >= results.name:
        return False
    # Names of samples files that are not read as such: a task with a full stop in its name.
    return not _samples_path(results, task).exists()


def _samples_path(results: Path, task: str) -> Path:
    """Where the samples file of a task is, beside a results file."""
    before, _, after = results.name.partition("results")
    return results.with_name(f"{before}samples_{task}{after.removesuffix('.json')}.jsonl")


def without_samples_message(results: Path, tasks: list[str]) -> str:
    """Says that values of tasks have no samples, and what to do."""
    partial = [_samples_path(results, task).name + PARTIAL for task in tasks]
    partial = [name for name in partial if results.with_name(name).exists()]
    because = f" ({listing(partial)} {_NOT_WHOLE})" if partial else ""
    return (
        f"{results}: results of {listing(tasks)} have no samples{because}: restore the samples"
        f" files that the harness wrote (--log_samples), or {EVALUATE_AGAIN}"
    )
