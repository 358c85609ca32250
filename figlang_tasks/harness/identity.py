"""What a model is known by: class and arguments, the files and commits behind them, the packages
that run it.

The answers of ``--use_cache`` are kept under this, and results files name the commits.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figlang_tasks.core import commits, redaction
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.packages import package_versions

PACKAGES = ("figlang-tasks", "lmms-eval", "transformers")
"""Make the prompt, the request and the answer: another version of one may give another answer."""

_FOR_SERVERS = {"api_key", "api_url", "base_url", "model_version"}
"""Arguments of classes that ask a server, whose names of models are not looked up at the hub."""

_CHECKPOINTS = {"peft", "pretrained"}
"""Arguments of our classes that name a checkpoint: a run ends if the hub cannot be asked for one of
them.
"""

_OPEN_CLIP = "hf-hub:"
"""What open_clip writes before an id of the hub."""

_MAY_BE_SHORT = re.compile(
    r"adapter|draft|encoder|lora|peft|pretrained|processor|tokenizer|tower|(?:^|[_.])model$"
)
"""Names of arguments whose value may be an id without owner, such as ``gpt2``. Other words are not
asked for.
"""

_SAMPLED_BLOCKS = 64
_BLOCK_BYTES = 4096


@dataclass(frozen=True)
class Checkpoint:
    """A repository of the hub that an argument names."""

    repository: str
    revision: str
    commit: str
    cached: str | None  # the commit in the local cache, before the model is loaded
    cache_dir: str | None = (
        None  # the folder of that cache, where an argument of the model names it
    )


def model_key(model: object, model_args: Any, commits: Mapping[str, str] | None = None) -> str:
    """The key of a model's answers, from which no secret can be read.

    Args:
        model: a name after ``--model``, or an object.
        model_args: as ``simple_evaluate`` takes them.
        commits: those of :func:`find_checkpoints`, as :func:`commits_of` returns them.
    """
    arguments = _parsed(model_args)
    name = model if isinstance(model, str) else repr(model)
    files = {argument: _files(str(value)) for argument, value in arguments.items()}
    content = [name, arguments, files, commits or {}, package_versions(PACKAGES)]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _parsed(model_args: Any) -> dict[str, Any]:
    """The arguments of a model by name."""
    from lmms_eval.utils import simple_parse_args_string

    return dict(
        (simple_parse_args_string(model_args) if isinstance(model_args, str) else model_args) or {}
    )


# --- files ---


def _files(argument: str) -> list[tuple[str, int, int, str]]:
    """Name, size, time and a sample of the content of the file that an argument names, or of the
    files in its folder.

    A checkpoint that was trained again has files of the same sizes, and an archive may give them
    the same times.
    """
    given = os.path.expanduser(argument)
    paths = sorted(Path(given).rglob("*")) if os.path.isdir(given) else [Path(given)]
    files = []
    for path in paths:
        if (
            not os.path.isfile(path) or ".db" in path.suffix
        ):  # --use_cache may name a folder in that of the model
            continue
        status = path.stat()
        files.append(
            (
                os.path.relpath(path, given),
                status.st_size,
                status.st_mtime_ns,
                _sample(path, status.st_size),
            )
        )
    return files


def _sample(path: Path, size: int) -> str:
    """A digest of a file of up to 256 KiB; of a larger one, of 64 blocks that are spread over it
    evenly.
    """
    step = max(_BLOCK_BYTES, (size - _BLOCK_BYTES) // (_SAMPLED_BLOCKS - 1))
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for start in range(0, size, step):
            file.seek(start)
            digest.update(file.read(_BLOCK_BYTES))
    return digest.hexdigest()


# --- commits ---


def commits_of(checkpoints: Mapping[str, Checkpoint]) -> dict[str, str]:
    """``ORG/NAME@COMMIT`` by the name of the argument."""
    return {
        name: f"{checkpoint.repository}@{checkpoint.commit}"
        for name, checkpoint in checkpoints.items()
    }


def find_checkpoints(
    model: object, model_args: Any, force_simple: bool = False
) -> dict[str, Checkpoint]:
    """The checkpoint of each argument of a model class that is an id of the hub, defaults of the
    class included.

    A name of the form ``OWNER/NAME`` is an id if the hub, or its cache on this machine, has it.

    Raises:
        FigLangError: a checkpoint is not in the cache, and the hub cannot be asked; or its revision
            does not exist.
    """
    if not isinstance(model, str):
        return {}
    from lmms_eval.models import get_model

    # Here: it needs the harness, which may be half imported above
    from figlang_tasks.models.base import ModelBase

    model_class = get_model(model, force_simple)
    arguments = {**_parameters(model_class), **_parsed(model_args)}
    if _FOR_SERVERS & arguments.keys():
        return {}

    cache_dir = arguments.get("cache_dir")
    checkpoints = {}
    for name, repository, revision in _possible_ids(arguments):
        # Names of checkpoints of other classes may be no ids of the hub, such as ViT-B/32.
        is_required = name in _CHECKPOINTS and issubclass(model_class, ModelBase)
        commit = commits.model_commit(repository, revision, is_required, cache_dir)
        if commit is not None:
            cached = commits.cached_commit(repository, revision, cache_dir)
            checkpoints[name] = Checkpoint(repository, revision, commit, cached, cache_dir)
    return checkpoints


def _parameters(model_class: type) -> dict[str, Any]:
    """The parameters of a model class and its bases, with their defaults."""
    defaults: dict[str, Any] = {}
    for base in reversed(model_class.__mro__):
        if "__init__" not in vars(base) or base is object:
            continue
        for name, parameter in inspect.signature(vars(base)["__init__"]).parameters.items():
            has_default = parameter.default is not inspect.Parameter.empty
            defaults[name] = parameter.default if has_default else None
    return defaults


def _possible_ids(arguments: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str, str]]:
    """Name, value and revision of each argument that may be an id; of one that holds others, of
    these.
    """
    for name, value in arguments.items():
        full_name = f"{above}{name}"
        if isinstance(value, str) and value.startswith(("{", "[")):
            with suppress(ValueError, RecursionError):
                value = json.loads(value)
        if isinstance(value, list | tuple):
            value = {str(place): entry for place, entry in enumerate(value)}
        if isinstance(value, Mapping):
            yield from _possible_ids(value, f"{full_name}.")
        elif isinstance(value, str) and _may_be_id(full_name, value.removeprefix(_OPEN_CLIP)):
            yield full_name, value.removeprefix(_OPEN_CLIP), _revision(name, arguments)


def _may_be_id(name: str, value: str) -> bool:
    """Whether the value of an argument has the form of an id, and is neither a secret nor a file or
    folder.
    """
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    if redaction.is_secret_name(name) or os.path.exists(os.path.expanduser(value)):
        return False
    try:
        validate_repo_id(value)
    except HFValidationError:
        return False
    return "/" in value or bool(_MAY_BE_SHORT.search(name))


def _revision(name: str, arguments: Mapping[str, Any]) -> str:
    """The revision that is asked for beside an id: ``tokenizer_revision``; of the model
    ``revision``.
    """
    key = "revision" if name in ("model", "pretrained") else f"{name}_revision"
    return str(arguments.get(key) or "main")


def in_agreement(find: Callable[[], dict[str, Checkpoint]]) -> dict[str, Checkpoint]:
    """What the first of several processes finds, in all of them: the hub may answer each of them
    differently.
    """
    from torch import distributed

    if not (distributed.is_available() and distributed.is_initialized()):
        return find()
    shared: list[Any] = [{}, ""]  # the checkpoints, and the message of an error
    failure: Exception | None = None
    if distributed.get_rank() == 0:
        try:
            shared = [find(), ""]
        except Exception as error:  # the others must not wait for ever
            failure = error
            shared = [{}, str(error) or type(error).__name__]
    distributed.broadcast_object_list(shared, src=0)
    if failure is not None:
        raise failure
    if shared[1]:
        raise FigLangError(shared[1])
    return dict(shared[0])


def require_loaded(lm: Any, checkpoints: Mapping[str, Checkpoint]) -> None:
    """Raise an error if a model was loaded from another commit than was found before.

    The hub may have got a new commit meanwhile; or it did not answer again, so that the commit in
    the cache was loaded. Of other classes than ours it is not known whether they use the cache at
    all.
    """
    # Here: it needs the harness, which may be half imported above
    from figlang_tasks.models.base import ModelBase

    for checkpoint in checkpoints.values():
        cached = commits.cached_commit(
            checkpoint.repository, checkpoint.revision, checkpoint.cache_dir
        )
        if cached in (None, checkpoint.commit):
            continue
        if isinstance(lm, ModelBase) or cached != checkpoint.cached:
            raise FigLangError(
                f"figlang_tasks: {checkpoint.repository} was loaded at commit {cached}, but just"
                f" before, the hub had named {checkpoint.commit}. Run the same command again, or"
                " choose one: revision=COMMIT in --model_args"
            )
