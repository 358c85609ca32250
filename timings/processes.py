"""The cost of a Python process, and what timings run in one."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

FIGLANG = "from figlang_tasks.cli.figlang import main; main()"
"""The code of the command ``figlang``."""
MEBIBYTE = 1 << 20


class Cost(NamedTuple):
    """The cost of a process.

    Attributes:
        seconds: of processor time.
        largest_memory: in MiB.
    """

    seconds: float
    largest_memory: float


def median_cost(costs: Sequence[Cost]) -> Cost:
    """The median of the seconds, and that of the memory."""
    return Cost(
        statistics.median(cost.seconds for cost in costs),
        statistics.median(cost.largest_memory for cost in costs),
    )


def cost_of(code: str, arguments: Sequence[str], folder: Path) -> Cost:
    """Run code in a Python process, which must succeed, and return its cost."""
    environment = {
        **os.environ,
        "FIGLANG_DATA_DIR": str(folder / "data"),
        "FIGLANG_CACHE": str(folder / "cache"),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-c", code, *arguments]
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
        # Of this child alone, where `getrusage` has the largest memory of all children.
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"status {process.returncode}: {(folder / 'log.txt').read_text()}")
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / MEBIBYTE)
