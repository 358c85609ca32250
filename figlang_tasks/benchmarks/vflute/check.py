"""V-FLUTE's data: what is fetched, what is checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.core import hub, images
from figlang_tasks.core.checks import Fetched, Findings, Report, on_this_machine, progress

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
        hub.load_split(source.name, split)
        yield Fetched(f"V-FLUTE/{split}, {count} rows", found.folder, found.revision)


def check() -> Report:
    import datasets

    source, here, found = hub.source("V-FLUTE"), on_this_machine("vflute", hub.source("V-FLUTE")), Findings()
    for split, published in source.splits.items():
        files = sorted(here.folder.glob(f"**/{split}-*.parquet"))
        if not files and split != "test":
            found.count(split, None, published)
            found.remarks.append(f"{split} is not here: {_NEEDED[split]} need(s) it")
            continue
        loaded = None
        with found.fault():
            loaded = hub.load_split(source.name, split)
        if loaded is None:
            found.count(split, _parquet_rows(files), published)
            continue
        groups: Counter[str] = Counter()
        pictures, before = 0, len(found.faults)
        undecoded = loaded.cast_column("image", datasets.Image(decode=False))
        for number, row in enumerate(progress(undecoded, f"V-FLUTE/{split}")):
            name = f"V-FLUTE/{split} row {number}"
            with found.fault():
                rows._check_texts({key: row[key] for key in source.columns if key != "image"}, name)
                groups[rows.report_group(row["source_dataset"], row["phenomenon"])] += 1
            with found.fault():
                images.check(row["image"], name, source.name)
                pictures += 1
        if len(found.faults) == before:  # what is wrong with no single row
            with found.fault():
                rows.load(source.name, split, check_images=False)
        found.count(split, len(loaded), published)
        found.count(f"{split}, pictures", pictures, published)
        for group, count in TEST.items() if split == "test" else ():
            found.count(f"{split}, {group}", groups[group], count)
    return found.report(f"{here.folder} ({here.revision})")


def _parquet_rows(files: list[Path]) -> int | None:
    """Rows by the files' own word; None if one is damaged."""
    import pyarrow.parquet as pq
    from pyarrow import ArrowException

    try:
        return sum(pq.read_metadata(path).num_rows for path in files) if files else None
    except (ArrowException, OSError):
        return None
