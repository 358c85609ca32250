"""A model that is loaded if an answer is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms
from torch import distributed

from figlang_tasks.core.options import PICTURES_FIRST

from .base import ModelBase


class LazyModel(ModelBase):
    """Stands for a model in the harness until an answer is missing.

    Args:
        of: its class.
        load: makes it.
    """

    def __init__(self, of: type[lmms], load: Callable[[], lmms]) -> None:
        super().__init__()
        self.of, self._load, self.is_simple = of, load, of.is_simple
        self.device = self.accelerator.device
        self.loaded: lmms | None = None

    def load(self) -> lmms:
        """The model."""
        if self.loaded is None:
            self.loaded = self._load()
            self.loaded.task_dict = self.task_dict
            self.loaded._rank, self.loaded._world_size = self.rank, self.world_size  # as the harness gives them
        return self.loaded

    def load_if(self, is_needed: bool) -> None:
        """Load the model if one of the processes needs it: some classes wait for the others meanwhile."""
        needed = [is_needed]
        if distributed.is_initialized():
            needed *= distributed.get_world_size()
            distributed.all_gather_object(needed, is_needed)
        if any(needed):
            self.load()

    @property
    def pictures_first(self) -> Any:
        """What the model says, by which some tasks choose their prompt."""
        return getattr(self.load(), PICTURES_FIRST, False)

    @property
    def padded_pictures(self) -> Any:
        """What the model says of the pictures of this run."""
        return getattr(self.loaded, "padded_pictures", {})

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Never called, but abstract in the harness: `figlang_tasks.harness.answers` asks the model itself."""
        raise NotImplementedError

    def clean(self) -> None:
        if self.loaded is not None:
            self.loaded.clean()
