"""MetaCLUE folders made for a test: images with statements of made-up words, and small pictures."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from drawings import drawing

Row = dict[str, Any]
"""A line of ``annotations.jsonl``. A test may put anything into it."""

TOPICS = ("cars", "food", "health", "animals", "travel")


def row(number: int = 0, **changes: Any) -> Row:
    """A valid row of the annotation file, with changed fields; None takes a field out."""
    metaphors = [metaphor(number, wording, best=wording == 0) for wording in range(5)]
    valid_row: Row = {
        "schema": 1,
        "image": f"{number % 10}/{number}.jpg",
        "split": "test",
        "set": "metaphor",
        "votes": 4,
        "topic": TOPICS[number % len(TOPICS)],
        "metaphors": metaphors,
        "boxes": [
            {"role": "primary", "type": "explicit", "bbox": [1, 2, 12, 20]},
            {"role": "secondary", "type": "text", "bbox": [3, 4, 30, 10.5]},
        ],
    }
    valid_row.update(changes)
    return {field: content for field, content in valid_row.items() if content is not None}


def metaphor(number: int, wording: int = 0, best: object = True, **changes: object) -> Row:
    """One metaphor of an image: ``thing 7 0 is as odd 0 as thought 7``."""
    words = {
        "primary": f"thing {number} {wording}",
        "relationship": f"odd {wording}",
        "secondary": f"thought {number}",
        "best": best,
    }
    return {**words, **changes}


def negative(number: int, literal_or_symbolic: str = "symbolic", **changes: Any) -> Row:
    """A valid row of an image that is no metaphor."""
    fields = {"set": f"{literal_or_symbolic}_negative", "metaphors": None, "boxes": None}
    return row(number, **{**fields, **changes})


def write(folder: Path, rows: Iterable[Row], pictures: bool = True, same: bool = False) -> Path:
    """Write ``folder/MetaCLUE`` and return `folder`.

    Args:
        folder: becomes the value of ``FIGLANG_DATA_DIR``.
        rows: the rows of the annotation file.
        pictures: whether to write pictures, of 32 x 32 pixels.
        same: whether all pictures have one colour.
    """
    dataset_folder = folder / "MetaCLUE"
    dataset_folder.mkdir(parents=True, exist_ok=True)
    written_rows = list(rows)
    lines = [json.dumps(written_row) + "\n" for written_row in written_rows]
    (dataset_folder / "annotations.jsonl").write_text("".join(lines), encoding="utf-8")
    if not pictures:
        return folder
    for number, written_row in enumerate(written_rows):
        path = dataset_folder / written_row["image"]
        path.parent.mkdir(exist_ok=True)
        drawing(0 if same else number, 32).save(path)
    return folder


def valid(folder: Path) -> Path:
    """Write 20 metaphors, a negative of each kind and a row for training, in the lines 1 to 23."""
    rows = [row(number) for number in range(20)]
    rows += [negative(20), negative(21, "literal"), row(22, split="train")]
    return write(folder, rows)
