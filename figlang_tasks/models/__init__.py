"""Model classes for the harness, and the list of them that the entry point hands over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmms_eval.models.registry_v2 import ModelManifest


def manifests() -> list[ModelManifest]:
    """Return what ``--model`` finds beside the harness's own classes; imports none of them."""
    from lmms_eval.models.registry_v2 import ModelManifest

    from figlang_tasks.models import llava

    return [
        ModelManifest("figlang_vlm", chat_class_path="figlang_tasks.models.vlm.FigLangVLM"),
        ModelManifest("figlang_blind", chat_class_path="figlang_tasks.models.vlm.FigLangBlind"),
        ModelManifest("figlang_clip", simple_class_path="figlang_tasks.models.dual_encoder.FigLangCLIP"),
        ModelManifest("figlang_openai", chat_class_path="figlang_tasks.models.openai_scores.FigLangOpenAI"),
        ModelManifest("figlang_replay", simple_class_path="figlang_tasks.models.replay.Replay"),
        ModelManifest("figlang_random", simple_class_path="figlang_tasks.models.baselines.Random"),
        ModelManifest("figlang_majority", simple_class_path="figlang_tasks.models.baselines.Majority"),
        *llava.manifests(),
    ]


def require_checkpoint(name: str, pretrained: object) -> None:
    """Tell of a folder that is not there; the libraries take its path for a malformed id of the hub.

    Raises:
        SystemExit: `pretrained` is no id of the hub, and there is no such folder.
    """
    pretrained = str(pretrained)
    is_id = pretrained.count("/") <= 1 and not pretrained.startswith((".", "/", "~"))
    if not is_id and not Path(pretrained).is_dir():
        raise SystemExit(
            f"{name}: there is no folder {pretrained} (pretrained=); an id of the hub is NAME or OWNER/NAME"
        )


def name_of(model: object) -> str | None:
    """Return the name by which ``--model`` finds the class of `model`; None if it is none of ours."""
    path = f"{type(model).__module__}.{type(model).__qualname__}"
    for manifest in manifests():
        if path in (manifest.simple_class_path, manifest.chat_class_path):
            return manifest.model_id
    return None
