"""Rows of FLUTE and V-FLUTE in the layout of their releases, invented or from a real release."""

from __future__ import annotations

import csv
import io
import json
import random
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from datasets import Dataset, Features, Image, Value
from rows_with_images import drawing

from figlang_tasks import mini
from figlang_tasks.benchmarks.flute.blind import BLIND_FILE
from figlang_tasks.benchmarks.vflute import template

# --- FLUTE ---

Values = dict[str, Any]
"""The values of a row of FLUTE, by column."""


def invented_flute_rows() -> list[Values]:
    """7,534 rows in the form of the JSON lines file: paraphrases are called sarcasm there.

    There are as many rows of each kind as in the release, and ids and sentences are shared in the
    same way.
    """
    rows: list[Values] = []
    for number in range(1050):
        premise = f"The kettle number {number} broke again."
        paraphrase = f"It annoys me that kettle {number} broke."
        rows.append(_flute_row("sarcasm", number, premise, paraphrase, "Entailment"))
        for verb in ("love", "adore"):
            sarcasm = f"I {verb} how kettle {number} broke."
            rows.append(_flute_row("sarcasm", number, premise, sarcasm, "Contradiction"))
    for number in range(1050, 1166):
        premise = f"Bus {number} was late."
        sarcasm = f"Bravo, bus {number}."
        rows.append(_flute_row("sarcasm", number, premise, sarcasm, "Contradiction"))

    figures = {
        "simile": "Her voice was like bell",
        "metaphor": "He was wall",
        "idiom": "They spilled bean",
    }
    for kind, figure in figures.items():
        for number in range(884 if kind == "idiom" else 625):
            for label in ("Entailment", "Contradiction"):
                premise = f"{label} of {kind} {number}."
                rows.append(_flute_row(kind, number, premise, f"{figure} {number}.", label))
    return rows


def _flute_row(kind: str, row_id: int, premise: str, hypothesis: str, label: str) -> Values:
    return {
        "type": kind,
        "id": f"{row_id}",
        "premise": premise,
        "hypothesis": hypothesis,
        "label": label,
        "explanation": f"What {row_id} says of {hypothesis!r} is why it is {label}.",
    }


def as_on_the_hub(rows: Sequence[Values]) -> list[Values]:
    """The same rows with the hub's columns and names of types, in another order."""
    hub_rows: list[Values] = []
    for values in random.Random(3).sample(rows, len(rows)):
        is_paraphrase = values["type"] == "sarcasm" and values["label"] == "Entailment"
        kind = "CreativeParaphrase" if is_paraphrase else values["type"].title()
        hub_rows.append({**values, "id": int(values["id"]), "type": kind, "split": "train"})
    return hub_rows


def write_lines(path: Path, rows: Sequence[Values]) -> Path:
    """Write a file of JSON lines, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(values) + "\n" for values in rows), encoding="utf-8")
    return path


def blind_rows() -> list[Values]:
    """Rows in the form of the shared task's blind test file."""
    return [
        {
            "codalab_id": number,
            "id": number % 7,
            "premise": f"Premise {number}.",
            "hypothesis": f"Hypothesis {number}.",
            "predicted_label": "",
            "model_explanation": "",
        }
        for number in range(1500)
    ]


def write_flute_parquet(folder: Path, rows: Sequence[Values]) -> None:
    """Write rows as on the hub, in two files of the training split."""
    (folder / "data").mkdir()
    for number in range(2):
        shard = Dataset.from_list([*rows]).shard(2, number, contiguous=True)
        shard.to_parquet(str(folder / "data" / f"train-{number:05d}-of-00002.parquet"))


def write_valid_flute(folder: Path, parquet: bool = False) -> Path:
    """Write ``folder/FLUTE`` in one of its forms, with the blind rows."""
    write_lines(folder / "FLUTE" / BLIND_FILE, blind_rows())
    if parquet:
        write_flute_parquet(folder / "FLUTE", as_on_the_hub(invented_flute_rows()))
    else:
        write_lines(folder / "FLUTE" / "train.jsonl", invented_flute_rows())
    return folder / "FLUTE"


