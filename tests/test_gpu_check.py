"""The script of `make gpu-check`, on a CPU with tiny models."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SECTIONS = ("matrix product", "explanation scores", "requests", "candidate scoring")


def _run(*options: str) -> subprocess.CompletedProcess[str]:
    """Run the script as the Makefile does."""
    command = [sys.executable, "timings/gpu_check.py", "--device", "cpu", "--small", *options]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.mark.long
def test_every_section_has_rows_in_the_table() -> None:
    # The limits are for a GPU of its own: tests never depend on how busy the machine is.
    process = _run("--minutes", "120")
    assert process.returncode == 0, process.stdout + process.stderr
    rows = re.findall(r"^\| *([a-z ]+): (.+?) *\|", process.stdout, re.MULTILINE)
    assert {section for section, _ in rows} == set(SECTIONS)
    names = [name for _, name in rows]
    for name in ("ours, fast (bf16)", "figlang_vlm, batch 2", "prefix shared by all"):
        assert name in names


def test_a_section_is_stopped_at_its_limit_and_the_table_is_printed() -> None:
    process = _run("--minutes", "0")
    assert process.returncode == 1
    assert "requests: stopped at its limit of 0 s" in process.stdout
    assert "| share of peak |" in process.stdout
