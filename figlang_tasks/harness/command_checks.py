"""Checks of the options of a command: the model's name, pairs, limit, examples, output folder."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Collection, Iterator
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
    if isinstance(name, str):
        message = model_fault(name, MODEL_REGISTRY_V2.list_model_names())
        if message:
            yield Fault(message)


def model_fault(name: str, known_names: Collection[str]) -> str:
    """What is wrong with a name after ``--model``; "" if a class has it.

    Args:
        name: the name.
        known_names: those of all classes.
    """
    if name in known_names:
        return ""
    if name.startswith(("hf", "local-")):  # lm-eval's hf-multimodal, local-completions, ...
        hint = ": it is a class of the command lm_eval. Here figlang_vlm loads language models"
    else:
        hint = did_you_mean(name, known_names)
    our_classes = ", ".join(model_class.name for model_class in models.OUR_CLASSES)
    return f"no model class {name!r}{hint}. Ours are {our_classes}"


def check_pairs(evaluation: Evaluation) -> Iterator[Fault]:
    """Faults if ``--model_args`` or ``--gen_kwargs`` are not pairs of a name and a value."""
    text_by_option = {"model_args": evaluation.model_args, "gen_kwargs": evaluation.gen_kwargs}
    for option, text in text_by_option.items():
        if not isinstance(text, str):  # a mapping, or not given
            continue
        try:
            split_pairs(text)
        except ValueError:
            yield Fault(f"--{option} {redacted(text)}: must be NAME=VALUE,NAME=VALUE")


def split_pairs(text: str) -> dict[str, str]:
    """The values in ``NAME=VALUE,NAME=VALUE`` by name, as lmms-eval 0.7.3 splits such a text.

    A comma in quotes, brackets or braces separates nothing.

    Raises:
        ValueError: a part has no ``=``.
    """
    parts = [""]
    quote = ""  # the mark of the quotation that is open
    depth = 0  # of brackets and braces
    previous = ""
    for character in text:
        if character in "\"'" and previous != "\\":
            if not quote:
                quote = character
            elif quote == character:
                quote = ""
        elif not quote and character in "{[":
            depth += 1
        elif not quote and character in "}]":
            depth -= 1
        if character == "," and not quote and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
        previous = character

    values: dict[str, str] = {}
    for part in parts:
        if part.strip():
            name, value = part.strip().split("=", 1)
            values[name] = value
    return values


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


def offset_fault(offset: int | None) -> str:
    """What is wrong with a value of ``--offset``, whatever the data; "" if nothing is."""
    if offset is None or offset >= 0:
        return ""
    return f"--offset {offset}: must be the number of rows to skip at the start"


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
    """Check that the folder of ``--output_path`` can be made and written to; nothing is made.

    lmms-eval 0.7.3 makes it when it saves, and only logs a warning where that fails.

    Raises:
        FigLangError: it cannot be made, or not be written to.
    """
    message = output_path_fault(folder)
    if message:
        raise FigLangError(f"figlang_tasks: {message}")


def output_path_fault(folder: str) -> str:
    """What is wrong with the folder of ``--output_path``; "" if nothing is."""
    try:
        existing_folder = Path(folder).absolute()
        while not existing_folder.exists():
            existing_folder = existing_folder.parent
        tempfile.TemporaryFile(dir=existing_folder).close()
    except OSError as error:
        return f"--output_path {folder}: {error.strerror}. Name a folder that can be written to"
    return ""


def output_text_fault(folder: str) -> str:
    """What the harness would misread in the text after ``--output_path``; "" if nothing.

    lmms-eval 0.7.3 reads it from ``...,output_path=FOLDER,token=TOKEN``, where it makes numbers of
    what looks like one.
    """
    if not _ends_at_comma(folder):
        return (
            f"--output_path {folder}: lmms-eval cannot read a path with a comma, a quotation mark"
            " or a single bracket. Name another folder"
        )
    if _is_no_text(folder):
        return f"--output_path {folder}: lmms-eval takes it for no text. Write ./{folder}"
    return ""


def _ends_at_comma(value: str) -> bool:
    """Whether the value of a pair ends where it should, if another pair follows.

    With an open quotation mark, it would go on with the next pair, which may be a token.
    """
    try:
        return split_pairs(f"name={value},next=1") == {"name": value.rstrip(), "next": "1"}
    except ValueError:
        return False


def _is_no_text(value: str) -> bool:
    """Whether lmms-eval 0.7.3 makes a number, or true or false, of a value behind a name."""
    try:
        float(value)
    except ValueError:
        return value.lower() in ("true", "false")
    return True
