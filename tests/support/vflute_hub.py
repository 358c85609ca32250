"""Writes folders in the layout of the V-FLUTE dataset on the hub, with drawn pictures in place of the real ones."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import Features, Image, Value
from PIL import Image as PILImage
from PIL import ImageDraw

from figlang_tasks.core import hub

REPO_ID = "ColumbiaNLP/V-FLUTE"
REVISION = "d920d848e21b6aba96e03704b134c546f89b74f4"
SPLIT_SIZES = {"train": 4578, "validation": 726, "test": 723}
TEXT_COLUMNS = ("claim", "label", "explanation", "phenomenon", "source_dataset")
FEATURES = Features({"image": Image(), **{name: Value("string") for name in TEXT_COLUMNS}})
DEFAULT_SHARDS = {"train": 3}


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


def released_test_rows(csv_path: Path, *, as_on_hub: bool = True) -> list[VFluteRow]:
    """The test split in hub order.

    `as_on_hub` gives every row of the source vismet the phenomenon metaphor, as on the hub; the CSV calls some simile.
    """
    with csv_path.open(encoding="utf-8", newline="") as stream:
        rows = [
            VFluteRow(
                id=record["id"],
                claim=record["claim"],
                label=record["label"],
                explanation=record["explanation"],
                phenomenon="metaphor" if as_on_hub and record["source_dataset"] == "vismet" else record["phenomenon"],
                source_dataset=record["source_dataset"],
                instruction=record["prompt"],
            )
            for record in csv.DictReader(stream)
        ]
    rows.sort(key=lambda row: row.index)
    if [row.index for row in rows] != list(range(len(rows))):
        raise ValueError(f"{csv_path}: the numbers at the end of the ids are not 0 to {len(rows) - 1}")
    return rows


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


def draw_picture(row: VFluteRow, size: int = 64) -> bytes:
    """A PNG of one coloured shape on a coloured ground: always the same for a row, another one for each row."""
    digest = hashlib.sha256(row.id.encode()).digest()
    ground, colour = (digest[0], digest[1], digest[2]), (digest[3], digest[4], digest[5])
    picture = PILImage.new("RGB", (size, size), ground)
    draw = ImageDraw.Draw(picture)
    left, top = digest[6] % (size // 2), digest[7] % (size // 2)
    box = (left, top, left + size // 2 - 1, top + size // 2 - 1)
    shape = digest[8] % 3
    if shape == 0:
        draw.rectangle(box, fill=colour)
    elif shape == 1:
        draw.ellipse(box, fill=colour)
    else:
        draw.polygon([(box[0], box[3]), (box[2], box[3]), ((box[0] + box[2]) // 2, box[1])], fill=colour)
    stream = io.BytesIO()
    picture.save(stream, "PNG", compress_level=1)
    return stream.getvalue()


def write_vflute_repo(
    folder: Path,
    rows_by_split: Mapping[str, Sequence[VFluteRow]],
    *,
    image_size: int = 64,
    shards: Mapping[str, int] = DEFAULT_SHARDS,
) -> None:
    """Write the rows as they lie on the hub: `data/{split}-0000x-of-0000y.parquet` and a card with its YAML header."""
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    sizes = {}
    for split, rows in rows_by_split.items():
        parts = shards.get(split, 1)
        bounds = [len(rows) * part // parts for part in range(parts + 1)]
        sizes[split] = 0
        for part in range(parts):
            table = _table(rows[bounds[part] : bounds[part + 1]], image_size)
            sizes[split] += table.nbytes
            # Row groups of 100, as the hub's own tool writes tables with images.
            pq.write_table(table, data / f"{split}-{part:05d}-of-{parts:05d}.parquet", row_group_size=100)
    card = _card({split: (sizes[split], len(rows)) for split, rows in rows_by_split.items()}, data)
    (folder / "README.md").write_text(card, encoding="utf-8")
    (folder / ".gitattributes").write_text("*.parquet filter=lfs diff=lfs merge=lfs -text\n", encoding="utf-8")


def _table(rows: Sequence[VFluteRow], image_size: int) -> pa.Table:
    columns: dict[str, list[object]] = {
        "image": [{"bytes": draw_picture(row, image_size), "path": f"{row.index}.png"} for row in rows]
    }
    for name in TEXT_COLUMNS:
        columns[name] = [getattr(row, name) for row in rows]
    return pa.table(columns, schema=FEATURES.arrow_schema)


def _card(splits: Mapping[str, tuple[int, int]], data: Path) -> str:
    lines = ["---", "license: apache-2.0", "dataset_info:", "  features:", "  - name: image", "    dtype: image"]
    for name in TEXT_COLUMNS:
        lines += [f"  - name: {name}", "    dtype: string"]
    lines.append("  splits:")
    for split, (num_bytes, num_examples) in splits.items():
        lines += [f"  - name: {split}", f"    num_bytes: {num_bytes}", f"    num_examples: {num_examples}"]
    lines.append(f"  download_size: {sum(path.stat().st_size for path in data.iterdir())}")
    lines.append(f"  dataset_size: {sum(num_bytes for num_bytes, _ in splits.values())}")
    lines += ["configs:", "- config_name: default", "  data_files:"]
    for split in splits:
        lines += [f"  - split: {split}", f"    path: data/{split}-*"]
    return "\n".join([*lines, "---", "", "# Stand-in for V-FLUTE", "", "Drawn pictures, for tests only.", ""])


TINY = {"train": 100, "validation": 8, "test": 30}


def write(folder: Path, split: str, items: list[VFluteRow], **columns: list) -> None:
    data = {name: [getattr(item, name) for item in items] for name in FEATURES if name != "image"}
    data["image"] = [{"bytes": draw_picture(item, 16), "path": None} for item in items]
    (folder / "data").mkdir(parents=True, exist_ok=True)
    table = pa.table({name: (data | columns)[name] for name in FEATURES}, schema=FEATURES.arrow_schema)
    pq.write_table(table, folder / "data" / f"{split}-00000-of-00001.parquet")


def make_tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the splits of V-FLUTE have as many rows as `TINY` says."""
    for split, count in TINY.items():
        monkeypatch.setitem(hub.source("V-FLUTE").splits, split, count)
