"""Linear layers on a CPU, by the library that is quickest there.

A short timing on the machine finds out which that is.
"""

from __future__ import annotations

import json
import platform
import time
from functools import cache
from pathlib import Path
from typing import NamedTuple

import torch
from loguru import logger
from torch import nn
from torch.nn.functional import gelu, linear

from ..files import write_whole
from .cache import cache_root

FLOAT32 = "float32"
"""The kernel for models in bfloat16 that computes in float32.

It is quicker on processors that have no arithmetic in bfloat16.
"""

# The layer that is timed: as wide as the widest of an encoder.
_ROWS, _INPUTS, _OUTPUTS = 256, 1024, 4096

# It is timed at least so often, and until so many seconds have passed: what else the machine does
# must not decide.
_TURNS, _SECONDS = 3, 0.3


# oneDNN may choose another layout of the weights for few rows than for many. With that of few,
# products of many rows may reorder the weights each time. A full batch has about so many tokens.
_PACKED_ROWS = 2048


class Linear(nn.Module):
    """A linear layer with what follows it: a GELU, or the addition of a tensor.

    Args:
        weight: [outputs, inputs].
        bias: [outputs]; None: none.
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.detach(), requires_grad=False)
        self.bias = None if bias is None else nn.Parameter(bias.detach(), requires_grad=False)
        self._packed: torch.Tensor | None = None

    def pack(self) -> None:
        """Keep the weight in oneDNN's own layout, and compute by oneDNN from now on."""
        if self._packed is None:
            self._packed = torch.ops.mkldnn._reorder_linear_weight(self.weight, _PACKED_ROWS)
            del self.weight

    def forward(
        self, x: torch.Tensor, add: torch.Tensor | None = None, with_gelu: bool = False
    ) -> torch.Tensor:
        """``x W^T + b``, then `add` is added, or GELU (by erf) applied.

        Args:
            x: contiguous, [n, inputs].
            add: [n, outputs]; None: nothing is added.
            with_gelu: whether GELU is applied; not together with `add`.
        """
        if self._packed is not None:
            # torch.compile's own operation: input, weight, bias, what is applied to the product,
            # its arguments, its variant. ``binary`` takes a second tensor, which "add" adds.
            pointwise = torch.ops.mkldnn._linear_pointwise
            if add is not None:
                return pointwise.binary(x, add, self._packed, self.bias, "add")
            activation = "gelu" if with_gelu else "none"
            return pointwise(x, self._packed, self.bias, activation, [], "none")
        output = linear(x, self.weight, self.bias)
        if add is not None:
            output += add
        return gelu(output) if with_gelu else output


def by_head(x: torch.Tensor, weight: torch.Tensor, kernel: str) -> torch.Tensor:
    """The products ``x[h] weight[h]^T`` of all heads h, [heads, n, m].

    Args:
        x: [heads, n, width].
        weight: [heads, m, width].
        kernel: the library that computes it, ``torch`` or ``onednn``.
    """
    if kernel != "onednn":
        return torch.bmm(x, weight.transpose(1, 2))
    products = x.new_empty(*x.shape[:2], weight.shape[1])
    pointwise = torch.ops.mkldnn._linear_pointwise
    for head, (rows, columns) in enumerate(zip(x, weight, strict=True)):
        products[head] = pointwise(rows, columns, None, "none", [], "none")
    return products


# --- the choice of a kernel ---


def kernels(dtype: torch.dtype) -> list[str]:
    """The libraries that can compute in a dtype on this machine: ``torch``, perhaps ``onednn``."""
    # torch.compile's own operations: a torch without them has no oneDNN to offer here.
    has_onednn = torch.backends.mkldnn.is_available() and hasattr(
        torch.ops.mkldnn, "_linear_pointwise"
    )
    if dtype == torch.bfloat16:
        has_onednn = has_onednn and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return ["torch", "onednn"] if has_onednn else ["torch"]


def choices(dtype: torch.dtype) -> list[str]:
    """The kernels that `choose` may return for weights of a dtype: libraries, or `FLOAT32`."""
    if dtype == torch.float32:
        return kernels(dtype)
    return [*kernels(dtype), FLOAT32]


