"""Linear layers on a CPU by the library that is quickest there, which a short timing on the machine
finds out.
"""

from __future__ import annotations

import json
import platform
import time
from functools import cache
from pathlib import Path

import torch
from loguru import logger
from torch import nn
from torch.nn.functional import gelu, linear

from ..files import write_whole
from .cache import cache_root

FLOAT32 = "float32"
"""For models in bfloat16: arithmetic in float32, which is quicker on processors that have none in
bfloat16.
"""

_ROWS, _INPUTS, _OUTPUTS = 256, 1024, 4096
_TURNS, _SECONDS = 3, 0.3  # at least, and until then: what else the machine does must not decide


class Linear(nn.Module):
    """A linear layer with what follows it: a GELU, or the addition of a tensor of the output's
    shape.

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
            self._packed = torch.ops.mkldnn._reorder_linear_weight(self.weight)
            del self.weight

    def forward(
        self, x: torch.Tensor, add: torch.Tensor | None = None, with_gelu: bool = False
    ) -> torch.Tensor:
        """``x W^T + b``, with GELU (by erf), or plus `add`; x: contiguous, [n, inputs]."""
        if self._packed is not None:
            operation = torch.ops.mkldnn._linear_pointwise
            if add is not None:
                return operation.binary(x, add, self._packed, self.bias, "add")
            return operation(
                x, self._packed, self.bias, "gelu" if with_gelu else "none", [], "none"
            )
        result = linear(x, self.weight, self.bias)
        if add is not None:
            result += add
        return gelu(result) if with_gelu else result


def by_head(x: torch.Tensor, weight: torch.Tensor, kernel: str) -> torch.Tensor:
    """``x[h] weight[h]^T`` for every head h: [heads, n, width] and [heads, m, width] give [heads,
    n, m].
    """
    if kernel != "onednn":
        return torch.bmm(x, weight.transpose(1, 2))
    result = x.new_empty(*x.shape[:2], weight.shape[1])
    for head, (rows, columns) in enumerate(zip(x, weight, strict=True)):
        result[head] = torch.ops.mkldnn._linear_pointwise(rows, columns, None, "none", [], "none")
    return result


def kernels(dtype: torch.dtype) -> list[str]:
    """The libraries that this machine can compute `dtype` with."""
    # torch.compile's own operations: a torch without them has no oneDNN to offer here.
    here = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    if dtype == torch.bfloat16:
        here = here and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return ["torch", "onednn"] if here else ["torch"]


def choices(dtype: torch.dtype) -> list[str]:
    """The kernels that `choose` may return for `dtype`."""
    return kernels(dtype) + [FLOAT32] * (dtype != torch.float32)


@cache
def choose(dtype: torch.dtype) -> str:
    """The quickest kernel for linear layers of `dtype` on this CPU, timed once and kept in the
    folder of the cache.
    """
    if len(candidates := choices(dtype)) == 1:
        return candidates[0]
    folder = cache_root()
    key = f"{_cpu()}, torch {torch.__version__}, {dtype}"
    known = {} if folder is None else _read(folder / "kernels.json")
    if known.get(key) in candidates:
        return known[key]
    seconds = timing(dtype)
    best = min(seconds, key=seconds.__getitem__)
    if folder is not None:
        try:
            write_whole(
                folder / "kernels.json", json.dumps({**known, key: best}, indent=1).encode()
            )
        except OSError as error:
            logger.debug(
                f"figlang: {folder} cannot be written ({error}); the next process times the kernels"
                " again"
            )
    return best


@cache
def timing(dtype: torch.dtype) -> dict[str, float]:
    """CPU seconds of each of `choices` for the widest layer of an encoder, the best of several
    turns.

    On one thread: several wait for each other, and how long depends on what else the machine does.
    """
    shapes = ((_ROWS, _INPUTS), (_OUTPUTS, _INPUTS), (_OUTPUTS,))
    layers = []
    for each in dict.fromkeys((dtype, torch.float32)):
        x, weight, bias = (torch.full(shape, 0.01, dtype=each) for shape in shapes)
        layers += [
            (kernel if each == dtype else FLOAT32, kernel, Linear(weight, bias), x)
            for kernel in kernels(each)
        ]
    best = {name: float("inf") for name, *_ in layers}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            for _, kernel, layer, _ in layers:
                if kernel == "onednn":
                    layer.pack()
            turns, begin = 0, time.thread_time()
            while turns < _TURNS or time.thread_time() - begin < _SECONDS:
                turns += 1
                for name, _, layer, x in layers:
                    start = time.thread_time()
                    layer(x, with_gelu=True)
                    best[name] = min(best[name], time.thread_time() - start)
    finally:
        torch.set_num_threads(threads)
    return best


def _cpu() -> str:
    """The processor's name, with the instructions that torch uses on it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    fields = ("model name", "model\t", "cpu family")
    names = {line.partition(":")[2].strip() for line in lines if line.startswith(fields)}
    return " ".join(
        [
            *sorted(names),
            platform.processor() or platform.machine(),
            torch.backends.cpu.get_cpu_capability(),
        ]
    )


def _read(path: Path) -> dict[str, str]:
    """Kernels by machine; empty where the file is missing or damaged."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
