"""The encoder that BERT, RemBERT and DeBERTa (version 1) share, for inference.

transformers builds and checks the model; `Encoder` takes its weights over. In place of a gather for
every pair of positions, DeBERTa's relative terms are strided views: with the positions in falling
order, the term of query i and key j stands at i * (row + 1 place to the left) + j. The projections
of the positions depend on no text, and are computed once, in the memory of the weights that they
replace. On a CPU, float32 texts stand one after the other without padding; only those of equal
length share a product of the attention.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import groupby
from typing import Any, TypeAlias

import torch
from torch import nn
from torch.nn.functional import layer_norm, scaled_dot_product_attention

from .kernels import Linear, by_head

Group: TypeAlias = tuple[int, int]
"""Texts that follow each other, and the tokens of each."""


class Norm(nn.Module):
    """Layer normalisation with the weights of another (``nn.LayerNorm``, or DeBERTa's own of the
    same formula).
    """

    def __init__(self, norm: Any) -> None:
        super().__init__()
        self.weight, self.bias = norm.weight, norm.bias
        self.epsilon = norm.variance_epsilon if hasattr(norm, "variance_epsilon") else norm.eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return layer_norm(x, self.weight.shape, self.weight, self.bias, self.epsilon)


class Layer(nn.Module):
    """One layer: attention, then two linear layers; each is added to its input, and normalised.

    Args:
        layer: a layer of transformers' BERT, RemBERT or DeBERTa.
        heads: of the attention.
    """

    def __init__(self, layer: Any, heads: int) -> None:
        from transformers.activations import GELUActivation

        super().__init__()
        attention = layer.attention.self
        self.heads = heads
        self.kernel = "torch"
        self.project_keys: Linear | None = None
        self.project_queries: Linear | None = None
        self.position_keys: torch.Tensor | None
        self.position_queries: torch.Tensor | None
        self.register_buffer("position_keys", None)
        self.register_buffer("position_queries", None)
        terms = 1
        if hasattr(
            attention, "in_proj"
        ):  # DeBERTa: rows are ordered by head, and by query, key, value within a head
            rows = (
                attention.in_proj.weight.unflatten(0, (heads, 3, -1)).transpose(0, 1).flatten(1, 2)
            )
            self.query = Linear(rows[0].clone(), attention.q_bias)
            biases = torch.cat([torch.zeros_like(attention.v_bias), attention.v_bias])
            self.key_value = Linear(rows[1:].flatten(0, 1).clone(), biases)
            terms += len(attention.pos_att_type)
            if attention.relative_attention and "c2p" in attention.pos_att_type:
                self.project_keys = _linear(attention.pos_proj)
            if attention.relative_attention and "p2c" in attention.pos_att_type:
                self.project_queries = _linear(attention.pos_q_proj)
        else:
            self.query = _linear(attention.query)
            parts = (attention.key, attention.value)
            self.key_value = Linear(
                torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts])
            )
        self.scale = (self.query.weight.shape[0] // heads * terms) ** -0.5
        self.output = _linear(layer.attention.output.dense)
        self.output_norm = Norm(layer.attention.output.LayerNorm)
        self.inner = _linear(layer.intermediate.dense)
        self.activation = layer.intermediate.intermediate_act_fn
        self.fused = (
            isinstance(self.activation, GELUActivation)
            and self.activation.act is nn.functional.gelu
        )
        self.outer = _linear(layer.output.dense)
        self.outer_norm = Norm(layer.output.LayerNorm)

    def prepare(self, kernel: str, positions: torch.Tensor | None) -> None:
        """Pack the weights for `kernel`, and project the embeddings of `positions`, which are in
        rising order.
        """
        self.kernel = kernel
        for module in self.children():
            if isinstance(module, Linear) and kernel == "onednn":
                module.pack()
        if positions is None:
            return
        if self.project_keys is not None:  # falling positions: see `_position_terms`
            self.position_keys = self._by_head(self.project_keys(positions.flip(0)) * self.scale)
        if self.project_queries is not None:
            self.position_queries = self._by_head(self.project_queries(positions) * self.scale)
        self.project_keys = self.project_queries = None

    def forward(
        self,
        x: torch.Tensor,
        groups: Sequence[Group],
        mask: torch.Tensor | None,
        first: bool = False,
    ) -> torch.Tensor:
        """Vectors of all tokens, [tokens, width]; with `first`, of each text's first token alone,
        [texts, width].

        x: [tokens of all groups, width]. mask: added to the scores of the keys, [texts, 1, length];
        there is one group then. None: nothing is added.
        """
        sizes = [texts * length for texts, length in groups]
        source = x
        if first:
            starts = [
                rows.unflatten(0, group)[:, 0]
                for rows, group in zip(x.split(sizes), groups, strict=True)
            ]
            source = torch.cat(starts)
        queries = self.query(source).split([texts for texts, _ in groups] if first else sizes)
        contexts = []
        for (texts, _), query, rows in zip(
            groups, queries, self.key_value(x).split(sizes), strict=True
        ):
            key, value = rows.unflatten(1, (2, self.heads, -1)).permute(1, 2, 0, 3).contiguous()
            query, key, value = (
                part.unflatten(1, (texts, -1)) for part in (self._by_head(query), key, value)
            )
            contexts.append(self._attend(query, key, value, mask))
        context = contexts[0] if len(contexts) == 1 else torch.cat(contexts)
        x = self.output_norm(self.output(context, add=source))
        inner = self.inner(x, with_gelu=self.fused)
        return self.outer_norm(self.outer(inner if self.fused else self.activation(inner), add=x))

    def _by_head(self, x: torch.Tensor) -> torch.Tensor:
        """[n, heads * width] as [heads, n, width]."""
        return x.unflatten(1, (self.heads, -1)).transpose(0, 1).contiguous()

    def _attend(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None
    ) -> torch.Tensor:
        """Attention of [heads, texts, tokens, width] each; returns [texts * tokens, heads *
        width].
        """
        terms = [*self._position_terms(query, key), *([] if mask is None else [mask])]
        if query.device.type != "cpu":
            bias = reduce(torch.add, terms) if terms else None
            context = scaled_dot_product_attention(
                query, key, value, attn_mask=bias, scale=self.scale
            )
        else:  # torch's fused attention is slower, and so is a softmax of bfloat16
            queries, keys, values = (part.flatten(0, 1) for part in (query, key, value))
            scores = (
                torch.bmm(queries, keys.transpose(1, 2))
                .float()
                .mul_(self.scale)
                .unflatten(0, key.shape[:2])
            )
            for term in terms:
                scores += term
            context = torch.bmm(torch.softmax(scores, -1).to(values.dtype).flatten(0, 1), values)
        return context.reshape(self.heads, -1, value.shape[-1]).transpose(0, 1).flatten(1)

    def _position_terms(self, query: torch.Tensor, key: torch.Tensor) -> Iterator[torch.Tensor]:
        """DeBERTa's terms of content and position, each [heads, texts, tokens, tokens]."""
        heads, texts, length = key.shape[:3]
        row = 2 * length - 1
        for content, positions, strides in (
            (query, self.position_keys, (row - 1, 1)),
            (key, self.position_queries, (1, row - 1)),
        ):
            if positions is not None:
                start = positions.shape[1] // 2 + 1 - length
                terms = by_head(
                    content.flatten(1, 2), positions[:, start : start + row], self.kernel
                )
                size = (heads, texts, length, length)
                yield terms.as_strided(
                    size, (texts * length * row, length * row, *strides), length - 1
                )


