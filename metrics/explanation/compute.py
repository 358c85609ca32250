"""Runs a metric model: picks the device, fills batches by a token budget, and survives running out of memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, TypeAlias, TypeVar

import torch
from loguru import logger
from torch import nn

from .encoder import Encoder
from .kernels import FLOAT32, choose

DType: TypeAlias = Literal["fp32", "fast"]
"""``fp32`` for official results; ``fast`` is bfloat16. Where a CPU is faster in float32, only the weights are."""

MULTIPLE = 8
"""Batches are padded to a multiple of this length: bfloat16 kernels are many times slower on odd sizes."""

GPU_TOKENS, CPU_TOKENS = 32_768, 2_048
"""Padded tokens of a batch, which bound the memory, whatever the number of texts."""

_SPARE_BYTES = 2 << 30  # activations of a batch beside the weights

_Result = TypeVar("_Result")


class Runner:
    """Holds one model on one device.

    Args:
        load: returns the model on the CPU, in evaluation mode, in the dtype that it is given.
        device: ``auto`` (the GPU with most free memory, if the weights fit, else the CPU), or a torch device.
        dtype: see `DType`.
    """

    def __init__(self, load: Callable[[torch.dtype], nn.Module], device: str, dtype: DType) -> None:
        if dtype not in ("fp32", "fast"):
            raise ValueError(f"dtype is {dtype!r}; valid: 'fp32' (official results), 'fast' (bfloat16)")
        if device != "auto":
            _check_device(device)
        self._load = load
        self._wanted = device
        self.dtype = torch.float32 if dtype == "fp32" else torch.bfloat16
        self._model: nn.Module | None = None
        self._device = torch.device("cpu")
        self._budget: int | None = None

    @property
    def model(self) -> nn.Module:
        """The model, loaded and moved to its device at the first call."""
        if self._model is None:
            model = self._load(self.dtype)
            self._device = self._choose_device(model)
            moved, error = _attempt(lambda: _on(model, self._device, self.dtype))
            if error is not None and self._device.type == "cpu":
                raise error
            self._model = moved[0] if moved else self._on_cpu(model)
        return self._model

    @property
    def device(self) -> torch.device:
        """Where the model is; the CPU until it is loaded."""
        return self._device

    @property
    def budget(self) -> int:
        """Padded tokens of a batch: fewer than at first where the memory did not do."""
        if self._budget is None:
            self._budget = CPU_TOKENS if self._device.type == "cpu" else GPU_TOKENS
        return self._budget

    def release(self) -> None:
        """Let go of the model and its memory; it is loaded again when it is needed."""
        self._model, self._budget = None, None
        if self._device.type == "cuda":
            torch.cuda.empty_cache()

    def batches(
        self, lengths: Sequence[int], step: Callable[[int, int], _Result]
    ) -> Iterator[tuple[int, int, _Result]]:
        """Yield ``(start, stop, step(start, stop))`` for consecutive ranges that cover `lengths`.

        A range holds as many items as fit into the budget when all are padded to the longest. Out of memory halves the
        budget and tries again, at last on the CPU; what was yielded stays.

        Args:
            lengths: n token counts, falling: the first of a range is its longest.
            step: handles items ``start`` to ``stop - 1``.
        """
        if lengths:
            self.model  # noqa: B018  (chooses device and budget)
        start = 0
        while start < len(lengths):
            width = padded(lengths[start])
            stop = start + min(max(1, self.budget // width), len(lengths) - start)
            result, error = _attempt(partial(step, start, stop))
            if error is not None:
                self._shrink(stop - start, width, error)
                continue
            assert result is not None
            yield start, stop, result[0]
            start = stop

    def _shrink(self, items: int, width: int, error: BaseException) -> None:
        first_line = str(error).strip().split("\n")[0][:200]
        if items > 1:
            self._budget = max(width, items * width // 2)
            logger.warning(f"figlang: out of memory on {self._device}; {self._budget} tokens a batch from now on")
        elif self._device.type != "cpu":
            assert self._model is not None
            self._model = self._on_cpu(self._model)
        else:
            raise MemoryError(f"not enough memory to score one text of {width} tokens: {first_line}") from error
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _on_cpu(self, model: nn.Module) -> nn.Module:
        logger.warning(f"figlang: {self._device} is too full; scoring explanations on the CPU instead")
        self._device = torch.device("cpu")
        self._budget = None
        return _on(model, self._device, self.dtype)

    def _choose_device(self, model: nn.Module) -> torch.device:
        if self._wanted != "auto":
            device = torch.device(self._wanted)
        elif torch.cuda.is_available():
            free = {index: _free_bytes(index) for index in range(torch.cuda.device_count())}
            needed = sum(p.numel() * p.element_size() for p in model.parameters()) + _SPARE_BYTES
            emptiest = max(free, key=free.__getitem__)
            device = torch.device("cuda", emptiest) if free[emptiest] >= needed else torch.device("cpu")
            if device.type == "cpu":
                logger.warning(
                    f"figlang: scoring explanations on the CPU: {needed >> 20} MiB are needed, and the emptiest "
                    f"GPU has {free[emptiest] >> 20} MiB free"
                )
        else:
            device = torch.device("cpu")
        if device.type == "cuda" and self.dtype == torch.bfloat16 and not torch.cuda.is_bf16_supported():
            raise ValueError(f"dtype='fast' needs bfloat16, which {device} lacks; use dtype='fp32' or device='cpu'")
        return device


def _free_bytes(index: int) -> int:
    try:
        return torch.cuda.mem_get_info(index)[0]
    except RuntimeError:  # a GPU so full that not even a context fits
        return 0


def _check_device(name: str) -> None:
    try:
        device = torch.device(name)
        if device.type != "cuda":  # there it would take memory for a context
            torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # the second: torch was built without it
        raise ValueError(f"device is {name!r}; valid: auto, cpu, and what torch has here of cuda:0, mps ...") from error
    if device.type == "cuda" and (device.index or 0) >= (count := torch.cuda.device_count()):
        raise ValueError(f"device is {name!r}, but torch sees {count or 'no'} GPU here; use auto or cpu")


def padded(length: int) -> int:
    """`length` rounded up to a multiple of `MULTIPLE`."""
    return -(-length // MULTIPLE) * MULTIPLE


def pad_ids(ids: Sequence[Sequence[int]], value: int, device: torch.device) -> torch.Tensor:
    """int64 tensor of shape [n, padded(longest)], filled up with `value`."""
    width = padded(max(map(len, ids)))
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in ids], device=device)


def without_surrogates(text: str) -> str:
    """`text` with U+FFFD for each half of a surrogate pair, which is no text and which tokenizers refuse."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


