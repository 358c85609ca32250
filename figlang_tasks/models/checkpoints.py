"""Loading checkpoints: errors become one message with a remedy, and no weight may be missing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TypedDict

import torch
from huggingface_hub.errors import HFValidationError

from figlang_tasks.core import hub
from figlang_tasks.core.errors import FigLangError


class LoadingInfo(TypedDict):
    """What ``from_pretrained(..., output_loading_info=True)`` says of the weights."""

    missing_keys: Sequence[str]


@contextmanager
def loading(name: str, part: str, checkpoint: str) -> Iterator[None]:
    """Turn any exception raised inside into one `FigLangError` with a remedy.

    Inside, a checkpoint is loaded, and its own code may run. The hub is asked for the checkpoint
    before. If it refuses, or cannot be reached, nothing is downloaded inside: only the cache can
    have the checkpoint then.

    Args:
        name: the name after ``--model``, for the message.
        part: what is loaded, such as "the model".
        checkpoint: hub id or folder.
    """
    hub_error = None  # also where the hub gives the checkpoint
    if not os.path.isdir(checkpoint):
        hub_error = hub.refusal(checkpoint, "model")
    try:
        with hub.downloading_nothing() if hub_error else nullcontext():
            yield
    except FigLangError:
        raise
    except Exception as raised:
        error = raised
        if hub_error is not None and isinstance(raised, OSError):
            # With downloads off, the library says only that a file is not in the cache; the hub has
            # said why.
            error = hub_error
        cause = " ".join(str(error).split())
        remedy = _remedy(error, cause, is_from_hub=error is hub_error)
        raise FigLangError(
            f"{name}: cannot load {part} {checkpoint!r}. {remedy}. ({type(error).__name__}:"
            f" {cause[:600]})"
        ) from raised


def _remedy(error: Exception, cause: str, is_from_hub: bool) -> str:
    """What a user can do about an error while a checkpoint is loaded, without a full stop.

    Several rules may fit; the first one decides.

    Args:
        error: why the checkpoint cannot be loaded.
        cause: the error's message on one line.
        is_from_hub: whether the error is the hub's own, from before the checkpoint was loaded.
    """
    if "trust_remote_code" in cause:
        return "If you trust that code, add trust_remote_code=True"
    if isinstance(error, ImportError):
        return "Install the package that the message names"
    # For a name that is no id of the hub, some versions of transformers raise an OSError, others
    # let the hub's own error through.
    if is_from_hub or isinstance(error, OSError | HFValidationError):
        return (
            "Check the name and the revision. For a gated model accept the licence on its page"
            " and set HF_TOKEN. Offline? Connect, or give a local folder"
        )
    if isinstance(error, torch.OutOfMemoryError):
        return (
            "It does not fit into memory: device_map=auto, dtype=bfloat16 or load_in_4bit=True"
            " need less"
        )
    if "CUDA" in cause or "NVIDIA" in cause:
        return "If this machine has a GPU, see `figlang doctor libraries`; else leave device out"
    return "The error comes from the library: try a newer transformers, or read the model's page"


def commit_of(pretrained: str, revision: str | None) -> str | None:
    """The hub's commit of a checkpoint that has been loaded; None for a folder.

    The cache of the hub keeps files under the commit: ``.../snapshots/COMMIT/config.json``.
    """
    from transformers.utils.hub import cached_file, extract_commit_hash

    config_path = cached_file(pretrained, "config.json", revision=revision)
    # `commit_hash`: a commit that is known already; the function would only hand it back.
    return extract_commit_hash(config_path, commit_hash=None)


def require_weights(name: str, pretrained: str, model: object, loading_info: LoadingInfo) -> None:
    """Refuse a checkpoint that lacks weights of its model.

    ``from_pretrained`` (transformers 5.24) fills them with random numbers, and only warns.
    """
    missing = sorted(loading_info["missing_keys"])
    if missing:
        raise FigLangError(
            f"{name}: the checkpoint {pretrained!r} lacks {len(missing)} weights of"
            f" {type(model).__name__}, such as {missing[0]}. With random numbers in their place the"
            " results would mean nothing. Download it again, or take the class and the version of"
            " transformers that it was made for"
        )
