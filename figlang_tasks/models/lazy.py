"""A model that is loaded when the first request comes that no stored answer answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms

from figlang_tasks.core.options import PICTURES_FIRST

from .base import ModelBase

# With --apply_chat_template, and of a model for which a task has another prompt.
_OF_THE_MODEL = ("chat_template", "apply_chat_template", "tokenizer_name", PICTURES_FIRST)


class LazyModel(ModelBase):
    """Stands for a model in the harness until it is asked.

    Args:
        of: its class.
        load: makes it.
    """

    def __init__(self, of: type[lmms], load: Callable[[], lmms]) -> None:
        super().__init__()
        self.of, self._load, self.is_simple = of, load, of.is_simple
        self.loaded: lmms | None = None

    def load(self) -> lmms:
        """Return the model."""
        if self.loaded is None:
            model = self.loaded = self._load()
            model.task_dict = self.task_dict
            if not hasattr(model, "accelerator"):  # which the harness gives to each model that has none
                model.accelerator = self.accelerator
        return self.loaded

    def __getattr__(self, name: str) -> Any:
        if name in _OF_THE_MODEL:
            return getattr(self.load(), name)
        raise AttributeError(name)

    def generate_until(self, requests: list[Instance]) -> list[str]:
        answers: list[str] = self.load().generate_until(requests)
        return answers

    def clean(self) -> None:
        if self.loaded is not None:
            self.loaded.clean()
