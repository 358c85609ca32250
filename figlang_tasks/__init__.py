"""Figurative-language benchmarks for vision-language models, as a plugin of lmms-eval.

Installing the package is enough: ``lmms-eval --tasks vflute ...`` finds the tasks through the entry
point ``figlang_tasks.harness.plugin:register``. ``__all__`` lists what is public, and the modules
of :mod:`figlang_tasks.metrics`.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figlang_tasks.core.errors import DataError, FigLangError, RunError

if TYPE_CHECKING:
    from lmms_eval.tasks import TaskManager

    from figlang_tasks.from_python import evaluate
    from figlang_tasks.metrics.classification import f1_at, f1_curve, macro_f1_of_labels
    from figlang_tasks.metrics.explanation import get_scorer
    from figlang_tasks.metrics.ranking import precision_at_k
    from figlang_tasks.results.frame import compare, table
    from figlang_tasks.results.predictions.from_python import score

_PACKAGE = Path(__file__).resolve().parent

# A wheel holds metrics/ inside the package; a checkout (editable install) holds it one level up.
if not (_PACKAGE / "metrics").is_dir():
    __path__.append(str(_PACKAGE.parent))

from figlang_tasks.metrics import __version__  # noqa: E402  (needs the path above)

__all__ = [
    "DataError",
    "FigLangError",
    "RunError",
    "__version__",
    "compare",
    "evaluate",
    "f1_at",
    "f1_curve",
    "get_scorer",
    "macro_f1_of_labels",
    "precision_at_k",
    "score",
    "table",
    "task_manager",
]

# Public names and their modules, which are imported when the name is used: importing numpy, pandas
# and torch takes seconds.
_MODULES = {
    "compare": "results.frame",
    "evaluate": "from_python",
    "f1_at": "metrics.classification",
    "f1_curve": "metrics.classification",
    "get_scorer": "metrics.explanation",
    "macro_f1_of_labels": "metrics.classification",
    "precision_at_k": "metrics.ranking",
    "score": "results.predictions.from_python",
    "table": "results.frame",
}


def __getattr__(name: str) -> Any:
    """Import a public name of `_MODULES` when it is used; Python calls this for unknown names."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def resource_dir(name: str) -> Path:
    """The folder ``task_yamls`` or ``prompts`` of this installation.

    A wheel holds it inside the package; a checkout holds it one level up.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    for folder in (_PACKAGE / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(
        f"figlang_tasks: folder {name!r} is missing from {_PACKAGE}; reinstall the package"
    )


def task_manager(**kwargs: Any) -> TaskManager:
    """Make an lmms-eval ``TaskManager`` that knows the figlang tasks.

    Pass it to ``simple_evaluate``, which otherwise makes one in each call; that takes seconds.

    Args:
        kwargs: the arguments of ``lmms_eval.tasks.TaskManager``. With ``include_defaults=False``,
            it leaves out the tasks that come with the harness, and is made some forty times faster.
            ``include_path`` names a folder with task files of your own.

    Examples:
        >>> from figlang_tasks import task_manager
        >>> manager = task_manager(include_defaults=False)
        >>> "vflute" in manager.all_tasks
        True
    """
    from figlang_tasks.harness import plugin

    return plugin.task_manager(**kwargs)
