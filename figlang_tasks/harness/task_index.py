"""Which tasks a ``TaskManager`` of the harness knows, and which of them are ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.task_files import ALL_TASKS, files, folder, folders, read
from figlang_tasks.core.text import did_you_mean
from figlang_tasks.harness.harness_types import Arguments, HarnessTask, Original

if TYPE_CHECKING:
    from lmms_eval.tasks import TaskManager


TaskIndex: TypeAlias = dict[str, dict[str, Any]]
"""Type, file and members of each task, tag and group that a ``TaskManager`` knows, by name."""


def tasks_dir() -> Path:
    """The folder with the task definitions of our benchmarks for lmms-eval."""
    return folder("lmms_eval")


def initialize_tasks(original: Original, arguments: Arguments) -> TaskIndex:
    """The index of all tasks by name, ours among them; replaces the method of ``TaskManager``.

    If a caller leaves the harness's own tasks out (``include_defaults=False``), ours are too.
    """
    index: TaskIndex = original(**arguments)
    if not arguments["include_defaults"]:
        return index
    manager: TaskManager = arguments["self"]
    our_index: TaskIndex = {}
    for task_folder in folders("lmms_eval"):
        our_index.update(manager._get_task_and_group(str(task_folder)))
    # The harness's own tasks and those of --include_path take precedence over ours. Among the
    # folders of lmms-eval 0.7.3, too, the first that has a name wins.
    return {**our_index, **index}


def is_ours(process_docs: object, process_results: object) -> bool:
    """Whether a task is ours, by what makes its documents or judges its answers.

    Task files of users that include ours have these functions, so they are ours too, also with one
    function of the user's own (to leave out rows, say).

    Args:
        process_docs, process_results: the functions that its task file names; None for one that it
            does not name.
    """
    functions = (process_docs, process_results)
    modules = [getattr(function, "__module__", None) or "" for function in functions]
    return any(module.startswith("figlang_tasks.") for module in modules)


def leaf_configs(manager: TaskManager, names: Iterable[object]) -> list[dict[str, Any]]:
    """The configurations of the tasks behind names of tasks, tags and groups, each once.

    Left out are names that nobody has, the harness's own tasks and groups, and tasks that are
    Python classes.

    Args:
        manager: knows the tasks.
        names: of tasks, tags and groups.

    Raises:
        FigLangError: a group of the user's has a member that does not exist.
    """
    configs: list[dict[str, Any]] = []
    for name in leaf_names(manager, names):
        entry = manager.task_index.get(name)
        if entry is not None and entry["type"] == "task" and not _is_of_harness(entry):
            configs.append(manager._get_config(name))
    return configs


def leaf_names(manager: TaskManager, names: Iterable[object]) -> list[str]:
    """The names of the tasks behind names of tasks, tags and groups, each once.

    A group of the harness itself stands for its tasks. Names that nobody has are left out.

    Args:
        manager: knows the tasks.
        names: of tasks, tags and groups.

    Raises:
        FigLangError: a group of the user's has a member that does not exist.
    """
    index = manager.task_index
    leaves: list[str] = []
    visited: set[str] = set()
    # Pairs of a group and its member; the group is "" for the names that are given.
    pending: list[tuple[str, Any]] = [("", name) for name in names]
    while pending:
        group, member = pending.pop(0)
        # A member may be a mapping: a task with overrides ({task: NAME, task_alias: ...}), or a
        # group that is written inline ({group: NAME, task: [...]}).
        name_or_members = member.get("task", []) if isinstance(member, dict) else member
        if isinstance(name_or_members, list):
            pending += [(group, inner_member) for inner_member in name_or_members]
            continue

        name = name_or_members
        if name in visited:
            continue
        visited.add(name)
        entry = index.get(name)
        if entry is None:
            # A mapping may define a task of its own, and names that are given are checked before.
            if isinstance(member, dict):
                leaves.append(name)
            elif group:
                raise FigLangError(
                    f"figlang_tasks: group {group}: no task {name!r}{did_you_mean(name, index)}."
                    f" {ALL_TASKS}"
                )
        elif entry["type"] in ("tag", "group") and not _is_of_harness(entry):
            pending.append((name, {"task": members_of(manager, name)}))
        else:
            leaves.append(name)
    return leaves


def _is_of_harness(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of the index is a task, tag or group of lmms-eval itself."""
    import lmms_eval.tasks

    harness_folder = str(Path(lmms_eval.tasks.__file__).parent)
    return str(entry["yaml_path"]).startswith(harness_folder)


def namesakes(manager: TaskManager, names: Iterable[str]) -> dict[str, Path]:
    """The files of the tasks and groups that run in place of ours of the same name, by name.

    They are the harness's own, or those of ``--include_path``. Members of groups count, too.

    Args:
        manager: knows the tasks.
        names: of tasks, tags and groups.
    """
    our_files = files("lmms_eval")
    file_by_name: dict[str, Path] = {}
    visited: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop(0)
        if name in visited or name not in manager.task_index:
            continue
        visited.add(name)
        path = manager.task_index[name]["yaml_path"]  # -1 of a tag
        our_file = our_files.get(name)
        if our_file is None or not isinstance(path, str):
            continue
        # --include_path may name our own folder in another way.
        if Path(path).resolve() != our_file.resolve():
            file_by_name[name] = Path(path)
        elif manager.task_index[name]["type"] == "group":
            pending += [member for member in members_of(manager, name) if isinstance(member, str)]
    return file_by_name


def namesakes_text(file_by_name: Mapping[str, Path]) -> str:
    """What to tell the user about `namesakes`: which files run, and how ours can."""
    places = ", ".join(f"{name} ({path})" for name, path in file_by_name.items())
    text = f"these run in place of our tasks of the same name: {places}. To run ours, "
    name = next(iter(file_by_name))
    our_file = files("lmms_eval")[name]
    our_config = read(our_file)
    if "group" in our_config:
        members = ",".join(our_config["task"])
        return text + f"name the members of our group {name}: --tasks {members}"
    return text + (
        f"write a file `figlang_{name}.yaml` with the lines `include: {our_file}` and"
        f" `task: figlang_{name}`, and give its folder with --include_path"
    )


def members_of(manager: TaskManager, name: str) -> list[Any]:
    """The members of a tag or group: names, or mappings as group files hold them."""
    entry = manager.task_index[name]
    # In the index of lmms-eval 0.7.3 a tag has -1 in place of a file. A group has -1 in place of
    # its members, which stand in its file.
    has_file = entry["yaml_path"] != -1
    members = manager._get_config(name)["task"] if has_file else entry["task"]
    return members if isinstance(members, list) else [members]


def tasks_of(task_dict: Mapping[str, object]) -> Iterator[tuple[str, HarnessTask]]:
    """Names and tasks in the harness's ``task_dict``, in which a group is a mapping of its own."""
    for name, task in task_dict.items():
        if isinstance(task, Mapping):
            yield from tasks_of(task)
        else:
            yield name, task