# --- V-FLUTE ---

VFLUTE_REPO_ID = "ColumbiaNLP/V-FLUTE"
VFLUTE_REVISION = "d920d848e21b6aba96e03704b134c546f89b74f4"
VFLUTE_SPLIT_SIZES = {"train": 4578, "validation": 726, "test": 723}
VFLUTE_TEXT_COLUMNS = ("claim", "label", "explanation", "phenomenon", "source_dataset")
VFLUTE_FEATURES = Features(
    {"image": Image(), **{name: Value("string") for name in VFLUTE_TEXT_COLUMNS}}
)


class VFluteRow(NamedTuple):
    """A row as on the hub, with id and prompt, which only the released CSV of the test rows has."""

    id: str
    claim: str
    label: str
    explanation: str
    phenomenon: str
    source_dataset: str
    prompt: str = ""


def released_vflute_csv() -> Path:
    """The path of the released test rows beside the checkout; they may not be there."""
    return Path(__file__).resolve().parents[3] / "shared" / "data" / "vflute_test.csv"


def released_vflute_rows(csv_path: Path) -> list[VFluteRow]:
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
    return sorted(rows, key=_vflute_row_index)


def _vflute_row_index(row: VFluteRow) -> int:
    """The index of a row in its split, the last part of its id (muse-test-7)."""
    return int(row.id.rpartition("-")[2])


_VFLUTE_CLAIMS = {  # invented, in the forms that the sources of the dataset have
    ("irfl", "metaphor"): "Kettle number {} is a lantern",
    ("irfl", "simile"): "Ladder number {} is as quick as a spark",
    ("irfl", "idiom"): "carry meeting number {} uphill",
    ("vismet", "metaphor"): "My umbrella number {} is a locked door",
    ("muse", "sarcasm"): "Wonderful, garden number {} has failed again. What could be better?",
    ("memecap", "humor"): 'Those who own ticket number {}\nsay "never again".',
    ("nycartoons", "humor"): "I told you violin number {} would not fit.",
}


def invented_vflute_rows(split: str, count: int) -> list[VFluteRow]:
    """Invented rows of every source, with both labels; nycartoons has entailment alone."""
    combinations: list[tuple[str, str, str]] = []
    for source, phenomenon in _VFLUTE_CLAIMS:
        combinations.append((source, phenomenon, "entailment"))
        if source != "nycartoons":
            combinations.append((source, phenomenon, "contradiction"))
    rows: list[VFluteRow] = []
    for index in range(count):
        source, phenomenon, label = combinations[index % len(combinations)]
        claim = _VFLUTE_CLAIMS[source, phenomenon].format(index)
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
        for name in VFLUTE_TEXT_COLUMNS:
            columns[name] = [getattr(row, name) for row in rows]
        for row in rows:
            picture = io.BytesIO()
            drawing(row.id, image_size).save(picture, "PNG", compress_level=1)
            columns["image"].append({"bytes": picture.getvalue(), "path": f"{row.id}.png"})
        in_order = {name: columns[name] for name in VFLUTE_FEATURES}
        table = pa.table(in_order, schema=VFLUTE_FEATURES.arrow_schema)
        file_count = 3 if split == "train" else 1
        for number in range(file_count):
            start = len(rows) * number // file_count
            end = len(rows) * (number + 1) // file_count
            path = folder / "data" / f"{split}-{number:05d}-of-{file_count:05d}.parquet"
            # Row groups of 100, as the hub's own tool writes tables with images.
            pq.write_table(table.slice(start, end - start), path, row_group_size=100)


def write_valid_vflute(folder: Path) -> None:
    """Write rows of the user in the place of V-FLUTE's, and figlang_mini beside them."""
    template.template(folder / "V-FLUTE")
    shutil.copytree(mini.DATA_DIR, folder / "figlang_mini")
