"""NYK-MS's data: download and check."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from figlang_tasks.benchmarks.nykms import rows
from figlang_tasks.benchmarks.nykms.parse import Question
from figlang_tasks.core import hub
from figlang_tasks.core.checks import Fetched, Findings, Report, on_this_machine
from figlang_tasks.core.hub import DataError


def fetch() -> Iterator[Fetched]:
    found = hub.snapshot(hub.source(rows.CONTESTS), [f"{rows.CONTEST_CONFIG}/*.parquet"])
    if not any((found.folder / rows.CONTEST_CONFIG).glob("*.parquet")):
        raise DataError(
            f"{rows.CONTESTS}: no file {rows.CONTEST_CONFIG}/*.parquet in {found.folder}: load the dataset again"
        )
    yield Fetched("NYK-MS, the cartoons and descriptions (its annotations are yours)", found.folder, found.revision)


def check() -> Report:
    here, found = on_this_machine("nykms", hub.source("NYK-MS")), Findings()
    parts: tuple[tuple[str, str, Question], ...] = (("nyk_m", "metaphor", "mw"), ("nyk_s", "sarcasm", "sw"))
    for part, topic, word in parts:
        path = here.folder / f"{part}.jsonl"
        if not path.is_file():
            found.count(part, None, rows.PAPER_ROWS[part])
            found.remarks.append(f"{path} is missing: the tasks on {topic} need it")
            continue
        with found.fault():
            _part(found, path, word)
    if all(here_ is None for _, here_, _ in found.counts):
        found.faults.append(f"{here.folder} has no annotations: `figlang data template nykms` writes example files")
    return found.report(f"{here.folder} ({here.revision})")


def _part(found: Findings, path: Path, word: Question) -> None:
    part = path.stem
    annotated, faults = rows.read(path)
    shown, told = (rows.complete("NYK-MS", path, annotated, modality) for modality in rows.MODALITIES)
    found.note([*faults, *shown.faults])
    if not faults:
        with found.fault():
            rows.about(word, annotated, path)
    refused = f"{part}: a run refuses the tasks on descriptions (nykms_*_text)"
    found.remarks += [f"{refused}: {each}" for each in told.faults if each not in shown.faults]
    found.count(part, len(annotated), rows.PAPER_ROWS[part])
    found.count(f"{part}, positives", sum(row.label for row in annotated), rows.PAPER_POSITIVES[part])
    found.count(f"{part}, cartoons in files", len({row.image for row in annotated if row.image}), None)
    for what, count in (
        ("cartoon", sum(row.image is None for row in annotated)),
        ("description", sum(not row.description for row in annotated)),
    ):
        if count:
            found.remarks.append(
                f"{part}: {count} rows have no {what}; it comes from the hub's contest dataset (figlang data prefetch "
                "nykms)"
            )
