"""What a model is known by: class, arguments, files and commits behind them, and packages.

The answers of ``--use_cache`` are kept under this, and results files name the commits. The cache of
lmms-eval 0.7.3 knows a model by its class and arguments alone: it would serve the answers of a
checkpoint that has been trained again, or of an older commit.
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
from typing import Any, NamedTuple, TypeAlias

from figlang_tasks.core import commits, redaction
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.packages import package_versions

PACKAGES = ("figlang-tasks", "lmms-eval", "transformers")
"""Make the prompt, the request and the answer: another version of one may give another answer."""

_FOR_SERVERS = {"api_key", "api_url", "base_url", "model_version"}
"""Arguments of classes that ask a server, whose names of models are not looked up at the hub."""

_CHECKPOINTS = {"peft", "pretrained"}
"""Arguments of our classes that name a checkpoint. If the hub has no answer for one, a run ends."""

_OPEN_CLIP = "hf-hub:"
"""What open_clip writes before an id of the hub."""

_MAY_BE_SHORT = re.compile(
    r"adapter|draft|encoder|lora|peft|pretrained|processor|tokenizer|tower|(?:^|[_.])model$"
)
"""Names of arguments whose value may be an id without owner, such as ``gpt2``. The hub is asked for
words of no other argument.
"""

_SAMPLED_BLOCKS = 64
_BLOCK_BYTES = 4096
"""Of a large file so many blocks of this size are read."""


ModelArguments: TypeAlias = dict[str, Any]
"""The arguments of a model class by name, whatever their types."""


@dataclass(frozen=True)
class Checkpoint:
    """A repository of the hub that an argument of the model names.

    Attributes:
        repository: its id, ``OWNER/NAME`` or ``NAME``.
        revision: a branch, tag or commit, as the arguments say.
        commit: the one that the hub names for that revision.
        cached: the one in the local cache before the model is loaded; None if it has none.
        cache_dir: the folder of that cache, where an argument of the model names it.
    """

    repository: str
    revision: str
    commit: str
    cached: str | None
    cache_dir: str | None = None


def model_key(model: object, model_args: object, commits: Mapping[str, str] | None = None) -> str:
    """The key of a model's answers: a digest from which no secret can be read.

    Args:
        model: a name after ``--model``, or an object.
        model_args: as ``simple_evaluate`` takes them.
        commits: those behind the arguments, as `commits_of` returns them.
    """
    arguments = _parsed(model_args)
    name = model if isinstance(model, str) else repr(model)
    # Any argument may name a file or a folder; those that do not have an empty list.
    files = {argument: _fingerprints(str(value)) for argument, value in arguments.items()}
    content = [name, arguments, files, commits or {}, package_versions(PACKAGES)]
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _parsed(model_args: Any) -> ModelArguments:
    """The arguments of a model by name; empty if there are none."""
    from lmms_eval.utils import simple_parse_args_string

    if isinstance(model_args, str):
        model_args = simple_parse_args_string(model_args)
    return dict(model_args or {})


# --- files ---


class _FileFingerprint(NamedTuple):
    """What tells a file from another version of it; a list of four in the digest of a model.

    Attributes:
        name: below the folder that the argument names.
        size: in bytes.
        modified: the time of the last change, in nanoseconds.
        sample: a digest of its content, or of a sample of it.
    """

    name: str
    size: int
    modified: int
    sample: str


def _fingerprints(argument: str) -> list[_FileFingerprint]:
    """The file that an argument names, or the files below its folder; empty if it names none.

    A checkpoint that was trained again has files of the same sizes, and an archive may give them
    the same times: hence the sample of the content.
    """
    named_path = os.path.expanduser(argument)
    paths = [Path(named_path)]
    if os.path.isdir(named_path):
        paths = sorted(Path(named_path).rglob("*"))
    fingerprints: list[_FileFingerprint] = []
    for path in paths:
        # --use_cache may name a folder in that of the model: its databases are left out, with
        # SQLite's journals of them (.db-journal).
        is_database = ".db" in path.suffix
        if is_database or not os.path.isfile(path):
            continue
        status = path.stat()
        fingerprint = _FileFingerprint(
            name=os.path.relpath(path, named_path),
            size=status.st_size,
            modified=status.st_mtime_ns,
            sample=_sample_digest(path, status.st_size),
        )
        fingerprints.append(fingerprint)
    return fingerprints


def _sample_digest(path: Path, size: int) -> str:
    """A digest of a file of up to 256 KiB; of a larger one that of 64 blocks at equal distances.

    Args:
        path: the file.
        size: its size in bytes.
    """
    # From the start of a block to that of the next. In a small file the blocks adjoin; in a large
    # one they are spread so that the last block ends near the end of the file.
    step = max(_BLOCK_BYTES, (size - _BLOCK_BYTES) // (_SAMPLED_BLOCKS - 1))
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for start in range(0, size, step):
            file.seek(start)
            digest.update(file.read(_BLOCK_BYTES))
    return digest.hexdigest()


# --- commits ---


def commits_of(checkpoints: Mapping[str, Checkpoint]) -> dict[str, str]:
    """``OWNER/NAME@COMMIT`` by the name of the argument."""
    commits: dict[str, str] = {}
    for argument, checkpoint in checkpoints.items():
        commits[argument] = f"{checkpoint.repository}@{checkpoint.commit}"
    return commits


def find_checkpoints(
    model: object, model_args: object, force_simple: bool = False
) -> dict[str, Checkpoint]:
    """The checkpoints that a model's arguments name, by argument; {} for an object or a server.

    An object has been loaded already, and the names of models at a server are the server's own.
    Defaults of the class count as arguments: the ``qwen2_vl`` of lmms-eval 0.7.3 loads a checkpoint
    where none is named. A name of the form ``OWNER/NAME`` is an id if the hub, or its cache on this
    machine, has it.

    Args:
        model: a name after ``--model``, or an object.
        model_args: as ``simple_evaluate`` takes them.
        force_simple: of a name that lmms-eval has both a chat class and a simple class for,
            whether it takes the simple one.

    Raises:
        FigLangError: a checkpoint is not in the cache, and the hub cannot be asked; or its revision
            does not exist.
    """
    if not isinstance(model, str):
        return {}
    # Imported here, because the harness may be half imported while this module is.
    from lmms_eval.models import get_model

    from figlang_tasks.models.base import ModelBase

    model_class = get_model(model, force_simple)
    arguments = {**_parameters(model_class), **_parsed(model_args)}
    if _FOR_SERVERS & arguments.keys():  # its names of models are the server's
        return {}

    cache_dir = arguments.get("cache_dir")
    checkpoints: dict[str, Checkpoint] = {}
    for argument, repository, revision in _possible_ids(arguments):
        # Only our own classes are sure to name ids of the hub. Of other classes a name that is no
        # id, such as ViT-B/32, is skipped.
        is_required = argument in _CHECKPOINTS and issubclass(model_class, ModelBase)
        commit = commits.model_commit(repository, revision, is_required, cache_dir)
        if commit is None:
            continue
        # Two commits of one revision: `commit` is the hub's now, `cached` the one in the cache.
        cached = commits.cached_commit(repository, revision, cache_dir)
        checkpoints[argument] = Checkpoint(repository, revision, commit, cached, cache_dir)
    return checkpoints


def _parameters(model_class: type) -> ModelArguments:
    """The parameters of a model class and its bases, with their defaults; None for no default."""
    defaults: ModelArguments = {}
    for base in reversed(model_class.__mro__):  # a class comes after its bases, and wins
        if base is object or "__init__" not in vars(base):
            continue
        for name, parameter in inspect.signature(vars(base)["__init__"]).parameters.items():
            has_default = parameter.default is not inspect.Parameter.empty
            defaults[name] = parameter.default if has_default else None
    return defaults


class _PossibleId(NamedTuple):
    """An argument whose value may be an id of the hub.

    Attributes:
        argument: its name; within another argument e.g. ``draft.model``, in a list ``adapters.0``.
        repository: its value.
        revision: the one that stands beside it.
    """

    argument: str
    repository: str
    revision: str


def _possible_ids(arguments: Mapping[str, object], prefix: str = "") -> Iterator[_PossibleId]:
    """The arguments that may be ids of the hub, also those within mappings, lists and JSON.

    Args:
        arguments: by name.
        prefix: of the names: ``draft.`` for the arguments within ``draft``.
    """
    for name, value in arguments.items():
        full_name = f"{prefix}{name}"
        if isinstance(value, str) and value.startswith(("{", "[")):
            with suppress(ValueError, RecursionError):  # then it is a text
                value = json.loads(value)
        if isinstance(value, list | tuple):
            value = {str(index): entry for index, entry in enumerate(value)}
        if isinstance(value, Mapping):
            yield from _possible_ids(value, prefix=f"{full_name}.")
        elif isinstance(value, str):
            repository = value.removeprefix(_OPEN_CLIP)  # "hf-hub:OWNER/NAME"
            if _may_be_id(full_name, repository):
                yield _PossibleId(full_name, repository, _revision(name, arguments))


def _may_be_id(name: str, value: str) -> bool:
    """Whether the value of an argument may be an id of the hub: ``OWNER/NAME``, or ``NAME``.

    It is none if it is a secret, or a file or folder here. A ``NAME`` without owner counts only for
    arguments that name models (`_MAY_BE_SHORT`).
    """
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    if redaction.is_secret_name(name) or os.path.exists(os.path.expanduser(value)):
        return False
    try:
        validate_repo_id(value)
    except HFValidationError:
        return False
    return "/" in value or bool(_MAY_BE_SHORT.search(name))


def _revision(name: str, arguments: Mapping[str, object]) -> str:
    """The revision of the id in an argument, ``main`` by default.

    It stands beside it: ``revision`` for the model, ``tokenizer_revision`` for ``tokenizer``.
    """
    key = "revision" if name in ("model", "pretrained") else f"{name}_revision"
    return str(arguments.get(key) or "main")


# --- several processes, and a hub that changes ---


def in_agreement(find: Callable[[], dict[str, Checkpoint]]) -> dict[str, Checkpoint]:
    """The checkpoints that the first of several processes finds, returned in all of them.

    The hub may answer each process differently. All processes must call this.

    Args:
        find: finds the checkpoints; called in the first process alone.

    Raises:
        FigLangError: the first process has met an error; in that process the error itself.
    """
    from torch import distributed

    if not (distributed.is_available() and distributed.is_initialized()):
        return find()
    checkpoints: dict[str, Checkpoint] = {}
    failure: Exception | None = None
    if distributed.get_rank() == 0:
        try:
            checkpoints = find()
        except Exception as error:  # The others wait for the broadcast, whatever it is.
            failure = error
    message = ""
    if failure is not None:
        message = str(failure) or type(failure).__name__
    shared: list[Any] = [checkpoints, message]
    distributed.broadcast_object_list(shared, src=0)  # writes into the list of the others
    if failure is not None:
        raise failure
    checkpoints, message = shared  # those of the first process
    if message:
        raise FigLangError(message)
    return dict(checkpoints)


def require_loaded(lm: object, checkpoints: Mapping[str, Checkpoint]) -> None:
    """Raise an error if a checkpoint was loaded at another commit than the hub named before.

    The hub may have got a new commit meanwhile. Or it did not answer again, so that the commit in
    the cache was loaded. Which commit that was, the cache tells: for our classes the one in it now.
    Classes of others may not use this cache; what it holds counts only if loading has changed it.

    Args:
        lm: the loaded model.
        checkpoints: those that were found before it was loaded.

    Raises:
        FigLangError: a checkpoint was loaded at another commit.
    """
    # Imported here, because the harness may be half imported while this module is.
    from figlang_tasks.models.base import ModelBase

    for checkpoint in checkpoints.values():
        cached = commits.cached_commit(
            checkpoint.repository, checkpoint.revision, checkpoint.cache_dir
        )
        if cached is None or cached == checkpoint.commit:
            continue
        was_changed_by_loading = cached != checkpoint.cached
        if isinstance(lm, ModelBase) or was_changed_by_loading:
            raise FigLangError(
                f"figlang_tasks: {checkpoint.repository} was loaded at commit {cached}, but just"
                f" before, the hub had named {checkpoint.commit}. Run the same command again, or"
                " choose one: revision=COMMIT in --model_args"
            )
