"""``llava_hf`` with defaults that work, and ``llava`` without the original LLaVA package.

The harness's `llava_hf` (0.7.3) hands ``device_map=""`` to transformers, which refuses it, and takes an exception while
generating, out of memory for instance, as the answer "". It cannot answer requests without a picture: its chat class
fails, the simple one gives the answer "" or that of another request. Its `llava` needs a package that is not on PyPI.
:mod:`figlang_tasks.models.llava` registers these classes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from accelerate import Accelerator
from huggingface_hub.errors import HFValidationError
from lmms_eval.api.instance import Instance
from lmms_eval.models.chat.llava_hf import LlavaHf as HarnessChat
from lmms_eval.models.simple.llava_hf import LlavaHf as HarnessSimple
from loguru import logger

from figlang_tasks import models
from figlang_tasks.core.errors import FigLangError

from .vlm_prompts import ChatTemplate

DEFAULT_CHECKPOINT = "llava-hf/llava-1.5-7b-hf"


class _GenerationFailed(BaseException):
    """Carries an exception through the harness's ``except Exception``."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


def _tells(generate: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(generate)
    def telling(*args: Any, **kwargs: Any) -> Any:
        try:
            return generate(*args, **kwargs)
        except Exception as error:
            raise _GenerationFailed(error) from error

    return telling


class _Processor:
    """A processor that takes an empty list of pictures for none."""

    def __init__(self, processor: Any) -> None:
        self._processor = processor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._processor, name)

    def __call__(self, images: Any = None, **others: Any) -> Any:
        return self._processor(images=images or None, **others)


class LlavaHfSimple(HarnessSimple):
    """The harness's class for LLaVA models of transformers.

    Args:
        pretrained: a LLaVA, LLaVA-NeXT or LLaVA-OneVision checkpoint in the format of transformers.
        device: where the model goes; by default ``cuda``, or ``cpu`` where there is none.
        device_map: as in transformers; by default all of it on `device`, and several processes share the work.
        others: those of the harness's class.

    Raises:
        FigLangError: there is no such checkpoint.
    """

    def __init__(
        self,
        pretrained: str = DEFAULT_CHECKPOINT,
        device: str | None = None,
        device_map: str = "",
        **others: Any,
    ) -> None:
        models.require_checkpoint("llava_hf", pretrained)
        cuda = torch.cuda.is_available()
        device = device or ("cuda" if cuda else "cpu")
        if not device_map and not (cuda and Accelerator().num_processes > 1):
            device_map = device
        try:
            super().__init__(pretrained=pretrained, device=device, device_map=device_map, **others)
        except (OSError, HFValidationError) as error:
            raise FigLangError(f"llava_hf: {models.cannot_load('the model', pretrained, error)}") from error
        self.model.generate = _tells(self.model.generate)
        self._image_processor: Any = _Processor(self._image_processor)

    def generate_until(self, requests: list[Instance]) -> list[Any]:
        """Answer the requests.

        Raises:
            ValueError: a task has no pictures, and this is the simple class.
            Exception: what the model raised while generating.
        """
        if self.is_simple:
            for task, request in {request.args[4]: request for request in requests}.items():
                _, _, doc_to_visual, doc_id, _, split = request.args
                if not doc_to_visual(self.task_dict[task][split][doc_id]):
                    raise ValueError(f"llava_hf: the task {task} has no pictures; do not use --force_simple with it")
        try:
            return super().generate_until(requests)
        except _GenerationFailed as failed:
            raise failed.error from None


class LlavaHfChat(LlavaHfSimple, HarnessChat):
    """The same by chat templates."""

    is_simple = False

    @property
    def pictures_first(self) -> bool:
        """Whether the chat template moves pictures of a message before its texts; task files have a prompt for that."""
        return ChatTemplate(self._image_processor).pictures_first


class LlavaSimple(LlavaHfSimple):
    """``llava`` where the original package is missing: the same models in the format of transformers."""

    def __init__(self, pretrained: str = DEFAULT_CHECKPOINT, **others: Any) -> None:
        if pretrained.startswith("liuhaotian/"):
            raise FigLangError(
                f"figlang_tasks: {pretrained} has the format of the original LLaVA package, which is not installed. "
                "Use the same model in the format of transformers: see https://huggingface.co/llava-hf"
            )
        super().__init__(pretrained=pretrained, **others)
        if self.accelerator.is_main_process:
            logger.warning("figlang_tasks: the original LLaVA package is not installed: --model llava runs as llava_hf")


class LlavaChat(LlavaSimple, LlavaHfChat):
    """The same by chat templates."""

    is_simple = False
