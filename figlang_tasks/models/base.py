"""What our model classes share: the process, and the kinds of requests that none of our tasks
makes.
"""

from __future__ import annotations

from types import MethodType
from typing import Any

from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms
from lmms_eval.api.task import Task

from figlang_tasks.core.errors import FigLangError


class ModelBase(lmms):
    """A model class that serves ``generate_until`` and ``generate_until_agentic``."""

    def __init__(self) -> None:
        from accelerate import Accelerator

        super().__init__()
        self.accelerator = Accelerator()
        self._rank, self._world_size = (
            self.accelerator.process_index,
            self.accelerator.num_processes,
        )

    def clean(self) -> None:
        """Let go of the model; the harness calls this when all requests are answered."""
        for name in ("network", "scorer"):
            self.__dict__.pop(name, None)
        super().clean()

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        raise NotImplementedError(
            f"{type(self).__name__} serves generate_until and generate_until_agentic"
        )

    def generate_until_multi_round(self, requests: list[Instance]) -> list[str]:
        raise NotImplementedError(
            f"{type(self).__name__} serves generate_until and generate_until_agentic"
        )


class Offline(ModelBase):
    """A class that loads no model, and takes no arguments but those of the command line, which it
    does not use.

    It is of the harness's simple kind, whichever kind a task was made for: only those requests lead
    to their task.
    """

    is_simple = True
    answers_at_once = (
        True  # what takes no time needs no bar; a replay names all that is missing at once
    )

    def __init__(
        self,
        batch_size: Any = None,
        max_batch_size: Any = None,
        device: str | None = None,
        **unknown: Any,
    ) -> None:
        if unknown:
            name = f"figlang_{type(self).__name__.lower()}"
            raise FigLangError(f"{name} takes no argument {', '.join(sorted(unknown))}")
        super().__init__()
        self.device = self.accelerator.device
        self._tasks: dict[str, Task] = {}

    def task(self, request: Instance) -> Any:
        """The harness's task object that made a request."""
        name: str = request.args[-2]
        for value in request.args:
            if isinstance(value, MethodType) and isinstance(value.__self__, Task):
                self._tasks[name] = value.__self__
        # The later rounds of an agentic request no longer hold a method of it
        return self._tasks[name]
