"""Counts floating point operations for the sections of the GPU check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils.flop_counter import FlopCounterMode


def count_flops(run: Callable[[], Any]) -> int:
    """Run once, and return the floating point operations of its matrix products and attention.

    Those spent on padding count too.
    """
    with FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()
