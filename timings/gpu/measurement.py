"""What a section of the GPU check hands over."""

from __future__ import annotations

from dataclasses import dataclass


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
