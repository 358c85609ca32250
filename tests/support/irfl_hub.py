"""Writes folders in the layout of the IRFL repository on the hub: given tables, and drawn pictures
in a real zip.
"""

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

from drawings import drawing

from figlang_tasks.benchmarks.irfl.counts import ROWS, ROWS_OF_TYPES


def uuid(number: int) -> str:
    """A number of 77 digits."""
    return str(10**76 + number)


def write_table(folder: Path, name: str, rows: Sequence[Mapping[str, object]]) -> Path:
    """Write a table by its name on the hub (``idiom-detection-task``); values that are no text
    become JSON.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (name.replace("-", "_") + ".csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        for row in rows:
            cells = {
                key: value if isinstance(value, str) else json.dumps(value)
                for key, value in row.items()
            }
            writer.writerow(cells)
    return path


def metaphor_row(
    first: int = 0, phrase: str = "time is a thief", **changed: object
) -> dict[str, object]:
    """A row of the metaphor detection table with the images `first` (the answer) to `first` + 3."""
    uuids = [uuid(first + offset) for offset in range(4)]
    categories = ["figurative", "literal", "literal", "none"]
    metadata = [
        {"uuid": each, "category": kind} for each, kind in zip(uuids, categories, strict=True)
    ]
    row = {
        "distractors": uuids[1:],
        "answer": uuids[:1],
        "images_metadata": metadata,
        "figurative_type": "metaphor",
        "type": "figurative",
        "phrase": phrase,
    }
    return row | changed


def table_of(name: str) -> list[dict[str, object]]:
    """Valid rows, as many as were published."""
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
    kinds = ROWS_OF_TYPES.get(name, {"figurative": count})
    return [row | {"type": kind} for kind, number in kinds.items() for _ in range(number)]


def valid(folder: Path) -> Path:
    """Write ``folder/IRFL``, all tables but the one of 6,697 rows, and return it."""
    for name in ROWS:
        if name != "idioms-dataset":
            write_table(folder / "IRFL", name, table_of(name))
    write_pictures(folder / "IRFL", [uuid(number) for number in range(8)])
    return folder / "IRFL"


@lru_cache(maxsize=1)
def drawn() -> tuple[bytes, ...]:
    """Different pictures as JPEG files."""
    files = []
    for number in range(32):
        file = io.BytesIO()
        drawing(number, 48).save(file, "JPEG")
        files.append(file.getvalue())
    return tuple(files)


def write_pictures(folder: Path, uuids: Iterable[str]) -> Path:
    """Write ``IRFL_images.zip``; many uuids share the bytes of a few drawn pictures."""
    path = folder / "IRFL_images.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number, each in enumerate(sorted(uuids)):
            kind = zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED
            archive.writestr(
                f"images/{each}.jpeg", drawn()[number % len(drawn())], compress_type=kind
            )
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
