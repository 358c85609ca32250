"""Count the operations of a scoring run, measure a machine's matmul peak, split a run's seconds.

Used by ``explanation_score.py``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeAlias
from unittest.mock import patch

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils.hooks import RemovableHandle

from figlang_tasks.metrics.explanation import encoder
from figlang_tasks.metrics.explanation.bertscore import BertScore
from figlang_tasks.metrics.explanation.bleurt import Bleurt
from figlang_tasks.metrics.explanation.compute import Pair, exact_float32
from figlang_tasks.metrics.explanation.encoder import Encoder, Layer, Norm
from figlang_tasks.metrics.explanation.kernels import Linear, kernels

Clock: TypeAlias = Callable[[], float]
Scorer: TypeAlias = BertScore | Bleurt


def clock_of(device: str) -> Clock:
    """Return the clock of a run: CPU time of one thread, else the wall's."""
    if device.startswith("cuda"):

        def wait_and_read() -> float:
            torch.cuda.synchronize()
            return time.perf_counter()

        return wait_and_read
    return time.process_time if torch.get_num_threads() == 1 else time.perf_counter


# --- operations ---


@dataclass(frozen=True)
class EncoderSize:
    """What the operations of an encoder depend on.

    Attributes:
        width: of a token's vector.
        inner: width of the inner linear layer.
        layers: their number.
        position_terms: of DeBERTa's attention, 2: content with position, position with content.
        embedding: width of embeddings that a linear layer widens; 0: there is no such layer.
        is_first_alone: whether the last layer computes the first token alone.
    """

    width: int
    inner: int
    layers: int
    position_terms: int = 0
    embedding: int = 0
    is_first_alone: bool = False


def encoder_operations(size: EncoderSize, lengths: Sequence[int]) -> float:
    """Return the floating point operations that texts need: linear layers, and attention.

    A multiplication and an addition count as two. Not counted: padding, relative positions that two
    tokens of the text cannot have, softmax, norms, GELU and biases.

    Args:
        size: of the encoder.
        lengths: tokens of each text.
    """
    operations = 0.0
    for tokens in lengths:
        operations += 2 * tokens * size.embedding * size.width
        for layer in range(size.layers):
            is_last = layer == size.layers - 1
            queries = 1 if size.is_first_alone and is_last else tokens
            keys_and_values = 2 * tokens * 2 * size.width**2
            of_queries = 2 * queries * (2 * size.width**2 + 2 * size.width * size.inner)
            # Each query with each key: the content, the terms of positions, the sum of values.
            products = 2 * queries * tokens * size.width * (2 + size.position_terms)
            operations += keys_and_values + of_queries + products
    return operations


def bertscore_operations(scorer: BertScore, size: EncoderSize, pairs: Sequence[Pair]) -> float:
    """Return the operations of BERTScore: each text is encoded once, each pair matched once."""
    texts = sorted({text for pair in pairs for text in pair})
    lengths = [len(ids) for ids in scorer.token_ids(texts)]
    tokens_of_text = dict(zip(texts, lengths, strict=True))
    operations = encoder_operations(size, lengths)
    for reference, candidate in set(pairs):
        operations += 2 * tokens_of_text[reference] * tokens_of_text[candidate] * size.width
    return operations


def bleurt_operations(scorer: Bleurt, size: EncoderSize, pairs: Sequence[Pair]) -> float:
    """Return the operations of BLEURT: each pair is encoded once."""
    tokenizer = scorer._tokenizer
    lengths: list[int] = []
    for reference, candidate in set(pairs):
        ids, _ = tokenizer.join(tokenizer.ids(reference), tokenizer.ids(candidate))
        lengths.append(len(ids))
    return encoder_operations(size, lengths)


# --- the peak of the machine ---

PEAK_SIZE = 2048  # rows, inputs and outputs
PEAK_TURNS = 2


class MatmulPeak:
    """Measures the operations per second of a large square product, by the quickest kernel.

    Args:
        dtype: that it is computed in.
        device: a torch device.
        size: rows, inputs and outputs of the product.

    Attributes:
        dtype: its name.
    """

    def __init__(self, dtype: torch.dtype, device: str, size: int = PEAK_SIZE) -> None:
        """Make a layer for each kernel that scoring may choose."""
        self.dtype = str(dtype).removeprefix("torch.")
        self._device = device
        self._operations = 2.0 * size**3
        self._x = torch.randn(size, size).to(device, dtype)
        self._layers: list[Linear] = []
        for kernel in kernels(dtype) if device == "cpu" else ["torch"]:
            layer = Linear(torch.randn(size, size).to(device, dtype), None)
            if kernel == "onednn":
                layer.pack()
            self._layers.append(layer)

    def measure(self) -> float:
        """Return the operations per second of the best of a few products."""
        clock = clock_of(self._device)
        best = float("inf")
        with torch.inference_mode(), exact_float32():
            for _ in range(PEAK_TURNS):
                for layer in self._layers:
                    start = clock()
                    layer(self._x)
                    best = min(best, clock() - start)
        return self._operations / best


