"""FLUTE's data: download and check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from figlang_tasks.benchmarks.flute import rows
from figlang_tasks.core import hub
from figlang_tasks.core.checks import Fetched, Findings, Report, on_this_machine


def fetch() -> Iterator[Fetched]:
    source = hub.source("FLUTE")
    count = len(rows.load(source.name, "train"))
    found = hub.snapshot(source, ["README.md", "*.parquet", "*.jsonl"])
    yield Fetched(f"FLUTE, {count} rows", found.folder, found.revision)


def check() -> Report:
    here, found = on_this_machine("flute", hub.source("FLUTE")), Findings()
    valid: Sequence[rows.Pair] = ()
    with found.fault():
        valid, faults, _ = rows.read("FLUTE")
        found.note(faults)
        if not faults:
            rows.load("FLUTE", "heldout")
    found.count("train, valid rows", len(valid), hub.source("FLUTE").splits["train"])
    counts = Counter((row.portion, row.label) for row in valid)
    for (portion, label), published in rows.RELEASED_COUNTS["FLUTE"].items():
        found.count(f"train, {portion}, {label}", counts[portion, label], published)
    blind = None
    if (here.folder / rows.BLIND_FILE).is_file():
        with found.fault():
            blind, faults = rows.read_blind()
            found.note(faults)
    else:
        found.remarks.append(f"{rows.BLIND_FILE} is missing; only flute_codalab needs it")
    found.count("blind test rows of FigLang 2022", None if blind is None else len(blind), rows.BLIND_ROWS)
    return found.report(f"{here.folder} ({here.revision})")
