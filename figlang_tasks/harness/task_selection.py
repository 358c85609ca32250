"""Which task files of ours a command selects, found without importing the harness."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from figlang_tasks.core import task_files
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.task_files import TaskConfig
from figlang_tasks.harness import installed

_LEFT_OUT = {"__pycache__", ".ipynb_checkpoints"}


def yaml_files(folder: Path) -> Iterator[Path]:
    """The files below a folder that lmms-eval 0.7.3 reads as task files."""
    for root, subfolders, names in os.walk(folder):
        subfolders[:] = sorted(set(subfolders) - _LEFT_OUT)
        for name in sorted(names):
            if name.endswith(".yaml"):
                yield Path(root, name)


def selected_tasks(names: Iterable[str], user_files: Sequence[Path]) -> list[TaskConfig]:
    """The content of the task files that names select, and that are ours or include ours.

    What cannot be read is left out, and so is what only the harness knows.

    Args:
        names: of tasks and groups, patterns of names, and paths of files.
        user_files: the user's task files; they, and the harness's own tasks, come before ours of
            the same name.
    """
    file_by_name = task_files.files("lmms_eval")
    for name in file_by_name.keys() & installed.task_names():
        del file_by_name[name]
    file_by_name.update(_files_by_name(user_files))
    configs: dict[str, TaskConfig] = {}
    pending = list(names)
    visited: set[str] = set()
    while pending:
        name = pending.pop(0)
        if name in visited:
            continue
        visited.add(name)
        if "*" in name:
            pending += fnmatch.filter(file_by_name, name)
            continue
        config = _read(file_by_name.get(name, Path(name)))
        pending += _members(config)
        if str(config.get("process_docs")).startswith("figlang_tasks."):
            configs[name] = config
    return list(configs.values())


def _files_by_name(files: Iterable[Path]) -> dict[str, Path]:
    """Task files by the name of their task or group."""
    file_by_name: dict[str, Path] = {}
    for file in files:
        config = _read(file)
        name = config.get("group") if isinstance(config.get("task"), list) else config.get("task")
        if isinstance(name, str):
            file_by_name[name] = file
    return file_by_name


def _members(config: TaskConfig) -> list[str]:
    """The names of the members of a group; empty for a task."""
    members = config.get("task")
    if not isinstance(members, list):
        return []
    names: list[str] = []
    for member in members:
        name = member.get("task") if isinstance(member, Mapping) else member
        if isinstance(name, str):
            names.append(name)
    return names


def _read(file: Path) -> TaskConfig:
    """The content of a task file; empty if it cannot be read."""
    if not file.is_file():
        return {}
    try:
        return task_files.read(file.resolve())
    except FigLangError:
        return {}
