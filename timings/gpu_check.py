"""Measure the package on a GPU within four minutes: `make gpu-check` runs it.

    python timings/gpu_check.py [--device cuda|cpu] [--minutes 4] [--small]

Where there is no make, but the folder .whl of `make gpu-wheels`:

    python3 -m pip install --no-index --no-deps --target build/site .whl/*.whl
    PYTHONPATH=.:build/site python3 timings/gpu_check.py

No weights, no data and no network are needed: models have their real sizes and random weights,
drawn on the GPU. Each section (`timings/gpu/`) is a process with a time limit of its own, and
prints its rows as it measures them. At its limit it is stopped, and its rows are kept. The table
at the end has them all.

*Share of peak*: floating point operations in a second, as a share of those of a large product of
matrices in the same precision, measured in the first section.

`--small` runs every line on tiny models, also on a CPU; its numbers mean nothing.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from threading import Timer

from figlang_tasks.core.text import markdown_table
from timings.gpu.measurement import Measurement

MINUTES = 4.0
LIMITS = {"peak": 20, "scores": 80, "requests": 105, "candidates": 35}
"""Seconds of each section, a module of `timings/gpu/`: `MINUTES` together."""
MEMORY_DISK = Path("/dev/shm")
WEIGHTS_BYTES = 16 * 1024**3
"""More than the random weights of any section."""
MARK = "measured: "
"""What a line with a row begins with: libraries print others."""
PACKAGES = ("torch", "transformers", "lmms-eval", "bert-score")


def measure_section(name: str, device: str, small: bool) -> None:
    """Print the rows of a section as they are measured; runs in the process of the section."""
    section = importlib.import_module(f"timings.gpu.{name}")
    for measurement in section.measure(device, small):
        print(MARK + json.dumps(asdict(measurement)), flush=True)


def weights_parent() -> str | None:
    """The folder in memory for the temporary folder of weights; None (the disk) if it is small."""
    if MEMORY_DISK.is_dir() and shutil.disk_usage(MEMORY_DISK).free > WEIGHTS_BYTES:
        return str(MEMORY_DISK)
    return None


def environment(folder: str) -> dict[str, str]:
    """The environment of a section.

    Args:
        folder: for its temporary files, which a process that is stopped cannot delete.
    """
    # Nothing is to be fetched: without this, libraries may wait for a network that is not there.
    return os.environ | {"HF_HUB_OFFLINE": "1", "TMPDIR": folder}


def run_section(
    name: str, options: Sequence[str], limit: float, rows: dict[tuple[str, str], Measurement]
) -> str:
    """Run a section in a process of its own, print its rows, and add them to `rows`.

    Args:
        name: of the section.
        options: of this script, for the process.
        limit: seconds, after which the process is stopped.
        rows: by section and name; a later row takes the place of an earlier one.

    Returns:
        What went wrong; "" if nothing did.
    """
    command = [sys.executable, __file__, *options, "--section", name]
    start = time.monotonic()
    with (
        tempfile.TemporaryDirectory(dir=weights_parent()) as folder,
        subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment(folder)
        ) as process,
    ):
        assert process.stdout is not None
        watchdog = Timer(limit, process.kill)
        watchdog.start()
        for line in process.stdout:
            if not line.startswith(MARK):
                print(line, end="", file=sys.stderr)
                continue
            row = Measurement(**json.loads(line.removeprefix(MARK)))
            rows[row.section, row.name] = row
            taken = time.monotonic() - start
            print(f"[{taken:.0f} s] {row.name}: {row.speed:.4g} {row.unit}", flush=True)
        status = process.wait()
        watchdog.cancel()
    taken = time.monotonic() - start
    print(f"[{taken:.0f} s] {name}: end", flush=True)
    if taken >= limit:
        return f"{name}: stopped at its limit of {limit:.0f} s"
    if status:
        return (
            f"{name}: failed with status {status}, see above. `make gpu-wheels` gets packages that"
            " are missing, for the folder .whl"
        )
    return ""


def table(rows: dict[tuple[str, str], Measurement]) -> str:
    """The rows as Markdown, with the ratio to their baseline and the share of the peak."""
    peaks = {row.dtype: row.speed for row in rows.values() if row.unit == "TFLOP/s"}
    cells = [["", "speed", "as fast", "share of peak", ""]]
    for row in rows.values():
        ratio, share = "", ""
        baseline = rows.get((row.section, row.baseline))
        if baseline is not None:
            ratio = f"{row.speed / baseline.speed:.2f}x"
        if row.tflops is not None and row.dtype in peaks:
            share = f"{100 * row.tflops / peaks[row.dtype]:.1f} %"
        name = f"{row.section}: {row.name}"
        cells.append([name, f"{row.speed:.4g} {row.unit}", ratio, share, row.remark])
    return markdown_table(cells)


def versions() -> str:
    """Python and the packages that a speed depends on, with their versions."""
    names = [f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            names.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            names.append(f"no {package}")
    return ", ".join(names)


def main() -> int:
    """Return 1 if a section failed, or was stopped at its limit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--device", choices=["cuda", "cpu"], default="cuda", help="cpu only with --small"
    )
    parser.add_argument(
        "--minutes", type=float, default=MINUTES, help="of all sections together (%(default)s)"
    )
    parser.add_argument("--small", action="store_true", help="tiny models: numbers mean nothing")
    parser.add_argument("--section", choices=LIMITS, help="this one alone, in this process")
    arguments = parser.parse_args()
    if arguments.section:
        measure_section(arguments.section, arguments.device, arguments.small)
        return 0

    options = ["--device", arguments.device]
    if arguments.small:
        options.append("--small")
    rows: dict[tuple[str, str], Measurement] = {}
    problems: list[str] = []
    for name, limit in LIMITS.items():
        problem = run_section(name, options, limit * arguments.minutes / MINUTES, rows)
        if problem:
            problems.append(problem)
            print(problem, flush=True)
    print(f"\nmake gpu-check, {arguments.device}, {versions()}\n\n{table(rows)}\n")
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
