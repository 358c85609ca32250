"""What the task card says: the paper's numbers, chance levels, names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from figlang_tasks.benchmarks.nykms import rows
from figlang_tasks.benchmarks.nykms.parse import FIELDS
from figlang_tasks.core import hub
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.metrics import classification, overlap

CARD = (Path(__file__).resolve().parents[3] / "docs" / "cards" / "nykms.md").read_text(encoding="utf-8")


def cells(first: str) -> list[list[str]]:
    """The cells behind the first one of a table's row, each as its numbers."""
    (row,) = [line for line in CARD.splitlines() if line.startswith(f"| {first}")]
    return [[number.strip() for number in cell.split("/")] for cell in row.strip("|").split("|")[1:]]


@pytest.mark.parametrize("shared_file", ["facts/published_results.json"], indirect=True)
def test_the_papers_zero_shot_numbers(shared_file: Path) -> None:
    content = json.loads(shared_file.read_text(encoding="utf-8"))
    found: dict[str, dict[str, list[str]]] = {}
    for record in content["records"] if isinstance(content, dict) else content:
        if record["benchmark"] == "NYK-MS" and record["setting"].startswith("zero-shot"):
            of_model = found.setdefault(record["model"], {})
            of_model.setdefault(record["task"], []).append(f"{record['value']:.2f}")
    assert set(found) == {"LLaVA", "GPT-3.5", "GPT-4", "GPT-4V"}
    names = {"LLaVA": "LLaVA (v1.6", "GPT-3.5": "GPT-3.5 (text)", "GPT-4": "GPT-4 (text)", "GPT-4V": "GPT-4V |"}
    for model, by_task in found.items():
        expected = [by_task.get(task, [""]) for task in ("MC", "SC", "MW", "SW", "ME", "ST", "SE")]
        assert cells(names[model]) == expected


@pytest.mark.parametrize(("name", "yes"), [("always Yes", True), ("always No", False)])
def test_chance_levels(name: str, yes: bool) -> None:
    expected = []
    for positives in (692, 687):
        counts = (0, 891, 0, positives) if yes else (891, 0, positives, 0)
        expected.append([f"{100 * float(f(counts)):.2f}" for f in classification.STATISTICS.values()])
    assert cells(name)[:2] == expected


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
