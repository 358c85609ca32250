"""One prompt for many texts: its cache and other model inputs, for as many rows as texts."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch
from transformers.cache_utils import Cache, DynamicLayer, DynamicSlidingWindowLayer, StaticLayer

if TYPE_CHECKING:
    from transformers.cache_utils import CacheLayerMixin


class SharedPrefix(Cache):
    """The cache of one prefix, seen by several sequences that go on from it.

    The prefix stays as it is: what sequences add is forgotten after each forward pass. Keys and
    values of plain layers are views. Other layers (states of linear attention, which change) are
    copied for each sequence.
    """

    def __init__(self, prefix: Cache | None, rows: int) -> None:
        """Share the cache of a prefix.

        Args:
            prefix: the cache after the prefix, a batch of one.
            rows: the number of sequences.

        Raises:
            TypeError: the model has no cache, or one that cannot be shared.
        """
        prefix_layers = getattr(prefix, "layers", None)
        if not prefix_layers:
            raise TypeError(f"a cache of {type(prefix).__name__} / NoneType cannot be shared")
        layers: list[CacheLayerMixin] = []
        for layer in prefix_layers:
            if isinstance(layer, StaticLayer):
                raise TypeError(
                    f"a cache of {type(prefix).__name__} / {type(layer).__name__} cannot be shared"
                )
            # Not isinstance: a subclass may hold more than keys and values.
            if type(layer) in (DynamicLayer, DynamicSlidingWindowLayer):
                layers.append(_viewed_by_rows(layer, rows))
            else:
                layers.append(_copied_for_rows(layer, rows))
        super().__init__(layers=layers)

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        layer_idx: int,
        *args: Any,
        **kwargs: Any,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The keys and values of prefix and sequences, [rows, heads, positions, size].

        A copy of the layer is updated, so that the prefix stays as it is.
        """
        layer = copy.copy(self.layers[layer_idx])
        return layer.update(key_states, value_states, *args, **kwargs)


def for_rows(name: str, model_input: object, rows: int) -> object:
    """A model input of one row, repeated for `rows` rows.

    An input that is no tensor, has one dimension, or has several rows already stays as it is.

    Args:
        name: the model's name for it.
        model_input: what ``prepare_inputs_for_generation`` made.
        rows: the number of rows.
    """
    if not isinstance(model_input, torch.Tensor) or model_input.dim() < 2:
        return model_input
    if name == "image_encoder_embeddings":
        # Idefics 1 (transformers 5.24) views rows and pictures as one dimension, for which it needs
        # copies: `rows` of them along the first dimension, one along each other.
        return model_input.repeat(rows, *[1] * (model_input.dim() - 1))
    row_dimension = 0
    if name == "position_ids":  # [rows, positions] or, for Qwen-VL, [3, rows, positions]
        row_dimension = model_input.dim() - 2
    if model_input.shape[row_dimension] != 1:  # several rows already
        return model_input
    sizes = list(model_input.shape)
    sizes[row_dimension] = rows
    return model_input.expand(*sizes)


def _viewed_by_rows(layer: DynamicLayer, rows: int) -> DynamicLayer:
    """A layer whose keys and values are seen by so many rows, without a copy of them."""
    view = copy.copy(layer)
    if view.is_initialized:
        view.keys = view.keys.expand(rows, -1, -1, -1)
        view.values = view.values.expand(rows, -1, -1, -1)
    return view


def _copied_for_rows(layer: CacheLayerMixin, rows: int) -> CacheLayerMixin:
    """A layer with a copy of its states for each of so many rows."""
    layer_copy = copy.deepcopy(layer)
    layer_copy.reorder_cache(torch.zeros(rows, dtype=torch.long))  # row 0 for each
    return layer_copy
