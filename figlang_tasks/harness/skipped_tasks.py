"""Tasks that a model cannot do: a group or a pattern leaves them out, and the run says so.

A task that is named alone is refused instead; so is a group or a pattern if nothing would be left.
"""

from __future__ import annotations

import fnmatch
import json
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figlang_tasks.core.text import listing
from figlang_tasks.harness.task_index import leaf_names, members_of

if TYPE_CHECKING:
    from lmms_eval.tasks import TaskManager

    from figlang_tasks.harness.task_index import TaskIndex


def names_by_request(names: Sequence[str], selection: str | None) -> list[list[str]]:
    """Some names, divided by what the user asked for: a single name, or all names of a pattern.

    Args:
        names: of tasks, tags and groups; patterns are replaced by the names that they match.
        selection: the text after ``--tasks``; None if the user gave the names themselves.
    """
    if selection is None:
        return [[name] for name in names]
    requests: list[list[str]] = []
    for name_or_pattern in selection.split(","):
        matches = fnmatch.filter(names, name_or_pattern)
        if matches:
            requests.append(matches)
    return requests


def skippable_tasks(
    manager: TaskManager, requests: Iterable[Sequence[str]], refused_tasks: Collection[str]
) -> set[str]:
    """Those of the refused tasks that a run can leave out: groups or patterns alone ask for them.

    Args:
        manager: knows the tasks.
        requests: the names of tasks, tags and groups, as `names_by_request` divides them.
        refused_tasks: the names of tasks that the model cannot do.
    """
    skippable = set(refused_tasks)
    for names in requests:
        tasks = set(leaf_names(manager, names))  # also those of others
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
) -> Iterator[list[str]]:
    """Have the groups behind some names leave out tasks while the block runs.

    Args:
        manager: knows the tasks.
        names: of tasks, tags and groups.
        skipped: the names of the tasks to leave out.

    Yields:
        The names of which something is left.
    """
    if not skipped:
        yield list(names)
        return
    index: TaskIndex = manager.task_index  # lmms-eval 0.7.3 hands out the dict that it reads
    with tempfile.TemporaryDirectory(prefix="figlang-") as folder:
        groups = _ReducedGroups(manager, skipped, Path(folder))
        remaining_names = groups.remaining(names)
        old_entries = {name: index[name] for name in groups.changed_entries}
        index.update(groups.changed_entries)
        try:
            yield remaining_names
        finally:
            index.update(old_entries)


class _ReducedGroups:
    """Groups without the skipped tasks.

    Attributes:
        changed_entries: the new entry in the index of each group that has lost a member.
    """

    def __init__(self, manager: TaskManager, skipped: Collection[str], folder: Path) -> None:
        """Args:
        manager: knows the tasks.
        skipped: the names of the tasks to leave out.
        folder: gets a group file for each group that has lost a member.
        """
        self.changed_entries: TaskIndex = {}
        self._manager = manager
        self._skipped = skipped
        self._folder = folder
        self._is_left: dict[str, bool] = {}  # whether a group has a member left, by its name

    def remaining(self, members: Sequence[Any]) -> list[Any]:
        """The members of a group without the skipped tasks, and without groups that are then empty.

        Args:
            members: names, or mappings as group files hold them.
        """
        remaining: list[Any] = []
        for member in members:
            name_or_members: Any = member.get("task") if isinstance(member, dict) else member
            if isinstance(name_or_members, list):
                inner = self.remaining(name_or_members)
                if inner:
                    remaining.append({**member, "task": inner})
            elif name_or_members not in self._skipped and self._has_tasks(name_or_members):
                remaining.append(member)
        return remaining

    def _has_tasks(self, name: str) -> bool:
        """Whether anything of a task or group is left; a group that loses a member is changed."""
        entry = self._manager.task_index.get(name)
        if entry is None or entry["type"] not in ("tag", "group"):
            return True
        if name not in self._is_left:
            self._is_left[name] = True  # until it is known; a group may contain itself
            members = members_of(self._manager, name)
            remaining = self.remaining(members)
            self._is_left[name] = bool(remaining)
            if remaining != members:
                self.changed_entries[name] = self._reduced_entry(name, entry, remaining)
        return self._is_left[name]

    def _reduced_entry(
        self, name: str, entry: Mapping[str, Any], members: Sequence[Any]
    ) -> dict[str, Any]:
        """The entry in the index of a group with fewer members; a group needs a file for that."""
        if entry["yaml_path"] == -1:  # a tag, whose members stand in the index
            return {**entry, "task": members}
        # The group's own file is included, which keeps its other settings.
        content = {"include": str(Path(entry["yaml_path"]).absolute()), "task": members}
        file = self._folder / f"{len(self.changed_entries)}.yaml"
        file.write_text(json.dumps(content), encoding="utf-8")
        return {**entry, "yaml_path": str(file)}
