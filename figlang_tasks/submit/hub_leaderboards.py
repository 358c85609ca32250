"""Which leaderboards a dataset has on the hub: the tasks of its file ``eval.yaml``.

The hub takes a result only for such a task (https://huggingface.co/docs/hub/eval-results).
"""

from __future__ import annotations

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


@hub.cached(maxsize=16)
def leaderboards_of(source: hub.Source) -> Leaderboards:
    """The leaderboards of a dataset, as the hub has them now; it is asked once a command.

    Args:
        source: a dataset of the hub.
    """
    from huggingface_hub import constants, errors, get_session, hf_hub_url
    from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

    repository = source.repository
    assert repository is not None
    address = hf_hub_url(repository, DECLARATION, repo_type="dataset")
    try:
        # `hf_hub_download` would try for half a minute where the hub fails, and then take an older
        # file of its cache.
        response = get_session().get(
            address, headers=build_hf_headers(), timeout=constants.HF_HUB_ETAG_TIMEOUT
        )
        hf_raise_for_status(response)
    except errors.EntryNotFoundError:
        return _none(f"{repository} has no {DECLARATION}: the hub takes no results of it yet")
    except Exception as error:  # the HTTP library's own errors have no common base here
        return _none(hub.not_given(source, f"{DECLARATION} of {repository}", error))
    task_ids = _declared_task_ids(response.content)
    if not task_ids:
        return _none(f"{DECLARATION} of {repository} names no task")
    return Leaderboards(task_ids)


def _none(reason: str) -> Leaderboards:
    return Leaderboards(frozenset(), reason)


def _declared_task_ids(content: bytes) -> frozenset[str]:
    """The ids of the tasks in a file ``eval.yaml``; empty if it cannot be read as one."""
    try:
        declaration = yaml.safe_load(content)
    # A ValueError: a date or a number that is none, such as 2026-13-45.
    except (yaml.YAMLError, ValueError, RecursionError):
        return frozenset()
    tasks = declaration.get("tasks") if isinstance(declaration, dict) else None
    task_ids = set()
    for task in tasks if isinstance(tasks, list) else ():
        if isinstance(task, dict) and isinstance(task.get("id"), str):
            task_ids.add(task["id"])
    return frozenset(task_ids)
