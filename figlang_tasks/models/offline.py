"""Shared parts of the classes without a model (replay, baselines): arguments, processes, the task of a request."""

from __future__ import annotations

from types import MethodType
from typing import Any

from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms
from lmms_eval.api.task import Task

from figlang_tasks.core.errors import FigLangError


class Offline(lmms):
    """A model class of the harness that loads no model.

    It is of the harness's simple kind, whichever kind a task was made for: only those requests lead to their task.

    Args:
        batch_size, max_batch_size, device: what the command line hands to every model class; not used.
        unknown: nothing else is taken.
    """

    is_simple = True

    def __init__(
        self, batch_size: Any = None, max_batch_size: Any = None, device: str | None = None, **unknown: Any
    ) -> None:
        from accelerate import Accelerator

        if unknown:
            raise FigLangError(f"figlang_tasks: {type(self).__name__} takes no argument {', '.join(sorted(unknown))}")
        super().__init__()
        self.accelerator = Accelerator()
        self.device = self.accelerator.device
        self._rank = self.accelerator.process_index
        self._world_size = self.accelerator.num_processes
        self._tasks: dict[str, Task] = {}

    def task(self, request: Instance) -> Any:
        """Return the harness's task object that made a request."""
        name: str = request.args[-2]
        for value in request.args:
            if isinstance(value, MethodType) and isinstance(value.__self__, Task):
                self._tasks[name] = value.__self__
        return self._tasks[name]  # the later rounds of an agentic request no longer hold a method of it

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        raise NotImplementedError(f"{type(self).__name__} serves generate_until and generate_until_agentic")

    def generate_until_multi_round(self, requests: list[Instance]) -> list[str]:
        raise NotImplementedError(f"{type(self).__name__} serves generate_until and generate_until_agentic")
