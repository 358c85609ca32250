"""The benchmark runs and tells what it is there for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import warm


@pytest.mark.long
def test_small_benchmark(tmp_path: Path) -> None:
    file = Path(__file__).parents[3] / "benchmarks" / "metaclue_retrieval.py"
    given = ["--images", "60", "--repeats", "1", "--settings", "random50", "random100"]
    command = [sys.executable, str(file), *given, "--markdown", str(tmp_path / "table.md")]
    done = warm.run(command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    table = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert table in done.stdout
    assert "| random50 | 3,000 | 300 |" in table and "| random100 | 6,000 | 300 |" in table
    assert "Pairs grow 2.0 times, distinct texts 1.00 times" in table and "peak memory, MB" in table
