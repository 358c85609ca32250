"""Prepares a task of ours for a model: its prompt, its settings of generation, its repeats."""

from __future__ import annotations

from collections.abc import Mapping

from loguru import logger

from figlang_tasks import models
from figlang_tasks.core import status
from figlang_tasks.core.blocks import OPTIONS, PICTURES_FIRST, SETTINGS, apply_blocks, choose_blocks
from figlang_tasks.harness.backend_settings import for_backend
from figlang_tasks.harness.faults import name_tasks
from figlang_tasks.harness.harness_types import HarnessTask

# --- prompts ---


def choose_prompts(lm: object, tasks: Mapping[str, HarnessTask]) -> None:
    """Give each task the settings and options that its file has for this model.

    Logs a warning for tasks whose prompt is another one because the model reads all pictures first.

    Args:
        lm: the model.
        tasks: ours, by name.
    """
    tasks_with_pictures_first: list[str] = []
    for name, task in tasks.items():
        if _apply_blocks_for_model(lm, name, task) == PICTURES_FIRST:
            tasks_with_pictures_first.append(name)
    if tasks_with_pictures_first and status.in_first_process():
        logger.warning(
            "figlang_tasks: the chat template of this model moves all pictures before the text, so"
            f" the prompt of {name_tasks(sorted(tasks_with_pictures_first))} is in words that need"
            f" no places ({PICTURES_FIRST} in the task file). The results say so in prompt_hash"
        )


def _apply_blocks_for_model(lm: object, name: str, task: HarnessTask) -> str:
    """Choose the blocks of settings and options that fit the model, and apply them to the task.

    Args:
        lm: the model.
        name: that of the task.
        task: the task; its configuration is changed.

    Returns:
        The name of the options block: ``default``, ``pictures_first``, ...
    """
    model_class: type | None = type(lm)
    if task.model_name is not None:  # None if the caller has given an object for the model
        model_class = models.scoring_class(task.model_name)
    config = {key: getattr(task.config, key) for key in ("generation_kwargs", SETTINGS, OPTIONS)}
    choice = choose_blocks(config, task.model_name, model_class)
    options = config[OPTIONS] or {}
    has_other_prompt = isinstance(options.get(PICTURES_FIRST), Mapping)  # a block of that name
    # The first choice tells whether scores are asked for. Scores are of one picture at a time, and
    # it does not matter then what the model reads first. The model is only asked where it matters:
    # it may have no chat template that could be read. If it reads pictures first, blocks are chosen
    # again.
    if has_other_prompt and not choice.asks_for_scores and _reads_pictures_first(lm, name):
        choice = choose_blocks(config, task.model_name, model_class, pictures_first=True)
    apply_blocks(task, choice)
    return choice.options


def _reads_pictures_first(lm: object, task_name: str) -> bool:
    """Whether a model reads all pictures of a task before the text.

    The model's attribute ``pictures_first`` is True, or holds the names of the tasks for which it
    does so.
    """
    pictures_first = getattr(lm, PICTURES_FIRST, False)
    if not pictures_first:
        return False
    return pictures_first is True or task_name in pictures_first


# --- requests ---


def prepare_requests(task: HarnessTask) -> None:
    """Complete a task's settings of generation, and let it keep all answers with ``--repeats``."""
    config = task.config
    if config.generation_kwargs is not None:
        config.generation_kwargs = for_backend(task.model_name, config.generation_kwargs)
    # A user's task with filters of its own has them choose among the answers.
    if config.repeats > 1 and config.filter_list is None:
        _keep_all_repeats(task)
        _warn_of_equal_repeats(task)


def _keep_all_repeats(task: HarnessTask) -> None:
    """Let a task get all answers to a row.

    A task without filters of its own has lmms-eval 0.7.3's filter ``take_first``, which hands the
    first of several answers to ``process_results`` and drops the others. An ensemble without
    filters hands over all of them.
    """
    from lmms_eval.api.filter import FilterEnsemble

    task._filters = [FilterEnsemble("none", [])]


def _warn_of_equal_repeats(task: HarnessTask) -> None:
    """Warn that all answers to a row will be equal, if the settings do not draw them.

    With several beams nearly all are, even where tokens are drawn.
    """
    settings = task.config.generation_kwargs or {}
    is_drawn = bool(settings.get("do_sample") and settings.get("temperature"))
    beams = int(settings.get("num_beams") or 1)
    if (is_drawn and beams == 1) or not status.in_first_process():
        return
    remedy = "do_sample=True,temperature=1"
    if beams > 1:
        reason = f"num_beams={beams} searches for one best answer"
        remedy += ",num_beams=1"
    else:
        reason = "nothing draws them at random"
    logger.warning(
        f"figlang_tasks: {task.config.task}: the {task.config.repeats} answers to a row will be"
        f" equal, since {reason}. Add --gen_kwargs {remedy}"
    )
