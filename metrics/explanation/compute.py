"""Runs a metric model: looks scores up, picks the device, fills batches by a budget, survives
running out of memory.
"""

from __future__ import annotations

import gc
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, TypeAlias, TypeVar

import torch
from loguru import logger
from torch import nn

from .cache import ScoreCache
from .encoder import Encoder
from .kernels import FLOAT32, choose

DType: TypeAlias = Literal["fp32", "fast"]
"""``fp32`` for official results; ``fast`` is bfloat16. Where a CPU is faster in float32, only the
weights are.
"""

Pair: TypeAlias = tuple[str, str]
"""A reference and a candidate."""

ALGORITHM = 3  # bump it when scores change: the cache then gives none of the old ones

MULTIPLE = 8
"""Batches are padded to a multiple of this length: bfloat16 kernels are many times slower on odd
sizes.
"""

GPU_TOKENS, CPU_TOKENS = 32_768, 2_048
"""Padded tokens of a batch, which bound the memory, whatever the number of texts."""

_Result = TypeVar("_Result")


class Runner:
    """Holds one model on one device: ``auto`` is the emptiest GPU; where it is too full, the
    CPU.
    """

    def __init__(self, load: Callable[[torch.dtype], nn.Module], device: str, dtype: DType) -> None:
        if dtype not in ("fp32", "fast"):
            raise ValueError(
                f"dtype is {dtype!r}; valid: 'fp32' (official results), 'fast' (bfloat16)"
            )
        if device != "auto":
            try:
                torch.empty(0, device=device)
            except (
                RuntimeError,
                AssertionError,
            ) as error:  # the second: torch was built without it
                valid = "valid: auto, cpu, and what torch has here of cuda:0, mps ..."
                raise ValueError(f"device is {device!r}; {valid}") from error
        self._load = load
        self._wanted = device
        self.dtype = torch.float32 if dtype == "fp32" else torch.bfloat16
        self.loaded: nn.Module | None = None
        self.device = torch.device("cpu")  # until the model is loaded
        self.tokens: int | None = None  # of a batch, if not as many as is usual on the device

    @property
    def model(self) -> nn.Module:
        """The model, loaded and moved to its device at the first call."""
        if self.loaded is None:
            model = self._load(self.dtype)
            self.device = self.choose_device()
            moved = attempt(lambda: _on(model, self.device, self.dtype))
            if moved is None and self.device.type == "cpu":
                raise MemoryError("not enough memory for the metric model")
            self.loaded = moved or self._on_cpu(model)
        return self.loaded

    @property
    def kernel(self) -> str:
        """The library of the linear layers, on which the last digits of a score depend; known
        before a model is loaded.

        That of a CPU is chosen by its speed (`kernels.choose`).
        """
        device = self.choose_device() if self.loaded is None else self.device
        return kernel_on(device, self.dtype)[0]

    @property
    def budget(self) -> int:
        """Padded tokens of a batch: fewer than at first where the memory did not do."""
        return self.tokens or (CPU_TOKENS if self.device.type == "cpu" else GPU_TOKENS)

    def release(self) -> None:
        """Let go of the model and its memory; it is loaded again when it is needed."""
        self.loaded, self.tokens = None, None
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def batches(
        self, lengths: Sequence[int], step: Callable[[int, int], _Result]
    ) -> Iterator[tuple[int, int, _Result]]:
        """Yield ``(start, stop, step(start, stop))`` for consecutive ranges that cover `lengths`
        (tokens, falling).

        A range holds as many items as fit into the budget when all are padded to the longest. Out
        of memory halves the budget and tries again, at last on the CPU; what was yielded stays.
        """
        if lengths:
            self.model  # noqa: B018  (chooses device and budget)
        start = 0
        while start < len(lengths):
            width = padded(lengths[start])
            stop = start + min(max(1, self.budget // width), len(lengths) - start)
            result = attempt(partial(step, start, stop))
            if result is None:
                self._shrink(stop - start, width)
                continue
            yield start, stop, result
            start = stop

    def _shrink(self, items: int, width: int) -> None:
        if items > 1:
            self.tokens = max(width, items * width // 2)
            logger.warning(
                f"figlang: out of memory on {self.device}; {self.tokens} tokens a batch from now on"
            )
        elif self.device.type != "cpu":
            assert self.loaded is not None
            self.loaded = self._on_cpu(self.loaded)
        else:
            raise MemoryError(f"not enough memory to score one text of {width} tokens")

    def _on_cpu(self, model: nn.Module) -> nn.Module:
        logger.warning(
            f"figlang: {self.device} is too full; scoring explanations on the CPU instead"
        )
        self.device = torch.device("cpu")
        self.tokens = None
        return _on(model, self.device, self.dtype)

    def choose_device(self) -> torch.device:
        if self._wanted != "auto":
            return torch.device(self._wanted)
        if torch.cuda.is_available():
            return torch.device("cuda", max(range(torch.cuda.device_count()), key=_free_bytes))
        return torch.device("cpu")


class PairModel(ABC):
    """Scores pairs with one model by way of a cache; `identity` names all that decides a score
    beside the dtype.

    Attributes:
        bounds: the least and the greatest score that the model can give, with some room for
            rounding.
    """

    bounds: tuple[float, float]

    def __init__(self, identity: str, device: str, dtype: DType, cache: ScoreCache) -> None:
        self.identity = identity
        self._cache = cache
        self._cache_id = f"{identity},{dtype},algorithm:{ALGORITHM}"
        self.runner = Runner(self._load, device, dtype)

    def score(
        self, pairs: Sequence[Pair], advance: Callable[[int], object] = lambda done: None
    ) -> dict[Pair, float]:
        """The score of every distinct pair; `advance` gets the number of pairs just done."""
        known = self._cache.scores(self._cache_id, set(pairs), self.bounds)
        advance(len(known))
        left = set(pairs) - known.keys()
        with torch.inference_mode(), exact_float32():
            for scores in self._computed(left) if left else ():
                self._cache.store(self._cache_id, scores)
                known |= scores
                advance(len(scores))
        return known

    @abstractmethod
    def _load(self, dtype: torch.dtype) -> nn.Module:
        """The network, in a dtype."""

    @abstractmethod
    def _computed(self, pairs: set[Pair]) -> Iterator[Mapping[Pair, float]]:
        """Yield the scores of all pairs, part by part.

        If a run stops after some parts, the next one, given the pairs that are left, must yield the
        same other parts: a score may depend on its part in the last digit.
        """


def _free_bytes(index: int) -> int:
    try:
        return torch.cuda.mem_get_info(index)[0]
    except RuntimeError:  # a GPU so full that not even a context fits
        return 0


def padded(length: int) -> int:
    """`length` rounded up to a multiple of `MULTIPLE`."""
    return -(-length // MULTIPLE) * MULTIPLE


def pad_ids(ids: Sequence[Sequence[int]], value: int, device: torch.device) -> torch.Tensor:
    """int64 tensor of shape [n, padded(longest)], filled up with `value`."""
    width = padded(max(map(len, ids)))
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in ids], device=device)


def without_surrogates(text: str) -> str:
    """`text` with U+FFFD for each half of a surrogate pair, which is no text and which tokenizers
    refuse.
    """
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "ALLOC_FAILED")
"""Words of errors that have no class of their own: of torch's allocator for the CPU, of the
libraries of a full GPU.
"""


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error says that memory did not suffice."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _OUT_OF_MEMORY)


def attempt(work: Callable[[], _Result]) -> _Result | None:
    """The result of `work`; None if it ran out of memory, which is then free again."""
    try:
        return work()
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        logger.info(f"figlang: out of memory: {' '.join(str(error).split())[:300]}")
    # Only here: as long as the exception is handled, its traceback holds the tensors.
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return None


@contextmanager
def exact_float32() -> Iterator[None]:
    """A context in which products and convolutions of float32 use neither TensorFloat-32 nor
    bfloat16.
    """
    known: Any = torch.backends
    backends = [known.cuda.matmul, known.cudnn.conv, known.mkldnn.matmul, known.mkldnn.conv]
    before = [backend.fp32_precision for backend in backends]
    try:
        for backend in backends:
            backend.fp32_precision = "ieee"
        yield
    finally:
        for backend, precision in zip(backends, before, strict=True):
            backend.fp32_precision = precision


def kernel_on(device: torch.device, dtype: torch.dtype) -> tuple[str, torch.dtype]:
    """The library of linear layers that is quickest for weights of `dtype` on a device, and what it
    computes in.
    """
    if device.type != "cpu":
        return f"torch, {device.type}", dtype
    kernel = choose(dtype)
    if kernel == FLOAT32:
        return choose(torch.float32), torch.float32
    return kernel, dtype


def _on(model: nn.Module, device: torch.device, dtype: torch.dtype) -> nn.Module:
    """`model`, whose weights are of `dtype`, on `device`, its encoder with the kernels that are
    quickest there.
    """
    model = model.to(device)
    with torch.inference_mode(), exact_float32():
        kernel, computed_in = kernel_on(device, dtype)
        if computed_in != dtype:
            logger.warning(
                "figlang: dtype 'fast' computes in float32 here, with weights rounded to bfloat16:"
                " it is less exact than 'fp32', and no faster than 'fp32'"
            )
            model = model.float()
        for module in model.modules():
            if isinstance(module, Encoder):
                module.prepare(kernel)
    return model
