"""Writes folders like V-FLUTE's repository on the hub, with drawn pictures for the real ones."""

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
    """A row as on the hub, with id and prompt, which only the released CSV of the test rows has."""

    id: str
    claim: str
    label: str
    explanation: str
    phenomenon: str
    source_dataset: str
    prompt: str = ""


def released_csv() -> Path:
    """The path of the released test rows beside the checkout; they may not be there."""
    return Path(__file__).resolve().parents[3] / "shared" / "data" / "vflute_test.csv"


def released_test_rows(csv_path: Path) -> list[VFluteRow]:
    """The released test rows as on the hub, in its order.

    Rows of the source vismet are all metaphors there; the CSV calls some of them similes.
    """
    rows: list[VFluteRow] = []
    with csv_path.open(encoding="utf-8", newline="") as stream:
        for cells in csv.DictReader(stream):
            is_vismet = cells["source_dataset"] == "vismet"
            row = VFluteRow(
                id=cells["id"],
                claim=cells["claim"],
                label=cells["label"],
                explanation=cells["explanation"],
                phenomenon="metaphor" if is_vismet else cells["phenomenon"],
                source_dataset=cells["source_dataset"],
                prompt=cells["prompt"].replace("REPLACE_CLAIM", f'"{cells["claim"]}"'),
            )
            rows.append(row)
    return sorted(rows, key=_row_index)


def _row_index(row: VFluteRow) -> int:
    """The index of a row in its split, the last part of its id (muse-test-7)."""
    return int(row.id.rpartition("-")[2])


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
    """Invented rows of every source, with both labels; nycartoons has entailment alone."""
    combinations: list[tuple[str, str, str]] = []
    for source, phenomenon in _CLAIMS:
        combinations.append((source, phenomenon, "entailment"))
        if source != "nycartoons":
            combinations.append((source, phenomenon, "contradiction"))
    rows: list[VFluteRow] = []
    for index in range(count):
        source, phenomenon, label = combinations[index % len(combinations)]
        claim = _CLAIMS[source, phenomenon].format(index)
        explanation = f"The image of number {index} is about a {phenomenon}, hence {label}."
        rows.append(
            VFluteRow(f"{source}-{split}-{index}", claim, label, explanation, phenomenon, source)
        )
    return rows


def write_vflute_repo(
    folder: Path, rows_by_split: Mapping[str, Sequence[VFluteRow]], *, image_size: int = 64
) -> None:
    """Write splits as on the hub, ``data/SPLIT-0000x-of-0000y.parquet``: train in three files."""
    (folder / "data").mkdir(parents=True)
    for split, rows in rows_by_split.items():
        columns: dict[str, list[object]] = {"image": []}
        for name in TEXT_COLUMNS:
            columns[name] = [getattr(row, name) for row in rows]
        for row in rows:
            picture = io.BytesIO()
            drawing(row.id, image_size).save(picture, "PNG", compress_level=1)
            columns["image"].append({"bytes": picture.getvalue(), "path": f"{row.id}.png"})
        in_order = {name: columns[name] for name in FEATURES}
        table = pa.table(in_order, schema=FEATURES.arrow_schema)
        file_count = 3 if split == "train" else 1
        for number in range(file_count):
            start = len(rows) * number // file_count
            end = len(rows) * (number + 1) // file_count
            path = folder / "data" / f"{split}-{number:05d}-of-{file_count:05d}.parquet"
            # Row groups of 100, as the hub's own tool writes tables with images.
            pq.write_table(table.slice(start, end - start), path, row_group_size=100)


def valid(folder: Path) -> None:
    """Write rows of the user in the place of V-FLUTE's, and figlang_mini beside them."""
    template.template(folder / "V-FLUTE")
    shutil.copytree(mini.DATA_DIR, folder / "figlang_mini")
