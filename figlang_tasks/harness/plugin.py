"""Registers the tasks with lmms-eval; entry point of group ``lmms_eval.models``.

The harness has no entry point for tasks. It does load the group ``lmms_eval.models`` before any
task is looked up, and :func:`register` uses that moment to replace three functions, the only ones:
``TaskManager.initialize_tasks`` also sees our YAML folder, ``simple_evaluate`` checks our data
before it builds a model, ``evaluate`` prepares our tasks and completes their results. Every name of
the harness that is relied on here has a contract test in
``tests/harness/test_harness_contract.py``.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from loguru import logger

from figlang_tasks import models
from figlang_tasks.core import logs, redaction, status
from figlang_tasks.core.blocks import OPTIONS, PICTURES_FIRST, SETTINGS, apply_blocks, choose_blocks
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.harness import answers, identity, judgement, task_index
from figlang_tasks.harness.backend_settings import for_backend
from figlang_tasks.harness.preflight import check_output_path, listed, preflight, require_matches
from figlang_tasks.harness.task_index import is_ours, tasks_dir, tasks_of
from figlang_tasks.harness.task_metadata import complete_metadata
from figlang_tasks.scoring import explanations

if TYPE_CHECKING:
    from lmms_eval.caching.response_cache import ResponseCache
    from lmms_eval.models.registry_v2 import ModelManifest
    from lmms_eval.tasks import TaskManager

MARK = "_figlang_tasks"


def register() -> list[ModelManifest]:
    """Make the tasks known to the harness and return our model classes; safe to call again."""
    register_tasks()
    return models.manifests()


def register_tasks() -> None:
    """Replace three functions of the harness by ours, each of which calls the original."""
    from lmms_eval import evaluator  # half imported, if it is what loads the plugins
    from lmms_eval.tasks import TaskManager

    logs.clean_logs()
    _wrap(TaskManager, "initialize_tasks", task_index.initialize_tasks)
    ours = {"simple_evaluate": _check_and_evaluate, "evaluate": _prepare_and_evaluate}
    if hasattr(evaluator, "evaluate"):
        for name, replacement in ours.items():
            _wrap(evaluator, name, replacement)
    else:
        _wrap_when_defined(ours)


def _wrap_when_defined(ours: Mapping[str, Callable[..., Any]]) -> None:
    """Wrap functions of the harness's evaluator while it is imported, and loads entry points,
    before it defines them.

    Their decorator can be reached. It is the harness's own again as soon as it has decorated them.
    """
    from lmms_eval import utils

    original = utils.positional_deprecated
    if hasattr(original, MARK):
        return
    missing = set(ours)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        decorated = original(function)
        if function.__module__ != "lmms_eval.evaluator" or function.__name__ not in missing:
            return decorated
        missing.discard(function.__name__)
        if not missing:
            utils.positional_deprecated = function.__globals__["positional_deprecated"] = original
        return _wrapped(decorated, ours[function.__name__])

    setattr(decorate, MARK, True)
    utils.positional_deprecated = decorate


def task_manager(**kwargs: Any) -> TaskManager:
    """A ``TaskManager`` that knows our tasks; keyword arguments are its own."""
    register_tasks()
    from lmms_eval.tasks import TaskManager

    if kwargs.get("include_defaults", True) is False:
        include = kwargs.get("include_path") or []
        kwargs["include_path"] = [
            *([include] if isinstance(include, str) else include),
            str(tasks_dir()),
        ]
    return TaskManager(**kwargs)


def _wrap(owner: Any, name: str, replacement: Callable[..., Any]) -> None:
    """Replace a function or method by `replacement(original, given)`, once; `given` are all
    arguments by name.
    """
    original = getattr(owner, name)
    if not getattr(original, MARK, False):
        setattr(owner, name, _wrapped(original, replacement))


def _wrapped(original: Callable[..., Any], replacement: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        return replacement(original, given.arguments)

    setattr(wrapped, MARK, True)
    return wrapped


# --- simple_evaluate ---


_store: answers.Store | None = None  # of the evaluation that runs, with --use_cache
_checkpoints: dict[str, identity.Checkpoint] = {}  # of its model


def _check_and_evaluate(original: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Check the data of our tasks, then evaluate: ``simple_evaluate`` builds the model before it
    looks at tasks.
    """
    redaction.remember(given["model_args"])
    cli_args = given["cli_args"]
    try:
        if _checked(given):
            return _evaluate_ours(original, given)
        _tell_of_loading(given["model"])
        return original(**given)
    except BaseException as error:
        logs.clean_error(error)
        # The harness's command, which alone hands over its arguments, shows a traceback and exits
        # with status 0.
        if isinstance(error, FigLangError) and cli_args is not None:
            raise SystemExit(str(error)) from error
        raise
    finally:
        explanations.release()
        if cli_args and isinstance(
            cli_args.model_args, str
        ):  # the harness prints them below its tables
            cli_args.model_args = redaction.redacted(cli_args.model_args)


