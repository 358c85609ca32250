"""Checks before a model is loaded: names, options, data, and whether the model can give what a task
asks for.

A check is a function of an `Evaluation` that returns its faults. `STAGES` lists them; all faults of
a stage are told at once, and a later stage is only reached without any, because its checks rely on
the earlier ones.
"""

from __future__ import annotations

import fnmatch
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from figlang_tasks import models
from figlang_tasks.core import hub, score_requests, status
from figlang_tasks.core.benchmark import task_faults
from figlang_tasks.core.blocks import (
    DEFAULT,
    SCORES,
    SETTINGS,
    answers_words,
    choose_blocks,
    with_blocks_as_default,
)
from figlang_tasks.core.errors import DataError, FigLangError
from figlang_tasks.core.redaction import redacted
from figlang_tasks.core.task_files import ALL_TASKS
from figlang_tasks.core.text import did_you_mean, listing
from figlang_tasks.harness.suggestions import (
    TaskConfig,
    shows_pictures,
    tasks_in_words,
    tasks_with_exemplars,
    tasks_without_pictures,
)
from figlang_tasks.harness.task_index import is_ours, leaf_configs

if TYPE_CHECKING:
    from lmms_eval.tasks import TaskManager

REPLAY = "figlang_replay"
"""The model class that is asked for nothing and gives what was saved, scores too."""


@dataclass(frozen=True)
class Evaluation:
    """What ``simple_evaluate`` was asked to do, under its names for the arguments.

    Attributes:
        model: the name after ``--model``, or an object.
        model_of_tasks: the same, but for a task manager that was made for another name: tasks are
            built for that.
        tasks: the task files of ours.
    """

    model: object
    model_of_tasks: object
    tasks: Sequence[TaskConfig]
    limit: float | None
    offset: int | None
    num_fewshot: int | None
    model_args: object
    gen_kwargs: object

    @property
    def model_name(self) -> str | None:
        """The name that blocks of task files are chosen by; None for an object without one."""
        return self.model_of_tasks if isinstance(self.model_of_tasks, str) else None

    @cached_property
    def model_class(self) -> type | None:
        """The class of the model; None if it is known to answer in words alone."""
        return models.scoring_class(self.model_of_tasks)

    @property
    def task_names(self) -> tuple[str, ...]:
        """The names of the tasks of ours."""
        return tuple(config["task"] for config in self.tasks)

    @property
    def limit_of_each_task(self) -> float | None:
        """The limit, unless the harness makes another one of it for each task
        (`_warn_of_shared_limit`).
        """
        return None if self.limit_is_shared else self.limit

    @property
    def limit_is_shared(self) -> bool:
        """Whether the limit is a share of rows, which the harness takes of one task alone."""
        return self.limit is not None and 0 < self.limit < 1 and len(self.tasks) > 1


@dataclass(frozen=True)
class Fault:
    """Something that is wrong with an evaluation.

    Attributes:
        message: what is wrong, and the remedy.
        tasks: the names of the tasks that it concerns; none where it concerns the command.
        is_of_data: whether the data of a task is at fault.
    """

    message: str
    tasks: tuple[str, ...] = ()
    is_of_data: bool = False


def preflight(
    manager: TaskManager,
    names: Sequence[str],
    model: object = None,
    limit: float | None = None,
    offset: int | None = None,
    num_fewshot: int | None = None,
    model_args: object = None,
    gen_kwargs: object = None,
) -> Sequence[TaskConfig]:
    """The configurations of those named tasks that are ours, or include ours, with options and data
    checked.

    Arguments are as ``simple_evaluate`` takes them. The message of a `FigLangError` has all faults
    of all tasks.
    """
    _raise_faults(unknown_task_faults(manager, names))
    ours = [
        config for config in leaf_configs(manager, names) if is_ours(config.get("process_docs"))
    ]
    if not ours:
        return ours

    evaluation = Evaluation(
        model=model,
        model_of_tasks=manager.model_name if isinstance(manager.model_name, str) else model,
        tasks=ours,
        limit=limit,
        offset=offset,
        num_fewshot=num_fewshot,
        model_args=model_args,
        gen_kwargs=gen_kwargs,
    )
    hub.clear_caches()
    for checks in STAGES:
        _raise_faults(fault for check in checks for fault in check(evaluation))
    return ours


def _raise_faults(faults: Iterable[Fault]) -> None:
    """Raise one error with all faults, each once with the tasks that it concerns."""
    tasks_by_message: dict[str, list[str]] = {}
    error_type: type[FigLangError] = FigLangError
    for fault in faults:
        tasks_by_message.setdefault(fault.message, []).extend(fault.tasks)
        if fault.is_of_data:
            error_type = DataError
    lines = []
    for message, tasks in tasks_by_message.items():
        lines.append(
            f"figlang_tasks: {listed(tasks)}: {message}" if tasks else f"figlang_tasks: {message}"
        )
    if lines:
        raise error_type("\n".join(lines))


