"""Tasks that a model cannot do: a group leaves them out, and the run says so.

A task that is named alone is refused instead, and so is a group of which nothing would be left.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figlang_tasks.core.text import listing
from figlang_tasks.harness.task_index import leaf_configs, members_of

if TYPE_CHECKING:
    from lmms_eval.tasks import TaskManager

    from figlang_tasks.harness.task_index import TaskIndex


def skippable_tasks(
    manager: TaskManager, names: Sequence[str], refused_tasks: Collection[str]
) -> set[str]:
    """Those of the refused tasks that a run can leave out: groups alone ask for them.

    Args:
        manager: knows the tasks.
        names: of tasks, tags and groups, as the user gave them.
        refused_tasks: the names of tasks that the model cannot do.
    """
    skippable = set(refused_tasks)
    for name in names:
        tasks = {config["task"] for config in leaf_configs(manager, [name])}
        if tasks <= set(refused_tasks):  # a task, or a group of which nothing would be left
            skippable -= tasks
    return skippable


def skipped_text(skipped: Mapping[str, str]) -> str:
    """The skipped tasks in a line: ``skipped: irfl_match_idiom (needs scores)``.

    Args:
        skipped: why, by the name of the task.
    """
    tasks_by_reason: dict[str, list[str]] = {}
    for task, reason in skipped.items():
        tasks_by_reason.setdefault(reason, []).append(task)
    parts = [f"{listing(tasks)} ({reason})" for reason, tasks in tasks_by_reason.items()]
    return f"skipped: {'; '.join(parts)}"


@contextmanager
def without_tasks(
    manager: TaskManager, names: Sequence[str], skipped: Collection[str]
) -> Iterator[None]:
    """Have the groups behind some names leave out tasks while the block runs.

    Args:
        manager: knows the tasks.
        names: of tasks, tags and groups.
        skipped: the names of the tasks to leave out.
    """
    if not skipped:
        yield
        return
    index: TaskIndex = manager.task_index  # lmms-eval 0.7.3 hands out the dict that it reads
    with tempfile.TemporaryDirectory(prefix="figlang-") as folder:
        changed_entries: TaskIndex = {}
        _remaining_members(manager, names, skipped, changed_entries, Path(folder))
        old_entries = {name: index[name] for name in changed_entries}
        index.update(changed_entries)
        try:
            yield
        finally:
            index.update(old_entries)


def _remaining_members(
    manager: TaskManager,
    members: Sequence[Any],
    skipped: Collection[str],
    changed_entries: TaskIndex,
    folder: Path,
) -> list[Any]:
    """The members of a group without the skipped tasks, and without groups that are then empty.

    Args:
        manager: knows the tasks.
        members: names, or mappings as group files hold them.
        skipped: the names of the tasks to leave out.
        changed_entries: gets the new entry of each group that loses a member.
        folder: gets a group file for each of these.
    """
    remaining: list[Any] = []
    for member in members:
        name_or_members: Any = member.get("task") if isinstance(member, dict) else member
        if isinstance(name_or_members, list):
            inner = _remaining_members(manager, name_or_members, skipped, changed_entries, folder)
            if inner:
                remaining.append({**member, "task": inner})
            continue
        if name_or_members in skipped:
            continue
        if _is_left(manager, name_or_members, skipped, changed_entries, folder):
            remaining.append(member)
    return remaining


def _is_left(
    manager: TaskManager,
    name: str,
    skipped: Collection[str],
    changed_entries: TaskIndex,
    folder: Path,
) -> bool:
    """Whether anything of a task or group is left; the new entry of a changed group is added."""
    entry = manager.task_index.get(name)
    is_group = entry is not None and entry["type"] in ("tag", "group")
    if entry is None or not is_group or name in changed_entries:
        return True
    members = members_of(manager, name)
    changed_entries[name] = entry  # A group may contain itself.
    remaining = _remaining_members(manager, members, skipped, changed_entries, folder)
    if remaining == members:
        del changed_entries[name]
    elif entry["yaml_path"] == -1:  # a tag, whose members stand in the index
        changed_entries[name] = {**entry, "task": remaining}
    else:
        # The group's own file is included, which keeps its other settings.
        content = {"include": str(Path(entry["yaml_path"]).absolute()), "task": remaining}
        file = folder / f"{len(changed_entries)}.yaml"
        file.write_text(json.dumps(content), encoding="utf-8")
        changed_entries[name] = {**entry, "yaml_path": str(file)}
    return bool(remaining)
