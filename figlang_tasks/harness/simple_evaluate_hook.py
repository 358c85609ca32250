"""What stands in for the harness's ``simple_evaluate``: checks first, and our store of answers.

lmms-eval 0.7.3 builds the model in ``simple_evaluate`` before it looks up the tasks, so a misspelt
option or missing data would cost the time of loading it. Its own cache of responses serves answers
to prompts and pictures that have changed, and misses where a model class writes into its settings:
our tasks have a store of their own (`figlang_tasks.harness.answers`).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

from loguru import logger

from figlang_tasks.core import logs, redaction, status
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.harness import identity
from figlang_tasks.harness.answer_store import Store
from figlang_tasks.harness.command_checks import check_output_path
from figlang_tasks.harness.harness_types import Arguments, Original, Results
from figlang_tasks.harness.preflight import CheckedTasks, preflight, require_matches
from figlang_tasks.harness.skipped_tasks import skipped_text, without_tasks
from figlang_tasks.harness.task_index import namesakes, namesakes_text
from figlang_tasks.scoring import explanations


@dataclass(frozen=True)
class RunningModel:
    """The model of the evaluation that runs.

    The hook of ``simple_evaluate`` makes it, and that of ``evaluate`` needs it. The harness calls
    ``evaluate`` within ``simple_evaluate``, and passes on no argument that could hold it.

    Attributes:
        checkpoints: those that its arguments name, by argument.
        store: its answers; None without ``--use_cache``.
    """

    checkpoints: Mapping[str, identity.Checkpoint] = field(default_factory=dict)
    store: Store | None = None


_running_model = RunningModel()


def running_model() -> RunningModel:
    """The model of the evaluation that runs; without checkpoints and store outside of one."""
    return _running_model


def check_and_evaluate(original: Original, arguments: Arguments) -> object:
    """Check the tasks that are ours and their data, then evaluate; returns what the harness does.

    Raises:
        FigLangError: a check failed, or a task of ours cannot be evaluated.
        SystemExit: the same in a call by the harness's command.
    """
    redaction.remember(arguments["model_args"])
    cli_args = arguments["cli_args"]  # None unless the harness's command calls
    try:
        checked = _check_our_tasks(arguments)
        names = _task_names(arguments["tasks"])
        with without_tasks(arguments["task_manager"], names, checked.skipped) as names_left:
            arguments["tasks"] = _without_names(arguments["tasks"], {*names} - {*names_left})
            results: Results | None
            if checked.configs:
                results = _evaluate_with_store(original, arguments)
            else:  # only tasks of others
                _tell_of_loading(arguments["model"])
                results = original(**arguments)
        if results is not None and checked.skipped:
            results["config"]["skipped"] = checked.skipped
        return results
    except BaseException as error:
        logs.clean_error(error)
        # The command of lmms-eval 0.7.3 prints a traceback for any error, and exits with status 0.
        # A SystemExit passes through it.
        if isinstance(error, FigLangError) and cli_args is not None:
            raise SystemExit(str(error)) from error
        raise
    finally:
        explanations.release()
        # The harness's command prints the arguments of the model below its tables.
        if cli_args and isinstance(cli_args.model_args, str):
            cli_args.model_args = redaction.redacted(cli_args.model_args)


def _check_our_tasks(arguments: Arguments) -> CheckedTasks:
    """Check a call's tasks: all names, and options and data of ours; return those of ours.

    If any is, the folder for the results is checked too. A warning names the tasks that are
    left out.

    Args:
        arguments: of ``simple_evaluate``; a task manager is added if they have none.

    Raises:
        FigLangError: something is wrong.
    """
    if arguments["task_manager"] is None:
        from lmms_eval.tasks import TaskManager

        # lmms-eval 0.7.3 makes the same in `simple_evaluate`, but later than we need it.
        verbosity = arguments["verbosity"]
        arguments["task_manager"] = TaskManager(verbosity, model_name=arguments["model"])
    task_manager = arguments["task_manager"]
    selection = getattr(arguments["cli_args"], "tasks", None)  # the text after --tasks
    if isinstance(selection, str):
        require_matches(selection, task_manager)

    status.tell("checking the tasks and their data ...")
    names = _task_names(arguments["tasks"])
    others = namesakes(task_manager, names)
    if others and status.in_first_process():
        logger.warning(f"figlang_tasks: {namesakes_text(others)}")
    checked = preflight(
        task_manager,
        names,
        model=arguments["model"],
        limit=arguments["limit"],
        offset=arguments["offset"],
        num_fewshot=arguments["num_fewshot"],
        model_args=arguments["model_args"],
        gen_kwargs=arguments["gen_kwargs"],
        selection=selection if isinstance(selection, str) else None,
    )
    if not checked.configs and not checked.skipped:
        return checked
    if checked.skipped and status.in_first_process():
        logger.warning(f"figlang_tasks: {skipped_text(checked.skipped)}")
    output_path = getattr(arguments["evaluation_tracker"], "output_path", None)
    if output_path:
        check_output_path(output_path)
    return checked


def _task_names(tasks: str | Iterable[object] | None) -> list[str]:
    """The names among the tasks of a call, which may also hold configurations and task objects."""
    if not tasks:
        return []
    if isinstance(tasks, str):
        return [tasks]
    return [task for task in tasks if isinstance(task, str)]


def _without_names(
    tasks: str | Iterable[object] | None, names: Collection[str]
) -> str | Iterable[object] | None:
    """The tasks of a call without some names; these are the names that a pattern has added."""
    if not names or tasks is None or isinstance(tasks, str):
        return tasks
    return [task for task in tasks if not isinstance(task, str) or task not in names]


def _evaluate_with_store(original: Original, arguments: Arguments) -> Results | None:
    """Evaluate, and with ``use_cache`` keep answers in our store in place of the harness's cache.

    Returns what the harness does. The results name the folder of the cache, and the commits of the
    model.
    """
    global _running_model
    model = arguments["model"]
    model_args = arguments["model_args"]
    use_cache = arguments["use_cache"]
    force_simple = arguments["force_simple"]

    def find_checkpoints() -> dict[str, identity.Checkpoint]:
        return identity.find_checkpoints(model, model_args, force_simple)

    # All processes must find the same checkpoints; if one of them fails, all do.
    checkpoints = identity.in_agreement(find_checkpoints)
    commits = identity.commits_of(checkpoints)
    _tell_of_loading(model)
    with ExitStack() as stack:
        store = None
        if use_cache:
            key = identity.model_key(model, model_args, commits)
            rank = int(os.environ.get("RANK", 0))
            store = Store(use_cache, key, rank, seed=arguments["torch_random_seed"])
            stack.enter_context(closing(store))
            # The harness must not make a cache of its own: `evaluate_hook` hands over ours.
            arguments = {**arguments, "use_cache": None}
        # `evaluate_hook` reads it while the harness runs.
        _running_model = RunningModel(checkpoints, store)
        try:
            results: Results | None = original(**arguments)
        finally:
            _running_model = RunningModel()

    if results is not None:  # None in all processes but the first
        results["config"]["use_cache"] = use_cache
        if commits:
            results["config"]["commits"] = commits
    return results


def _tell_of_loading(model: object) -> None:
    name = model if isinstance(model, str) else type(model).__name__
    status.tell(f"loading the model ({name}) ...")
