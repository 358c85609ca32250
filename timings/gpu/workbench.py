"""What the sections of the GPU check share: counts of operations, a folder for random weights."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch.utils.flop_counter import FlopCounterMode

MEMORY_DISK = Path("/dev/shm")
WEIGHTS_BYTES = 16 * 1024**3
"""More than the random weights of any section."""


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
