"""The encoder computes something else than the modules of transformers if this fails.

With random weights and lengths.
"""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from transformers import (
    BertConfig,
    BertModel,
    DebertaConfig,
    DebertaModel,
    RemBertConfig,
    RemBertModel,
)

from figlang_tasks.metrics.explanation.compute import exact_float32
from figlang_tasks.metrics.explanation.encoder import Encoder
from figlang_tasks.metrics.explanation.kernels import kernels

SIZES: dict[str, Any] = {
    "vocab_size": 50,
    "hidden_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 96,
    "max_position_embeddings": 64,
    "bos_token_id": 0,
    "eos_token_id": 0,
}
LONGEST = 64


def deberta(**options: Any) -> DebertaModel:
    """A DeBERTa with relative positions, unless the options say otherwise."""
    all_options = {
        "relative_attention": True,
        "position_biased_input": False,
        "type_vocab_size": 0,
    } | options
    return DebertaModel(DebertaConfig(**SIZES, **all_options))


MAKERS = {
    "bert": lambda: BertModel(BertConfig(**SIZES), add_pooling_layer=False),
    "bert-relu": lambda: BertModel(BertConfig(**SIZES, hidden_act="relu"), add_pooling_layer=False),
    "rembert": lambda: RemBertModel(RemBertConfig(**SIZES, input_embedding_size=16)),
    "deberta": lambda: deberta(pos_att_type=["c2p", "p2c"], max_relative_positions=-1),
    "deberta-short-span": lambda: deberta(pos_att_type=["c2p", "p2c"], max_relative_positions=7),
    "deberta-c2p": lambda: deberta(pos_att_type=["c2p"], max_relative_positions=-1),
    "deberta-p2c": lambda: deberta(
        pos_att_type=["p2c"], max_relative_positions=-1, hidden_act="gelu_new"
    ),
    "deberta-absolute": lambda: deberta(
        relative_attention=False, position_biased_input=True, pos_att_type=["c2p"]
    ),
}
NAMES = list(MAKERS)
FIRST = ("bert", "rembert")
"""Those whose first token can be had alone; DeBERTa's relative terms are for all tokens."""


@cache
def model(name: str, dtype: torch.dtype) -> Any:
    """A model of transformers with random weights."""
    torch.manual_seed(NAMES.index(name))
    network = MAKERS[name]().eval().requires_grad_(False)
    # So that every weight and bias counts, and none makes the values explode.
    for parameter in network.parameters():
        if parameter.dim() == 1:
            parameter.normal_(float(parameter.mean() > 0.5), 0.2)
        else:
            parameter.normal_(0, parameter.shape[-1] ** -0.5)
    return network.to(dtype)


@cache
def ours(name: str, dtype: torch.dtype, kernel: str, first: bool) -> Encoder:
    encoder = Encoder(copy.deepcopy(model(name, dtype)), LONGEST, first)
    with torch.inference_mode(), exact_float32():
        encoder.prepare(kernel)
    return encoder


def inputs(
    lengths: list[int], extra: int, seed: int, name: str
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Token ids, mask and token types; `extra` columns of nothing but padding."""
    generator = torch.Generator().manual_seed(seed)
    shape = (len(lengths), min(LONGEST, max(lengths) + extra))
    ids = torch.randint(1, 50, shape, generator=generator)
    mask = (torch.arange(shape[1]) < torch.tensor(lengths)[:, None]).long()
    types = torch.randint(0, 1 if name.startswith("deberta") else 2, shape, generator=generator)
    return ids * mask, mask, types


lengths = st.lists(st.integers(1, LONGEST), min_size=1, max_size=6)


@pytest.mark.parametrize("name", NAMES)
@given(lengths=lengths, extra=st.integers(0, 9), seed=st.integers(0, 2**32 - 1))
@example(lengths=[LONGEST], extra=0, seed=0)
@example(lengths=[1], extra=0, seed=0)
@example(lengths=[1, LONGEST, 1], extra=0, seed=0)
@settings(max_examples=12)
def test_float32_equals_transformers(name: str, lengths: list[int], extra: int, seed: int) -> None:
    ids, mask, types = inputs(lengths, extra, seed, name)
    with torch.inference_mode(), exact_float32():
        expected = model(name, torch.float32)(
            input_ids=ids, attention_mask=mask, token_type_ids=types
        ).last_hidden_state
        for kernel in kernels(torch.float32):
            vectors = ours(name, torch.float32, kernel, first=False)(ids, mask, types)
            is_token = mask.bool()
            assert torch.allclose(vectors[is_token], expected[is_token], rtol=0, atol=1e-5)
            if name in FIRST:
                first_vectors = ours(name, torch.float32, kernel, first=True)(ids, mask, types)
                assert torch.allclose(first_vectors, expected[:, 0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kernel", kernels(torch.bfloat16))
def test_bfloat16_is_as_exact_as_that_of_transformers(name: str, kernel: str) -> None:
    """By the mean distance from float32."""
    ids, mask, types = inputs([60, 33, 7, 64, 1], extra=0, seed=1, name=name)
    arguments = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
    with torch.inference_mode(), exact_float32():
        exact = model(name, torch.float32)(**arguments).last_hidden_state
        of_transformers = model(name, torch.bfloat16)(**arguments).last_hidden_state.float()
        vectors = ours(name, torch.bfloat16, kernel, first=False)(ids, mask, types).float()
    is_token = mask.bool()
    distance = (vectors - exact)[is_token].abs().mean()
    distance_of_transformers = (of_transformers - exact)[is_token].abs().mean()
    assert 0 < distance < 1.1 * distance_of_transformers