class Encoder(nn.Module):
    """Embeddings and layers of a model of transformers, whose layers it takes out one by one.

    Args:
        model: ``BertModel``, ``RemBertModel`` or ``DebertaModel`` in evaluation mode.
        longest: tokens of the longest text, with padding.
        first: compute the vector of the first token alone.
    """

    def __init__(self, model: Any, longest: int, first: bool = False) -> None:
        super().__init__()
        relative = getattr(model.encoder, "relative_attention", False)
        assert not (first and relative), (
            "the views of relative positions are of queries for all tokens"
        )
        self.embeddings = model.embeddings
        into = getattr(model.encoder, "embedding_hidden_mapping_in", None)
        self.into = None if into is None else _linear(into)
        self.first = first
        self.positions: torch.Tensor | None
        self.register_buffer("positions", None)
        if relative:
            span = model.encoder.max_relative_positions
            rows = (torch.arange(1 - longest, longest) + span).clamp(0, 2 * span - 1)
            self.positions = model.encoder.rel_embeddings.weight[rows]
        self.layers = nn.ModuleList()
        old, model.encoder.layer = list(model.encoder.layer), None
        while old:
            self.layers.append(Layer(old.pop(0), model.config.num_attention_heads))

    def prepare(self, kernel: str) -> None:
        """Pack the weights for `kernel`, on the device where they are."""
        for layer in self.layers:
            assert isinstance(layer, Layer)
            layer.prepare(kernel, self.positions)
        self.positions = None
        if self.into is not None and kernel == "onednn":
            self.into.pack()

    def forward(
        self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Vectors of the last layer, [texts, length, width] ([texts, width] with `first`).

        ids: tokens; mask: 1, and 0 for padding; types: token types, 0 if None; all [texts, length].
        """
        x = self.embeddings(input_ids=ids, token_type_ids=types).flatten(0, 1)
        groups, added, tokens = [tuple(ids.shape)], None, None
        if not bool(mask.all()):
            if x.device.type == "cpu" and x.dtype == torch.float32:
                tokens = mask.flatten().bool()
                x = x[tokens]
                groups = [(len([*same]), length) for length, same in groupby(mask.sum(1).tolist())]
            # Products of bfloat16 are many times slower on odd sizes, and a GPU would wait for the
            # next group
            else:
                added = torch.zeros_like(mask, dtype=x.dtype).masked_fill_(mask == 0, -torch.inf)[
                    :, None
                ]
        x = x if self.into is None else self.into(x)
        for number, layer in enumerate(self.layers, 1):
            x = layer(x, groups, added, self.first and number == len(self.layers))
        if self.first:
            return x
        if tokens is not None:
            x = x.new_zeros(len(tokens), x.shape[1]).index_put_((tokens,), x)
        return x.unflatten(0, ids.shape)


def _linear(linear: Any) -> Linear:
    return Linear(linear.weight, linear.bias)
