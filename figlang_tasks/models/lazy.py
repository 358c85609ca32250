"""A model that is loaded if an answer is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms
from torch import distributed

from figlang_tasks.core.options import PICTURES_FIRST

from .base import ModelBase


class AnswersMissing(Exception):
    """Ends an evaluation in all processes at once, so that all can load the model and evaluate again."""


class LazyModel(ModelBase):
    """Stands for a model in the harness while its answers are looked up; `lacks_answers` says that one is missing.

    Args:
        of: its class.
        load: makes it.
    """

    def __init__(self, of: type[lmms], load: Callable[[], lmms]) -> None:
        super().__init__()
        self.of, self._load, self.is_simple = of, load, of.is_simple
        self.device = self.accelerator.device
        self.loaded: lmms | None = None
        self.lacks_answers = False

    def load(self) -> lmms:
        """The model."""
        if self.loaded is None:
            self.loaded = self._load()
            self.loaded.task_dict = self.task_dict
        return self.loaded

    @property
    def pictures_first(self) -> Any:
        """What the model says, by which some tasks choose their prompt."""
        return getattr(self.load(), PICTURES_FIRST, False)

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Never called, but abstract in the harness: `figlang_tasks.harness.answers` looks answers up itself."""
        raise NotImplementedError

    def clean(self) -> None:
        """Raise `AnswersMissing` if a process lacks an answer; the harness calls this when requests have been made.

        A model is loaded by all processes or by none: some classes wait for the others meanwhile.
        """
        lacking = [self.lacks_answers]
        if distributed.is_initialized():
            lacking *= distributed.get_world_size()
            distributed.all_gather_object(lacking, self.lacks_answers)
        if any(lacking):
            raise AnswersMissing
