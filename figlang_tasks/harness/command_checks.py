"""Checks of the options of a command: the model's name, pairs, limit, examples, output folder."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path

from loguru import logger

from figlang_tasks import models
from figlang_tasks.core import status
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.redaction import redacted
from figlang_tasks.core.text import did_you_mean, listing
from figlang_tasks.harness.faults import Evaluation, Fault, name_tasks
from figlang_tasks.harness.suggestions import tasks_with_exemplars


def check_model(evaluation: Evaluation) -> Iterator[Fault]:
    """A fault if the name after ``--model`` is not that of a class."""
    from lmms_eval.models import MODEL_REGISTRY_V2

    name = evaluation.model
    if not isinstance(name, str):
        return
    try:
        MODEL_REGISTRY_V2.resolve(name)
    except ValueError:
        if name.startswith(("hf", "local-")):  # lm-eval's hf-multimodal, local-completions, ...
            hint = ": it is a class of the command lm_eval. Here figlang_vlm loads language models"
        else:
            hint = did_you_mean(name, MODEL_REGISTRY_V2.list_model_names())
        our_classes = ", ".join(manifest.model_id for manifest in models.manifests())
        yield Fault(f"no model class {name!r}{hint}. Ours are {our_classes}")


def check_pairs(evaluation: Evaluation) -> Iterator[Fault]:
    """Faults if ``--model_args`` or ``--gen_kwargs`` are not pairs of a name and a value."""
    from lmms_eval.utils import simple_parse_args_string

    text_by_option = {"model_args": evaluation.model_args, "gen_kwargs": evaluation.gen_kwargs}
    for option, text in text_by_option.items():
        if not isinstance(text, str):  # a mapping, or not given
            continue
        try:
            simple_parse_args_string(text)
        except ValueError:
            yield Fault(f"--{option} {redacted(text)}: must be NAME=VALUE,NAME=VALUE")


def check_limit(evaluation: Evaluation) -> Iterator[Fault]:
    """A fault if ``--limit`` is no number or share of rows.

    Logs a warning if it is a share (``0.1``) and there are several tasks: lmms-eval 0.7.3 does not
    take the share of each.
    """
    message = limit_fault(evaluation.limit)
    if message:
        yield Fault(message)
    elif evaluation.limit_is_shared and status.in_first_process():
        logger.warning(
            f"figlang_tasks: --limit {evaluation.limit:g} with several tasks: lmms-eval takes this"
            " share of the rows of one, and as many rows of each other. Give a number of rows, or"
            " evaluate each task alone"
        )


def limit_fault(limit: float | None) -> str:
    """What is wrong with a value of ``--limit``; "" if nothing is."""
    is_valid = limit is None or limit == -1 or 0 < limit < math.inf
    if is_valid:
        return ""
    return f"--limit {limit:g}: must be a number of rows, a share below 1, or -1 for all rows"


def check_num_fewshot(evaluation: Evaluation) -> Iterator[Fault]:
    """A fault if ``--num_fewshot`` is given and not 0.

    lmms-eval 0.7.3 makes examples of texts alone: they have no pictures, chat models are not shown
    them, and yet its table says that they were.
    """
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
    yield Fault(f"--num_fewshot is no option of {name_tasks(evaluation.task_names)}: {remedy}")


def check_output_path(folder: str) -> None:
    """Make the folder of ``--output_path``, and write to it, before a model is loaded.

    lmms-eval 0.7.3 makes it when it saves, and only logs a warning where that fails.

    Raises:
        FigLangError: it cannot be made, or not be written to.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise FigLangError(
            f"figlang_tasks: --output_path {folder}: {error.strerror}. Name a folder that can be"
            " written to"
        ) from error
