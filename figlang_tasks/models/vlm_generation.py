"""Answers in words of ``figlang_vlm``: settings of ``generate``, stop strings, counts of tokens."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from lmms_eval.api.instance import GenerationResult, TokenCounts
from loguru import logger
from transformers import GenerationConfig, StoppingCriteria

from figlang_tasks.core import score_requests

from .requests import GenerationKwargs
from .vlm_conversations import Conversation

if TYPE_CHECKING:
    from transformers import BatchFeature, PreTrainedModel, PreTrainedTokenizerBase

# The default of lmms-eval 0.7.3 for llava_hf, so that answers are as long as there.
DEFAULT_MAX_NEW_TOKENS = 1024
# Keys of ``generation_kwargs`` that are for lmms-eval or for us, not for ``generate``.
_NOT_FOR_GENERATE = ("until", score_requests.KEY, "max_agentic_steps")


def generate_answers(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    conversations: Sequence[Conversation],
    inputs: BatchFeature,
    settings: Mapping[str, Any],
    stops: Sequence[str],
) -> list[GenerationResult]:
    """The model's answers in words, each cut at the first stop string.

    An answer to a prompt that opens a thought begins with the tag of the thought, so that whoever
    reads it knows where the thought ends.

    Args:
        model, tokenizer: that answer.
        conversations: a batch.
        inputs: its tensors, padded on the left, on the model's device.
        settings: keyword arguments of ``generate``, from `generation_settings`.
        stops: strings that end an answer, from `stop_strings`.

    Raises:
        ValueError: the model's output does not begin with the prompt.
    """
    options = {**settings, "pad_token_id": tokenizer.pad_token_id}
    end_tokens = getattr(model.generation_config, "eos_token_id", None)
    if end_tokens is None:  # the checkpoint does not say where answers end
        end_tokens = tokenizer.eos_token_id
        options["eos_token_id"] = end_tokens
    prompt_length = inputs["input_ids"].shape[1]
    # Beams run to their end: a beam that has a stop string may still lose to another one.
    if stops and options.get("num_beams", 1) == 1:
        options["stopping_criteria"] = [StopAtStrings(stops, tokenizer, prompt_length)]

    output = model.generate(**inputs, **options)
    if not torch.equal(output[:, :prompt_length], inputs["input_ids"]):
        raise ValueError(
            f"the output of {type(model).__name__} does not begin with the prompt, so the"
            " answer cannot be separated from it. figlang_vlm runs models that continue their"
            " prompt"
        )

    answer_tokens = output[:, prompt_length:]
    texts = tokenizer.batch_decode(answer_tokens, skip_special_tokens=True)
    rows = answer_tokens.tolist()
    prompt_lengths = inputs["attention_mask"].sum(dim=1).tolist()
    # A model has one token that ends an answer, several, or none.
    ends = {end_tokens} if isinstance(end_tokens, int) else set(end_tokens or ())
    answers: list[GenerationResult] = []
    for index, conversation in enumerate(conversations):
        answer = conversation.open_thought + cut_at(texts[index], stops)
        answer_length = count_tokens(rows[index], ends, tokenizer.pad_token_id)
        token_counts = TokenCounts(prompt_lengths[index], answer_length)
        answers.append(GenerationResult(answer, token_counts))
    return answers


class StopAtStrings(StoppingCriteria):
    """Ends a sequence once its generated text contains a stop string."""

    def __init__(
        self, stops: Sequence[str], tokenizer: PreTrainedTokenizerBase, prompt_length: int
    ) -> None:
        self._stops = stops
        self._tokenizer = tokenizer
        self._prompt_length = prompt_length
        # A token has at least one byte, so that the longest stop string lies within this many last
        # tokens; what lies before was looked at in earlier steps.
        self._last_tokens = max(len(stop.encode()) for stop in stops) + 1

    def __call__(
        self, input_ids: torch.Tensor, scores: torch.Tensor, **kwargs: object
    ) -> torch.Tensor:
        """Whether each sequence has ended: bool [batch]."""
        start = max(self._prompt_length, input_ids.shape[1] - self._last_tokens)
        latest_tokens = input_ids[:, start:]
        texts = self._tokenizer.batch_decode(latest_tokens, skip_special_tokens=True)
        has_ended = [self._contains_stop(text) for text in texts]
        return torch.tensor(has_ended, device=input_ids.device)

    def _contains_stop(self, text: str) -> bool:
        return any(stop in text for stop in self._stops)


# Any: the settings have values of many types
def generation_settings(generation_kwargs: GenerationKwargs) -> dict[str, Any]:
    """The keyword arguments of ``generate`` that follow from a task's ``generation_kwargs``.

    They have `max_new_tokens` and `do_sample` always. Without ``do_sample`` a temperature above 0
    samples, as with lmms-eval's own models (0.7.3); a temperature of 0 never does. Settings that
    are None are left out. So are those that ``generate`` does not have, with a warning in the log.
    """
    known_settings = GenerationConfig().to_dict()
    settings: dict[str, Any] = {}
    unknown: list[str] = []
    for name, setting in generation_kwargs.items():
        if setting is None or name in _NOT_FOR_GENERATE:
            continue
        if name in known_settings:
            settings[name] = setting
        else:
            unknown.append(name)
    if unknown:
        logger.warning(
            "figlang_vlm: ignored, because generate does not have these settings:"
            f" {', '.join(sorted(unknown))}"
        )

    settings.setdefault("max_new_tokens", DEFAULT_MAX_NEW_TOKENS)
    settings.setdefault("do_sample", settings.get("temperature", 0) > 0)
    if settings.get("temperature") == 0:
        # transformers (5.24) refuses a temperature of 0, which means that nothing is sampled.
        del settings["temperature"]
        settings["do_sample"] = False
    return settings


def stop_strings(generation_kwargs: GenerationKwargs) -> list[str]:
    """The stop strings of a task (``until``, a text or a list), without empty ones."""
    until = generation_kwargs.get("until") or []
    stops = [until] if isinstance(until, str) else until
    return [stop for stop in stops if stop]


def cut_at(text: str, stops: Sequence[str]) -> str:
    """The text up to the first stop string in it; the whole text without one."""
    positions = [text.find(stop) for stop in stops if stop in text]
    return text[: min(positions, default=len(text))]


def count_tokens(tokens: Sequence[int], ends: Collection[int], padding: int | None) -> int:
    """The number of tokens of an answer: up to the first one that ends it, this included.

    An answer without such a token was cut off: of it, only padding at the end is left out.

    Args:
        tokens: what ``generate`` returned behind the prompt.
        ends: tokens that end an answer.
        padding: the token that fills a batch up; None if there is none.
    """
    for index, token in enumerate(tokens):
        if token in ends:
            return index + 1
    count = len(tokens)
    while count and tokens[count - 1] == padding:
        count -= 1
    return count
