"""The encoder that BERT, RemBERT and DeBERTa (version 1) share, for inference.

transformers builds and checks the model; `Encoder` takes its weights over. In place of a gather for
every pair of positions, DeBERTa's relative terms are strided views: with the positions in falling
order, the term of query i and key j stands at i * (row + 1 place to the left) + j. The projections
of the positions depend on no text, and are computed once, in the memory of the weights that they
replace. On a CPU, texts stand one after the other without padding; only those of equal length share
a product of the attention.
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
"""The number of texts that follow each other, and the tokens of each."""


class Norm(nn.Module):
    """Layer normalisation with the weights of another module.

    Args:
        norm: ``nn.LayerNorm``, or DeBERTa's own class of the same formula.
    """

    def __init__(self, norm: Any) -> None:
        super().__init__()
        self.weight = norm.weight
        self.bias = norm.bias
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
        """Take over the weights of a layer of transformers."""
        from transformers.activations import GELUActivation

        super().__init__()
        self.heads = heads
        self.kernel = "torch"
        # DeBERTa's projections of positions, until `prepare` has applied them.
        self.project_keys: Linear | None = None
        self.project_queries: Linear | None = None
        self.position_keys: torch.Tensor | None
        self.position_queries: torch.Tensor | None
        self.register_buffer("position_keys", None)
        self.register_buffer("position_queries", None)
        attention = layer.attention.self
        terms = 1  # summed to the score of a query and a key: content, and DeBERTa's positions
        if hasattr(attention, "in_proj"):
            self._take_deberta_attention(attention)
            terms += len(attention.pos_att_type)
        else:
            self._take_bert_attention(attention)
        self.scale = (self.query.weight.shape[0] // heads * terms) ** -0.5
        self.output = _linear(layer.attention.output.dense)
        self.output_norm = Norm(layer.attention.output.LayerNorm)
        self.inner = _linear(layer.intermediate.dense)
        self.activation = layer.intermediate.intermediate_act_fn
        # Whether the inner linear layer can apply the activation itself.
        self.fused = (
            isinstance(self.activation, GELUActivation)
            and self.activation.act is nn.functional.gelu
        )
        self.outer = _linear(layer.output.dense)
        self.outer_norm = Norm(layer.output.LayerNorm)

    def _take_deberta_attention(self, attention: Any) -> None:
        """Take over DeBERTa's weights of queries, keys, values and positions."""
        # The rows of `in_proj` are ordered by head, and by query, key, value within a head.
        by_head_and_part = attention.in_proj.weight.unflatten(0, (self.heads, 3, -1))
        rows = by_head_and_part.transpose(0, 1).flatten(1, 2)  # [3, heads * width, inputs]
        self.query = Linear(rows[0].clone(), attention.q_bias)
        # Keys have no bias.
        biases = torch.cat([torch.zeros_like(attention.v_bias), attention.v_bias])
        self.key_value = Linear(rows[1:].flatten(0, 1).clone(), biases)
        if attention.relative_attention and "c2p" in attention.pos_att_type:
            self.project_keys = _linear(attention.pos_proj)
        if attention.relative_attention and "p2c" in attention.pos_att_type:
            self.project_queries = _linear(attention.pos_q_proj)

    def _take_bert_attention(self, attention: Any) -> None:
        """Take over the weights of queries, keys and values of BERT or RemBERT."""
        self.query = _linear(attention.query)
        key, value = attention.key, attention.value
        self.key_value = Linear(
            torch.cat([key.weight, value.weight]), torch.cat([key.bias, value.bias])
        )

    def prepare(self, kernel: str, positions: torch.Tensor | None) -> None:
        """Pack the weights for a kernel, and project the embeddings of the positions.

        Args:
            kernel: the library of the linear layers, ``torch`` or ``onednn``.
            positions: embeddings of relative positions in rising order, [positions, width]; None
                for a model without them.
        """
        self.kernel = kernel
        for module in self.children():
            if isinstance(module, Linear) and kernel == "onednn":
                module.pack()
        if positions is None:
            return
        if self.project_keys is not None:
            # Falling positions: see `_position_terms`.
            self.position_keys = self._by_head(self.project_keys(positions.flip(0)) * self.scale)
        if self.project_queries is not None:
            self.position_queries = self._by_head(self.project_queries(positions) * self.scale)
        self.project_keys = None
        self.project_queries = None

    def forward(
        self,
        x: torch.Tensor,
        groups: Sequence[Group],
        mask: torch.Tensor | None,
        first: bool = False,
    ) -> torch.Tensor:
        """The vectors of all tokens after this layer, or those of each text's first token.

        Args:
            x: vectors of the tokens of all groups, [tokens, width].
            groups: how the tokens divide into texts.
            mask: added to the scores of the keys, [texts, 1, length]; there is one group then.
                None: nothing is added.
            first: whether only each text's first token is computed.

        Returns:
            [tokens, width]; with `first`, [texts, width].
        """
        group_sizes = [texts * length for texts, length in groups]
        query_sizes = group_sizes
        source = x
        if first:
            source = _first_tokens(x, groups)
            query_sizes = [texts for texts, _ in groups]
        queries_by_group = self.query(source).split(query_sizes)
        keys_values_by_group = self.key_value(x).split(group_sizes)
        contexts: list[torch.Tensor] = []
        for (texts, _), queries, keys_values in zip(
            groups, queries_by_group, keys_values_by_group, strict=True
        ):
            # [key or value, heads, tokens of the group, width]
            by_part = keys_values.unflatten(1, (2, self.heads, -1)).permute(1, 2, 0, 3)
            keys, values = by_part.contiguous()
            contexts.append(
                self._attend(
                    self._by_head(queries).unflatten(1, (texts, -1)),
                    keys.unflatten(1, (texts, -1)),
                    values.unflatten(1, (texts, -1)),
                    mask,
                )
            )
        context = contexts[0] if len(contexts) == 1 else torch.cat(contexts)
        attended = self.output_norm(self.output(context, add=source))
        inner = self.inner(attended, with_gelu=self.fused)
        if not self.fused:
            inner = self.activation(inner)
        return self.outer_norm(self.outer(inner, add=attended))

    def _by_head(self, x: torch.Tensor) -> torch.Tensor:
        """Vectors [n, heads * width] as [heads, n, width]."""
        return x.unflatten(1, (self.heads, -1)).transpose(0, 1).contiguous()

    def _attend(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None
    ) -> torch.Tensor:
        """The attention of each text to its own tokens, [texts * tokens, heads * width].

        Args:
            query, key, value: [heads, texts, tokens, width] each.
            mask: added to the scores of the keys, [texts, 1, tokens]; None: nothing is added.
        """
        terms = list(self._position_terms(query, key))
        if mask is not None:
            terms.append(mask)
        if query.device.type != "cpu":
            bias = reduce(torch.add, terms) if terms else None
            context = scaled_dot_product_attention(
                query, key, value, attn_mask=bias, scale=self.scale
            )
        else:
            # On a CPU torch's fused attention is slower, and so is a softmax of bfloat16.
            queries, keys, values = (part.flatten(0, 1) for part in (query, key, value))
            products = torch.bmm(queries, keys.transpose(1, 2)).float()
            scores = products.mul_(self.scale).unflatten(0, key.shape[:2])
            for term in terms:
                scores += term
            weights = torch.softmax(scores, -1).to(values.dtype)
            context = torch.bmm(weights.flatten(0, 1), values)
        return context.reshape(self.heads, -1, value.shape[-1]).transpose(0, 1).flatten(1)

    def _position_terms(self, query: torch.Tensor, key: torch.Tensor) -> Iterator[torch.Tensor]:
        """Yield DeBERTa's terms of content and position, each [heads, texts, tokens, tokens].

        Args:
            query, key: [heads, texts, tokens, width] each.
        """
        heads, texts, length = key.shape[:3]
        row = 2 * length - 1  # the relative positions of two tokens of a text
        # Queries against the positions of keys, then keys against those of queries: content,
        # positions, and the strides from one query and from one key to the next.
        for content, positions, strides in (
            (query, self.position_keys, (row - 1, 1)),
            (key, self.position_queries, (1, row - 1)),
        ):
            if positions is None:  # a model without positions of this kind
                continue
            # The positions of the longest text are there; those of this length are the middle.
            start = positions.shape[1] // 2 + 1 - length
            positions_of_text = positions[:, start : start + row]
            # [heads, texts * tokens, row]: each token of the content with each position
            terms = by_head(content.flatten(1, 2), positions_of_text, self.kernel)
            # Of the row of a token only `length` positions occur, one place further to the left for
            # each token: a view picks them (see the docstring of the module).
            yield terms.as_strided(
                (heads, texts, length, length),
                (texts * length * row, length * row, *strides),
                storage_offset=length - 1,
            )


