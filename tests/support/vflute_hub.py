"""Writes folders in the layout of the V-FLUTE dataset on the hub, with drawn pictures in place of the real ones."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Features, Image, Value
from drawings import drawing

from figlang_tasks.core import hub

REPO_ID = "ColumbiaNLP/V-FLUTE"
REVISION = "d920d848e21b6aba96e03704b134c546f89b74f4"
SPLIT_SIZES = {"train": 4578, "validation": 726, "test": 723}
TEXT_COLUMNS = ("claim", "label", "explanation", "phenomenon", "source_dataset")
FEATURES = Features({"image": Image(), **{name: Value("string") for name in TEXT_COLUMNS}})


@dataclass(frozen=True)
class VFluteRow:
    """A row as on the hub, with the id and the instruction that only the released CSV of the test split has."""

    id: str
    claim: str
    label: str
    explanation: str
    phenomenon: str
    source_dataset: str
    instruction: str = ""

    @property
    def index(self) -> int:
        """Position of the row in its split."""
        return int(self.id.rpartition("-")[2])

    @property
    def prompt(self) -> str:
        """The instruction with the claim filled in."""
        return self.instruction.replace("REPLACE_CLAIM", f'"{self.claim}"')


def released_csv() -> Path:
    """Where the released CSV of the test split lies beside a checkout, if it is there at all."""
    return Path(__file__).resolve().parents[3] / "shared" / "data" / "vflute_test.csv"


def released_test_rows(csv_path: Path) -> list[VFluteRow]:
    """The test split in hub order: rows of the source vismet are metaphors there; the CSV calls some simile."""
    with csv_path.open(encoding="utf-8", newline="") as stream:
        rows = [
            VFluteRow(
                **{name: record[name] for name in ("id", "claim", "label", "explanation", "source_dataset")},
                phenomenon="metaphor" if record["source_dataset"] == "vismet" else record["phenomenon"],
                instruction=record["prompt"],
            )
            for record in csv.DictReader(stream)
        ]
    return sorted(rows, key=lambda row: row.index)


# Invented material, in the forms that the sources of the dataset have: (claim, what it means).
_MATERIAL: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    ("irfl", "metaphor"): (("The {noun} is a lantern", "it lights the way"), ("My {noun} is a stone", "it is heavy")),
    ("irfl", "simile"): (
        ("The {noun} is as quick as a spark", "it is over in a moment"),
        ("The {noun} is as quiet as snow", "it makes no sound"),
    ),
    ("irfl", "idiom"): (("carry the {noun} uphill", "toil at a task"), ("bury the {noun}", "give up a plan")),
    ("vismet", "metaphor"): (
        ("My {noun} is a locked door", "nobody gets through"),
        ("The {noun} is a river", "it flows on"),
    ),
    ("muse", "sarcasm"): (
        ("Wonderful, the {noun} has failed again. What could be better?", "the writer is annoyed"),
        ("I so enjoy waiting for the {noun}", "the writer is bored"),
    ),
    ("memecap", "humor"): (
        ('The poster says "never again" and means the {noun}.', "the joke is that it will happen again"),
        ("Those who own a {noun}\nlook down on the rest.", "the joke is about pride"),
    ),
    ("nycartoons", "humor"): (("I told you the {noun} would not fit.", "the joke is a plan gone wrong"),),
}
_NOUNS = ("kettle", "ladder", "meeting", "umbrella", "garden", "ticket", "violin", "bridge", "winter", "spoon", "pier")


def synthetic_rows(split: str, count: int) -> list[VFluteRow]:
    """Invented rows of every source, with both labels except for nycartoons, which has only entailment."""
    kinds = [
        (source, phenomenon, claim, meaning, label)
        for (source, phenomenon), claims in _MATERIAL.items()
        for (claim, meaning), label in product(claims, ("entailment", "contradiction"))
        if not (source == "nycartoons" and label == "contradiction")
    ]
    rows = []
    for index in range(count):
        source, phenomenon, claim, meaning, label = kinds[index % len(kinds)]
        noun = f"{_NOUNS[index // len(kinds) % len(_NOUNS)]} number {index}"
        verb = "shows this" if label == "entailment" else "shows the opposite"
        rows.append(
            VFluteRow(
                id=f"{source}-{split}-{index}",
                claim=claim.format(noun=noun),
                label=label,
                explanation=f"The claim means that {meaning}. The image of the {noun} {verb}, hence {label}.",
                phenomenon=phenomenon,
                source_dataset=source,
            )
        )
    return rows


def write(
    folder: Path, split: str, rows: Sequence[VFluteRow], image_size: int = 16, parts: int = 1, **columns: list
) -> None:
    """Write a split as it lies on the hub, ``data/SPLIT-0000x-of-0000y.parquet``; `columns` take the place of rows'."""
    data: dict[str, list[object]] = {name: [getattr(row, name) for row in rows] for name in TEXT_COLUMNS}
    data["image"] = []
    for row in rows:
        picture = io.BytesIO()
        drawing(row.id, image_size).save(picture, "PNG", compress_level=1)
        data["image"].append({"bytes": picture.getvalue(), "path": f"{row.index}.png"})
    table = pa.table({name: (data | columns)[name] for name in FEATURES}, schema=FEATURES.arrow_schema)
    (folder / "data").mkdir(parents=True, exist_ok=True)
    for part in range(parts):
        first, end = (len(rows) * number // parts for number in (part, part + 1))
        # Row groups of 100, as the hub's own tool writes tables with images.
        path = folder / "data" / f"{split}-{part:05d}-of-{parts:05d}.parquet"
        pq.write_table(table.slice(first, end - first), path, row_group_size=100)


def write_vflute_repo(folder: Path, rows_by_split: Mapping[str, Sequence[VFluteRow]], *, image_size: int = 64) -> None:
    """Write splits, the train split in three files, and a card."""
    for split, rows in rows_by_split.items():
        write(folder, split, rows, image_size, parts=3 if split == "train" else 1)
    (folder / "README.md").write_text("# Stand-in for V-FLUTE\n\nDrawn pictures, for tests only.\n")


TINY = {"train": 100, "validation": 8, "test": 30}


def make_tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the splits of V-FLUTE have as many rows as `TINY` says."""
    for split, count in TINY.items():
        monkeypatch.setitem(hub.source("V-FLUTE").splits, split, count)
