"""Finds our task files, and reads them fast: each once, and without importing what it names.

The harness reads each file, and all that it includes, again for every task and with a loader in
plain Python.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from figlang_tasks import resource_dir
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.homes import MINI, Harness, files_in, foreign_homes

TaskConfig: TypeAlias = Mapping[str, Any]
"""The content of a task file, with what it includes, by key."""

ALL_TASKS = "`figlang tasks '*'` lists ours, `lmms_eval tasks list` all of them"
"""The remedy of messages about a task that does not exist."""

_ASKS = "# Asks:"
"""How the first line of a task file begins if it says what the task asks, for lists of tasks."""


class NoTaskFile(FigLangError):
    """A file with other content than a task, or with a sign that only the harness knows."""


# The loader in C is much faster, but PyYAML may be installed without it.
class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads a task file; a function in it (``!function utils.doc_to_text``) becomes its name."""


def _function_name(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> str:
    """The name after ``!function``, where the harness's loader would import the function."""
    name: str = node.value
    return name


Loader.add_constructor("!function", _function_name)


STUB = {"data_files": {"test": str(resource_dir("task_yamls") / "lmms_eval" / "stub.jsonl")}}
"""The ``dataset_kwargs`` of task files in other packages: the row that the harness loads."""


def folder(harness: Harness) -> Path:
    """The folder with the task files of our benchmarks for a harness."""
    return resource_dir("task_yamls") / harness


def folders(harness: Harness) -> list[Path]:
    """The folder of our task files for a harness, then those of benchmarks of other packages."""
    all_folders = [folder(harness)]
    for home in foreign_homes().values():
        if home.task_files[harness].is_dir():
            all_folders.append(home.task_files[harness])
    return all_folders


def lm_eval_folders() -> list[str]:
    """The folders of our task files for lm-eval; its entry point of the group ``lm_eval.tasks``.

    lm-eval 0.4.13 and 0.5.0.dev1 have no such group yet (its pull request 4015).
    """
    return [str(path) for path in folders("lm_eval")]


def lmms_eval_folders() -> list[str]:
    """The folders of our task files for lmms-eval; its entry point of ``lmms_eval.tasks``.

    lmms-eval 0.7.3 has no such group yet (docs/upstream/lmms_eval_task_entry_points.patch).
    """
    return [str(path) for path in folders("lmms_eval")]


def files(harness: Harness) -> dict[str, Path]:
    """The files of the tasks and groups of all benchmarks for a harness, by name.

    A file has the name of its task or group. They are in the order of folders and of paths.
    """
    path_by_name: dict[str, Path] = {}
    for task_folder in folders(harness):
        path_by_name.update(files_in(task_folder))
    return path_by_name


def benchmark_of(path: Path, harness: Harness) -> str:
    """The name of the benchmark that one of the `files` is of; `MINI` for tasks on shipped data."""
    for home in foreign_homes().values():
        if path.is_relative_to(home.task_files[harness]):
            return home.name
    benchmark = path.relative_to(folder(harness)).parts[0]
    return MINI if benchmark == "mini" else benchmark


@cache
def read(path: Path) -> dict[str, Any]:
    """Read a task file with what it includes.

    Keys of the file itself win, then those of the first file that it includes.

    Raises:
        FigLangError: the file, or one that it includes, is no task file, or includes itself.
    """
    return _read(path, ())


@cache
def purpose(path: Path) -> str:
    """What a task asks: the text behind ``# Asks:``, the first line of its file.

    A file without that line asks what the files ask that it includes.

    Args:
        path: of a file that `read` can read.

    Returns:
        A sentence or two; "" if no file says it.
    """
    first_line = path.read_text(encoding="utf-8").partition("\n")[0]
    if first_line.startswith(_ASKS):
        return first_line.removeprefix(_ASKS).strip()
    for included_file in _included_files(path):
        text = purpose(included_file)
        if text:
            return text
    return ""


def _read(path: Path, including: tuple[Path, ...]) -> dict[str, Any]:
    """Read a task file with what it includes.

    Args:
        path: of the file.
        including: the files through which it is included, which it must not include again.
    """
    if path in including:
        raise FigLangError(f"{path} includes itself: leave that file out of its `include`")
    included_files = _included_files(path)
    config = dict(_content(path))
    config.pop("include", None)
    merged: dict[str, Any] = {}
    for included_file in reversed(included_files):
        merged |= _read(included_file, (*including, path))
    return merged | config


def _included_files(path: Path) -> list[Path]:
    """The files that a task file includes, in its order.

    Raises:
        FigLangError: the file is no task file, or its ``include`` is no path and no list of paths,
            or names no file.
    """
    names = _content(path).get("include") or []
    if isinstance(names, str):
        names = [names]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise FigLangError(f"{path}: its include must be the path of a file, or a list of paths")
    return [_included_file(path, name) for name in names]


def _included_file(path: Path, name: str) -> Path:
    """The file that a task file includes: beside it, or in the folder where the command runs.

    Raises:
        FigLangError: there is none.
    """
    for candidate in (path.parent / name, Path(name)):
        if candidate.is_file():
            return candidate.resolve()
    raise FigLangError(f"{path} includes {name}, and there is no such file: correct its `include`")


@cache
def _content(path: Path) -> dict[str, Any]:
    """The content of a task file without what it includes."""
    try:
        config = yaml.load(path.read_bytes(), Loader=Loader)  # noqa: S506  (a SafeLoader, above)
    except yaml.constructor.ConstructorError as error:
        raise NoTaskFile(f"{path} is not valid YAML: {' '.join(str(error).split())}") from error
    except OSError as error:
        raise FigLangError(f"{path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise FigLangError(f"{path} is not valid YAML: {reason}") from error
    if not isinstance(config, dict):
        raise NoTaskFile(
            f"{path} is no task file: it must have keys with values, such as `task: name`"
        )
    return config
