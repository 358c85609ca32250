"""The mini benchmarks as shipped: no byte changes unseen, and the readers of the benchmarks find no
fault.

Croissant's description of a folder is its manifest. Counts are those of the cards.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from figlang_tasks import mini
from figlang_tasks.benchmarks.flute import rows as flute
from figlang_tasks.benchmarks.flute.pairs import REPORT_GROUPS
from figlang_tasks.benchmarks.irfl import tables
from figlang_tasks.benchmarks.irfl.archive import Pictures
from figlang_tasks.benchmarks.metaclue import annotations as metaclue
from figlang_tasks.benchmarks.metaclue import rows as metaclue_rows
from figlang_tasks.benchmarks.nykms import annotation_files as nykms
from figlang_tasks.benchmarks.vflute import rows as vflute
from figlang_tasks.core.request import Request

FOLDERS = sorted(path for path in mini.DATA_DIR.parent.iterdir() if path.is_dir())
NAMES = [folder.name for folder in FOLDERS]


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_files_are_those_of_the_manifest(folder: Path) -> None:
    listed = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))["distribution"]
    paths = [
        path
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("croissant.json", "README.md")
    ]
    digests = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in paths
    }
    assert {file["contentUrl"]: file["sha256"] for file in listed} == digests


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_mlcroissant_reads_every_row(folder: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="pip install mlcroissant")
    dataset = mlcroissant.Dataset(folder / "croissant.json")
    assert not dataset.metadata.ctx.issues.errors and dataset.metadata.record_sets
    for table in dataset.metadata.record_sets:
        names = {f"{table.id}/{field.name}" for field in table.fields}
        rows = list(dataset.records(table.id))
        assert rows and all(set(row) == names for row in rows)


@pytest.mark.parametrize(("split", "labels"), [("train", (14, 12)), ("test", (41, 35))])
def test_figlang_mini(split: str, labels: tuple[int, int]) -> None:
    documents = vflute.load("figlang_mini", split)
    assert len(set(documents["claim"])) == len(documents)
    found = Counter(documents["label"])
    assert (found["entailment"], found["contradiction"]) == labels


def test_figlang_mini_flute() -> None:
    documents = flute.load("figlang_mini_flute", "train")
    assert len(set(documents["id"])) == len(documents) == 32
    assert set(documents["report_group"]) == set(REPORT_GROUPS)


IRFL = {
    "idiom-detection-task": 12,
    "metaphor-detection-task": 8,
    "simile-detection-task": 10,
    "open-simile-detection-task": 10,
    "idiom-retrieval-task": 10,
    "metaphor-retrieval-task": 5,
    "simile-retrieval-task": 6,
    "open-simile-retrieval-task": 6,
    "idioms-dataset": 60,
    "metaphors-dataset": 33,
    "similes-dataset": 41,
}
READERS: dict[str, Callable[[str, str], tables.Table]] = {
    "detection-task": tables.read_detection_table,
    "retrieval-task": tables.read_retrieval_table,
    "dataset": tables.read_base_table,
}


@pytest.mark.parametrize(("name", "count"), IRFL.items())
def test_figlang_mini_irfl(name: str, count: int) -> None:
    (read,) = (reader for end, reader in READERS.items() if name.endswith(end))
    rows = read("figlang_mini_irfl", name).rows
    store = Pictures(mini.IRFL_DIR)
    assert len(rows) == count and all(
        store.read(uuid, row.location) for row in rows for uuid in row.uuids
    )


def test_figlang_mini_metaclue() -> None:
    rows = metaclue.read("figlang_mini_metaclue").rows
    for task in ("classify_symbolic", "classify_literal", "localize"):
        assert metaclue_rows.documents(
            Request.of("figlang_mini_metaclue", task=task), check_images=True
        )
    assert Counter(row.set for row in rows) == {
        "metaphor": 44,
        "symbolic_negative": 13,
        "literal_negative": 11,
    }
    assert sum(len(row.boxes) for row in rows) == 93
    assert {len(row.metaphors) for row in rows if row.set == "metaphor"} == {27}


@pytest.mark.parametrize("part", ["nyk_m", "nyk_s"])
def test_figlang_mini_nykms(part: str, warnings_of_loguru: list[str]) -> None:
    rows = nykms.read(mini.NYKMS_DIR / f"{part}.jsonl")[0]
    assert len(rows) == 12 and sum(row.label for row in rows) == 7 and not warnings_of_loguru
    assert all(row.description and row.image and row.contest for row in rows)