def _first_tokens(x: torch.Tensor, groups: Sequence[Group]) -> torch.Tensor:
    """The vector of each text's first token, [texts, width], of vectors [tokens, width]."""
    group_sizes = [texts * length for texts, length in groups]
    first_tokens: list[torch.Tensor] = []
    for rows, group in zip(x.split(group_sizes), groups, strict=True):
        first_tokens.append(rows.unflatten(0, group)[:, 0])
    return torch.cat(first_tokens)


class Encoder(nn.Module):
    """Embeddings and layers of a model of transformers, whose layers it takes out one by one.

    Args:
        model: ``BertModel``, ``RemBertModel`` or ``DebertaModel`` in evaluation mode. It is of no
            use afterwards.
        longest: tokens of the longest text, with padding.
        first: compute the vector of the first token alone.
    """

    def __init__(self, model: Any, longest: int, first: bool = False) -> None:
        """Take over the embeddings and layers of a model of transformers."""
        super().__init__()
        is_relative = getattr(model.encoder, "relative_attention", False)
        assert not (first and is_relative), (
            "the views of relative positions are of queries for all tokens"
        )
        self.embeddings = model.embeddings
        # RemBERT's embeddings are narrower than its layers.
        widening = getattr(model.encoder, "embedding_hidden_mapping_in", None)
        self.into = None if widening is None else _linear(widening)
        self.first = first
        self.positions: torch.Tensor | None
        self.register_buffer("positions", None)
        if is_relative:
            span = model.encoder.max_relative_positions
            distances = torch.arange(1 - longest, longest)
            rows = (distances + span).clamp(0, 2 * span - 1)
            self.positions = model.encoder.rel_embeddings.weight[rows]
        self.layers = nn.ModuleList()
        # The model lets go of each layer once it is taken over, so that memory holds one copy.
        layers_left = list(model.encoder.layer)
        model.encoder.layer = None
        while layers_left:
            self.layers.append(Layer(layers_left.pop(0), model.config.num_attention_heads))

    def prepare(self, kernel: str) -> None:
        """Pack the weights for a kernel, on the device where they are.

        Args:
            kernel: the library of the linear layers, ``torch`` or ``onednn``.
        """
        for layer in self.layers:
            assert isinstance(layer, Layer)
            layer.prepare(kernel, self.positions)
        self.positions = None
        if self.into is not None and kernel == "onednn":
            self.into.pack()

    def forward(
        self, ids: torch.Tensor, mask: torch.Tensor, types: torch.Tensor | None = None
    ) -> torch.Tensor:
        """The vectors of all tokens after the last layer, or those of each text's first token.

        Args:
            ids: tokens, [texts, length].
            mask: 1, and 0 for padding, [texts, length].
            types: token types, [texts, length]; None: all 0.

        Returns:
            [texts, length, width]; of an encoder with `first`, [texts, width].
        """
        x = self.embeddings(input_ids=ids, token_type_ids=types).flatten(0, 1)
        groups: list[Group] = [(ids.shape[0], ids.shape[1])]
        key_mask: torch.Tensor | None = None
        is_token: torch.Tensor | None = None  # where padding is dropped: which places are tokens
        if not bool(mask.all()):  # there is padding: drop it, or else give it no weight
            if x.device.type == "cpu":
                is_token = mask.flatten().bool()
                x = x[is_token]
                groups = _groups_of_equal_length(mask.sum(1).tolist())
            else:
                # A GPU would wait for the next group, and its products of bfloat16 are many times
                # slower on odd sizes.
                zeros = torch.zeros_like(mask, dtype=x.dtype)
                key_mask = zeros.masked_fill_(mask == 0, -torch.inf)[:, None]
        if self.into is not None:
            x = self.into(x)
        for number, layer in enumerate(self.layers, 1):
            is_last = number == len(self.layers)
            x = layer(x, groups, key_mask, self.first and is_last)
        if self.first:
            return x
        if is_token is not None:  # zeros where padding was dropped, so that the shape fits again
            x = x.new_zeros(len(is_token), x.shape[1]).index_put_((is_token,), x)
        return x.unflatten(0, ids.shape)


def _groups_of_equal_length(lengths: Sequence[int]) -> list[Group]:
    """The texts in groups of neighbours that have as many tokens."""
    return [(len(list(group)), length) for length, group in groupby(lengths)]


def _linear(linear: Any) -> Linear:
    return Linear(linear.weight, linear.bias)