_OUT_OF_MEMORY = (  # what has no class of its own: torch's allocator for the CPU, the libraries of a full GPU
    "can't allocate memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDA error: out of memory",
    "MPS backend out of memory",
)


def _attempt(work: Callable[[], _Result]) -> tuple[tuple[_Result] | None, BaseException | None]:
    """The result of `work`, or the out-of-memory error it ended in, without the frames that hold its tensors."""
    try:
        return (work(),), None
    except (torch.OutOfMemoryError, MemoryError) as error:
        return None, error.with_traceback(None)
    except RuntimeError as error:
        if any(text in str(error) for text in _OUT_OF_MEMORY):
            return None, error.with_traceback(None)
        raise


@contextmanager
def exact_float32() -> Iterator[None]:
    """No TensorFloat-32 and no bfloat16 inside float32 matrix products, whatever the evaluated model asked for."""
    backends: list[Any] = [torch.backends.cuda.matmul, torch.backends.mkldnn.matmul]  # type: ignore[attr-defined]
    before = [backend.fp32_precision for backend in backends]
    try:
        for backend in backends:
            backend.fp32_precision = "ieee"
        yield
    finally:
        for backend, precision in zip(backends, before, strict=True):
            backend.fp32_precision = precision


def _on(model: nn.Module, device: torch.device, dtype: torch.dtype) -> nn.Module:
    """`model`, whose weights are of `dtype`, on `device`, its encoder with the kernels that are quickest there."""
    model = model.to(device)
    with torch.inference_mode(), exact_float32():
        kernel = choose(dtype) if device.type == "cpu" else "torch"
        if kernel == FLOAT32:
            logger.warning(
                "figlang: dtype 'fast' computes in float32 here, with weights rounded to bfloat16: it is less exact "
                "than 'fp32', and no faster than 'fp32'"
            )
            model, kernel = model.float(), choose(torch.float32)
        for module in model.modules():
            if isinstance(module, Encoder):
                module.prepare(kernel)
    return model
