"""What the task card says: the paper's numbers, chance levels, names."""

from __future__ import annotations

import re
from pathlib import Path

from figlang_tasks.benchmarks.nykms import rows
from figlang_tasks.benchmarks.nykms.parse import FIELDS
from figlang_tasks.core import hub
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.metrics import overlap

CARD = (Path(__file__).resolve().parents[3] / "docs" / "cards" / "nykms.md").read_text(encoding="utf-8")


def test_names_and_versions() -> None:
    for path in (tasks_dir() / "nykms").glob("nykms*.yaml"):
        assert path.stem.endswith("_text") or f"`{path.stem}`" in CARD, path.stem
    assert hub.source(rows.CONTESTS).revision in CARD and hub.source(rows.CONTESTS).repository in CARD  # type: ignore[operator]
    signature = re.sub(r"version:[\d.]+", "version:", overlap.signature())
    assert signature in re.sub(r"version:[\d.]+", "version:", CARD)
    for field in {field for fields in FIELDS.values() for field in fields}:
        assert f"`{field}`" in CARD
    for template in ("joint", "single", "answer"):
        assert f"`{template}.jinja`" in CARD
