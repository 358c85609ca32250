"""Checks before a model is loaded: names, options, data, and what the model can answer.

A check is a function of an `Evaluation` that returns its faults. `STAGES` lists them. You are told
all faults of a stage at once. A later stage is only reached without any, because its checks rely on
the earlier ones.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from figlang_tasks.core import hub
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.task_files import ALL_TASKS, TaskConfig
from figlang_tasks.core.text import did_you_mean
from figlang_tasks.harness.command_checks import (
    check_limit,
    check_model,
    check_num_fewshot,
    check_pairs,
)
from figlang_tasks.harness.faults import Evaluation, Fault, raise_faults
from figlang_tasks.harness.skipped_tasks import names_by_request, skippable_tasks
from figlang_tasks.harness.task_checks import (
    check_pictures,
    check_tasks,
    score_faults,
    word_faults,
)
from figlang_tasks.harness.task_index import is_ours, leaf_configs

if TYPE_CHECKING:
    from lmms_eval.tasks import TaskManager

Check = Callable[[Evaluation], Iterable[Fault]]

STAGES: tuple[tuple[Check, ...], ...] = (
    (check_model, check_pairs, check_limit, check_num_fewshot),
    (check_tasks,),
    (check_pictures,),
)
"""All checks, in the order in which they are run."""

_REASONS_TO_SKIP: Mapping[Check, Mapping[Check, str]] = {
    check_tasks: {score_faults: "needs scores", word_faults: "needs words"},
    check_pictures: {check_pictures: "shows pictures"},
}
"""Before some checks: what tells the tasks that a group may leave out, and the reason in short."""


class CheckedTasks(NamedTuple):
    """The tasks of ours that a run evaluates, and those that it leaves out.

    Attributes:
        configs: the content of the files of the tasks to evaluate.
        skipped: why a task is left out, by its name: ``needs scores``.
    """

    configs: Sequence[TaskConfig]
    skipped: Mapping[str, str]


def preflight(
    manager: TaskManager,
    names: Sequence[str],
    model: object = None,
    limit: float | None = None,
    offset: int | None = None,
    num_fewshot: int | None = None,
    model_args: object = None,
    gen_kwargs: object = None,
    selection: str | None = None,
) -> CheckedTasks:
    """Check those named tasks that are ours, or include ours, and return their configurations.

    The checks run in stages (`STAGES`), after a check of the names. Where a group or a pattern has
    tasks that the model cannot do, and others, the former are left out.

    Args:
        manager: knows the tasks.
        names: of tasks, tags and groups.
        model, limit, offset, num_fewshot, model_args, gen_kwargs: as ``simple_evaluate`` takes
            them.
        selection: the text after ``--tasks``, which may have patterns; None without one.

    Raises:
        FigLangError: something is wrong; its message has all faults, over all tasks, of the first
            stage that finds any. A `DataError` if the data of a task is among them.
    """
    raise_faults(unknown_task_faults(manager, names))
    our_configs: list[TaskConfig] = []
    for config in leaf_configs(manager, names):
        if is_ours(config.get("process_docs"), config.get("process_results")):
            our_configs.append(config)
    if not our_configs:
        return CheckedTasks(our_configs, {})

    evaluation = Evaluation(
        model=model,
        # A caller may have made the manager for a model of another name.
        model_of_tasks=manager.model_name if isinstance(manager.model_name, str) else model,
        tasks=our_configs,
        limit=limit,
        offset=offset,
        num_fewshot=num_fewshot,
        model_args=model_args,
        gen_kwargs=gen_kwargs,
    )
    # The checks must see the files as they are now, not as an earlier run in this process saw them.
    hub.clear_caches()
    requests = names_by_request(names, selection)
    skipped: dict[str, str] = {}
    for checks in STAGES:
        faults: list[Fault] = []
        for check in checks:
            skipped.update(_tasks_to_skip(check, evaluation, manager, requests))
            left = [config for config in evaluation.tasks if config["task"] not in skipped]
            evaluation = replace(evaluation, tasks=left)
            faults += check(evaluation)
        raise_faults(faults)
    return CheckedTasks(evaluation.tasks, skipped)


def _tasks_to_skip(
    next_check: Check,
    evaluation: Evaluation,
    manager: TaskManager,
    requests: Iterable[Sequence[str]],
) -> dict[str, str]:
    """The tasks that the next check would refuse and a run can leave out, with the reason."""
    reasons: dict[str, str] = {}
    for check, reason in _REASONS_TO_SKIP.get(next_check, {}).items():
        for fault in check(evaluation):
            reasons.update(dict.fromkeys(fault.tasks, reason))
    if not reasons:
        return {}
    skippable = skippable_tasks(manager, requests, reasons)
    return {task: reason for task, reason in reasons.items() if task in skippable}


def unknown_task_faults(manager: TaskManager, names: Sequence[str]) -> list[Fault]:
    """One fault that names all tasks that the harness does not know; empty if it knows all."""
    index = manager.task_index
    unknown: list[str] = []
    for name in names:
        if name not in index:
            unknown.append(f"no task {name!r}{did_you_mean(name, index)}")
    if not unknown:
        return []
    return [Fault(f"{'; '.join(unknown)}. {ALL_TASKS}")]


def require_matches(selection: str, manager: TaskManager) -> None:
    """Raise an error that names each pattern of ``--tasks`` that matches no task.

    lmms-eval 0.7.3 leaves out a pattern with ``*`` that matches no task, and says nothing.

    Args:
        selection: the text after ``--tasks``: names, patterns and task files between commas, or a
            folder of task files, which is not checked.
        manager: knows the tasks.

    Raises:
        FigLangError: a pattern matches no task.
    """
    if os.path.isdir(selection):
        return
    unmatched: list[str] = []
    for pattern in selection.split(","):
        if not pattern.strip():  # A comma may end the list.
            continue
        if fnmatch.filter(manager.task_index, pattern) or os.path.isfile(pattern):
            continue
        hint = did_you_mean(pattern.strip(" *?"), manager.task_index)
        unmatched.append(f"no task matches {pattern!r}{hint}")
    if unmatched:
        raise FigLangError(f"figlang_tasks: {'; '.join(unmatched)}. {ALL_TASKS}")
