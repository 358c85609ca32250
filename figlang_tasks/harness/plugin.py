"""Registers the tasks with lmms-eval; entry point of group ``lmms_eval.models``.

The harness has no entry point for tasks. It does load the group ``lmms_eval.models`` while ``lmms_eval.models`` is
being imported, which is before any task is looked up, so :func:`register` uses that moment to make ``TaskManager`` see
our YAML folder as well, and ``simple_evaluate`` check our data before it builds a model. Every name of the harness that
is relied on here has a contract test in ``tests/harness/test_harness_contract.py``.
"""

from __future__ import annotations

import functools
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from figlang_tasks import models
from figlang_tasks.core import interrupts, redaction, score_requests, status
from figlang_tasks.core.errors import FigLangError, ending_the_command
from figlang_tasks.core.options import PICTURES_FIRST
from figlang_tasks.harness import answer_cache, estimate, judgement, saving, task_index, versions
from figlang_tasks.harness.preflight import listed, preflight
from figlang_tasks.harness.task_index import config_for, is_ours, leaf_configs, tasks_dir
from figlang_tasks.scoring import explanations

if TYPE_CHECKING:
    from lmms_eval.models.registry_v2 import ModelManifest
    from lmms_eval.tasks import TaskManager

ENTRY_POINT_GROUP = "lmms_eval.models"
_MARK = "_figlang_tasks"


def register() -> list[ModelManifest]:
    """Make the tasks known to the harness and return our model classes; safe to call again."""
    versions.warn_of_unknown_harness()
    try:
        register_tasks()
    except (AttributeError, ImportError) as error:
        raise versions.UnusableHarness(error) from error
    _report_broken_entry_points()
    return models.manifests()


def register_tasks() -> None:
    """Make every ``TaskManager`` with default tasks find ours, and stand around loading a model and aggregating."""
    from lmms_eval import utils

    redaction.clean_logs()
    task_index.read_quickly()

    # At this moment lmms_eval.evaluator is usually half imported: simple_evaluate and evaluate are not there yet, so
    # their decorator is what can be reached.
    _wrap(utils, "positional_deprecated", _decorate)
    evaluator = sys.modules.get("lmms_eval.evaluator")
    if hasattr(evaluator, "simple_evaluate"):
        _wrap(evaluator, "simple_evaluate", _check_and_evaluate)
        _wrap(evaluator, "evaluate", _choose_prompts_and_evaluate)

    from lmms_eval.api.task import ConfigurableTask
    from lmms_eval.caching import response_cache
    from lmms_eval.evaluator_utils import TaskOutput
    from lmms_eval.loggers import EvaluationTracker
    from lmms_eval.tasks import TaskManager

    _wrap(TaskManager, "initialize_tasks", task_index.initialize_tasks)
    _wrap(TaskManager, "match_tasks", task_index.match_tasks)
    _wrap(ConfigurableTask, "__init__", _build_task)
    _wrap(ConfigurableTask, "download", _download)
    _wrap(TaskOutput, "calculate_aggregate_metric", judgement.aggregate_task)
    _wrap(response_cache.ResponseCache, "create", _create_cache)
    _wrap(response_cache.ResponseCache, "execute", answer_cache.execute)
    _wrap(response_cache, "_extract_content_hash", answer_cache.content_hash)
    _wrap(EvaluationTracker, "save_results_aggregated", saving.save_results)
    _wrap(EvaluationTracker, "save_results_samples", saving.save_samples)


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


def _report_broken_entry_points() -> None:
    for point, error in broken_entry_points():
        package = point.dist.name if point.dist else "an unknown package"
        logger.warning(
            f"figlang_tasks: entry point {point.name!r} = {point.value!r} of {package} (group {ENTRY_POINT_GROUP}) "
            f"cannot be loaded: {type(error).__name__}: {error}. lmms-eval drops every plugin after it; "
            f"repair or uninstall {package}. The figlang tasks are registered."
        )


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