@cache
def choose(dtype: torch.dtype) -> str:
    """The quickest kernel for linear layers with weights of a dtype on this CPU.

    It is timed once on a machine, and kept in ``kernels.json`` in the folder of the cache.

    Returns:
        One of `choices`.
    """
    candidates = choices(dtype)
    if len(candidates) == 1:
        return candidates[0]
    folder = cache_root()
    machine = f"{_cpu()}, torch {torch.__version__}, {dtype}"
    kernel_by_machine: dict[str, str] = {}
    if folder is not None:
        kernel_by_machine = _read_kernels(folder / "kernels.json")
    if kernel_by_machine.get(machine) in candidates:
        return kernel_by_machine[machine]
    seconds = timing(dtype)
    quickest = min(seconds, key=seconds.__getitem__)
    if folder is not None:
        content = json.dumps({**kernel_by_machine, machine: quickest}, indent=1)
        try:
            write_whole(folder / "kernels.json", content.encode())
        except OSError as error:
            logger.debug(
                f"figlang: {folder} cannot be written ({error}); the next process times the kernels"
                " again"
            )
    return quickest


class _TimedLayer(NamedTuple):
    """A linear layer to time, as `choose` may pick it.

    Attributes:
        choice: one of `choices`.
        library: which computes it, ``torch`` or ``onednn``.
        layer: the layer.
        x: its input.
    """

    choice: str
    library: str
    layer: Linear
    x: torch.Tensor


@cache
def timing(dtype: torch.dtype) -> dict[str, float]:
    """The CPU seconds of each of `choices` for the widest layer of an encoder.

    Each is the best of several turns, on one thread: several wait for each other, and how long
    depends on what else the machine does.
    """
    timed_layers = _layers_to_time(dtype)
    best = {timed.choice: float("inf") for timed in timed_layers}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            for timed in timed_layers:
                if timed.library == "onednn":
                    timed.layer.pack()
            turns = 0
            begin = time.thread_time()
            while turns < _TURNS or time.thread_time() - begin < _SECONDS:
                turns += 1
                for timed in timed_layers:
                    start = time.thread_time()
                    timed.layer(timed.x, with_gelu=True)
                    seconds = time.thread_time() - start
                    best[timed.choice] = min(best[timed.choice], seconds)
    finally:
        torch.set_num_threads(threads)
    return best


def _layers_to_time(dtype: torch.dtype) -> list[_TimedLayer]:
    """A layer for each library and dtype that weights of `dtype` can be computed with."""
    timed_layers: list[_TimedLayer] = []
    for layer_dtype in dict.fromkeys((dtype, torch.float32)):  # one, if they are equal
        x = torch.full((_ROWS, _INPUTS), 0.01, dtype=layer_dtype)
        weight = torch.full((_OUTPUTS, _INPUTS), 0.01, dtype=layer_dtype)
        bias = torch.full((_OUTPUTS,), 0.01, dtype=layer_dtype)
        for library in kernels(layer_dtype):
            choice = library if layer_dtype == dtype else FLOAT32
            timed_layers.append(_TimedLayer(choice, library, Linear(weight, bias), x))
    return timed_layers


def _cpu() -> str:
    """The processor's name, with the instructions that torch uses on it."""
    info = Path("/proc/cpuinfo")
    info_lines = info.read_text().splitlines() if info.exists() else []
    # "model name\t: Intel ..." and "model\t\t: 85": the tab keeps the two apart.
    fields = ("model name", "model\t", "cpu family")
    names: set[str] = set()
    for line in info_lines:
        if line.startswith(fields):
            names.add(line.partition(":")[2].strip())
    machine = platform.processor() or platform.machine()
    return " ".join([*sorted(names), machine, torch.backends.cpu.get_cpu_capability()])


def _read_kernels(path: Path) -> dict[str, str]:
    """Kernels by machine; empty where the file is missing or damaged."""
    try:
        kernel_by_machine = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return kernel_by_machine if isinstance(kernel_by_machine, dict) else {}
