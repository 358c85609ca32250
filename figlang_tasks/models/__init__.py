"""Model classes for the harness, and the list of them that the entry point hands over."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figlang_tasks.core import hub
from figlang_tasks.core.errors import FigLangError

if TYPE_CHECKING:
    from lmms_eval.models.registry_v2 import ModelManifest


def manifests() -> list[ModelManifest]:
    """The model classes that this package adds to ``--model``; none is imported."""
    from lmms_eval.models.registry_v2 import ModelManifest

    return [
        ModelManifest("figlang_vlm", chat_class_path="figlang_tasks.models.vlm.FigLangVLM"),
        ModelManifest("figlang_blind", chat_class_path="figlang_tasks.models.vlm.FigLangBlind"),
        ModelManifest(
            "figlang_clip", simple_class_path="figlang_tasks.models.dual_encoder.FigLangCLIP"
        ),
        ModelManifest("figlang_probe", simple_class_path="figlang_tasks.models.probe.FigLangProbe"),
        ModelManifest(
            "figlang_openai", chat_class_path="figlang_tasks.models.openai_scores.FigLangOpenAI"
        ),
        ModelManifest("figlang_replay", simple_class_path="figlang_tasks.models.replay.Replay"),
        ModelManifest("figlang_random", simple_class_path="figlang_tasks.models.baselines.Random"),
        ModelManifest(
            "figlang_majority", simple_class_path="figlang_tasks.models.baselines.Majority"
        ),
        ModelManifest("llava_hf", chat_class_path="figlang_tasks.models.vlm.FigLangLlava"),
        ModelManifest("llava", chat_class_path="figlang_tasks.models.vlm.FigLangLlava"),
    ]


def check_arguments(
    name: str,
    model: type,
    unknown: Iterable[str],
    flags: Mapping[str, Any] | None = None,
    further: str = "",
) -> None:
    """Refuse unknown arguments, and `flags` that are neither True nor False nor None: "no" is a
    text, and true.

    `further` says which arguments are valid beside those in the signature of the model class.
    """
    # The command line's --max_batch_size arrives, too; memory sets the limit itself.
    if wrong := sorted({*unknown} - {"max_batch_size"}):
        parameters = inspect.signature(model).parameters.values()
        valid = ", ".join(each.name for each in parameters if each.kind is not each.VAR_KEYWORD)
        raise FigLangError(f"{name}: unknown argument {', '.join(wrong)}; valid: {valid}{further}")
    for flag, value in (flags or {}).items():
        if not isinstance(value, bool | None):
            raise FigLangError(f"{name}: {flag}={value!r}; valid: True, False")


def whole_number(name: str, argument: str, value: object) -> int:
    """The value of an argument that must be a whole number from 1."""
    if not str(value).isdigit() or int(str(value)) < 1:
        raise FigLangError(f"{name}: {argument}={value!r}; valid: a whole number from 1")
    return int(str(value))


def require_checkpoint(name: str, pretrained: object) -> None:
    """Tell of a checkpoint that is not given, or a folder that is not there, which the libraries
    take for an id.
    """
    pretrained = str(pretrained or "")
    if not pretrained:
        raise FigLangError(
            f"{name}: the model is missing: --model_args pretrained=<hub id or folder>"
        )
    is_id = pretrained.count("/") <= 1 and not pretrained.startswith((".", "/", "~"))
    if not is_id and not Path(pretrained).is_dir():
        raise FigLangError(
            f"{name}: there is no folder {pretrained} (pretrained=); an id of the hub is NAME or"
            " OWNER/NAME"
        )


@contextmanager
def loading(name: str, what: str, source: str) -> Iterator[None]:
    """Raise whatever goes wrong while a checkpoint is loaded, or its own code runs, as one message
    with a remedy.
    """
    import torch
    from huggingface_hub.errors import HFValidationError

    refused = None if os.path.isdir(source) else hub.refusal(source, "model")
    try:
        with hub.downloading_nothing() if refused else nullcontext():
            yield
    except FigLangError:
        raise
    except Exception as raised:
        # OSError: a file is not here
        error = refused if refused and isinstance(raised, OSError) else raised
        cause = " ".join(str(error).split())
        if "trust_remote_code" in cause:
            advice = "If you trust that code, add trust_remote_code=True"
        elif isinstance(error, ImportError):
            advice = "Install the package that the message names"
        elif error is refused or isinstance(
            error, OSError | HFValidationError
        ):  # by version of transformers
            advice = (
                "Check the name and the revision. For a gated model accept the licence on its page"
                " and set HF_TOKEN. Offline? Connect, or give a local folder"
            )
        elif isinstance(error, torch.OutOfMemoryError):
            advice = (
                "It does not fit into memory: device_map=auto, dtype=bfloat16 or load_in_4bit=True"
                " need less"
            )
        elif "CUDA" in cause or "NVIDIA" in cause:
            advice = (
                "If this machine has a GPU, see `figlang doctor libraries`; else leave device out"
            )
        else:
            advice = (
                "The error comes from the library: try a newer transformers, or read the model's"
                " page"
            )
        told = (
            f"{name}: cannot load {what} {source!r}. {advice}. ({type(error).__name__}:"
            f" {cause[:600]})"
        )
        raise FigLangError(told) from raised


def commit_of(pretrained: str, revision: str | None) -> str | None:
    """The hub's commit of a checkpoint that has been loaded; None for a folder."""
    from transformers.utils.hub import cached_file, extract_commit_hash

    return extract_commit_hash(cached_file(pretrained, "config.json", revision=revision), None)


