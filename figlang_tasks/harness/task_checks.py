"""Checks of tasks: their options and data, and whether the model can answer what they ask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from figlang_tasks import models
from figlang_tasks.core import score_requests
from figlang_tasks.core.benchmark import task_faults
from figlang_tasks.core.blocks import (
    DEFAULT,
    SCORES,
    SETTINGS,
    answers_words,
    choose_blocks,
    with_blocks_as_default,
)
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.text import listing
from figlang_tasks.harness.faults import Evaluation, Fault
from figlang_tasks.harness.suggestions import (
    TaskConfig,
    benchmark_of,
    shows_pictures,
    tasks_in_words,
    tasks_without_pictures,
)


def check_tasks(evaluation: Evaluation) -> Iterator[Fault]:
    """Faults of tasks: that the model cannot answer them, or else those in options and data."""
    model_faults = [*score_faults(evaluation), *word_faults(evaluation)]
    yield from model_faults
    refused_tasks: set[str] = set()
    for fault in model_faults:
        refused_tasks.update(fault.tasks)

    for config in evaluation.tasks:
        if config["task"] in refused_tasks:
            continue  # Its data may take long to load, or to download.
        for error in task_faults(_with_options_of_run(config, evaluation)):
            yield Fault(str(error), (config["task"],), is_of_data=isinstance(error, DataError))


def score_faults(evaluation: Evaluation) -> Iterator[Fault]:
    """Faults of tasks that need scores, where the model is known to answer in words alone.

    Either a task asks this model for scores all the same, because its file asks every model. Or it
    asks only the classes that give scores (`_is_only_for_scores`), and so it has no request for
    this one; all tasks of this kind of a benchmark have one fault together, since each benchmark
    has other tasks to use instead.
    """
    model_name = evaluation.model_name
    # Those that have no request for this model, by the name of their benchmark.
    score_tasks: dict[str | None, list[TaskConfig]] = {}
    for config in evaluation.tasks:
        if _asks_for_scores(config, evaluation):
            if model_name is not None and models.only_words(model_name):
                yield Fault(
                    f"it asks {model_name} for scores ({score_requests.KEY}), and this class"
                    " answers in words: take that line out of the task file, or a class that gives"
                    " scores (figlang_clip, figlang_vlm)",
                    (config["task"],),
                )
        elif _is_only_for_scores(config):
            score_tasks.setdefault(benchmark_of(config), []).append(config)
    for configs in score_tasks.values():
        message = _no_scores_message(model_name or "this model", configs)
        yield Fault(message, tuple(config["task"] for config in configs))


def _no_scores_message(model: str, tasks: Sequence[TaskConfig]) -> str:
    """What to say of tasks of a benchmark that need scores, for a model that gives none."""
    remedies = "Use a model class that gives scores (figlang_clip, figlang_vlm; figlang_random for"
    remedies += " chance)"
    in_words = tasks_in_words(tasks)
    if in_words:
        remedies += f", or a task on the same data that asks for words ({listing(in_words)})"
    return (
        f"it compares scores, but {model} answers in words. {remedies}. If {model} is your own"
        " class and can give scores, declare answers_score_requests in it (docs/adding_a_vlm.md)"
    )


def word_faults(evaluation: Evaluation) -> Iterator[Fault]:
    """A fault for each task that needs words, if the model's class says that it gives only scores.

    The class says so by ``answers_words = False``.
    """
    if answers_words(evaluation.model_class):
        return
    model_name = evaluation.model_name or "this model"
    for config in evaluation.tasks:
        needs_scores = _asks_for_scores(config, evaluation) or _is_only_for_scores(config)
        if not needs_scores:
            message = score_requests.only_scores_message(model_name, config["task"])
            yield Fault(message, (config["task"],))


def check_pictures(evaluation: Evaluation) -> Iterator[Fault]:
    """A fault if tasks show pictures to a language model that reads text alone."""
    if not models.reads_text_alone(evaluation.model, evaluation.model_args):
        return
    refused: list[TaskConfig] = []
    for config in evaluation.tasks:
        config_of_run = _with_options_of_run(config, evaluation)
        if shows_pictures(config_of_run):
            refused.append(config_of_run)
    if not refused:
        return
    remedy = "Use a vision-language model"
    without_pictures = tasks_without_pictures(refused)
    if without_pictures:
        remedy += f", or a task without pictures ({listing(without_pictures)})"
    yield Fault(
        f"shows pictures, and this language model reads text alone. {remedy}",
        tuple(config["task"] for config in refused),
    )


# --- what stands in a task file ---


def _asks_for_scores(config: TaskConfig, evaluation: Evaluation) -> bool:
    """Whether a task asks the model for scores."""
    return choose_blocks(config, evaluation.model_name, evaluation.model_class).asks_for_scores


def _is_only_for_scores(config: TaskConfig) -> bool:
    """Whether a task file has settings for classes that give scores, and none for others."""
    settings = config.get(SETTINGS) or {}
    return SCORES in settings and DEFAULT not in settings


def _with_options_of_run(config: TaskConfig, evaluation: Evaluation) -> dict[str, object]:
    """A copy of a task file as it is for this run: with the model's blocks, limit and offset.

    Blocks for models that give scores take the place of ``default``. The keys ``model``, ``limit``
    and ``offset`` hold the options of the command.
    """
    choice = choose_blocks(config, evaluation.model_name, evaluation.model_class)
    return {
        **with_blocks_as_default(config, choice),
        "model": evaluation.model_name,
        "limit": evaluation.limit_of_each_task,
        "offset": evaluation.offset or 0,
    }
