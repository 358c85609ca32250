"""MetaCLUE's data: download, check, and comparison with the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from figlang_tasks.benchmarks.metaclue import annotations as annotation_file
from figlang_tasks.benchmarks.metaclue import rows, schema
from figlang_tasks.benchmarks.metaclue.annotations import DATASET, FILE, PAPER
from figlang_tasks.benchmarks.metaclue.schema import Annotation
from figlang_tasks.core.checks import Fetched, Findings, Report, progress

PAPER_SYMBOLIC, PAPER_METAPHORS, PAPER_BOXES = 8480, 26_000, 30_000  # the last two: "over"


def fetch() -> Iterator[Fetched]:
    table = annotation_file.read(DATASET)
    yield Fetched(f"{DATASET}, {len(table.rows)} images: yours, nothing to download", table.folder, table.revision)


def check() -> Report:
    """A table of its own: the paper counts images, metaphors and boxes."""
    table, faults = annotation_file.load(DATASET)
    found = Findings()
    found.faults = faults + annotation_file.picture_faults(DATASET, table, progress(table.rows, "pictures"))
    if faults:
        found.remarks.append("the tasks and their candidates were not checked: correct the annotations first")
    for task in () if faults else rows.TASKS:
        with found.refused(f"a run refuses metaclue_{task}"):
            found.faults = [*dict.fromkeys(found.faults + rows.documents(DATASET, task)[1])]
    head = [f"{table.folder / FILE}: {len(table.rows)} valid rows", "", *_counts(table.rows), "", *_gaps(table.rows)]
    return Report((*head, *found.remarks, *found.verdict()), len(found.faults))


def _counts(rows: Sequence[Annotation]) -> list[str]:
    counts = Counter((row.set, row.split) for row in rows)
    metaphorical = sum(counts["metaphor", split] for split in schema.SPLITS)
    symbolic = metaphorical + sum(counts["symbolic_negative", split] for split in schema.SPLITS)
    found = [
        ("symbolic images", symbolic, f"{PAPER_SYMBOLIC}"),
        (
            "metaphorical images",
            metaphorical,
            f"{sum(PAPER['metaphor', split] for split in schema.SPLITS)}",
        ),
        *((f"{kind}, {split}", counts[kind, split], f"{expected}") for (kind, split), expected in PAPER.items()),
        ("metaphors", sum(len(row.metaphors) for row in rows), f"over {PAPER_METAPHORS}"),
        ("boxes", sum(len(row.boxes) for row in rows), f"over {PAPER_BOXES}"),
    ]
    types = Counter(box.type for row in rows for box in row.boxes)
    found += [(f"boxes, {kind}", types[kind], "-") for kind in schema.BOX_TYPES]
    width = max(len(name) for name, _, _ in found)
    lines = [f"{name:{width}}  {here:>8}  {paper}{_difference(here, paper)}" for name, here, paper in found]
    return [f"{'':{width}}  {'here':>8}  paper", *lines]


def _difference(here: int, paper: str) -> str:
    """How many are missing or too many, where the paper has an exact number."""
    if not paper.isdigit() or here == int(paper):
        return ""
    return f"  ({abs(here - int(paper))} {'missing' if here < int(paper) else 'more'})"


def _gaps(rows: Sequence[Annotation]) -> list[str]:
    """Images that tasks leave out. These are not faults: an image may have no valid metaphor or box."""
    test = [row for row in rows if row.set == "metaphor" and row.split == "test"]
    gaps = (
        ("without metaphors: not in retrieval, captioning and VQA", [row for row in test if not row.metaphors]),
        ("without a topic: metaclue_retrieve_neg_* need one of each", [row for row in test if row.topic is None]),
        ("without boxes: not in metaclue_localize", [row for row in test if not row.boxes]),
    )
    return [f"{len(found)} of {len(test)} test metaphors {what}" for what, found in gaps if found]
