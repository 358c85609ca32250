"""V-FLUTE's data: download and check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from figlang_tasks.benchmarks.vflute import own, rows
from figlang_tasks.core import hub
from figlang_tasks.core.checks import Fetched, Findings, Report, end_with_the_first, on_this_machine

TEST = {
    "vismet": 101,
    "irfl_metaphor_simile": 120,
    "irfl_idiom": 100,
    "muse": 106,
    "memecap": 196,
    "nycartoons": 100,
}
"""Rows of the test split by source (arXiv 2405.01474, Table 3)."""
_NEEDED = {"train": "vflute_5shot, vflute_10shot", "validation": "vflute_val"}


def fetch() -> Iterator[Fetched]:
    source = hub.source("V-FLUTE")
    for split, count in source.splits.items():
        found = hub.snapshot(source, ["README.md", f"*{split}-*.parquet"])
        end_with_the_first(hub.load_split(source.name, split)[1], "vflute")
        yield Fetched(f"V-FLUTE/{split}, {count} rows", found.folder, found.revision)


def check() -> Report:
    source = hub.source("V-FLUTE")
    here, found = on_this_machine("vflute", source), Findings()
    for split, published in source.splits.items():
        yours = None
        with found.fault():
            yours = own.table_of(source.name, split)
        if yours is not None:
            _yours(found, split, yours)
            continue
        if split != "test" and not any(here.folder.glob(f"**/{split}-*.parquet")):
            found.count(split, None, published)
            found.remarks.append(f"{split} is missing: {_NEEDED[split]} need(s) it")
            continue
        valid: list[rows.Claim] = []
        with found.fault():
            valid, faults = rows.read(source.name, split)
            found.note(faults)
        found.count(f"{split}, valid rows", len(valid), published)
        groups = Counter(row.report_group for row in valid)
        for group, count in TEST.items() if split == "test" else ():
            found.count(f"{split}, {group}", groups[group], count)
    return found.report(f"{here.folder} ({here.revision})")


def _yours(found: Findings, split: str, path: Path) -> None:
    """Check rows of the user, which no published count is of."""
    valid, faults = rows.read("V-FLUTE", split)
    found.note(faults)
    found.count(f"{split}, valid rows", len(valid), None)
    for group, count in Counter(row.report_group for row in valid).items():
        found.count(f"{split}, {group}", count, None)
    found.remarks.append(f"{split}: rows of your own, from {path}: published results are not shown with them")
