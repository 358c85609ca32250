"""Writes folders in the layout of the V-FLUTE dataset on the hub, with drawn pictures in place of
the real ones.
"""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Features, Image, Value
from drawings import drawing

from figlang_tasks import mini
from figlang_tasks.benchmarks.vflute import template

REPO_ID = "ColumbiaNLP/V-FLUTE"
REVISION = "d920d848e21b6aba96e03704b134c546f89b74f4"
SPLIT_SIZES = {"train": 4578, "validation": 726, "test": 723}
TEXT_COLUMNS = ("claim", "label", "explanation", "phenomenon", "source_dataset")
FEATURES = Features({"image": Image(), **{name: Value("string") for name in TEXT_COLUMNS}})


class VFluteRow(NamedTuple):
    """A row as on the hub, with the id and the prompt that only the released CSV of the test split
    has.
    """

    id: str
    claim: str
    label: str
    explanation: str
    phenomenon: str
    source_dataset: str
    prompt: str = ""


def released_csv() -> Path:
    """Where the released CSV of the test split lies beside a checkout, if it is there at all."""
    return Path(__file__).resolve().parents[3] / "shared" / "data" / "vflute_test.csv"


def released_test_rows(csv_path: Path) -> list[VFluteRow]:
    """The test split in hub order: rows of the source vismet are metaphors there; the CSV calls
    some simile.
    """
    with csv_path.open(encoding="utf-8", newline="") as stream:
        rows = [
            VFluteRow(
                **{
                    name: record[name]
                    for name in ("id", "claim", "label", "explanation", "source_dataset")
                },
                phenomenon=(
                    "metaphor" if record["source_dataset"] == "vismet" else record["phenomenon"]
                ),
                prompt=record["prompt"].replace("REPLACE_CLAIM", f'"{record["claim"]}"'),
            )
            for record in csv.DictReader(stream)
        ]
    return sorted(rows, key=lambda row: int(row.id.rpartition("-")[2]))


_CLAIMS = {  # invented, in the forms that the sources of the dataset have
    ("irfl", "metaphor"): "Kettle number {} is a lantern",
    ("irfl", "simile"): "Ladder number {} is as quick as a spark",
    ("irfl", "idiom"): "carry meeting number {} uphill",
    ("vismet", "metaphor"): "My umbrella number {} is a locked door",
    ("muse", "sarcasm"): "Wonderful, garden number {} has failed again. What could be better?",
    ("memecap", "humor"): 'Those who own ticket number {}\nsay "never again".',
    ("nycartoons", "humor"): "I told you violin number {} would not fit.",
}


def synthetic_rows(split: str, count: int) -> list[VFluteRow]:
    """Invented rows of every source, with both labels except for nycartoons, which has only
    entailment.
    """
    kinds = [(*kind, label) for kind in _CLAIMS for label in ("entailment", "contradiction")][:-1]
    rows = []
    for index in range(count):
        source, phenomenon, label = kinds[index % len(kinds)]
        claim = _CLAIMS[source, phenomenon].format(index)
        explanation = f"The image of number {index} is about a {phenomenon}, hence {label}."
        rows.append(
            VFluteRow(f"{source}-{split}-{index}", claim, label, explanation, phenomenon, source)
        )
    return rows


def write_vflute_repo(
    folder: Path, rows_by_split: Mapping[str, Sequence[VFluteRow]], *, image_size: int = 64
) -> None:
    """Write splits as they lie on the hub, ``data/SPLIT-0000x-of-0000y.parquet``, the train split
    in three files.
    """
    (folder / "data").mkdir(parents=True)
    for split, rows in rows_by_split.items():
        data: dict[str, list[object]] = {
            name: [getattr(row, name) for row in rows] for name in TEXT_COLUMNS
        }
        data["image"] = []
        for row in rows:
            picture = io.BytesIO()
            drawing(row.id, image_size).save(picture, "PNG", compress_level=1)
            data["image"].append({"bytes": picture.getvalue(), "path": f"{row.id}.png"})
        table = pa.table({name: data[name] for name in FEATURES}, schema=FEATURES.arrow_schema)
        parts = 3 if split == "train" else 1
        for part in range(parts):
            first, end = (len(rows) * number // parts for number in (part, part + 1))
            # Row groups of 100, as the hub's own tool writes tables with images.
            path = folder / "data" / f"{split}-{part:05d}-of-{parts:05d}.parquet"
            pq.write_table(table.slice(first, end - first), path, row_group_size=100)


def valid(folder: Path) -> None:
    """Write rows of the user in the place of V-FLUTE's, and beside them a dataset in V-FLUTE's own
    layout.
    """
    template.template(folder / "V-FLUTE")
    shutil.copytree(mini.DATA_DIR, folder / "figlang_mini")
