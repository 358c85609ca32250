"""Which tasks a ``TaskManager`` of the harness knows, which of them are ours, and what their files say for a model."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import yaml

from figlang_tasks import models, resource_dir
from figlang_tasks.core import score_requests
from figlang_tasks.core.errors import FigLangError, ending_the_command

# What the two parsers may read differently, or one of them refuse: a tab, a mark of byte order, a ? in braces or at the
# start of a line, a tag without a name, a comment right behind the sign of a block.
_DOUBTFUL = re.compile(rb"\t|\xef\xbb\xbf|\xff\xfe|\xfe\xff|[{\[][^\n]*\?|\n *\?|!\s|[|>][-+0-9]*#")


class QuickYaml:
    """The module ``yaml`` with a quicker ``full_load``, for the harness's reader of task files.

    The harness reads some two thousand files at each start, by a parser in Python. Here libyaml parses, and nothing
    else differs: values and tags are made by the functions of ``yaml.FullLoader``, and ``!function`` by what the
    harness has registered there. Two kinds of file are left to the harness's own parser, which decides and words the
    error: those that libyaml refuses, and those that it alone may accept.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(yaml, name)

    def full_load(self, file: BinaryIO) -> Any:
        """Return what ``yaml.full_load`` returns for an open file."""
        data = file.read()
        if not _DOUBTFUL.search(data):
            with suppress(yaml.YAMLError):
                return _QuickLoader(data, file.name).get_single_data()
        file.seek(0)
        return yaml.full_load(file)


class _QuickLoader(getattr(yaml, "CFullLoader", yaml.FullLoader)):  # type: ignore[misc]
    """Parses by libyaml, where PyYAML was built with it, and constructs as ``yaml.FullLoader`` does at this moment."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name  # the harness looks for functions in its folder
        for table in ("yaml_constructors", "yaml_multi_constructors", "yaml_implicit_resolvers", "yaml_path_resolvers"):
            setattr(self, table, getattr(yaml.FullLoader, table))


def read_quickly() -> None:
    """Let the harness parse task files by libyaml; safe to call again."""
    from lmms_eval import utils

    setattr(utils, "yaml", QuickYaml())  # noqa: B010  (a module)


def tasks_dir() -> Path:
    """Return the folder with our task definitions for lmms-eval."""
    return resource_dir("task_yamls") / "lmms_eval"


def initialize_tasks(original: Callable[..., dict], manager: Any, *args: Any, **kwargs: Any) -> dict[str, dict]:
    index = original(manager, *args, **kwargs)
    bound = inspect.signature(original).bind(manager, *args, **kwargs)
    bound.apply_defaults()
    if not bound.arguments["include_defaults"]:
        return index
    # The harness's own tasks and the user's --include_path win over ours, as they do over each other.
    return {**manager._get_task_and_group(str(tasks_dir())), **index}


def match_tasks(original: Callable[..., list[str]], manager: Any, names: Sequence[str]) -> list[str]:
    """Return the tasks of an evaluation's command line; a name or pattern that fits none ends it with one message.

    The harness prints a traceback for a name, exits with status 0, and says nothing of a pattern.
    """
    found = original(manager, names)
    if isinstance(manager.model_name, str):  # of an evaluation, which is named a model
        with ending_the_command():
            require_tasks(
                manager, [name for name in names if not original(manager, [name]) and not Path(name).is_file()]
            )
    return found


def require_tasks(manager: Any, unknown: Sequence[str]) -> None:
    if unknown:
        told = "; ".join(f"no task {name!r}{did_you_mean(name, manager.all_tasks)}" for name in unknown)
        raise FigLangError(f"figlang_tasks: {told}. `figlang tasks` lists ours, `lmms_eval tasks list` all of them")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, set(known))
    return f" (did you mean {' or '.join(f'`{each}`' for each in close)}?)" if close else ""


def is_ours(process_docs: Any) -> bool:
    """Whether a task is ours: its process_docs is. That covers YAML files of users that include ours."""
    return getattr(process_docs, "__module__", "").startswith("figlang_tasks.")


def leaf_configs(manager: Any, names: Iterable[str]) -> list[dict[str, Any]]:
    """Return the configurations of the tasks behind task, tag and group names, leaving out the harness's own."""
    import lmms_eval.tasks

    harness_folder = str(Path(lmms_eval.tasks.__file__).parent)
    configs: dict[str, dict[str, Any]] = {}
    seen: set[str] = set()
    pending: list[Any] = list(names)
    while pending:
        member = pending.pop(0)
        if isinstance(member, dict):  # a group's entry with overrides, or a group written out in place
            below = member.get("task", [])
            pending.extend(below if isinstance(below, list) else [below])
            continue
        if not isinstance(member, str) or member in seen or member not in manager.task_index:
            continue
        seen.add(member)
        entry = manager.task_index[member]
        if str(entry["yaml_path"]).startswith(harness_folder):
            continue
        if entry["type"] == "task":
            configs[member] = manager._get_config(member)
        elif entry["type"] == "tag":
            pending.extend(entry["task"])
        elif entry["type"] == "group":
            pending.append({"task": entry["task"] if entry["yaml_path"] == -1 else manager._get_config(member)["task"]})
    return list(configs.values())


def config_for(config: Mapping[str, Any], model: object) -> dict[str, Any]:
    """A task's YAML for a model: the name after ``--model``, an object, or None if it is not known."""
    try:
        return score_requests.for_model(config, model, models.class_of(model))
    except score_requests.ScoreRequestError as error:
        raise FigLangError(f"figlang_tasks: {error}") from error
