"""The speed of a large product of matrices, of which other rows are a share."""

from __future__ import annotations

import platform
from collections.abc import Iterator

import torch
from torch.utils.benchmark import Timer

from figlang_tasks.metrics.explanation.compute import exact_float32
from timings.gpu.measurement import Measurement

SIZE, SMALL_SIZE = 8192, 256
SECONDS_PER_DTYPE = 1.0


def measure(device: str, small: bool) -> Iterator[Measurement]:
    """Yield the peak of each dtype: float32 without TensorFloat-32, as explanations are scored."""
    size = SMALL_SIZE if small else SIZE
    processor = platform.processor() or platform.machine()
    if device.startswith("cuda"):
        processor = torch.cuda.get_device_name(device)
    for dtype in (torch.bfloat16, torch.float32):
        # Not zeros, which are multiplied faster.
        factors = torch.randn(2, size, size, device=device).to(dtype)
        timer = Timer("torch.mm(*factors)", globals={"torch": torch, "factors": factors})
        with exact_float32():
            seconds = timer.blocked_autorange(min_run_time=SECONDS_PER_DTYPE).median
        dtype_name = str(dtype).removeprefix("torch.")
        tflops = 2 * size**3 / seconds / 1e12
        yield Measurement(
            "matrix product",
            f"{processor}, {dtype_name}, {size} x {size}",
            tflops,
            "TFLOP/s",
            tflops=tflops,
            dtype=dtype_name,
        )
