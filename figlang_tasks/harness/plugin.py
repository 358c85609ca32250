"""Registers the tasks with lmms-eval; entry point of group ``lmms_eval.models``.

The harness has no entry point for tasks. It does load the group ``lmms_eval.models`` while ``lmms_eval.models`` is
being imported, which is before any task is looked up, so :func:`register` uses that moment to make ``TaskManager`` see
our YAML folder as well, and ``simple_evaluate`` check our data before it builds a model. Every name of the harness that
is relied on here has a contract test in ``tests/test_harness_contract.py``.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from figlang_tasks import models, resource_dir
from figlang_tasks.core import hub, notes, part_of_data, redaction, score_requests, task_files
from figlang_tasks.core.prompting import PICTURES_FIRST
from figlang_tasks.harness import answer_cache, versions
from figlang_tasks.models import api_requests
from figlang_tasks.scoring import OVERALL, Estimate, Estimates, evaluate, explanations, to_json
from figlang_tasks.scoring.evaluation import STDERR_RESAMPLES, evaluated, guarded

if TYPE_CHECKING:
    from lmms_eval.models.registry_v2 import ModelManifest
    from lmms_eval.tasks import TaskManager

ENTRY_POINT_GROUP = "lmms_eval.models"
_MARK = "_figlang_tasks"
_UNANSWERED = "_figlang_tasks_unanswered"  # of a task: how many requests got no answer in this process
_COUNTING = threading.Lock()  # the harness judges the documents of a task in several threads


def tasks_dir() -> Path:
    """Return the folder with our task definitions for lmms-eval."""
    return resource_dir("task_yamls") / "lmms_eval"


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

    _wrap(TaskManager, "initialize_tasks", _initialize_tasks)
    _wrap(TaskManager, "match_tasks", _match_tasks)
    _wrap(ConfigurableTask, "__init__", _build_task)
    _wrap(TaskOutput, "calculate_aggregate_metric", _aggregate_task)
    _wrap(response_cache.ResponseCache, "create", _create_cache)
    _wrap(response_cache.ResponseCache, "execute", answer_cache.execute)
    _wrap(response_cache, "_extract_content_hash", answer_cache.content_hash)
    _wrap(EvaluationTracker, "save_results_aggregated", _save_results)
    _wrap(EvaluationTracker, "save_results_samples", _save_samples)


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


def _initialize_tasks(original: Callable[..., dict], manager: Any, *args: Any, **kwargs: Any) -> dict[str, dict]:
    with task_files.read_quickly(tasks_dir()):
        index = original(manager, *args, **kwargs)
        bound = inspect.signature(original).bind(manager, *args, **kwargs)
        bound.apply_defaults()
        if not bound.arguments["include_defaults"]:
            return index
        # The harness's own tasks and the user's --include_path win over ours, as they do over each other.
        return {**manager._get_task_and_group(str(tasks_dir())), **index}


def _match_tasks(original: Callable[..., list[str]], manager: Any, names: Sequence[str]) -> list[str]:
    """Return the tasks of an evaluation's command line; a name or pattern that fits none ends it with one message.

    The harness prints a traceback for a name, exits with status 0, and says nothing of a pattern.
    """
    found = original(manager, names)
    if isinstance(manager.model_name, str):  # of an evaluation, which is named a model
        _require_tasks(manager, [name for name in names if not original(manager, [name]) and not Path(name).is_file()])
    return found


def _require_tasks(manager: Any, unknown: Sequence[str]) -> None:
    if unknown:
        told = "; ".join(f"no task {name!r}{_did_you_mean(name, manager.all_tasks)}" for name in unknown)
        raise SystemExit(f"figlang_tasks: {told}. `figlang tasks` lists ours, `lmms_eval tasks list` all of them")


def _did_you_mean(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, known)
    return f" (did you mean {' or '.join(f'`{each}`' for each in close)}?)" if close else ""


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
    with _named_model(manager, model):
        try:
            if names:
                named = model if isinstance(model, str) else None
                limit, offset, use_cache = (kwargs.get(name) for name in ("limit", "offset", "use_cache"))
                preflight(manager, names, named, kwargs.get("repeats") or 1, kwargs.get("baseline"), limit, offset or 0)
                if use_cache:
                    answer_cache.check_folder(use_cache)
            api_requests.prepare(_wrap, model, kwargs.get("model_args"))
            return original(*args, **kwargs)
        except BaseException as error:
            redaction.clean_error(error)
            if isinstance(error, OSError | ValueError) and _is_of_loading(error) and _names_ours(manager, names):
                checkpoint = _checkpoint(kwargs.get("model_args"))
                raise SystemExit(f"{model}: {models.cannot_load('the checkpoint', checkpoint, error)}") from error
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
    return any(_is_ours(config.get("process_docs")) for config in _leaf_configs(manager, names))


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


def _is_ours(process_docs: Any) -> bool:
    """Whether a task is ours: its process_docs is. That covers YAML files of users that include ours."""
    return getattr(process_docs, "__module__", "").startswith("figlang_tasks.")


def _build_task(original: Callable[..., Any], task: Any, *args: Any, **kwargs: Any) -> None:
    """Build a task, with the blocks of its file for what the class of the model declares to answer.

    Into the metadata of ours goes what data it holds (the column `data` of its documents). So it stands in every
    results file, and in what the response cache knows a task by: other data, other answers.
    """
    given = inspect.signature(original).bind(task, *args, **kwargs)
    config, model = given.arguments.get("config"), given.arguments.get("model_name")
    if config:
        given.arguments["config"] = _config_for(config, model)
    original(*given.args, **given.kwargs)
    if not _is_ours(task.config.process_docs):
        return
    task.process_results = functools.partial(_process_results, task, task.process_results)
    if isinstance(task.config.metadata, dict):
        splits = [docs for docs in task.dataset_no_image.values() if "data" in docs.column_names]
        if data := sorted({each for docs in splits for each in docs.unique("data")}):
            task.config.metadata = {**task.config.metadata, "data": ", ".join(data)}


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
        if os.environ.get("RANK", "0") == "0":
            logger.warning(
                f"figlang_tasks: the chat template of this model moves all pictures before the text, so the prompt of "
                f"{_listed(sorted(asked))} is in words that need no places ({PICTURES_FIRST} in the task file). "
                f"The results say so in prompt_hash"
            )
    return original(*args, **kwargs)


def _config_for(config: Mapping[str, Any], model: object) -> dict[str, Any]:
    """A task's YAML for a model: the name after ``--model``, an object, or None if it is not known."""
    try:
        return score_requests.for_model(config, model, models.class_of(model))
    except score_requests.ScoreRequestError as error:
        raise SystemExit(f"figlang_tasks: {error}") from error


