"""Which tasks a ``TaskManager`` of the harness knows, and which of them are ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.task_files import ALL_TASKS, folder
from figlang_tasks.core.text import did_you_mean


def tasks_dir() -> Path:
    """The folder with our task definitions for lmms-eval."""
    return folder("lmms_eval")


def initialize_tasks(original: Callable[..., dict], given: Mapping[str, Any]) -> dict[str, dict]:
    index = original(**given)
    if not given["include_defaults"]:
        return index
    # The harness's own tasks and the user's --include_path win over ours, as they do over each
    # other.
    return {**given["self"]._get_task_and_group(str(tasks_dir())), **index}


def is_ours(process_docs: Any) -> bool:
    """Whether a task is ours: its process_docs is. That covers YAML files of users that include
    ours.
    """
    return getattr(process_docs, "__module__", "").startswith("figlang_tasks.")


def leaf_configs(manager: Any, names: Iterable[Any]) -> list[dict[str, Any]]:
    """The configurations of the tasks behind task, tag and group names, leaving out the harness's
    own.

    Raises:
        FigLangError: a group of the user's has a member that does not exist.
    """
    import lmms_eval.tasks

    harness_folder = str(Path(lmms_eval.tasks.__file__).parent)
    configs: dict[str, dict[str, Any]] = {}
    seen: set[str] = set()
    # Each with the group that it is a member of
    pending: list[tuple[str, Any]] = [("", name) for name in names]
    while pending:
        group, member = pending.pop(0)
        # Of a group: with overrides, or inline
        below = member.get("task", []) if isinstance(member, dict) else member
        if isinstance(below, list):
            pending += [(group, name) for name in below]
            continue
        entry = manager.task_index.get(below)
        if entry is None and isinstance(member, str) and group:
            hint = did_you_mean(below, manager.task_index)
            raise FigLangError(
                f"figlang_tasks: group {group}: no task {below!r}{hint}. {ALL_TASKS}"
            )
        if entry is None or below in seen or str(entry["yaml_path"]).startswith(harness_folder):
            continue
        seen.add(below)
        if entry["type"] == "task":
            configs[below] = manager._get_config(below)
        elif entry["type"] in ("tag", "group"):
            members = (
                entry["task"] if entry["yaml_path"] == -1 else manager._get_config(below)["task"]
            )
            pending.append((below, {"task": members}))
    return list(configs.values())


def tasks_of(found: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Names and tasks in the harness's ``task_dict``, from groups too."""
    for name, task in found.items():
        if isinstance(task, Mapping):
            yield from tasks_of(task)
        else:
            yield name, task
