"""MetaCLUE's data: what is fetched, what is checked."""

from __future__ import annotations

from collections.abc import Iterator

from figlang_tasks.benchmarks.metaclue import annotations as data
from figlang_tasks.benchmarks.metaclue import candidates, rows
from figlang_tasks.core import hub
from figlang_tasks.core.checks import Fetched, Findings, Report


def fetch() -> Iterator[Fetched]:

    table = data.read("MetaCLUE")
    yield Fetched(f"MetaCLUE, {len(table.rows)} images: yours, nothing to download", table.folder, table.revision)


def check() -> Report:
    """A table of its own: the paper counts images, metaphors and boxes."""

    rows_found = data.check_folder()
    if rows_found.faults:
        return Report(rows_found.lines, rows_found.faults)
    folder, found = hub.snapshot(hub.source("MetaCLUE"), []).folder, Findings()
    for task in rows.TASKS:
        yours = (folder / candidates.FOLDER / f"{task.removeprefix(rows.RETRIEVE)}.jsonl").is_file()
        with found.fault() if yours else found.refused(f"a run refuses metaclue_{task}"):
            rows.load("MetaCLUE", task)
    return Report((*rows_found.lines[:-1], *found.remarks, *found.verdict()), len(found.faults))
