"""The class that task files of lm-eval name: it alone knows that lm-eval has two forms."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any


class LmEvalTask:
    """Makes the task of a task file, in the form that the installed lm-eval has.

    lm-eval hands the content of a task file to the class under its key ``class``. What comes back
    is a task of lm-eval's own, never an object of this class:

    - 0.4.13: what it would make without ``class``.
    - 0.5: the same with our scorer, and with the same name in results. Without the scorer this
      version refuses a metric that has the name of one of its own, such as ``acc``, and bootstraps
      our aggregators in other processes. A task in a group it would call ``GROUP::TASK`` in
      results, where no run of another version or harness could be compared with it.
    """

    def __new__(cls, config: Mapping[str, Any]) -> Any:
        """A task of lm-eval.

        Args:
            config: the content of the task file, with what it includes.
        """
        settings = {key: value for key, value in config.items() if key != "class"}
        if not has_scorers():
            from lm_eval.api.task import ConfigurableTask

            return ConfigurableTask(config=settings)

        from lm_eval.api.task import Task

        from figlang_tasks.harness.lm_eval_scorer import NAME

        settings.pop("_qualified_name", None)  # the group and the task
        return Task.from_config({**settings, "scorer": NAME})

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Never called; lm-eval looks here whether the class takes the content of the file."""


def has_scorers() -> bool:
    """Whether the installed lm-eval has scorers, which came with version 0.5."""
    return find_spec("lm_eval.scorers") is not None
