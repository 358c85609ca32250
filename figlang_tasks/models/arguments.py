"""Checks of the arguments in ``--model_args``; each refusal says what is valid."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from pathlib import Path

from figlang_tasks.core.errors import FigLangError


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
    # lmms-eval 0.7.3 hands --max_batch_size to every model class. Ours do not need it: they halve
    # a batch that does not fit into memory.
    refused = sorted(set(unknown) - {"max_batch_size"})
    if refused:
        parameters = inspect.signature(model_class).parameters.values()
        names = [
            parameter.name
            for parameter in parameters
            if parameter.kind is not parameter.VAR_KEYWORD
        ]
        valid = ", ".join(names) + also_valid
        raise FigLangError(f"{name}: unknown argument {', '.join(refused)}; valid: {valid}")
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