def _process_results(
    task: Any, original: Callable[..., Any], doc: Any, results: Sequence[Any], *args: Any, **kwargs: Any
) -> Any:
    """Judge an answer; the harness's own words in place of one are none (an error message may hold "yes").

    Then the run has failed, whatever its numbers are; each process tells of its own documents.
    """
    failed = [each for each in results if notes.is_no_answer(each)]
    if failed:
        with _COUNTING:
            before = getattr(task, _UNANSWERED, 0)
            setattr(task, _UNANSWERED, before + len(failed))
        if not before:
            logger.error(
                f"figlang_tasks: {task.config.task}: a request got no answer: {failed[0][:300]}. Such requests count "
                "as wrong answers. Repair the cause and type the same command again; with --use_cache FOLDER they "
                "alone are asked again"
            )
            notes.note(f"{task.config.task}: requests got no answer and count as wrong, see the log")
        results = ["" if notes.is_no_answer(each) else each for each in results]
    return original(doc, results, *args, **kwargs)


def _aggregate_task(original: Callable[..., Any], task_output: Any, *args: Any, **kwargs: Any) -> Any:
    """Aggregate a task; of ours all measures at once, of the records that its documents left under ``sample``."""
    if not _is_ours(task_output.task.config.process_docs):
        return original(task_output, *args, **kwargs)
    try:
        estimates = _estimates(task_output, kwargs.get("bootstrap_iters", args[0] if args else STDERR_RESAMPLES))
    except Exception:  # a user's own process_results may return other records: no reason to lose a run
        logger.exception("figlang_tasks: the results could not be completed")
        notes.note("the results could not be completed, see the log")
        estimates = {}
    overall = {name: scopes[OVERALL] for name, scopes in estimates.items() if OVERALL in scopes}
    _complete(task_output, overall)
    _put_in_order(task_output)
    with evaluated({name: estimate.value for name, estimate in overall.items()}):
        result = original(task_output, *args, **kwargs)
    for name, filter_key in list(task_output.sample_metrics):
        if task_output.agg_metrics.get(f"{name},{filter_key}") is None:  # of a measure without a value
            del task_output.sample_metrics[name, filter_key]
            for suffix in ("", "_stderr"):
                task_output.agg_metrics.pop(f"{name}{suffix},{filter_key}", None)
        elif name in overall and overall[name].stderr is not None:
            task_output.agg_metrics[f"{name}_stderr,{filter_key}"] = overall[name].stderr
    _add_metadata(task_output, {"versions": versions.recorded(), **_unanswered(task_output)})
    if estimates:
        _add_metadata(task_output, {"measures": to_json(estimates)})
    return result


