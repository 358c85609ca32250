"""``tools/pip_progress.py``: what it shows of pip's log, and a real installation."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools import pip_progress

LOG = (
    "Collecting torch>=2.10 (from figlang-tasks==0.1.0)",
    "  Downloading torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl.metadata (30 kB)",
    "Requirement already satisfied: pip in ./lib (24.0)",
    "Collecting numpy>=1.26 (from figlang-tasks==0.1.0)",
    "Downloading torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl (888.1 MB)",
    None,
    "Installing collected packages: numpy, torch",
    None,
    "Successfully installed numpy-2.4.6 torch-2.15.0",
)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.0, ["installing packages: 2", "installed"]),
        (
            6.0,  # a line of the log
            [
                "looking for packages, 1 so far",
                "looking for packages, 2 so far",
                "downloading torch (888.1 MB), package 2",
                "installing packages: 2",
                "installed",
            ],
        ),
    ],
)
def test_few_lines_of_a_long_log(seconds: float, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(pip_progress.time, "monotonic", lambda: now)

    def log() -> Iterator[str | None]:
        nonlocal now
        for line in LOG:
            now += seconds
            yield line

    assert [line.partition(" s: ")[2] for line in pip_progress.lines(log())] == expected


@pytest.mark.slow
def test_it_installs_and_its_status_is_pips(tmp_path: Path) -> None:
    wheel = tmp_path / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tiny.py", "")
        archive.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    command = [sys.executable, pip_progress.__file__, "--no-index", "--target", str(tmp_path / "site")]
    done = subprocess.run([*command, str(wheel)], capture_output=True, text=True)
    assert done.returncode == 0 and (tmp_path / "site" / "tiny.py").is_file(), done.stderr
    assert [line.partition(" s: ")[2] for line in done.stdout.splitlines()] == ["installing packages: 1", "installed"]
    failed = subprocess.run([*command, "there-is-none"], capture_output=True, text=True)
    assert failed.returncode == 1 and "there-is-none" in failed.stderr
