"""IRFL's release as the hub has it, tables and a real zip of drawn pictures, and its documents."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from rows_with_images import drawing

from figlang_tasks.benchmarks.irfl.counts import ROWS, ROWS_OF_TYPES
from figlang_tasks.core import score_requests


def uuid(number: int) -> str:
    """A number of 77 digits."""
    return str(10**76 + number)


def write_table(folder: Path, name: str, rows: Sequence[Mapping[str, object]]) -> Path:
    """Write a table, ``idiom-detection-task`` for example; values that are no text become JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (name.replace("-", "_") + ".csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            cells: dict[str, str] = {}
            for column, value in row.items():
                cells[column] = value if isinstance(value, str) else json.dumps(value)
            writer.writerow(cells)
    return path


def metaphor_row(
    first: int = 0, phrase: str = "time is a thief", **changed_columns: object
) -> dict[str, object]:
    """A row of the metaphor detection table with the images `first` (the answer) to `first` + 3."""
    uuids = [uuid(first + offset) for offset in range(4)]
    categories = ["figurative", "literal", "literal", "none"]
    metadata: list[dict[str, str]] = []
    for picture_uuid, category in zip(uuids, categories, strict=True):
        metadata.append({"uuid": picture_uuid, "category": category})
    row = {
        "distractors": uuids[1:],
        "answer": uuids[:1],
        "images_metadata": metadata,
        "figurative_type": "metaphor",
        "type": "figurative",
        "phrase": phrase,
    }
    return row | changed_columns


def table_rows(name: str) -> list[dict[str, object]]:
    """Valid rows of a table, as many as were published."""
    count = ROWS[name] or 8
    roles = [None, "source", "target", None]
    metadata = [{"uuid": uuid(number), "sub_category": role} for number, role in enumerate(roles)]
    if name.endswith("-dataset"):
        return [
            {"phrase": f"phrase {number}", "category": "Figurative", "uuid": uuid(number)}
            for number in range(count)
        ]
    row: dict[str, object]
    if name.endswith("-retrieval-task"):
        row = {
            "images_metadata": metadata[:3],
            "first_category": [uuid(0)],
            "second_category": [uuid(1), uuid(2)],
        }
        return [row | {"type": "FvsPL", "phrase": "x", "definition": ["y"]}] * count
    row = metaphor_row(phrase="x", images_metadata=metadata, definition=["y"])
    rows: list[dict[str, object]] = []
    for row_type, row_count in ROWS_OF_TYPES.get(name, {"figurative": count}).items():
        rows += [row | {"type": row_type}] * row_count
    return rows


def write_valid_irfl(folder: Path) -> Path:
    """Write ``folder/IRFL``, all tables but the one of 6,697 rows, and return it."""
    for name in ROWS:
        if name != "idioms-dataset":
            write_table(folder / "IRFL", name, table_rows(name))
    write_pictures(folder / "IRFL", [uuid(number) for number in range(8)])
    return folder / "IRFL"


@lru_cache(maxsize=1)
def jpeg_files() -> tuple[bytes, ...]:
    """Different pictures as JPEG files."""
    files: list[bytes] = []
    for number in range(32):
        file = io.BytesIO()
        drawing(number, 48).save(file, "JPEG")
        files.append(file.getvalue())
    return tuple(files)


def write_pictures(folder: Path, uuids: Iterable[str]) -> Path:
    """Write ``IRFL_images.zip``; many uuids share the bytes of a few drawn pictures."""
    path = folder / "IRFL_images.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number, picture_uuid in enumerate(sorted(uuids)):
            compression = zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED
            content = jpeg_files()[number % len(jpeg_files())]
            archive.writestr(f"images/{picture_uuid}.jpeg", content, compress_type=compression)
    return path


def copy_tables(source: Path, folder: Path) -> Path:
    """Copy the released tables that are there, and draw the pictures that they name."""
    folder.mkdir(parents=True, exist_ok=True)
    uuids: set[str] = set()
    for path in source.glob("*.csv"):
        shutil.copyfile(path, folder / path.name)
        uuids.update(re.findall(r"\d{70,80}", path.read_text(encoding="utf-8")))
    write_pictures(folder, uuids)
    return folder


# --- documents, as the loader makes them ---

_SHARED_COLUMNS = {
    "dataset": "figlang_mini_irfl",
    "phrase": "He is a fox",
    "definitions": [],
    "type": "figurative",
}
ROTATIONS = "figlang_mini_irfl,table=simile-detection-task,rotations=true"
"""The request for each choice in all rotations."""


def choice_doc(**changed_columns: Any) -> dict[str, Any]:
    """A choice among four images, of which the second, B, is right."""
    doc = {
        "request": "figlang_mini_irfl,table=simile-detection-task",
        "data": "figlang_mini_irfl/simile-detection-task@package:0",
        "id": "simile-detection-task-0",
        "row": "simile-detection-task-0",
        "figurative_type": "simile",
        "candidates": ["1", "2", "3", "4"],
        "roles": ["source", "answer", "target", "random"],
        "answer": 1,
    }
    return _SHARED_COLUMNS | doc | changed_columns


def pair_doc(
    positive: bool, number: int = 0, images: int = 2, row: str = "r0", **changed_columns: Any
) -> dict[str, Any]:
    """One image of a row of retrieval.

    Args:
        positive: whether it shows the figurative meaning.
        number: its number in the row, from 0.
        images: how many images the row has.
        row: the id of the row.
        changed_columns: columns with other values.
    """
    doc = {
        "request": "figlang_mini_irfl,table=metaphor-retrieval-task",
        "data": "figlang_mini_irfl/metaphor-retrieval-task@package:0",
        "id": f"{row}-{number}",
        "row": row,
        "figurative_type": "metaphor",
        "candidates": [str(number)],
        "role": "answer" if positive else "literal",
        "positive": positive,
        "images": images,
    }
    return _SHARED_COLUMNS | doc | changed_columns


def scores(*image_scores: float) -> list[str]:
    """The output of a model that gives these matching scores, as ``process_results`` takes it."""
    return [score_requests.answer(image_scores)]
