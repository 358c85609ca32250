"""Registers the tasks with lmms-eval; entry point of group ``lmms_eval.models``.

lmms-eval 0.7.3 has an entry point for model classes, but none for tasks, and its variable
``LMMS_EVAL_PLUGINS`` is read too late to add any. It loads the entry points of model classes before
it looks up tasks, and `register` uses that moment to replace three functions of the harness. No
other is replaced, and each replacement calls the original:

- ``TaskManager.initialize_tasks`` also finds our task files.
- ``simple_evaluate`` checks our tasks and their data before it builds a model.
- ``evaluate`` prepares our tasks, and completes their results.

``tests/harness/test_harness_contract.py`` tests every name of the harness that we rely on.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from figlang_tasks import models
from figlang_tasks.core import logs, task_files
from figlang_tasks.harness import evaluate_hook, simple_evaluate_hook, task_index
from figlang_tasks.harness.harness_types import Arguments, Original, Replacement
from figlang_tasks.harness.task_index import tasks_dir as tasks_dir  # for users of this module

if TYPE_CHECKING:
    from lmms_eval.models.registry_v2 import ModelManifest
    from lmms_eval.tasks import TaskManager

MARK = "_figlang_tasks"
"""The attribute of a function of the harness that we have replaced."""

_EVALUATOR_REPLACEMENTS: Mapping[str, Replacement] = {
    "simple_evaluate": simple_evaluate_hook.check_and_evaluate,
    "evaluate": evaluate_hook.prepare_and_evaluate,
}


def register() -> list[ModelManifest]:
    """Make our tasks known to the harness, and return our model classes; safe to call again."""
    register_tasks()
    return models.manifests()


def register_tasks() -> None:
    """Replace three functions of the harness by ours, and hide secrets in logs; safe to repeat."""
    # lmms-eval 0.7.3 loads entry points while `evaluator` imports `lmms_eval.models`. Called from
    # there, this function gets a module that has not defined its functions yet.
    from lmms_eval import evaluator
    from lmms_eval.tasks import TaskManager

    logs.clean_logs()
    _replace(TaskManager, "initialize_tasks", task_index.initialize_tasks)
    if not hasattr(evaluator, "evaluate"):
        _replace_when_defined(_EVALUATOR_REPLACEMENTS)
        return
    for name, replacement in _EVALUATOR_REPLACEMENTS.items():
        _replace(evaluator, name, replacement)


def task_manager(**kwargs: Any) -> TaskManager:
    """A ``TaskManager`` that knows our tasks, also with ``include_defaults=False``.

    Keyword arguments are those of ``TaskManager``.
    """
    register_tasks()
    from lmms_eval.tasks import TaskManager

    if kwargs.get("include_defaults", True) is False:
        # `initialize_tasks` adds our folders only beside the harness's own tasks.
        include_path = kwargs.get("include_path") or []
        user_folders = [include_path] if isinstance(include_path, str) else include_path
        our_folders = [str(folder) for folder in task_files.folders("lmms_eval")]
        kwargs["include_path"] = [*user_folders, *our_folders]
    return TaskManager(**kwargs)


# --- replacing functions ---


def _replace(owner: object, name: str, replacement: Replacement) -> None:
    """Replace a function of a module, or a method of a class, unless that is done already."""
    original = getattr(owner, name)
    if not hasattr(original, MARK):
        setattr(owner, name, _replaced(original, replacement))


def _replaced(original: Original, replacement: Replacement) -> Original:
    """A function with the original's signature that calls ``replacement(original, arguments)``.

    The arguments are those of the call by name, with defaults for those that are not given.
    """
    signature = inspect.signature(original)

    @functools.wraps(original)
    def call_replacement(*args: object, **kwargs: object) -> object:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments: Arguments = bound.arguments
        return replacement(original, arguments)

    setattr(call_replacement, MARK, True)
    return call_replacement


def _replace_when_defined(replacements: Mapping[str, Replacement]) -> None:
    """Replace functions of the harness's evaluator as soon as that module defines them.

    lmms-eval 0.7.3 decorates both functions with ``positional_deprecated`` of its ``utils``, which
    the evaluator imports after it has loaded the entry points. So the decorator can be replaced
    before the functions exist: ours decorates as the original does, and replaces what comes out.
    The harness has its own decorator again when ours has met all functions.

    Args:
        replacements: by the name of the function.
    """
    from lmms_eval import utils

    original_decorator = utils.positional_deprecated
    if hasattr(original_decorator, MARK):
        return
    undefined = set(replacements)  # names of functions that the evaluator has not defined yet

    def decorate(function: Original) -> Original:
        """Decorate a function as the harness does, and replace it if it is one of those."""
        decorated = original_decorator(function)
        name = function.__name__
        if function.__module__ != "lmms_eval.evaluator" or name not in undefined:
            return decorated
        undefined.discard(name)
        if not undefined:
            # The evaluator has imported the decorator under its own name, beside that in `utils`.
            evaluator_globals = function.__globals__
            evaluator_globals["positional_deprecated"] = original_decorator
            utils.positional_deprecated = original_decorator
        return _replaced(decorated, replacements[name])

    setattr(decorate, MARK, True)
    utils.positional_deprecated = decorate
