"""Base classes of our model classes."""

from __future__ import annotations

from types import MethodType
from typing import Any

import torch
from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms
from lmms_eval.api.task import Task

from figlang_tasks.core.errors import FigLangError


class ModelBase(lmms):
    """A model class that serves ``generate_until``.

    lmms-eval 0.7.3 sends ``generate_until_agentic`` there too, round by round.
    """

    device: torch.device
    _rank: int
    _world_size: int

    def __init__(self) -> None:
        from accelerate import Accelerator

        super().__init__()
        # lmms-eval 0.7.3 reads `accelerator`, `device`, `_rank` and `_world_size` of a model to
        # share the documents out among processes.
        self.accelerator = Accelerator()
        self._rank = self.accelerator.process_index
        self._world_size = self.accelerator.num_processes

    def clean(self) -> None:
        """Delete the attributes that hold the model, so that its memory is freed.

        lmms-eval 0.7.3 calls this when all requests are answered. Its own `clean` deletes only
        attributes that are a ``torch.nn.Module``.
        """
        # Where a class of ours has one of these, it is an object with a Module inside.
        for attribute in ("network", "scorer"):
            self.__dict__.pop(attribute, None)
        super().clean()

    # The two other kinds of requests are abstract methods of lmms-eval 0.7.3, so that each class
    # must have them. No task of ours makes such requests: most model classes answer neither.

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        raise NotImplementedError(
            f"{type(self).__name__} serves generate_until and generate_until_agentic"
        )

    def generate_until_multi_round(self, requests: list[Instance]) -> list[str]:
        raise NotImplementedError(
            f"{type(self).__name__} serves generate_until and generate_until_agentic"
        )


class Offline(ModelBase):
    """A class that loads no model, and takes no arguments but those of the command line.

    It is of the simple kind, also for tasks that are made for chat models: in lmms-eval 0.7.3 only
    requests of that kind hold a method of their task, by which `task` finds it.
    """

    is_simple = True
    # All requests come in one call: they take no time.
    answers_at_once = True

    def __init__(
        self,
        batch_size: object = None,
        max_batch_size: object = None,
        device: str | None = None,
        **unknown: object,
    ) -> None:
        """Accept the arguments that lmms-eval 0.7.3 hands to every class, and use none of them."""
        if unknown:
            name = f"figlang_{type(self).__name__.lower()}"
            raise FigLangError(f"{name} takes no argument {', '.join(sorted(unknown))}")
        super().__init__()
        self.device = self.accelerator.device
        self._tasks: dict[str, Task] = {}

    # Any: a Task of lmms-eval has attributes that its types do not name
    def task(self, request: Instance) -> Any:
        """The task object of lmms-eval that made a request.

        The arguments of a request end in (..., task's name, split). Among the others is a method of
        the task object, such as ``doc_to_visual``, and a method knows its object.
        """
        task_name: str = request.args[-2]
        for argument in request.args:
            if isinstance(argument, MethodType) and isinstance(argument.__self__, Task):
                self._tasks[task_name] = argument.__self__
        # From the second round on, an agentic request of lmms-eval 0.7.3 holds no method of its
        # task. Then this is the object that the request of the first round has left here.
        return self._tasks[task_name]