def require_weights(name: str, pretrained: str, model: object, loaded: Mapping[str, Any]) -> None:
    """Refuse a checkpoint that lacks weights, by the loading info of ``from_pretrained``, which
    makes them up.
    """
    if lost := sorted(loaded["missing_keys"]):
        raise FigLangError(
            f"{name}: the checkpoint {pretrained!r} lacks {len(lost)} weights of"
            f" {type(model).__name__}, such as {lost[0]}. With random numbers in their place the"
            " results would mean nothing. Download it again, or take the class and the version of"
            " transformers that it was made for"
        )


def only_words(name: str) -> bool:
    """Whether the class behind ``--model`` is known to give no scores: the harness's own, and ours
    in place of one.
    """
    from lmms_eval.models import MODEL_REGISTRY_V2

    try:
        path = MODEL_REGISTRY_V2.resolve(name).class_path
    except ValueError:  # a user's name for an object of a class of theirs
        return False
    return path.startswith(("lmms_eval.", "figlang_tasks.models.vlm.FigLangLlava"))


@contextmanager
def naming(kind: type[Exception], where: str) -> Iterator[None]:
    """Raise what goes wrong inside as an error of `kind` that begins with `where`."""
    try:
        yield
    except kind:
        raise
    except Exception as error:
        raise kind(f"{where}: {type(error).__name__}: {error}") from error


def each_image_alone(
    messages: Sequence[Mapping[str, Any]], kind: str
) -> list[list[dict[str, Any]]]:
    """Return, for each part of type `kind`, the conversation without the others of that type."""
    images = [part for message in messages for part in message["content"] if part["type"] == kind]
    return [
        [
            {
                **message,
                "content": [
                    part for part in message["content"] if part["type"] != kind or part is image
                ],
            }
            for message in messages
        ]
        for image in images
    ]


def padded_pictures(model: object, of_all_processes: bool) -> dict[str, set[Any]]:
    """By task, the documents of which a picture was padded (`FigLangVLM.padded_pictures`), in this
    process or in all.

    Those of all processes are gathered, so each process must call this.
    """
    from torch import distributed

    padded = getattr(model, "padded_pictures", None)
    if padded is None:
        return {}
    of_processes = [padded]
    if of_all_processes and distributed.is_initialized():
        of_processes *= distributed.get_world_size()
        distributed.all_gather_object(of_processes, padded)
    merged: dict[str, set[Any]] = {}
    for documents_by_task in of_processes:
        for task, documents in documents_by_task.items():
            merged.setdefault(task, set()).update(documents)
    return merged


def scoring_class(model: object) -> type | None:
    """The class of a model (an object, or a name after ``--model``); None if it is known to give no
    scores.
    """
    from lmms_eval.models import MODEL_REGISTRY_V2

    if not isinstance(model, str):
        return type(model)
    if model not in MODEL_REGISTRY_V2.list_model_names() or only_words(model):
        return None
    found: type = MODEL_REGISTRY_V2.get_model_class(model)
    return found


def reads_text_alone(model: object, model_args: object) -> bool:
    """Whether the class behind ``--model`` would load a model that sees no pictures, by its
    arguments.
    """
    from lmms_eval.utils import simple_parse_args_string

    ask = (
        getattr(scoring_class(model), "reads_text_alone", None) if isinstance(model, str) else None
    )
    given = (
        simple_parse_args_string(model_args) if isinstance(model_args, str) else model_args or {}
    )
    return ask is not None and isinstance(given, Mapping) and bool(ask(**given))
