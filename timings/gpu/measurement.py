"""What a section of the GPU check hands over, and the folder for its random weights."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch.utils.flop_counter import FlopCounterMode

MEMORY_DISK = Path("/dev/shm")
WEIGHTS_BYTES = 16 * 1024**3
"""More than the random weights of any section."""


@dataclass(frozen=True)
class Measurement:
    """A row of the table.

    A section may give a row again once it has measured more runs: the latest one counts.

    Attributes:
        section: the heading that the row belongs to.
        name: what was measured.
        speed: how much of `unit` was done in a second.
        unit: such as ``pairs/s``.
        baseline: name of the row that this one is compared with; "" for none.
        tflops: floating point operations in a second, in 1e12; None if they are not counted.
        dtype: what the row computes in, whose peak `tflops` is compared with.
        remark: what else a reader must know.
    """

    section: str
    name: str
    speed: float
    unit: str
    baseline: str = ""
    tflops: float | None = None
    dtype: str = "bfloat16"
    remark: str = ""


def count_flops(run: Callable[[], Any]) -> int:
    """Run once, and return the floating point operations of its matrix products and attention.

    Those spent on padding count too.
    """
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


def weights_parent() -> str | None:
    """The folder in memory for the temporary folder of weights; None (the disk) if it is small."""
    if MEMORY_DISK.is_dir() and shutil.disk_usage(MEMORY_DISK).free > WEIGHTS_BYTES:
        return str(MEMORY_DISK)
    return None