def listed(tasks: Sequence[str]) -> str:
    """The names of tasks in a sentence: the first of many, and how many there are."""
    if len(tasks) > 4:
        return f"{len(tasks)} tasks ({', '.join(tasks[:3])} ...)"
    return f"task{'s' if len(tasks) > 1 else ''} {', '.join(tasks)}"


# --- names of tasks ---


def unknown_task_faults(manager: TaskManager, names: Sequence[str]) -> list[Fault]:
    """A fault if the harness does not know the names of some tasks."""
    index = manager.task_index
    unknown = [
        f"no task {name!r}{did_you_mean(name, index)}" for name in names if name not in index
    ]
    return [Fault(f"{'; '.join(unknown)}. {ALL_TASKS}")] if unknown else []


def require_matches(selection: str, manager: TaskManager) -> None:
    """Raise an error that names each pattern of ``--tasks`` that matches no task: the harness drops
    it in silence.
    """
    if os.path.isdir(selection):  # of task files
        return
    unmatched = []
    # a comma may end the list
    patterns = [pattern for pattern in selection.split(",") if pattern.strip()]
    for pattern in patterns:
        if not fnmatch.filter(manager.task_index, pattern) and not os.path.isfile(pattern):
            hint = did_you_mean(pattern.strip(" *?"), manager.task_index)
            unmatched.append(f"no task matches {pattern!r}{hint}")
    if unmatched:
        raise FigLangError(f"figlang_tasks: {'; '.join(unmatched)}. {ALL_TASKS}")


# --- options of the command ---


def check_model(evaluation: Evaluation) -> Iterator[Fault]:
    """The name after ``--model`` is that of a class."""
    from lmms_eval.models import MODEL_REGISTRY_V2

    name = evaluation.model
    if not isinstance(name, str):
        return
    try:
        MODEL_REGISTRY_V2.resolve(name)
    except ValueError:
        hint = did_you_mean(name, MODEL_REGISTRY_V2.list_model_names())
        if name.startswith(("hf", "local-")):
            hint = ": it is a class of the command lm_eval. Here figlang_vlm loads language models"
        ours = ", ".join(manifest.model_id for manifest in models.manifests())
        yield Fault(f"no model class {name!r}{hint}. Ours are {ours}")


def check_pairs(evaluation: Evaluation) -> Iterator[Fault]:
    """``--model_args`` and ``--gen_kwargs`` are pairs of a name and a value."""
    from lmms_eval.utils import simple_parse_args_string

    for option, value in (
        ("model_args", evaluation.model_args),
        ("gen_kwargs", evaluation.gen_kwargs),
    ):
        try:
            simple_parse_args_string(value if isinstance(value, str) else "")
        except ValueError:
            yield Fault(f"--{option} {redacted(value)}: must be NAME=VALUE,NAME=VALUE")


def check_limit(evaluation: Evaluation) -> Iterator[Fault]:
    """``--limit`` is a number of rows, or a share of them."""
    if message := limit_fault(evaluation.limit):
        yield Fault(message)
    elif evaluation.limit_is_shared:
        _warn_of_shared_limit(evaluation.limit)


def limit_fault(limit: float | None) -> str:
    """What is wrong with a value of ``--limit``; "" if nothing is."""
    if limit is None or limit == -1 or 0 < limit < math.inf:
        return ""
    return f"--limit {limit:g}: must be a number of rows, a share below 1, or -1 for all rows"


def _warn_of_shared_limit(limit: float | None) -> None:
    """Say that a share of rows is one of a single task alone."""
    if status.in_first_process():
        logger.warning(
            f"figlang_tasks: --limit {limit:g} with several tasks: lmms-eval takes this share of"
            " the rows of one, and as many rows of each other. Give a number of rows, or evaluate"
            " each task alone"
        )


def check_num_fewshot(evaluation: Evaluation) -> Iterator[Fault]:
    """``--num_fewshot`` is left out: the harness's exemplars are texts alone."""
    if not evaluation.num_fewshot:
        return
    with_exemplars = tasks_with_exemplars(evaluation.tasks)
    if with_exemplars:
        remedy = (
            f"examples are the task option num_shots, which {listing(with_exemplars)} set. Leave"
            " --num_fewshot out, or take one of those"
        )
    else:
        remedy = "no task of the benchmark has examples in its prompt. Leave --num_fewshot out"
    yield Fault(f"--num_fewshot is no option of {listed(evaluation.task_names)}: {remedy}")


