"""docs/quickstart.ipynb runs from its first cell to its last."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
import warm
from documents import ROOT

CHECKS = """
assert set(frame.metric) >= {"acc", "f1@0", "f1@53", "f1@60", "explanation_score"}
assert list(differences.metric) == ["f1@60", "acc"] or list(differences.metric) == ["acc", "f1@60"]
assert (differences.difference > 0).all() and (differences.p_holm < 0.05).all()
assert [len(line[0].get_xdata()) for line in axes.containers] == [3, 3]
"""


@pytest.mark.long
def test_the_notebook_runs(tmp_path: Path) -> None:
    cells = json.loads((ROOT / "docs" / "quickstart.ipynb").read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    program = "\n\n".join(sources) + CHECKS
    environment = {"MPLBACKEND": "Agg"}
    for name, value in os.environ.items():
        if not name.startswith("FIGLANG_DATA") and name != "MPLBACKEND":
            environment[name] = value
    done = warm.run([sys.executable, "-c", program], cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "NYK-MS is not on the hub" in done.stdout
    assert (tmp_path / "f1.svg").is_file()