# --- where the time goes ---

LINEAR, ATTENTION = "linear layers, with GELU", "attention: copies, scaling, sums"
PRODUCTS, POSITIONS = "attention: products", "attention: products with positions"
SOFTMAX, NORM, EMBEDDING = "attention: softmax", "layer norm", "embeddings"
TOKENISING, MATCHING = "tokenising", "matching of tokens"
REST = "rest: cache, batches, padding, head"
PARTS = (
    LINEAR,
    PRODUCTS,
    POSITIONS,
    SOFTMAX,
    ATTENTION,
    NORM,
    EMBEDDING,
    TOKENISING,
    MATCHING,
    REST,
)


class PartTimer:
    """Adds up the seconds of each part of a run; a part inside another is taken out of it.

    Args:
        clock: returns seconds.

    Attributes:
        seconds: by the name of the part; what is in no part is `REST`.
    """

    def __init__(self, clock: Clock) -> None:
        self.seconds: dict[str, float] = dict.fromkeys(PARTS, 0.0)
        self._clock = clock
        self._open_parts = [REST]
        self._since = 0.0

    def start(self) -> None:
        """Begin the run."""
        self._since = self._clock()

    def stop(self) -> None:
        """End the run."""
        self._add()

    @property
    def part(self) -> str:
        """The part that runs now."""
        return self._open_parts[-1]

    def enter(self, part: str) -> None:
        """Begin a part."""
        self._add()
        self._open_parts.append(part)

    def leave(self) -> None:
        """End the part that began last."""
        self._add()
        self._open_parts.pop()

    def _add(self) -> None:
        """Add the time since the last change to the part that it belongs to."""
        now = self._clock()
        self.seconds[self.part] += now - self._since
        self._since = now

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return `function`, its time added to a part."""

        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            self.enter(part)
            output = function(*args, **options)
            self.leave()
            return output

        return call

    def watch(self, module: nn.Module, part: str) -> list[RemovableHandle]:
        """Add the time of a module to a part; return the hooks that do so."""

        def before(module: nn.Module, inputs: Any) -> None:
            self.enter(part)

        def after(module: nn.Module, inputs: Any, output: Any) -> None:
            self.leave()

        return [module.register_forward_pre_hook(before), module.register_forward_hook(after)]


class _AttentionMode(TorchFunctionMode):
    """Tells the products and the softmax of the attention from the rest of it."""

    def __init__(self, timer: PartTimer) -> None:
        super().__init__()
        self._timer = timer

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        part = {torch.bmm: PRODUCTS, torch.softmax: SOFTMAX}.get(function)
        if part is not None and self._timer.part == ATTENTION:
            function = self._timer.timed(part, function)
        return function(*args, **(kwargs or {}))


def seconds_of_parts(scorer: Scorer, run: Callable[[], Any], clock: Clock) -> dict[str, float]:
    """Return the seconds of a run of a scorer, by part; they sum to those of the run.

    Args:
        scorer: that `run` scores with.
        run: a function.
        clock: returns seconds.
    """
    timer = PartTimer(clock)
    hooks: list[RemovableHandle] = []
    with ExitStack() as patches:
        for module in scorer.runner.model.modules():
            part = _part_of(module)
            if part:
                hooks += timer.watch(module, part)
            if isinstance(module, Encoder):
                hooks += timer.watch(module.embeddings, EMBEDDING)
        for hook in hooks:
            patches.callback(hook.remove)
        functions: list[tuple[Any, str, str]] = [(encoder, "by_head", POSITIONS)]
        if isinstance(scorer, BertScore):
            functions += [(scorer, "token_ids", TOKENISING), (scorer, "_match", MATCHING)]
        else:
            functions += [(scorer._tokenizer, name, TOKENISING) for name in ("ids", "join")]
        for owner, name, part in functions:
            timed = timer.timed(part, getattr(owner, name))
            patches.enter_context(patch.object(owner, name, timed))
        patches.enter_context(_AttentionMode(timer))
        timer.start()
        run()
        timer.stop()
    return timer.seconds


def _part_of(module: nn.Module) -> str | None:
    """Return the part that the time of a module belongs to; None: that of the outer module."""
    if isinstance(module, Linear):
        return LINEAR
    if isinstance(module, Norm):
        return NORM
    return ATTENTION if isinstance(module, Layer) else None
