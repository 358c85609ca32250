"""How ``figlang_vlm`` generates an answer: settings of ``generate``, stop strings, and the length
of what it gave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from loguru import logger
from transformers import GenerationConfig, StoppingCriteria

from figlang_tasks.core import score_requests

DEFAULT_MAX_NEW_TOKENS = 1024  # as the harness's own backends
_NOT_FOR_GENERATE = ("until", score_requests.KEY, "max_agentic_steps")


class Until(StoppingCriteria):
    """Ends a sequence once its generated text holds a stop string."""

    def __init__(self, until: list[str], tokenizer: Any, prompt_length: int) -> None:
        self.until, self.tokenizer, self.prompt_length = until, tokenizer, prompt_length
        # Tokens that may hold the longest stop string, should each be a byte; earlier ones were
        # looked at earlier.
        self.reach = max(len(stop.encode()) for stop in until) + 1

    def __call__(self, input_ids: torch.Tensor, scores: Any, **kwargs: Any) -> torch.Tensor:
        start = max(self.prompt_length, input_ids.shape[1] - self.reach)
        texts = self.tokenizer.batch_decode(input_ids[:, start:], skip_special_tokens=True)
        done = [any(stop in text for stop in self.until) for text in texts]
        return torch.tensor(done, device=input_ids.device)


def generation_settings(gen_kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """What ``generate`` gets of a task's settings: those given, without null; ``do_sample`` always.

    Without ``do_sample`` a temperature above 0 samples, as with the harness's own models; 0 never
    does. What ``generate`` does not know is left out and named in the log.
    """
    settings = {
        key: value
        for key, value in gen_kwargs.items()
        if value is not None and key not in _NOT_FOR_GENERATE
    }
    if unknown := sorted(settings.keys() - GenerationConfig().to_dict().keys()):
        logger.warning(
            "figlang_vlm: ignored, because generate does not have these settings:"
            f" {', '.join(unknown)}"
        )
    settings = {key: value for key, value in settings.items() if key not in unknown}
    settings.setdefault("max_new_tokens", DEFAULT_MAX_NEW_TOKENS)
    settings.setdefault("do_sample", settings.get("temperature", 0) > 0)
    if settings.get("temperature") == 0:  # which transformers refuses
        del settings["temperature"]
        settings["do_sample"] = False
    return settings


def stop_strings(gen_kwargs: Mapping[str, Any]) -> list[str]:
    """``until`` of a task's settings as a list, without empty ones."""
    until = gen_kwargs.get("until") or []
    return [stop for stop in ([until] if isinstance(until, str) else until) if stop]


def cut_at(text: str, until: Sequence[str]) -> str:
    """`text` up to the first stop string."""
    return text[
        : min((found for stop in until if (found := text.find(stop)) >= 0), default=len(text))
    ]


def count_tokens(row: list[int], ends: set[int], pad: int | None) -> int:
    """The number of generated tokens in a row, its end included, without what pads it."""
    end = next((i + 1 for i, token in enumerate(row) if token in ends), None)
    if end is not None:
        return end
    while row and row[-1] == pad:
        row = row[:-1]
    return len(row)
