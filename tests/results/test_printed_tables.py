"""The figures of the data files are those of the papers' tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.results import measures

PRINTED = yaml.safe_load(Path(__file__).with_name("printed_tables.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PRINTED)
def test_figures_are_those_of_the_papers_tables(name: str) -> None:
    content = json.loads((benchmarks()[name].folder / "published.json").read_text(encoding="utf-8"))
    found: dict[str, dict[str, list[Any]]] = {}
    for record in content["records"]:
        task = record["task"] if isinstance(record["task"], str) else record["task"][0]
        scale = 100 if measures.of(record["metric"]).percent else 1
        numbers = [round(scale * record[n], 4) for n in ("value", "low", "high", "std") if n in record]
        columns = found.setdefault(record["table"], {})
        columns.setdefault(f"{task} {record['metric']}", []).append([record["model"], *numbers])
    assert found == PRINTED[name]
