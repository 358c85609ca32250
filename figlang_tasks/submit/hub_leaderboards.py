"""Which leaderboards a dataset has on the hub: the tasks of its file ``eval.yaml``.

The hub takes a result only for such a task (https://huggingface.co/docs/hub/eval-results).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import yaml

from figlang_tasks.core import hub

DECLARATION = "eval.yaml"
"""The file by which the owner of a dataset declares its leaderboards, in the dataset's root."""


class Leaderboards(NamedTuple):
    """The leaderboards of a dataset.

    Attributes:
        task_ids: the ``task_id`` of each; empty if the hub takes no results.
        reason: why there are none, the rest of a sentence; "" if there are some.
    """

    task_ids: frozenset[str]
    reason: str = ""


def leaderboards_of(repository: str) -> Leaderboards:
    """The leaderboards of a dataset, as the hub has them now.

    Args:
        repository: the dataset, ``OWNER/NAME``.
    """
    from huggingface_hub import errors, hf_hub_download

    refusal = hub.refusal(repository)
    if refusal is not None:
        return _none(hub.not_here(f"{DECLARATION} of {repository}", refusal))
    try:
        path = hf_hub_download(repository, DECLARATION, repo_type="dataset")
    except Exception as error:  # the HTTP library's own errors have no common base here
        # The local error is a kind of the other: the hub did not answer, or not with the file.
        is_local = isinstance(error, errors.LocalEntryNotFoundError)
        if isinstance(error, errors.EntryNotFoundError) and not is_local:
            return _none(f"{repository} has no {DECLARATION}: the hub takes no results of it yet")
        return _none(hub.not_here(f"{DECLARATION} of {repository}", error))
    task_ids = _declared_task_ids(Path(path))
    if not task_ids:
        return _none(f"{DECLARATION} of {repository} names no task")
    return Leaderboards(task_ids)


def _none(reason: str) -> Leaderboards:
    return Leaderboards(frozenset(), reason)


def _declared_task_ids(path: Path) -> frozenset[str]:
    """The ids of the tasks in a file ``eval.yaml``; empty if it cannot be read as one."""
    try:
        declaration = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        return frozenset()
    tasks = declaration.get("tasks") if isinstance(declaration, dict) else None
    task_ids = set()
    for task in tasks if isinstance(tasks, list) else ():
        if isinstance(task, dict) and isinstance(task.get("id"), str):
            task_ids.add(task["id"])
    return frozenset(task_ids)
