"""docs/judge.md: its example, typed after the two runs of docs/after_a_run.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from documents import ROOT, blocks, shell

DOCUMENT = (ROOT / "docs" / "judge.md").read_text(encoding="utf-8")
RUNS = (ROOT / "docs" / "after_a_run.md").read_text(encoding="utf-8")


def numbers(line: str) -> list[float]:
    """All numbers of a line of the table."""
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", line)]


@pytest.mark.long
def test_the_example_prints_the_table_that_the_document_shows(tmp_path: Path) -> None:
    two_runs = next(block.text for block in blocks(RUNS) if "figlang_blind" in block.text)
    export, evaluate = [
        block.text
        for block in blocks(DOCUMENT)
        if block.language == "sh" and "results/seeing" in block.text
    ]
    fill_in = next(block.text for block in blocks(DOCUMENT) if block.language == "python")
    shell(tmp_path, two_runs, ROOT)
    shell(tmp_path, export, ROOT)
    (tmp_path / "fill_in.py").write_text(fill_in)
    shell(tmp_path, "python fill_in.py", ROOT)
    printed = shell(tmp_path, evaluate, ROOT)

    shown = [line for line in DOCUMENT.splitlines() if line.startswith("| right for the right")]
    assert len(shown) == 3
    for line in shown:
        _, measure, system, *_ = map(str.strip, line.split("|"))
        (printed_line, *_) = re.findall(
            rf"^\| {measure} +\| {system} +\|.*$", printed, re.MULTILINE
        )
        # Another version of torch may answer a row or two differently.
        assert numbers(printed_line) == pytest.approx(numbers(line), abs=6)
    assert "f1@60" in printed
