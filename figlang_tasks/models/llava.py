"""Which of the LLaVA classes in :mod:`figlang_tasks.models.llava_hf` are registered.

Importing this module imports nothing of the harness: that would call our entry point, which needs this module.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmms_eval.models.registry_v2 import ModelManifest

_CLASSES = "figlang_tasks.models.llava_hf"


def original_llava_installed() -> bool:
    """Return whether the package that the harness's own `llava` class imports is there."""
    found = find_spec("llava")
    return found is not None and found.origin is not None  # a folder of that name somewhere is no package


def manifests() -> list[ModelManifest]:
    """Return the names to register: `llava_hf`, and `llava` unless the harness's own class can work."""
    found = [_manifest("llava_hf", "LlavaHf")]
    if not original_llava_installed():
        found.append(_manifest("llava", "Llava"))
    return found


def _manifest(name: str, class_name: str) -> ModelManifest:
    from lmms_eval.models.registry_v2 import ModelManifest

    return ModelManifest(name, f"{_CLASSES}.{class_name}Simple", f"{_CLASSES}.{class_name}Chat")
