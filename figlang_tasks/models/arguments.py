"""Checks of the arguments in ``--model_args``; each refusal says what is valid."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import did_you_mean

_KEY_VARIABLES = ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY")

HARNESS_ARGUMENTS = {"max_batch_size"}
"""Arguments that lmms-eval 0.7.3 hands to every model class, and that ours need not have.

Ours halve a batch that does not fit into memory.
"""


def unknown_message(
    name: str, unknown: Iterable[str], valid_names: Sequence[str], also_valid: str = ""
) -> str:
    """What to say of unknown arguments: each with the names that are like it, and all valid ones.

    Args:
        name: the name after ``--model``.
        unknown: the unknown arguments.
        valid_names: the arguments of the class.
        also_valid: ends the list of valid arguments.
    """
    arguments = [f"{argument}{did_you_mean(argument, valid_names)}" for argument in unknown]
    valid = ", ".join(valid_names) + also_valid
    return f"{name}: unknown argument {', '.join(arguments)}; valid: {valid}"


def check_arguments(
    name: str,
    model_class: type,
    unknown: Iterable[str],
    flags: Mapping[str, object] | None = None,
    also_valid: str = "",
) -> None:
    """Refuse unknown arguments, and flags that are neither True, False nor None.

    A flag such as ``trust_remote_code=no`` arrives as the text "no", which Python takes for true.

    Args:
        name: the name after ``--model``, for messages.
        model_class: the class, whose signature holds the valid arguments.
        unknown: names that the user gave and that are not in that signature; all are refused, but
            for lmms-eval's own ``max_batch_size``.
        flags: values of the arguments that switch something, by name.
        also_valid: ends the list of valid arguments, such as "; of the image processor: size".
    """
    refused = sorted(set(unknown) - HARNESS_ARGUMENTS)
    if refused:
        parameters = inspect.signature(model_class).parameters.values()
        names = [
            parameter.name
            for parameter in parameters
            if parameter.kind is not parameter.VAR_KEYWORD
        ]
        raise FigLangError(unknown_message(name, refused, names, also_valid))
    for flag, setting in (flags or {}).items():
        if not isinstance(setting, bool | None):
            raise FigLangError(f"{name}: {flag}={setting!r}; valid: True, False")


def whole_number(name: str, argument: str, value: object) -> int:
    """An argument as a whole number from 1; anything else is refused."""
    digits = str(value)
    if not digits.isdigit() or int(digits) < 1:
        raise FigLangError(f"{name}: {argument}={value!r}; valid: a whole number from 1")
    return int(digits)


def require_checkpoint(name: str, pretrained: object) -> None:
    """Refuse a checkpoint that is not given, or that is a path without a folder.

    The libraries would take such a path for an id of the hub, and say that the hub does not have
    it. Whether the hub has NAME or OWNER/NAME is not looked up here.

    Args:
        name: the name after ``--model``, for messages.
        pretrained: what ``--model_args`` says; None or "" if it is not given.
    """
    checkpoint = str(pretrained or "")
    if not checkpoint:
        raise FigLangError(
            f"{name}: the model is missing: --model_args pretrained=<hub id or folder>"
        )
    may_be_hub_id = checkpoint.count("/") <= 1 and not checkpoint.startswith((".", "/", "~"))
    if not may_be_hub_id and not Path(checkpoint).is_dir():
        raise FigLangError(
            f"{name}: there is no folder {checkpoint} (pretrained=); an id of the hub is NAME or"
            " OWNER/NAME"
        )


def require_checkpoint_of_others(name: str, pretrained: object) -> None:
    """Refuse a path that does not exist as the checkpoint of a class that is not ours.

    Such a class may take a file, an address (``s3://...``) or a path with ``~``, or have a default.

    Args:
        name: the name after ``--model``, for messages.
        pretrained: what ``--model_args`` says; None or "" if it is not given.
    """
    checkpoint = str(pretrained or "")
    exists = Path(checkpoint).expanduser().exists()
    if checkpoint and not exists and "://" not in checkpoint:
        require_checkpoint(name, checkpoint)


def require_probe(folder: object) -> None:
    """Refuse a probe that is not given, or whose folder does not exist.

    Args:
        folder: what ``--model_args`` says; None or "" if it is not given.
    """
    if not folder:
        raise FigLangError("figlang_probe: the probe is missing: --model_args probe=FOLDER")
    if not Path(str(folder)).expanduser().is_dir():
        raise FigLangError(
            f"figlang_probe: there is no folder {folder} (probe=); `figlang train` writes one"
        )


def require_api_key(arguments: Mapping[str, object]) -> None:
    """Refuse arguments of `figlang_openai` without a key for its server.

    The client of OpenAI would end with a traceback. It takes an administrator's key as well, and
    for Azure it has variables of its own.
    """
    is_azure = str(arguments.get("azure_openai", False)).lower() not in ("false", "0", "none")
    has_key = arguments.get("api_key") or any(os.environ.get(name) for name in _KEY_VARIABLES)
    if not is_azure and not has_key:
        raise FigLangError(
            "figlang_openai: no key for the server: set OPENAI_API_KEY (to any word for a server"
            " of your own that asks for none)"
        )