def _decorate(original: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """The harness's decorator of ``simple_evaluate`` and ``evaluate``, with what is ours in front of those two."""
    ours = {"simple_evaluate": _check_and_evaluate, "evaluate": _choose_prompts_and_evaluate}
    decorated = original(function)
    return _wrapped(decorated, ours[function.__name__]) if function.__name__ in ours else decorated


def _check_and_evaluate(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Check the data of our tasks, then evaluate.

    ``simple_evaluate`` builds the model first and the tasks after it; a missing token should not cost the user the
    loading of a model.
    """
    redaction.remember(kwargs.get("model_args"))
    tasks = kwargs.get("tasks") or []
    names = [name for name in ([tasks] if isinstance(tasks, str) else tasks) if isinstance(name, str)]
    model = args[0] if args else kwargs.get("model")
    manager = kwargs.get("task_manager")
    if names and manager is None:
        from lmms_eval.tasks import TaskManager

        # As simple_evaluate makes it where none is given.
        manager = kwargs["task_manager"] = TaskManager(kwargs.get("verbosity", "INFO"), model_name=model)
    # The harness's command, and nobody else, hands over its own arguments.
    ending = nullcontext() if kwargs.get("cli_args") is None else ending_the_command()
    with ending, _named_model(manager, model):
        try:
            if names:
                status.tell("checking the tasks and their data ...")
                named = model if isinstance(model, str) else None
                limit, offset, use_cache = (kwargs.get(name) for name in ("limit", "offset", "use_cache"))
                preflight(
                    manager,
                    names,
                    named,
                    kwargs.get("repeats") or 1,
                    kwargs.get("baseline"),
                    limit,
                    offset or 0,
                    kwargs.get("num_fewshot"),
                )
                if use_cache:
                    answer_cache.check_folder(use_cache)
                if output_path := getattr(kwargs.get("evaluation_tracker"), "output_path", None):
                    saving.check_folder("--output_path", output_path, Path(output_path))
            status.tell(f"loading the model ({model if isinstance(model, str) else type(model).__name__}) ...")
            return original(*args, **kwargs)
        except BaseException as error:
            redaction.clean_error(error)
            if isinstance(error, OSError | ValueError) and _is_of_loading(error) and _names_ours(manager, names):
                checkpoint = _checkpoint(kwargs.get("model_args"))
                raise FigLangError(f"{model}: {models.cannot_load('the checkpoint', checkpoint, error)}") from error
            raise
        finally:
            explanations.release()
            cli_args = kwargs.get("cli_args")
            if cli_args and isinstance(cli_args.model_args, str):  # the harness prints them below its tables
                cli_args.model_args = redaction.hidden(cli_args.model_args)


def _is_of_loading(error: BaseException) -> bool:
    """Whether an error comes from looking for the files of a checkpoint, in whatever class of the harness."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(
        frame.f_code.co_name in ("cached_files", "validate_repo_id")
        and frame.f_globals.get("__name__", "").startswith(("transformers.", "huggingface_hub."))
        for frame in frames
    )


def _checkpoint(model_args: object) -> str:
    from lmms_eval.utils import simple_parse_args_string

    given = simple_parse_args_string(model_args) if isinstance(model_args, str) else model_args
    named = given if isinstance(given, Mapping) else {}
    return str(next((named[key] for key in ("pretrained", "model", "model_version") if key in named), "of the model"))


def _names_ours(manager: Any, names: Sequence[str]) -> bool:
    return any(is_ours(config.get("process_docs")) for config in leaf_configs(manager, names))


@contextmanager
def _named_model(manager: Any, model: Any) -> Iterator[None]:
    """Let a task manager know the model: by its name where an object of one of our classes is given, else the object.

    Tasks are built for the name given to ``--model``; ``simple_evaluate`` takes objects too, and task managers that
    were made without a name.
    """
    name = model if isinstance(model, str) else models.name_of(model) or model
    if manager is None or isinstance(manager.model_name, str):
        yield
        return
    before, manager.model_name = manager.model_name, name
    try:
        yield
    finally:
        manager.model_name = before


def _build_task(original: Callable[..., Any], task: Any, *args: Any, **kwargs: Any) -> None:
    """Build a task, with the blocks of its file for what the class of the model declares to answer.

    Into the metadata of ours goes what data it holds (the column `data` of its documents). So it stands in every
    results file, and in what the response cache knows a task by: other data, other answers.
    """
    status.tell("loading the data ...")
    given = inspect.signature(original).bind(task, *args, **kwargs)
    config, model = given.arguments.get("config"), given.arguments.get("model_name")
    if config:
        given.arguments["config"] = config_for(config, model)
    original(*given.args, **given.kwargs)
    if not is_ours(task.config.process_docs):
        return
    task.process_results = functools.partial(judgement.process_results, task, task.process_results)
    if isinstance(task.config.metadata, dict):
        splits = [docs for docs in task.dataset_no_image.values() if "data" in docs.column_names]
        if data := sorted({each for docs in splits for each in docs.unique("data")}):
            task.config.metadata = {**task.config.metadata, "data": ", ".join(data)}


def _download(original: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Load the data of a task. The harness tries five times after any error; a `FigLangError` is raised at once."""
    import tenacity

    original.retry_with(retry=tenacity.retry_if_not_exception_type(FigLangError))(*args, **kwargs)  # type: ignore[attr-defined]


def _choose_prompts_and_evaluate(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Evaluate; a model that reads all pictures first is asked as task files say.

    It is one whose attribute ``pictures_first`` is True, or holds the names of the tasks that it is so for.

    Only here are model and tasks both there, and no request is made yet. What was chosen stands in every results file:
    in ``lmms_eval_specific_kwargs``, and in ``prompt_hash``, by which runs are compared.
    """
    given = inspect.signature(original).bind(*args, **kwargs).arguments
    with_block = {
        name: task
        for name, task in answer_cache.tasks_of(given["task_dict"])
        if isinstance((getattr(task, "lmms_eval_specific_kwargs", None) or {}).get(PICTURES_FIRST), Mapping)
        and score_requests.KEY not in task.config.generation_kwargs  # scores are of one picture at a time
    }
    first = with_block and getattr(given["lm"], PICTURES_FIRST, False)
    asked = {name: task for name, task in with_block.items() if first is True or (first and name in first)}
    if asked:
        for task in asked.values():
            options = task.lmms_eval_specific_kwargs
            task.lmms_eval_specific_kwargs = {**options, **options[PICTURES_FIRST]}
            task.config.lmms_eval_specific_kwargs = task.lmms_eval_specific_kwargs
            if isinstance(task.config.metadata, dict):
                marked = f"{task.config.metadata.get('prompt_hash')}+{PICTURES_FIRST}"
                task.config.metadata = {**task.config.metadata, "prompt_hash": marked}
        if status.in_first_process():
            logger.warning(
                f"figlang_tasks: the chat template of this model moves all pictures before the text, so the prompt of "
                f"{listed(sorted(asked))} is in words that need no places ({PICTURES_FIRST} in the task file). "
                f"The results say so in prompt_hash"
            )
    if status.is_shown():  # other people's tasks may be among them: nothing of a stock command may hang on this
        for line in estimate.lines(given["task_dict"], given.get("limit"), given.get("offset") or 0):
            status.tell(line)
    ours = {name for name, task in answer_cache.tasks_of(given["task_dict"]) if is_ours(task.config.process_docs)}
    if not ours:
        return original(*args, **kwargs)
    # After an interrupt the first process writes its results, for which it needs the others at its last barrier.
    more = 0 if status.in_first_process() else explanations.TIME_TO_WRITE
    with interrupts.time_to_keep(more), judgement.answering_in_texts(given["lm"], ours):
        return original(*args, **kwargs)


def _create_cache(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return answer_cache.create(original, lambda task: is_ours(task.config.process_docs), *args, **kwargs)
