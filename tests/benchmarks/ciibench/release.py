"""Writes rows of CII-Bench as its authors' archive has them, and as the hub has them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from rows_with_images import drawing

# As in the release, the suffix .jpg says nothing of the format, and pictures serve several rows.
_PICTURES = (
    ("JPEG", "RGB"),
    ("JPEG", "CMYK"),
    ("WEBP", "RGBA"),
    ("PNG", "L"),
    ("GIF", "P"),
)
_LABELS = {"domain": "生活", "emotion": "中性", "difficulty": "简单"}


def _items(split: str, count: int) -> list[dict[str, Any]]:
    """Items of data/test.json: right answers A to F in turn, and two rhetorics in every other."""
    items: list[dict[str, Any]] = []
    for number in range(1, count + 1):
        options = [f"{split}-{number} 的意思 {letter}" for letter in "ABCDEF"]
        right = number % 6
        rhetoric = {"choices": ["隐喻", "象征"]} if number % 2 else "夸张"
        picture = f"images/{split}/{split}-{number % len(_PICTURES)}.jpg"
        question = {
            "id": f"{split}-{number}",
            "question": "这张图片有什么隐喻？",
            "options": options,
            "correct_option": options[right],
            "answer": "ABCDEF"[right],
        }
        labels = {**_LABELS, "image_type": "梗图(Meme)", "rhetoric": rhetoric}
        items.append({"local_path": picture, "questions": [question], "meta_data": labels})
    return items


def write_valid(folder: Path, hub: bool = False, dev_pictures: bool = True) -> Path:
    """Write ``folder/CII-Bench``, with as many rows as published, as the archive or as the hub.

    Args:
        folder: the folder above it.
        hub: whether to write Parquet files.
        dev_pictures: whether the hub's dev split has pictures.
    """
    release = folder / "CII-Bench"
    (release / "data").mkdir(parents=True)
    for split, count in {"test": 765, "dev": 35}.items():
        (release / "images" / split).mkdir(parents=True)
        for number, (picture_format, mode) in enumerate(_PICTURES):
            path = release / "images" / split / f"{split}-{number}.jpg"
            drawing(f"{split} {number}", 16).convert(mode).save(path, picture_format)
        items = _items(split, count)
        if not hub:
            (release / "data" / f"{split}.json").write_text(json.dumps(items), encoding="utf-8")
            continue
        rows: list[dict[str, Any]] = []
        for item in items:
            row = {**item["meta_data"], **item["questions"][0]}
            for number, option in enumerate(row.pop("options"), start=1):
                row[f"option{number}"] = option
            row["rhetoric"] = str(row["rhetoric"])
            content = (release / item["local_path"]).read_bytes()
            has_picture = split == "test" or dev_pictures
            row["image"] = {"bytes": content if has_picture else None, "path": "x.jpg"}
            rows.append(row)
        parquet = release / "data" / f"{split}-00000-of-00001.parquet"
        pq.write_table(pa.Table.from_pylist(rows), parquet)
    if hub:
        shutil.rmtree(release / "images")
    return release
