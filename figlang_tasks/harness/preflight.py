"""Checks before a model is loaded: names, options, data, and whether the model can give what a task asks for."""

from __future__ import annotations

import fnmatch
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from figlang_tasks import models
from figlang_tasks.core import hub, score_requests, status
from figlang_tasks.core.benchmark import parse_request, task_faults
from figlang_tasks.core.errors import DataError, FigLangError
from figlang_tasks.core.redaction import redacted
from figlang_tasks.core.task_files import ALL_TASKS
from figlang_tasks.core.text import did_you_mean
from figlang_tasks.harness.task_index import is_ours, leaf_configs

if TYPE_CHECKING:
    from lmms_eval.tasks import TaskManager


def preflight(
    manager: TaskManager,
    names: Sequence[str],
    model: object = None,
    limit: float | None = None,
    offset: int | None = None,
    num_fewshot: int | None = None,
    model_args: object = None,
    gen_kwargs: object = None,
) -> list[dict[str, Any]]:
    """The configurations of those named tasks that are ours, or include ours, with options and data checked.

    Arguments are as ``simple_evaluate`` takes them. The message of a `FigLangError` has all faults of all tasks.
    """
    index = manager.task_index
    if unknown := [f"no task {name!r}{did_you_mean(name, index)}" for name in names if name not in index]:
        raise FigLangError(f"figlang_tasks: {'; '.join(unknown)}. {ALL_TASKS}")
    ours = [config for config in leaf_configs(manager, names) if is_ours(config.get("process_docs"))]
    if not ours:
        return ours
    if isinstance(model, str):
        _require_model(model)
    for option, value in (("model_args", model_args), ("gen_kwargs", gen_kwargs)):
        _check_pairs(option, value)
    # Tasks are built for the name that the manager knows; a model may be an object.
    named = manager.model_name if isinstance(manager.model_name, str) else model
    name = named if isinstance(named, str) else None
    if wrong := limit_fault(limit):
        raise FigLangError(wrong)
    if num_fewshot:
        raise FigLangError(
            f"figlang_tasks: --num_fewshot is no option of {listed([config['task'] for config in ours])}: examples are "
            "the task option num_shots of V-FLUTE, FLUTE and the New Yorker tasks; vflute_5shot, vflute_10shot, "
            "flute_4shot and nycc_..._5shot set it. Leave --num_fewshot out, or take one of those"
        )
    if limit is not None and 0 < limit < 1 and len(ours) > 1:
        if status.in_first_process():
            logger.warning(
                f"figlang_tasks: --limit {limit:g} with several tasks: lmms-eval takes this share of the rows of one, "
                "and as many rows of each other. Give a number of rows, or evaluate each task alone"
            )
        limit = None
    faults: dict[str, list[str]] = {}  # what is wrong, and with which tasks
    kind: type[FigLangError] = FigLangError
    model_class = models.scoring_class(named)
    hub.look_again()
    asked = [score_requests.for_model(config, named, model_class) for config in ours]
    for config in asked:
        own = {**config, "model": name, "limit": limit, "offset": offset or 0}
        for fault in _other_kind_of_answers(own, model_class) or task_faults(own):
            faults.setdefault(str(fault), []).append(config["task"])
            kind = DataError if isinstance(fault, DataError) else kind
    if faults:
        raise kind("\n".join(f"figlang_tasks: {listed(tasks)}: {what}" for what, tasks in faults.items()))
    if models.reads_text_alone(model, model_args):
        if shown := [config["task"] for config in asked if _shows_pictures(config)]:
            raise FigLangError(
                f"figlang_tasks: {listed(shown)}: shows pictures, and this language model reads text alone. Tasks "
                "without pictures: flute*, nykms*_text, nycc_*_description*, columbus_text"
            )
    return ours