# --- what a task asks of the model, its options and its data ---


def check_tasks(evaluation: Evaluation) -> Iterator[Fault]:
    """The model can give what each task asks for; its options are valid, and its data is here."""
    faults = [*scores_of_words_faults(evaluation), *words_of_scores_faults(evaluation)]
    yield from faults
    refused = {task for fault in faults for task in fault.tasks}
    for config in evaluation.tasks:
        if config["task"] in refused:
            continue  # Its data may take long to load, or to download.
        for error in task_faults(_with_options_of_run(config, evaluation)):
            yield Fault(str(error), (config["task"],), is_of_data=isinstance(error, DataError))


def scores_of_words_faults(evaluation: Evaluation) -> Iterator[Fault]:
    """A fault for each task that asks for scores where the model is known to give words alone."""
    name = evaluation.model_name
    only_for_scores = []
    for config in evaluation.tasks:
        if _asks_for_scores(config, evaluation):
            if name is not None and models.only_words(name):
                yield Fault(
                    f"it asks {name} for scores ({score_requests.KEY}), and this class answers in"
                    " words: take that line out of the task file, or a class that gives scores"
                    " (figlang_clip, figlang_vlm)",
                    (config["task"],),
                )
        elif _is_only_for_scores(config) and name != REPLAY:
            only_for_scores.append(config)
    if only_for_scores:
        in_words = listing(tasks_in_words(only_for_scores))
        yield Fault(
            f"it compares scores, but {name or 'this model'} answers in words. Use a model class"
            " that gives scores (figlang_clip, figlang_vlm; figlang_random for chance), or the"
            f" task in words ({in_words}). A class of yours must declare answers_score_requests"
            " (docs/adding_a_vlm.md)",
            tuple(config["task"] for config in only_for_scores),
        )


def words_of_scores_faults(evaluation: Evaluation) -> Iterator[Fault]:
    """A fault for each task that asks for words where the class of the model declares that it gives
    none.
    """
    if answers_words(evaluation.model_class):
        return
    for config in evaluation.tasks:
        if not _asks_for_scores(config, evaluation) and not _is_only_for_scores(config):
            message = score_requests.only_scores_message(
                evaluation.model_name or "this model", config["task"]
            )
            yield Fault(message, (config["task"],))


def _asks_for_scores(config: TaskConfig, evaluation: Evaluation) -> bool:
    """Whether a task asks the model for scores."""
    return choose_blocks(config, evaluation.model_name, evaluation.model_class).asks_for_scores


def _is_only_for_scores(config: TaskConfig) -> bool:
    """Whether a task file has settings for classes that give scores, and none for others."""
    settings = config.get(SETTINGS) or {}
    return SCORES in settings and DEFAULT not in settings


def _with_options_of_run(config: TaskConfig, evaluation: Evaluation) -> dict[str, Any]:
    """A task file with the blocks for the model in place of ``default``, and with the options of
    the command.
    """
    choice = choose_blocks(config, evaluation.model_name, evaluation.model_class)
    return {
        **with_blocks_as_default(config, choice),
        "model": evaluation.model_name,
        "limit": evaluation.limit_of_each_task,
        "offset": evaluation.offset or 0,
    }


def check_pictures(evaluation: Evaluation) -> Iterator[Fault]:
    """No task shows pictures to a language model that reads text alone."""
    if not models.reads_text_alone(evaluation.model, evaluation.model_args):
        return
    tasks = [_with_options_of_run(config, evaluation) for config in evaluation.tasks]
    refused = [config for config in tasks if shows_pictures(config)]
    if not refused:
        return
    without_pictures = tasks_without_pictures(refused)
    remedy = "Use a vision-language model"
    if without_pictures:
        remedy += f", or a task without pictures ({listing(without_pictures)})"
    yield Fault(
        f"shows pictures, and this language model reads text alone. {remedy}",
        tuple(config["task"] for config in refused),
    )


Check = Callable[[Evaluation], Iterable[Fault]]

STAGES: tuple[tuple[Check, ...], ...] = (
    (check_model, check_pairs, check_limit, check_num_fewshot),
    (check_tasks,),
    (check_pictures,),
)
"""All checks, in the order in which they are run."""


# --- where results are written ---


def check_output_path(folder: str) -> None:
    """Make the folder of ``--output_path`` before a model is loaded; a `FigLangError` if it cannot
    be written to.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise FigLangError(
            f"figlang_tasks: --output_path {folder}: {error.strerror}. Name a folder that can be"
            " written to"
        ) from error
