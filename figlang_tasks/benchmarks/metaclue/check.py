"""MetaCLUE's data: download, check, and comparison with the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from figlang_tasks.benchmarks.metaclue import annotations as annotation_file
from figlang_tasks.benchmarks.metaclue import rows, schema
from figlang_tasks.benchmarks.metaclue.annotations import DATASET, FILE, PAPER
from figlang_tasks.core.checks import Fetched, Findings, Report, progress


def fetch() -> Iterator[Fetched]:
    table = annotation_file.read(DATASET)
    yield Fetched(f"{DATASET}, {len(table.rows)} images: yours, nothing to download", table.folder, table.revision)


def check() -> Report:
    table, faults = annotation_file.load(DATASET)
    found = Findings()
    counts = Counter((row.set, row.split) for row in table.rows)
    for (kind, split), published in PAPER.items():
        found.count(f"{kind}, {split}", counts[kind, split], published)
    found.count("metaphors (paper: over 26000)", sum(len(row.metaphors) for row in table.rows), None)
    for kind in schema.BOX_TYPES:  # the paper: over 30,000 of all types
        found.count(f"boxes, {kind}", sum(box.type == kind for row in table.rows for box in row.boxes), None)
    found.note(faults + annotation_file.picture_faults(DATASET, table, progress(table.rows, "pictures")))
    if faults:
        found.remarks.append("the tasks and their candidates were not checked: correct the annotations first")
    for task in () if faults else rows.TASKS:
        with found.refused(f"a run refuses metaclue_{task}"):
            found.note(rows.documents(DATASET, task)[1])
    test = table.select("test", "metaphor")
    for what, lacking in (  # no faults: an image may have no valid metaphor or box
        ("metaphors: not in retrieval, captioning and VQA", sum(not row.metaphors for row in test)),
        ("a topic: metaclue_retrieve_neg_* need one of each", sum(row.topic is None for row in test)),
        ("boxes: not in metaclue_localize", sum(not row.boxes for row in test)),
    ):
        if lacking:
            found.remarks.append(f"{lacking} of {len(test)} test metaphors without {what}")
    return found.report(f"{table.folder / FILE}: {len(table.rows)} valid rows")
