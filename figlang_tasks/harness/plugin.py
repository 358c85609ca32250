"""Registers the tasks with lmms-eval; entry point of group ``lmms_eval.models``.

The harness has no entry point for tasks. It does load the group ``lmms_eval.models`` before any task is looked up, and
:func:`register` uses that moment to replace three functions, the only ones: ``TaskManager.initialize_tasks`` also sees
our YAML folder, ``simple_evaluate`` checks our data before it builds a model, ``evaluate`` prepares our tasks and
completes their results. Every name of the harness that is relied on here has a contract test in
``tests/harness/test_harness_contract.py``.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import closing, nullcontext
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from loguru import logger

from figlang_tasks import models
from figlang_tasks.core import interrupts, redaction, score_requests, status
from figlang_tasks.core.errors import ending_the_command
from figlang_tasks.core.options import PICTURES_FIRST
from figlang_tasks.harness import answers, judgement, task_index, versions
from figlang_tasks.harness.preflight import check_folder, listed, preflight
from figlang_tasks.harness.task_index import choose_blocks, is_ours, tasks_dir, tasks_of
from figlang_tasks.scoring import explanations
from figlang_tasks.scoring.evaluation import forget

if TYPE_CHECKING:
    from lmms_eval.caching.response_cache import ResponseCache
    from lmms_eval.models.registry_v2 import ModelManifest
    from lmms_eval.tasks import TaskManager

    from figlang_tasks.models.lazy import LazyModel

ENTRY_POINT_GROUP = "lmms_eval.models"
_MARK = "_figlang_tasks"


def register() -> list[ModelManifest]:
    """Make the tasks known to the harness and return our model classes; safe to call again."""
    versions.warn_of_unknown_harness()
    register_tasks()
    return models.manifests()


def register_tasks() -> None:
    """Replace three functions of the harness by ours, each of which calls the original."""
    from lmms_eval.tasks import TaskManager

    redaction.clean_logs()
    _wrap(TaskManager, "initialize_tasks", task_index.initialize_tasks)
    ours = {"simple_evaluate": _check_and_evaluate, "evaluate": _prepare_and_evaluate}
    if "lmms_eval.evaluator" not in sys.modules:
        importlib.import_module("lmms_eval.evaluator")
    evaluator = sys.modules["lmms_eval.evaluator"]
    if hasattr(evaluator, "evaluate"):
        for name, replacement in ours.items():
            _wrap(evaluator, name, replacement)
    else:
        _wrap_when_defined(ours)


def _wrap_when_defined(ours: Mapping[str, Callable[..., Any]]) -> None:
    """Wrap functions of the harness's evaluator while it is imported.

    The harness loads entry points then, before it defines those functions: their decorator is what can be reached. It
    is the harness's own again as soon as it has decorated them.
    """
    from lmms_eval import utils

    original = utils.positional_deprecated
    if hasattr(original, _MARK):
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

    setattr(decorate, _MARK, True)
    utils.positional_deprecated = decorate


def task_manager(**kwargs: Any) -> TaskManager:
    """Return a ``TaskManager`` that knows our tasks; keyword arguments are its own."""
    register_tasks()
    from lmms_eval.tasks import TaskManager

    if kwargs.get("include_defaults", True) is False:
        include = kwargs.get("include_path") or []
        kwargs["include_path"] = [*([include] if isinstance(include, str) else include), str(tasks_dir())]
    return TaskManager(**kwargs)


def broken_entry_points() -> list[tuple[EntryPoint, Exception]]:
    """Return the entry points of other packages in the harness's group that cannot be loaded, with the reason.

    The harness loads the whole group inside one ``try``: one of them that fails takes all later ones with it.
    """
    from lmms_eval.models.registry_v2 import ModelRegistryV2

    registry = ModelRegistryV2()
    broken: list[tuple[EntryPoint, Exception]] = []
    for point in entry_points(group=ENTRY_POINT_GROUP):
        if point.value.partition(":")[0] != __name__:
            try:
                registry._coerce_payload_to_manifests(point.load())
            except Exception as error:  # another package's code may raise anything
                broken.append((point, error))
    return broken


def _wrap(owner: Any, name: str, replacement: Callable[..., Any]) -> None:
    """Replace the function or method `name` of `owner` by `replacement(original, ...)`, once."""
    original = getattr(owner, name)
    if not getattr(original, _MARK, False):
        setattr(owner, name, _wrapped(original, replacement))


def _wrapped(original: Callable[..., Any], replacement: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return replacement(original, *args, **kwargs)

    setattr(wrapped, _MARK, True)
    return wrapped


# --- simple_evaluate -------------------------------------------------------------------------------------------------


class _Run(NamedTuple):
    """What ``evaluate`` is not told by ``simple_evaluate``."""

    model: Any
    model_args: Any
    use_cache: str
    seed: Any
    facts_of: str  # of the model, under which they are stored
    store: answers.Store


_run: _Run | None = None  # with --use_cache


def _check_and_evaluate(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Check the data of our tasks, then evaluate.

    ``simple_evaluate`` builds the model first and the tasks after it; a missing token should not cost the user the
    loading of a model.
    """
    bound = inspect.signature(original).bind(*args, **kwargs)
    bound.apply_defaults()
    given = bound.arguments
    redaction.remember(given["model_args"])
    model, cli_args = given["model"], given["cli_args"]
    if given["task_manager"] is None:
        from lmms_eval.tasks import TaskManager

        # As simple_evaluate makes it where none is given.
        given["task_manager"] = TaskManager(given["verbosity"], model_name=model)
    manager, tasks = given["task_manager"], given["tasks"] or []
    tasks = [tasks] if isinstance(tasks, str) else tasks
    names = [name for name in tasks if isinstance(name, str)]
    has_ours = any(map(_is_our_task, tasks))
    # The harness's command, and nobody else, hands over its own arguments.
    ending = nullcontext() if cli_args is None else ending_the_command()
    with ending:
        try:
            if names:
                status.tell("checking the tasks and their data ...")
                named = preflight(
                    manager,
                    names,
                    model,
                    given["limit"],
                    given["offset"] or 0,
                    given["num_fewshot"],
                    given["model_args"],
                )
                has_ours |= bool(named)
                if given["use_cache"]:
                    folder = answers.folder_of(given["use_cache"])
                    check_folder("--use_cache", given["use_cache"], folder, list(folder.glob(answers.FILES)))
                if output_path := getattr(given["evaluation_tracker"], "output_path", None):
                    check_folder("--output_path", output_path, Path(output_path))
            if given["use_cache"] and has_ours:
                return _evaluate_with_our_cache(original, given)
            _tell_of_loading(model)
            return original(**given)
        except BaseException as error:
            redaction.clean_error(error)
            raise
        finally:
            explanations.release()
            if cli_args and isinstance(cli_args.model_args, str):  # the harness prints them below its tables
                cli_args.model_args = redaction.hidden(cli_args.model_args)


