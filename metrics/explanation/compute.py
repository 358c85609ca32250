"""Runs a metric model: looks up scores, picks the device, fills batches, survives a full memory."""

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
"""``fp32`` for official results; ``fast`` is bfloat16.

On a CPU that is faster in float32, ``fast`` has weights in bfloat16 and computes in float32.
"""

Pair: TypeAlias = tuple[str, str]
"""A reference and a candidate."""

ALGORITHM = 3  # bump it when scores change: the cache then gives none of the old ones

MULTIPLE = 8
"""Batches are padded to a multiple of this length.

bfloat16 kernels are many times slower on odd sizes.
"""

GPU_TOKENS = 32_768
CPU_TOKENS = 2_048
"""Padded tokens of a batch, which bound the memory, whatever the number of texts."""

_Result = TypeVar("_Result")


class Runner:
    """Holds one model on one device, and runs its batches.

    Args:
        load: loads the model, with weights of a dtype.
        device: a torch device; ``auto`` for the GPU with the most free memory, or the CPU where
            there is none or it is too full.
        dtype: ``fp32`` or ``fast``.

    Attributes:
        dtype: of the weights.
        loaded: the model; None until it is needed.
        device: where the model is; the CPU until it is loaded.
        tokens: padded tokens of a batch, if not as many as is usual on the device, else None.

    Raises:
        ValueError: another dtype, or a device that torch does not have here.
    """

    def __init__(self, load: Callable[[torch.dtype], nn.Module], device: str, dtype: DType) -> None:
        """Check device and dtype; the model is loaded when it is needed."""
        if dtype not in ("fp32", "fast"):
            raise ValueError(
                f"dtype is {dtype!r}; valid: 'fp32' (official results), 'fast' (bfloat16)"
            )
        if device != "auto":
            _check_device(device)
        self._load = load
        self._requested_device = device
        self.dtype = torch.float32 if dtype == "fp32" else torch.bfloat16
        self.loaded: nn.Module | None = None
        self.device = torch.device("cpu")
        self.tokens: int | None = None

    @property
    def model(self) -> nn.Module:
        """The model, loaded and moved to its device at the first call.

        Raises:
            MemoryError: the memory of the CPU does not suffice.
        """
        if self.loaded is None:
            model = self._load(self.dtype)
            self.device = self.choose_device()
            moved = attempt(partial(_move, model, self.device, self.dtype))
            if moved is None and self.device.type == "cpu":
                raise MemoryError("not enough memory for the metric model")
            self.loaded = moved or self._move_to_cpu(model)
        return self.loaded

    @property
    def kernel(self) -> str:
        """The library of the linear layers, on which the last digits of a score depend.

        It is known before the model is loaded. That of a CPU is chosen by its speed
        (`kernels.choose`).
        """
        device = self.choose_device() if self.loaded is None else self.device
        library, _ = kernel_on(device, self.dtype)
        return library

    @property
    def budget(self) -> int:
        """Padded tokens of a batch: fewer than at first where the memory did not suffice."""
        if self.tokens is not None:
            return self.tokens
        return CPU_TOKENS if self.device.type == "cpu" else GPU_TOKENS

    def release(self) -> None:
        """Let go of the model and its memory; it is loaded again when it is needed."""
        self.loaded = None
        self.tokens = None
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def batches(
        self, lengths: Sequence[int], step: Callable[[int, int], _Result]
    ) -> Iterator[tuple[int, int, _Result]]:
        """Run `step` on consecutive ranges of texts; yield ``(start, stop, step(start, stop))``.

        A range holds as many texts as fit into the budget when all are padded to the longest. Out
        of memory halves the budget and tries again, at last on the CPU; what was yielded stays.

        Args:
            lengths: the tokens of each text, the longest first.
            step: computes the texts ``start`` to ``stop - 1``.

        Raises:
            MemoryError: the memory of the CPU does not suffice for a single text.
        """
        if lengths:
            self.model  # noqa: B018  (loads the model, whose device decides the budget)
        start = 0
        while start < len(lengths):
            width = padded(lengths[start])
            texts_in_budget = max(1, self.budget // width)
            stop = start + min(texts_in_budget, len(lengths) - start)
            result = attempt(partial(step, start, stop))
            if result is None:
                self._shrink(stop - start, width)
                continue
            yield start, stop, result
            start = stop

    def _shrink(self, texts: int, width: int) -> None:
        """Need less memory after a batch ran out of it: a smaller budget, or the CPU.

        Args:
            texts: those of the batch.
            width: their padded tokens.
        """
        if texts > 1:
            self.tokens = max(width, texts * width // 2)
            logger.warning(
                f"figlang: out of memory on {self.device}; {self.tokens} tokens a batch from now on"
            )
        elif self.device.type != "cpu":
            assert self.loaded is not None
            self.loaded = self._move_to_cpu(self.loaded)
        else:
            raise MemoryError(f"not enough memory to score one text of {width} tokens")

    def _move_to_cpu(self, model: nn.Module) -> nn.Module:
        logger.warning(
            f"figlang: {self.device} is too full; scoring explanations on the CPU instead"
        )
        self.device = torch.device("cpu")
        self.tokens = None
        return _move(model, self.device, self.dtype)

    def choose_device(self) -> torch.device:
        """The requested device; for ``auto`` the GPU with the most free memory, else the CPU."""
        if self._requested_device != "auto":
            return torch.device(self._requested_device)
        if torch.cuda.is_available():
            emptiest = max(range(torch.cuda.device_count()), key=_free_bytes)
            return torch.device("cuda", emptiest)
        return torch.device("cpu")


def _check_device(device: str) -> None:
    """Raise ValueError unless torch has this device here; ``auto`` was resolved before."""
    try:
        torch.empty(0, device=device)
    # AssertionError: torch was built without support for it.
    except (RuntimeError, AssertionError) as error:
        valid = "valid: auto, cpu, and what torch has here of cuda:0, mps ..."
        raise ValueError(f"device is {device!r}; {valid}") from error


def _free_bytes(gpu: int) -> int:
    try:
        free, _ = torch.cuda.mem_get_info(gpu)
    except RuntimeError:  # a GPU so full that not even a context fits
        return 0
    return free


def _ignore_progress(done: int) -> None:
    """Do nothing with the number of pairs just done."""


class PairModel(ABC):
    """Scores pairs of texts with one model, by way of a cache.

    Args:
        identity: names all that decides a score beside the dtype.
        device, dtype: see `Runner`.
        cache: keeps the scores.

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
        self, pairs: Sequence[Pair], advance: Callable[[int], object] = _ignore_progress
    ) -> dict[Pair, float]:
        """The score of every distinct pair, from the cache where it has one.

        Args:
            pairs: reference and candidate of each; several may be equal.
            advance: is called with the number of distinct pairs just done.
        """
        scores = self._cache.scores(self._cache_id, set(pairs), self.bounds)
        advance(len(scores))
        missing = set(pairs) - scores.keys()
        if not missing:
            return scores
        with torch.inference_mode(), exact_float32():
            for new_scores in self._compute(missing):
                self._cache.store(self._cache_id, new_scores)
                scores |= new_scores
                advance(len(new_scores))
        return scores

    @abstractmethod
    def _load(self, dtype: torch.dtype) -> nn.Module:
        """Load the network, with weights of a dtype."""

    @abstractmethod
    def _compute(self, pairs: set[Pair]) -> Iterator[Mapping[Pair, float]]:
        """Yield the scores of all pairs, part by part.

        If a run stops after some parts, the next one, given the pairs that are left, must yield the
        same other parts: a score may depend on its part in the last digit.
        """


def padded(length: int) -> int:
    """`length` rounded up to a multiple of `MULTIPLE`."""
    return -(-length // MULTIPLE) * MULTIPLE


def pad_ids(ids: Sequence[Sequence[int]], value: int, device: torch.device) -> torch.Tensor:
    """Rows of ids as one int64 tensor [n, padded(longest)], filled up with `value`."""
    width = padded(max(map(len, ids)))
    rows = [[*row, *[value] * (width - len(row))] for row in ids]
    return torch.tensor(rows, device=device)


def without_surrogates(text: str) -> str:
    """`text` with U+FFFD for each half of a surrogate pair.

    Such a half is no text, and tokenizers refuse it.
    """
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


# --- memory ---

_OUT_OF_MEMORY = ("out of memory", "can't allocate memory", "ALLOC_FAILED")
"""Words of errors that have no class of their own.

They come from torch's allocator for the CPU, and from the libraries of a full GPU.
"""


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error says that memory did not suffice."""
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _OUT_OF_MEMORY)


def attempt(work: Callable[[], _Result]) -> _Result | None:
    """Do some work and return its result; None if it ran out of memory, which is then freed.

    Args:
        work: a function that never returns None.
    """
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


# --- precision and kernels ---


@contextmanager
def exact_float32() -> Iterator[None]:
    """A context in which float32 is computed in float32.

    Products and convolutions use neither TensorFloat-32 nor bfloat16.
    """
    torch_backends: Any = torch.backends  # torch's types lack some of these
    backends = [
        torch_backends.cuda.matmul,
        torch_backends.cudnn.conv,
        torch_backends.mkldnn.matmul,
        torch_backends.mkldnn.conv,
    ]
    precisions_before = [backend.fp32_precision for backend in backends]
    try:
        for backend in backends:
            backend.fp32_precision = "ieee"
        yield
    finally:
        for backend, precision in zip(backends, precisions_before, strict=True):
            backend.fp32_precision = precision


def kernel_on(device: torch.device, dtype: torch.dtype) -> tuple[str, torch.dtype]:
    """The quickest library of linear layers on a device, and the dtype that it computes in.

    Args:
        device: where the model is.
        dtype: of the weights.
    """
    if device.type != "cpu":
        return f"torch, {device.type}", dtype
    kernel = choose(dtype)
    if kernel == FLOAT32:
        return choose(torch.float32), torch.float32
    return kernel, dtype


def _move(model: nn.Module, device: torch.device, dtype: torch.dtype) -> nn.Module:
    """Move a model to a device, its encoder with the kernels that are quickest there.

    Args:
        model: the model.
        device: where it goes.
        dtype: of its weights.
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