def _complete(task_output: Any, overall: Mapping[str, Estimate]) -> None:
    """Let the harness ask for every listed measure that has a value: a user's list may have more than ours return."""
    for name, filter_key in list(task_output.sample_metrics):
        if name == "sample":
            rows = len(task_output.sample_metrics[name, filter_key])
            for metric in task_output.task.config.metric_list or []:
                if metric["metric"] in overall:
                    task_output.sample_metrics.setdefault((metric["metric"], filter_key), [None] * rows)


def _estimates(task_output: Any, bootstrap_iters: int) -> Estimates:
    """All measures of a finished task; explanations are scored for them, and facts of the records become metadata."""
    named = [getattr(each.get("aggregation"), "measures", None) for each in task_output.task.config.metric_list or []]
    measures = next((found for found in named if found is not None), None)
    of_documents: Sequence[Any] = next(
        (own for (name, _), own in task_output.sample_metrics.items() if name == "sample"), ()
    )
    records = [record for record in of_documents if isinstance(record, dict)]
    if measures is None or not task_output.sample_metrics:
        return {}
    if not records:  # another process_results than ours
        names = ", ".join(measures.by_name)
        logger.error(
            f"figlang_tasks: {task_output.task_name}: its process_results returns no record under `sample`, of which "
            f"{names} are made: let it return figlang_tasks.scoring.judged(record, MEASURES), or give the task file a "
            f"metric_list of its own"
        )
        notes.note(f"{task_output.task_name}: no records, so that its metrics are missing, see the log")
        return {}
    logged = [sample["sample"] for sample in task_output.logged_samples if isinstance(sample.get("sample"), dict)]
    option = (task_output.task.lmms_eval_specific_kwargs or {}).get("scorer")
    if scoring := explanations.score_task([*records, *logged], option):
        _add_metadata(task_output, {"explanation_scorer": scoring.provenance})
    for field, name in (("revision", "data_revision"), ("bleu", "bleu")):  # what a task file could not say
        if said := sorted({str(record[field]) for record in records if field in record}):
            _add_metadata(task_output, {name: ", ".join(said)})
    return evaluate(records, measures, max(0, min(bootstrap_iters, STDERR_RESAMPLES)), guarded)


def _add_metadata(task_output: Any, found: Mapping[str, Any]) -> None:
    """Add to what the results file holds under ``configs.<task>.metadata``."""
    metadata = task_output.task_config.get("metadata") or {}
    task_output.task_config["metadata"] = {**metadata, **found} if isinstance(metadata, Mapping) else [*metadata, found]


