"""Attention over padded batches on a CPU: each row by itself, on its own length.

With padding, transformers (5.24) hands torch a mask of queries by keys. On a CPU, torch then
computes the whole square and not the causal half of it, and writes the mask anew for each layer: a
batch of prompts of thousands of tokens takes longer than its rows one by one
(timings/vlm_requests.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import causal_mask_function, sdpa_mask

if TYPE_CHECKING:
    from transformers import PreTrainedModel

NAME = "sdpa_by_row"
"""The attention as an ``attn_implementation`` of transformers."""

_LANGUAGE_MODELS = (
    "LlamaModel",
    "MistralModel",
    "Qwen2Model",
    "Qwen2VLTextModel",
    "Qwen2_5_VLTextModel",
    "Qwen3Model",
    "Qwen3VLTextModel",
)
"""Classes of transformers that hand their causal mask to each layer's attention as it is.

Others cut it (Gemma 4), combine it with a mask of their own (GLM 5), or ask whether the attention
is named ``sdpa``. The language models of most architectures in docs/models.md are among these.
"""


def attend_by_row(model: PreTrainedModel) -> None:
    """Let the language model of a model on the CPU compute attention row by row.

    Nothing changes where a model computes attention by anything but torch's
    ``scaled_dot_product_attention``, or is none of `_LANGUAGE_MODELS`.
    """
    if model.device.type != "cpu":
        return
    AttentionInterface.register(NAME, attention_by_row)
    AttentionMaskInterface.register(NAME, padding_or_mask)
    for module in model.modules():
        module_class = type(module)
        # A checkpoint's own code may have a class of the same name.
        is_of_transformers = module_class.__module__.startswith("transformers.models.")
        if not is_of_transformers or module_class.__name__ not in _LANGUAGE_MODELS:
            continue
        if module.config._attn_implementation == "sdpa":
            module.set_attn_implementation(NAME)


def padding_or_mask(**arguments: Any) -> torch.Tensor | None:
    """The padding of prompts that are padded on the left: bool [batch, length], False is padding.

    For anything else (a step of one token, other patterns than the causal one, no padding) the mask
    that ``sdpa`` gets: bool [batch, 1, queries, keys] or None.

    Args:
        arguments: those that transformers hands to the mask function of an attention.
    """
    padding = arguments.get("attention_mask")
    is_causal = arguments["mask_function"] is causal_mask_function
    if padding is None or not is_causal or not arguments["allow_is_causal_skip"]:
        return sdpa_mask(**arguments)
    is_prompt = _query_length(arguments) == arguments["kv_length"] == padding.shape[-1]
    if is_prompt and _is_left_padded(padding):
        return padding
    return sdpa_mask(**arguments)


def attention_by_row(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """The output of attention, [batch, length, heads, size]; it is 0 where prompts are padded.

    Args:
        module: the layer.
        query, key, value: [batch, heads, length, size].
        attention_mask: from `padding_or_mask`.
        options: those of transformers' ``sdpa``.
    """
    if attention_mask is None or attention_mask.dim() != 2:
        return sdpa_attention_forward(module, query, key, value, attention_mask, **options)
    batch, heads, length, _ = query.shape
    output = query.new_zeros(batch, length, heads, value.shape[-1])
    starts = attention_mask.shape[1] - attention_mask.sum(dim=1)
    for row, start in enumerate(starts.tolist()):
        positions = (slice(row, row + 1), slice(None), slice(start, None))
        row_output, _ = sdpa_attention_forward(
            module, query[positions], key[positions], value[positions], None, **options
        )
        output[row, start:] = row_output[0]
    return output, None


def _query_length(arguments: dict[str, Any]) -> int:
    """The number of queries for which a mask is asked."""
    if "q_length" in arguments:
        return arguments["q_length"]
    return len(arguments["cache_position"])  # transformers 4


def _is_left_padded(padding: torch.Tensor) -> bool:
    """Whether some row has padding, and all have it on the left alone."""
    if padding.all() or not padding[:, -1].all():
        return False
    return bool((padding[:, 1:] >= padding[:, :-1]).all())