def _checked(given: dict[str, Any]) -> bool:
    """Whether tasks of ours are among those asked for; their names, options and data are
    checked.
    """
    if given["task_manager"] is None:
        from lmms_eval.tasks import TaskManager

        # As simple_evaluate makes it where none is given.
        given["task_manager"] = TaskManager(given["verbosity"], model_name=given["model"])
    selection = getattr(given["cli_args"], "tasks", None)
    if isinstance(selection, str):
        require_matches(selection, given["task_manager"])
    tasks = given["tasks"] or []
    names = [
        name for name in ([tasks] if isinstance(tasks, str) else tasks) if isinstance(name, str)
    ]
    status.tell("checking the tasks and their data ...")
    options = {
        name: given[name]
        for name in ("model", "limit", "offset", "num_fewshot", "model_args", "gen_kwargs")
    }
    ours = bool(preflight(given["task_manager"], names, **options))
    if ours and (output_path := getattr(given["evaluation_tracker"], "output_path", None)):
        check_output_path(output_path)
    return ours


def _evaluate_ours(original: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Evaluate, with our store of answers in place of the harness's cache; the results name the
    model's commits.
    """
    global _checkpoints, _store
    model, model_args = given["model"], given["model_args"]
    find = functools.partial(identity.find_checkpoints, model, model_args, given["force_simple"])
    _checkpoints = identity.in_agreement(find)
    commits = identity.commits_of(_checkpoints)
    _tell_of_loading(model)
    try:
        if given["use_cache"]:
            key = identity.model_key(model, model_args, commits)
            rank = int(os.environ.get("RANK", 0))
            with closing(
                answers.Store(given["use_cache"], key, rank, given["torch_random_seed"])
            ) as _store:
                results = original(**{**given, "use_cache": None})  # evaluate gets our store
        else:
            results = original(**given)
        if results is not None:
            results["config"]["use_cache"] = given["use_cache"]
            if commits:
                results["config"]["commits"] = commits
        return results
    finally:
        _checkpoints, _store = {}, None


def _tell_of_loading(model: Any) -> None:
    status.tell(
        f"loading the model ({model if isinstance(model, str) else type(model).__name__}) ..."
    )


# --- evaluate ---


def _prepare_and_evaluate(original: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Evaluate; before, prepare our tasks and the answers; afterwards complete the results."""
    lm, found = given["lm"], dict(tasks_of(given["task_dict"]))
    ours = {name: task for name, task in found.items() if is_ours(task.config.process_docs)}
    if not ours:
        return original(**given)
    identity.require_loaded(lm, _checkpoints)
    store = None if getattr(lm, "needs_no_cache", False) else _store
    for task in ours.values():
        complete_metadata(task)
    choose_prompts(lm, ours)
    for task in ours.values():
        _prepare(task)
    judged_tasks = [judgement.JudgedTask(task) for task in ours.values()]
    others = given["response_cache"]
    if store:
        others = _cache_of_others(store, {name: found[name] for name in found.keys() - ours.keys()})
    done = False
    try:
        with closing(answers.Answers(ours, store, others)) as run_answers:
            results = original(**{**given, "response_cache": run_answers})
        done = True
    finally:
        for judged_task in judged_tasks:
            judged_task.restore()
        if store and others:
            backend = given["distributed_executor_backend"]
            others.finalize(
                success=done, dist_backend=backend, accelerator=getattr(lm, "accelerator", None)
            )
    if results is not None:
        for judged_task in judged_tasks:
            judged_task.complete(results, run_answers.padded_pictures.get(judged_task.name, ()))
    return results


def _cache_of_others(store: answers.Store, tasks: Mapping[str, Any]) -> ResponseCache | None:
    """The harness's own cache, for the tasks of others."""
    from lmms_eval.caching.response_cache import ResponseCache

    if not tasks:
        return None
    return ResponseCache.create(
        cache_root=store.named,
        model=store.model,  # it writes down what it gets: a digest, of which no secret can be told
        task_dict=dict(tasks),
        world_size=int(os.environ.get("WORLD_SIZE", 1)),
        global_rank=int(os.environ.get("RANK", 0)),
    )


def _prepare(task: Any) -> None:
    """Let a task keep all answers to a row, and complete its settings of generation for the
    backend.
    """
    from lmms_eval.api.filter import FilterEnsemble

    if task.config.generation_kwargs is not None:
        task.config.generation_kwargs = for_backend(task.model_name, task.config.generation_kwargs)
    if task.config.repeats > 1 and task.config.filter_list is None:
        # All answers, where the harness takes the first
        task._filters = [FilterEnsemble("none", [])]
        settings = task.config.generation_kwargs or {}
        if (
            not (settings.get("do_sample") and settings.get("temperature"))
            and status.in_first_process()
        ):
            logger.warning(
                f"figlang_tasks: {task.config.task}: {task.config.repeats} answers to each row are"
                " asked for, but they will be equal unless they are drawn at random, for which"
                " models need both settings: --gen_kwargs do_sample=True,temperature=1"
            )


def choose_prompts(lm: Any, ours: Mapping[str, Any]) -> None:
    """Give each task the blocks of its file for the model, and say which prompts are of pictures
    first.
    """
    tasks_with_pictures_first = []
    for name, task in ours.items():
        model_class = type(lm) if task.model_name is None else models.scoring_class(task.model_name)
        config = {
            key: getattr(task.config, key) for key in ("generation_kwargs", SETTINGS, OPTIONS)
        }
        choice = choose_blocks(config, task.model_name, model_class)
        has_prompt = isinstance((config[OPTIONS] or {}).get(PICTURES_FIRST), Mapping)
        # A model is asked only where it matters: it may have no chat template that could be read.
        if has_prompt and not choice.asks_for_scores and _reads_pictures_first(lm, name):
            choice = choose_blocks(config, task.model_name, model_class, pictures_first=True)
        apply_blocks(task, choice)
        if choice.options == PICTURES_FIRST:
            tasks_with_pictures_first.append(name)
    if tasks_with_pictures_first and status.in_first_process():
        logger.warning(
            "figlang_tasks: the chat template of this model moves all pictures before the text, so"
            f" the prompt of {listed(sorted(tasks_with_pictures_first))} is in words that need no"
            f" places ({PICTURES_FIRST} in the task file). The results say so in prompt_hash"
        )


def _reads_pictures_first(lm: Any, task: str) -> bool:
    """Whether a model reads all pictures of a task before the text.

    Its attribute ``pictures_first`` is True, or holds the names of the tasks that it is so for.
    """
    declared = getattr(lm, PICTURES_FIRST, False)
    return declared is True or bool(declared and task in declared)