def require_matches(selection: str, manager: TaskManager) -> None:
    """Raise an error that names each pattern of ``--tasks`` that matches no task: the harness drops it in silence."""
    if os.path.isdir(selection):  # of task files
        return
    unmatched = []
    patterns = [pattern for pattern in selection.split(",") if pattern.strip()]  # a comma may end the list
    for pattern in patterns:
        if not fnmatch.filter(manager.task_index, pattern) and not os.path.isfile(pattern):
            hint = did_you_mean(pattern.strip(" *?"), manager.task_index)
            unmatched.append(f"no task matches {pattern!r}{hint}")
    if unmatched:
        raise FigLangError(f"figlang_tasks: {'; '.join(unmatched)}. {ALL_TASKS}")


def limit_fault(limit: float | None) -> str:
    if limit is None or limit == -1 or 0 < limit < math.inf:
        return ""
    return f"figlang_tasks: --limit {limit:g}: must be a number of rows, a share below 1, or -1 for all rows"


def _check_pairs(option: str, value: object) -> None:
    from lmms_eval.utils import simple_parse_args_string

    try:
        simple_parse_args_string(value if isinstance(value, str) else "")
    except ValueError:
        raise FigLangError(f"figlang_tasks: --{option} {redacted(value)}: must be NAME=VALUE,NAME=VALUE") from None


def _shows_pictures(config: Mapping[str, Any]) -> bool:
    """Whether the first document of a task has a picture in its prompt."""
    benchmark, request = parse_request(config["dataset_name"])
    kwargs = config.get("lmms_eval_specific_kwargs") or {}
    messages = config["doc_to_messages"](
        benchmark.documents(request, check_images=True)[0], kwargs.get("default", kwargs)
    )
    return any(part["type"] == "image" for message in messages for part in message["content"])


def check_output_path(folder: str) -> None:
    """Make the folder of ``--output_path`` before a model is loaded; a `FigLangError` if it cannot be written to."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise FigLangError(
            f"figlang_tasks: --output_path {folder}: {error.strerror}. Name a folder that can be written to"
        ) from error


def listed(tasks: Sequence[str]) -> str:
    if len(tasks) > 4:
        return f"{len(tasks)} tasks ({', '.join(tasks[:3])} ...)"
    return f"task{'s' if len(tasks) > 1 else ''} {', '.join(tasks)}"


def _require_model(name: str) -> None:
    from lmms_eval.models import MODEL_REGISTRY_V2

    try:
        MODEL_REGISTRY_V2.resolve(name)
    except ValueError:
        hint = did_you_mean(name, MODEL_REGISTRY_V2.list_model_names())
        if name.startswith(("hf", "local-")):
            hint = ": it is a class of the command lm_eval. Here figlang_vlm loads language models"
        ours = ", ".join(manifest.model_id for manifest in models.manifests())
        raise FigLangError(f"figlang_tasks: no model class {name!r}{hint}. Ours are {ours}") from None


def _other_kind_of_answers(config: Mapping[str, Any], model_class: type | None) -> list[Exception]:
    """What is wrong where a task asks for scores, or for words, what is known to give none."""
    model, is_asked = config["model"], score_requests.is_asked(config)
    if is_asked and model is not None and models.only_words(model):
        told = (
            f"it asks {model} for scores ({score_requests.KEY}), and this class answers in words: take that line out "
            "of the task file, or a class that gives scores (figlang_clip, figlang_vlm)"
        )
        return [FigLangError(told)]
    blocks = config.get("model_specific_generation_kwargs") or {}
    if not is_asked and "default" not in blocks and score_requests.SCORES in blocks and model != score_requests.REPLAY:
        told = (
            f"it compares scores, but {model or 'this model'} answers in words. Use a model class that gives scores "
            "(figlang_clip, figlang_vlm; figlang_random for chance), or the task in words (columbus, irfl_detect). A "
            "class of yours must declare answers_score_requests (docs/adding_a_vlm.md)"
        )
        return [FigLangError(told)]
    if not is_asked and not score_requests.answers_words(model_class):
        return [FigLangError(score_requests.only_ranks(model or "this model", config["task"]))]
    return []