def _unanswered(task_output: Any) -> dict[str, int]:
    """How many requests got no answer, if any: of all processes with --log_samples, else of this one."""
    from lmms_eval.models.model_utils.usage_metrics import is_budget_exceeded

    if is_budget_exceeded():
        notes.note("--max_tokens is spent: what was left got no answer and counts as wrong")
    texts = (text for sample in task_output.logged_samples for text in sample["filtered_resps"])
    count = sum(map(notes.is_no_answer, texts)) or getattr(task_output.task, _UNANSWERED, 0)
    return {"unanswered": count} if count else {}


def _put_in_order(task_output: Any) -> None:
    """Put samples in the order of the documents and metrics in that of the task file, for any number of processes.

    The harness has samples process by process, and last the metrics that no document of the first process has.
    """
    task_output.logged_samples.sort(key=lambda sample: sample["doc_id"])
    places = {metric["metric"]: place for place, metric in enumerate(task_output.task.config.metric_list or [])}
    for key in sorted(task_output.sample_metrics, key=lambda key: places.get(key[0], len(places))):
        task_output.sample_metrics[key] = task_output.sample_metrics.pop(key)


def _create_cache(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return answer_cache.create(original, lambda task: _is_ours(task.config.process_docs), *args, **kwargs)


# --- files that could not be written: the harness logs a warning, leaves half a file and goes on ---------------------


def _save_results(original: Callable[..., Any], tracker: Any, *args: Any, **kwargs: Any) -> Any:
    try:
        return original(tracker, *args, **kwargs)
    finally:  # also after an interrupt
        _check_written(tracker, "results.json", lambda path: isinstance(json.loads(path.read_bytes()), dict))


def _save_samples(original: Callable[..., Any], tracker: Any, *args: Any, **kwargs: Any) -> Any:
    bound = inspect.signature(original).bind(tracker, *args, **kwargs).arguments
    for sample in bound["samples"]:  # a server may repeat in its answer what it was sent
        sample.update(redaction.without_secrets({name: sample[name] for name in sample if name != "doc"}))
    lines = len(bound["samples"])  # at least: a run of the same second adds to the file
    try:
        return original(tracker, *args, **kwargs)
    finally:
        _check_written(tracker, f"samples_{bound['task_name']}.jsonl", lambda path: _whole_lines(path) >= lines)


def _whole_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(line.endswith(b"\n") for line in file)


def _check_written(tracker: Any, name: str, is_whole: Callable[[Path], bool]) -> None:
    """Take the name from a file that is not whole, so that nothing reads it for one, and note the failure."""
    if not tracker.output_path:
        return
    folder = Path(tracker.output_path) / tracker.general_config_tracker.model_name_sanitized
    date = getattr(tracker, "date_id", None)  # none if the folder could not be made
    path = folder / (f"{date}_{name}" if date else name)
    try:
        if is_whole(path):
            return
        reason = "no space left, or a limit of file sizes?"
    except (OSError, ValueError) as error:
        reason = str(error)
    kept = ""
    if path.exists():
        part = path.with_name(f"{path.name}.partial")
        path.replace(part)
        kept = f"; what could be written is in {part.name}"
    message = (
        f"{path} could not be written whole ({reason}){kept}. Make room and run the same command again "
        f"(with --use_cache no answer is computed twice)"
    )
    logger.error(f"figlang_tasks: {message}")
    notes.note(message)


def preflight(
    manager: TaskManager,
    names: Sequence[str],
    model_class: str | None = None,
    repeats: int = 1,
    baseline: str | None = None,
    limit: float | None = None,
    offset: int = 0,
) -> None:
    """Check options and data of those of the named tasks that are ours or include ours; tell all that is wrong at once.

    A benchmark's ``preflight`` gets a task's YAML as a dict, with the model's name under ``model`` where it is known,
    and ``limit`` and ``offset`` of the run.

    Args:
        manager: knows the tasks, and the name by which task files know the model.
        names: of tasks, tags and groups.
        model_class: what is given to ``--model``, to be checked as well.
        repeats, baseline: as ``simple_evaluate`` takes them; that they have no effect on ours is logged.
        limit, offset: likewise; the part of the data that a run is about.

    Raises:
        SystemExit: something is missing or wrong; the message says what to do.
    """
    _require_tasks(manager, [name for name in names if name not in manager.task_index])
    ours = [config for config in _leaf_configs(manager, names) if _is_ours(config.get("process_docs"))]
    if not ours:
        return
    if model_class is not None:
        _require_model(model_class)
    part_of_data.check_values(limit, offset)
    if limit is not None and 0 < limit < 1 and len(ours) > 1:
        limit = None  # the harness makes a number of it with the first task, and takes that for all
    model = manager.model_name if isinstance(manager.model_name, str) else None
    faults: dict[str, list[str]] = {}  # what is wrong, and with which tasks
    with hub.asking_once():
        for config in ours:
            own = {**_config_for(config, manager.model_name), "model": model, "limit": limit, "offset": offset}
            try:
                _check_kind_of_answers(own, models.class_of(manager.model_name))
                sys.modules[config["process_docs"].__module__].preflight(own)
                if offset:
                    part_of_data.check_offset(own)
            except SystemExit as fault:
                for what in str(fault).removeprefix(f"figlang_tasks: task {config['task']}: ").split("\n"):
                    faults.setdefault(what, []).append(config["task"])
    if faults:
        raise SystemExit("\n".join(f"figlang_tasks: {_listed(tasks)}: {what}" for what, tasks in faults.items()))
    if os.environ.get("RANK", "0") == "0":
        _warn_of_options_without_effect(ours, repeats, baseline)


def _listed(tasks: Sequence[str]) -> str:
    if len(tasks) > 4:
        return f"{len(tasks)} tasks ({', '.join(tasks[:3])} ...)"
    return f"task{'s' if len(tasks) > 1 else ''} {', '.join(tasks)}"


def _require_model(name: str) -> None:
    from lmms_eval.models import MODEL_REGISTRY_V2

    try:
        MODEL_REGISTRY_V2.resolve(name)
    except ValueError:
        hint = _did_you_mean(name, MODEL_REGISTRY_V2.list_model_names())
        ours = ", ".join(manifest.model_id for manifest in models.manifests())
        raise SystemExit(f"figlang_tasks: no model class {name!r}{hint}. Ours are {ours}") from None


def _check_kind_of_answers(config: Mapping[str, Any], model_class: type | None) -> None:
    """Refuse a task that asks for scores, or for words, what is known to give none.

    Raises:
        SystemExit: so it is. Of a user's own class that a task file asks by its name that file knows best.
    """
    model, task = config["model"], config["task"]
    is_asked = score_requests.is_asked(config)
    if is_asked and model is not None and models.only_words(model):
        raise SystemExit(
            f"figlang_tasks: task {task}: it asks {model} for scores ({score_requests.KEY}), and this class answers in "
            f"words: take that line out of the task file, or a class that gives scores (figlang_clip, figlang_vlm)"
        )
    if not is_asked and not score_requests.answers_words(model_class):
        raise SystemExit(score_requests.only_ranks(model or "this model", task))


def _warn_of_options_without_effect(ours: Sequence[Mapping[str, Any]], repeats: int, baseline: str | None) -> None:
    if baseline:
        logger.warning(
            f"figlang_tasks: --baseline has no effect on {_listed([config['task'] for config in ours])}: the harness "
            f"finds no scores in their samples. Keep the samples (--log_samples) and compare afterwards: figlang "
            f"compare BASELINE_RUN THIS_RUN"
        )
    repeated = [config["task"] for config in ours if max(repeats, config.get("repeats") or 1) > 1]
    if repeated:
        logger.warning(
            f"figlang_tasks: --repeats (repeats) asks each request of {_listed(repeated)} several times, and only the "
            f"first answer is judged: it costs time and adds no metric. To see how answers vary, evaluate several "
            f"times with other seeds (--seed; answers are sampled with --gen_kwargs do_sample=True,temperature=1), and "
            f"compare: figlang compare RUN RUN"
        )


def _leaf_configs(manager: Any, names: Iterable[str]) -> list[dict[str, Any]]:
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