def _evaluate_with_our_cache(original: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Evaluate with our store of answers, and with a model that is loaded when a request needs it, if that may be."""
    global _run
    model, model_args, use_cache = given["model"], given["model_args"], given["use_cache"]
    rank = int(os.environ.get("RANK", 0))
    key = answers.model_key(model if isinstance(model, str) else repr(model), model_args)
    facts_of = json.dumps([given["batch_size"], given["force_simple"]])
    with closing(answers.Store(use_cache, key, rank)) as store:
        facts, lazy = store.facts(facts_of), None
        if facts is not None and int(os.environ.get("WORLD_SIZE", 1)) == 1:
            lazy = given["model"] = _lazy_model(given, facts)
        else:
            _tell_of_loading(model)
        _run = _Run(model, model_args, use_cache, given["torch_random_seed"], facts_of, store)
        try:
            results = original(**{**given, "use_cache": None})  # evaluate gets ours
        finally:
            _run = None
    if lazy and lazy.loaded is None:
        told = "all answers are from the cache: no model was loaded"
        logger.info(f"figlang_tasks: {told}")
        status.tell(told)
    if results is not None:
        results["config"]["use_cache"] = use_cache
        if lazy:
            kind = "simple" if lazy.is_simple else "chat"
            results["config"]["model"] = model
            results["config"]["model_backend"] = f"{lazy.of.__module__}.{lazy.of.__name__} ({kind})"
            if given["evaluation_tracker"]:
                given["evaluation_tracker"].general_config_tracker.model_source = model
    return results


def _lazy_model(given: Mapping[str, Any], facts: Mapping[str, Any]) -> LazyModel:
    import lmms_eval.models

    from figlang_tasks.models.lazy import LazyModel

    model, model_args = given["model"], given["model_args"]
    of = lmms_eval.models.get_model(model, given["force_simple"])
    settings = {name: given[name] for name in ("batch_size", "max_batch_size", "device")}

    def load() -> Any:
        _tell_of_loading(model)
        return of.create_from_arg_string("" if model_args is None else model_args, settings)

    return LazyModel(of, load, facts)


def _tell_of_loading(model: Any) -> None:
    status.tell(f"loading the model ({model if isinstance(model, str) else type(model).__name__}) ...")


def _is_our_task(task: Any) -> bool:
    """Whether a task that is no name is ours: an object, or a mapping as a task file has it."""
    config = task if isinstance(task, Mapping) else vars(getattr(task, "config", object))
    return is_ours(config.get("process_docs"))


# --- evaluate --------------------------------------------------------------------------------------------------------


def _prepare_and_evaluate(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Evaluate; before, prepare our tasks and the answers; afterwards complete the results.

    Only here are model and tasks both there, and no request is made yet.
    """
    bound = inspect.signature(original).bind(*args, **kwargs)
    bound.apply_defaults()
    given = bound.arguments
    lm, task_dict = given["lm"], given["task_dict"]
    found = dict(tasks_of(task_dict))
    ours = {name: task for name, task in found.items() if is_ours(task.config.process_docs)}
    if not ours:
        return original(**given)
    forget()
    pictures_first = _choose_prompts(lm, ours)
    for task in ours.values():
        _prepare(task)
    others, store, seed = given["response_cache"], None, None
    if _run:
        others = _cache_of_others(_run, {name: found[name] for name in found.keys() - ours.keys()})
        store, seed = _run.store, _run.seed
        _keep_facts(_run, lm, pictures_first)
    # After an interrupt the first process writes its results, for which it needs the others at its last barrier.
    more = 0 if status.in_first_process() else explanations.TIME_TO_WRITE
    done = False
    try:
        with interrupts.time_to_keep(more), answers.Answers(ours, store, others, seed) as asked:
            results = original(**{**given, "response_cache": asked})
        done = True
    finally:
        if _run and others:
            backend = given["distributed_executor_backend"]
            others.finalize(success=done, dist_backend=backend, accelerator=getattr(lm, "accelerator", None))
    if results is not None:
        judgement.complete(results, ours, stderr=given["bootstrap_iters"] > 0)
    return results


def _prepare(task: Any) -> None:
    """Let a task judge all answers by our rules, and say what data it holds (the column `data` of its documents)."""
    from lmms_eval.api.filter import FilterEnsemble
    from lmms_eval.caching.response_cache import is_deterministic

    if "process_results" not in vars(task):
        task.process_results = functools.partial(judgement.process_results, task, task.process_results)
    if task.config.repeats > 1 and task.config.filter_list is None:
        task._filters = [FilterEnsemble("none", [])]  # all answers, where the harness takes the first
        if is_deterministic(task.OUTPUT_TYPE, task.config.generation_kwargs) and status.in_first_process():
            logger.warning(
                f"figlang_tasks: {task.config.task}: {task.config.repeats} answers to each row are asked for, but none "
                "is drawn at random, so they will be equal: --gen_kwargs do_sample=True,temperature=1"
            )
    if isinstance(task.config.metadata, dict):
        splits = [docs for docs in task.dataset_no_image.values() if "data" in docs.column_names]
        if data := sorted({each for docs in splits for each in docs.unique("data")}):
            task.config.metadata = {**task.config.metadata, "data": ", ".join(data)}


def _choose_prompts(lm: Any, ours: Mapping[str, Any]) -> Any:
    """Take the blocks of task files for what the class of the model declares to answer, and for how it reads pictures.

    A model that reads all pictures before the text is one whose attribute ``pictures_first`` is True, or holds the
    names of the tasks that it is so for. What was chosen stands in every results file: in
    ``lmms_eval_specific_kwargs``, and in ``prompt_hash``, by which runs are compared.

    Returns:
        That attribute; None where no task depends on it.
    """
    for task in ours.values():
        choose_blocks(task, lm)
    with_block = {
        name: task
        for name, task in ours.items()
        if isinstance((getattr(task, "lmms_eval_specific_kwargs", None) or {}).get(PICTURES_FIRST), Mapping)
        and score_requests.KEY not in task.config.generation_kwargs  # scores are of one picture at a time
    }
    first = with_block and getattr(lm, PICTURES_FIRST, False)
    asked = {name: task for name, task in with_block.items() if first is True or (first and name in first)}
    for task in asked.values():
        options = task.lmms_eval_specific_kwargs
        task.lmms_eval_specific_kwargs = {**options, **options[PICTURES_FIRST]}
        task.config.lmms_eval_specific_kwargs = task.lmms_eval_specific_kwargs
        if isinstance(task.config.metadata, dict):
            marked = f"{task.config.metadata.get('prompt_hash')}+{PICTURES_FIRST}"
            task.config.metadata = {**task.config.metadata, "prompt_hash": marked}
    if asked and status.in_first_process():
        logger.warning(
            f"figlang_tasks: the chat template of this model moves all pictures before the text, so the prompt of "
            f"{listed(sorted(asked))} is in words that need no places ({PICTURES_FIRST} in the task file). "
            f"The results say so in prompt_hash"
        )
    return first if with_block else None


def _cache_of_others(run: _Run, tasks: Mapping[str, Any]) -> ResponseCache | None:
    """The harness's own cache, for the tasks of others."""
    from lmms_eval.caching.response_cache import ResponseCache

    if not tasks:
        return None
    return ResponseCache.create(
        cache_root=run.use_cache,
        model=answers.model_key(run.model, run.model_args),  # no secret can be told from it
        task_dict=dict(tasks),
        world_size=int(os.environ.get("WORLD_SIZE", 1)),
        global_rank=int(os.environ.get("RANK", 0)),
    )


def _keep_facts(run: _Run, lm: Any, pictures_first: Any) -> None:
    """Store what the next run has to know of the model before it is loaded; nothing where files decide as well."""
    if (
        isinstance(run.model, str)
        and not getattr(lm, "needs_no_cache", False)
        and not getattr(lm, "given_template", "")
    ):
        sizes = {"batch_size": answers.batch_size(lm), "num_concurrent": getattr(lm, "num_concurrent", 1)}
        facts = {**(run.store.facts(run.facts_of) or {}), **sizes}
        if pictures_first is not None:
            facts[PICTURES_FIRST] = pictures_first if isinstance(pictures_first, bool) else sorted(pictures_first)
        run.store.keep_facts(run.facts_of, facts)
