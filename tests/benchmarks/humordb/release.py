"""HumorDB's rows as on the hub, with drawn pictures."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from figlang_tasks.benchmarks.humordb.names import ANCHORS


def row_of_hub(number: int, **changes: Any) -> dict[str, Any]:
    """A row of the hub. Two in three are funny; ratings go from 1 to 9.95; no words are equal."""
    picture = io.BytesIO()
    Image.new("RGB", (8, 8), (number % 256, 0, 0)).save(picture, "PNG")
    labels = [(number // 3**place) % 3 - 1 for place in range(len(ANCHORS))]
    return {
        "image": {"bytes": picture.getvalue(), "path": None},
        "range_ratings_mean": 1 + number % 180 / 20,
        "comparison_ratings": dict(zip(ANCHORS, labels, strict=True)),
        "binary_rating": int(number % 3 > 0),
        "words": [f"word{number}"],
        **changes,
    }


def write_split(folder: Path, split: str, rows: list[dict[str, Any]]) -> Path:
    """Write ``data/SPLIT-00000-of-00001.parquet`` as on the hub."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    path = folder / "data" / f"{split}-00000-of-00001.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def write_valid_release(folder: Path) -> Path:
    """Write the test split, with as many rows as the published one."""
    write_split(folder / "HumorDB", "test", [row_of_hub(number) for number in range(706)])
    return folder / "HumorDB"
