"""Figurative-language benchmarks for vision-language models, as a plugin of lmms-eval.

Installing the package is enough: ``lmms-eval --tasks vflute ...`` finds the tasks through the entry point
``figlang_tasks.harness.plugin:register``. What is public stands in ``__all__``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from figlang_tasks.core.errors import DataError, FigLangError, RunError

if TYPE_CHECKING:
    from lmms_eval.tasks import TaskManager

__version__ = "0.1.0"

__all__ = ["DataError", "FigLangError", "RunError", "__version__", "task_manager"]

_PACKAGE = Path(__file__).resolve().parent

# A wheel holds metrics/ inside the package; a checkout (editable install) holds it one level up.
if not (_PACKAGE / "metrics").is_dir():
    __path__.append(str(_PACKAGE.parent))


def resource_dir(name: str) -> Path:
    """Return the folder `name` (``task_yamls`` or ``prompts``) of this installation.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    for folder in (_PACKAGE / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"figlang_tasks: folder {name!r} is missing from {_PACKAGE}; reinstall the package")


def task_manager(**kwargs: Any) -> TaskManager:
    """Return an lmms-eval ``TaskManager`` that knows the figlang tasks.

    Keyword arguments are those of ``lmms_eval.tasks.TaskManager``. ``include_defaults=False`` leaves out the tasks
    that come with the harness, which makes building the index some forty times faster.
    """
    from figlang_tasks.harness import plugin

    return plugin.task_manager(**kwargs)
