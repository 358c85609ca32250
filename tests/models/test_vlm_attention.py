"""Attention row by row, beside torch's over the whole padded batch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import transformers
from transformers.masking_utils import (
    causal_mask_function,
    sdpa_mask,
    sliding_window_causal_mask_function,
)

from figlang_tasks.models.vlm import FigLangVLM
from figlang_tasks.models.vlm_attention import NAME, attend_by_row, padding_or_mask

SIZES = {
    "vocab_size": 50,
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "pad_token_id": 0,
}
LEFT_PADDED = [[0, 0, 0, 1, 1, 1], [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0, 1]]
LANGUAGE_MODELS = {
    "LlamaModel": transformers.LlamaConfig(**SIZES),
    "MistralModel": transformers.MistralConfig(**SIZES, sliding_window=None),
    "Qwen2Model": transformers.Qwen2Config(**SIZES),
    "Qwen3Model": transformers.Qwen3Config(**SIZES),
}


def mask_arguments(padding: list[list[int]], queries: int) -> dict:
    """What transformers hands to a mask function for the last tokens of a batch."""
    batch, keys = len(padding), len(padding[0])
    arguments = {
        "batch_size": batch,
        "kv_length": keys,
        "mask_function": causal_mask_function,
        "attention_mask": torch.tensor(padding, dtype=torch.bool),
        "allow_is_causal_skip": True,
    }
    if transformers.__version__.startswith("4."):
        return arguments | {"cache_position": torch.arange(keys - queries, keys)}
    return arguments | {"q_length": queries, "q_offset": keys - queries}


def language_model(name: str) -> transformers.PreTrainedModel:
    """A tiny model with random weights, which computes attention by sdpa."""
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(
        LANGUAGE_MODELS[name], attn_implementation="sdpa"
    )
    assert type(model.get_decoder()).__name__ == name
    for weight in model.parameters():
        if weight.ndim > 1:
            torch.nn.init.normal_(weight, std=0.2)
    return model.eval()


@pytest.mark.parametrize("name", LANGUAGE_MODELS)
@torch.inference_mode()
def test_padded_prompts_and_their_answers_are_as_with_sdpa(name: str) -> None:
    model = language_model(name)
    padding = torch.tensor(LEFT_PADDED)
    tokens = torch.randint(1, 50, padding.shape) * padding
    settings = {
        "max_new_tokens": 8,
        "do_sample": False,
        "eos_token_id": None,
        "output_logits": True,
        "return_dict_in_generate": True,
    }
    expected = model.generate(input_ids=tokens, attention_mask=padding, **settings)
    attend_by_row(model)
    assert model.config._attn_implementation == NAME
    by_row = model.generate(input_ids=tokens, attention_mask=padding, **settings)
    assert torch.equal(by_row.sequences, expected.sequences)
    for logits, expected_logits in zip(by_row.logits, expected.logits, strict=True):
        torch.testing.assert_close(logits, expected_logits, rtol=1e-4, atol=1e-4)


def test_prompts_padded_on_the_left_need_no_mask_of_queries_by_keys() -> None:
    padding = padding_or_mask(**mask_arguments(LEFT_PADDED, queries=6))
    assert padding is not None
    assert padding.tolist() == torch.tensor(LEFT_PADDED, dtype=torch.bool).tolist()


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(mask_arguments(LEFT_PADDED, queries=1), id="one more token"),
        pytest.param(mask_arguments(LEFT_PADDED, queries=2), id="several more tokens"),
        pytest.param(mask_arguments([[1, 1, 0], [1, 1, 1]], queries=3), id="padding on the right"),
        pytest.param(mask_arguments([[1, 0, 1], [1, 1, 1]], queries=3), id="a gap"),
        pytest.param(mask_arguments([[0, 0, 0], [1, 1, 1]], queries=3), id="an empty row"),
        pytest.param(mask_arguments([[1, 1, 1], [1, 1, 1]], queries=3), id="no padding"),
        pytest.param(
            mask_arguments(LEFT_PADDED, queries=6) | {"allow_is_causal_skip": False},
            id="a mask that is asked for",
        ),
        pytest.param(
            mask_arguments(LEFT_PADDED, queries=6)
            | {"mask_function": sliding_window_causal_mask_function(2)},
            id="a sliding window",
        ),
    ],
)
def test_anything_else_has_the_mask_of_sdpa(arguments: dict) -> None:
    mask = padding_or_mask(**arguments)
    expected = sdpa_mask(**arguments)
    assert (mask is None) == (expected is None)
    if mask is not None:
        assert torch.equal(mask, expected)


def test_a_model_has_it_where_the_language_model_is_plain_and_nothing_else_is_asked_for(
    build: Callable[..., FigLangVLM],
) -> None:
    model = build("qwen2_5_vl").model
    assert model.config.text_config._attn_implementation == NAME
    assert model.config.vision_config._attn_implementation == "sdpa"
    asked_for = build("qwen2_5_vl", attn_implementation="sdpa").model
    assert asked_for.config.text_config._attn_implementation == "sdpa"
    with_own_masks = build("gemma3").model
    assert with_own_masks.config.text_config._attn_implementation == "sdpa"
