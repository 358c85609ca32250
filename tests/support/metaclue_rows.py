"""Generated MetaCLUE folders: any number of images with statements of made-up words, and small pictures."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

TOPICS = ("cars", "food", "health", "animals", "travel")


def row(number: int = 0, **changed: Any) -> dict[str, Any]:
    """A valid row of the annotation file; a value of None takes a key out."""
    found: dict[str, Any] = {
        "schema": 1,
        "image": f"{number % 10}/{number}.jpg",
        "split": "test",
        "set": "metaphor",
        "votes": 4,
        "topic": TOPICS[number % len(TOPICS)],
        "metaphors": [metaphor(number, which, best=which == 0) for which in range(5)],
        "boxes": [
            {"role": "primary", "type": "explicit", "bbox": [1, 2, 12, 20]},
            {"role": "secondary", "type": "text", "bbox": [3, 4, 30, 10.5]},
        ],
    }
    return {key: value for key, value in (found | changed).items() if value is not None}


def metaphor(number: int, which: int = 0, best: Any = True, **changed: Any) -> dict[str, Any]:
    words = {"primary": f"thing {number} {which}", "relationship": f"odd {which}", "secondary": f"thought {number}"}
    return words | {"best": best, "votes": {"grammar": 5, "concepts": 4, "relationship": 3}} | changed


def negative(number: int, kind: str = "symbolic", **changed: Any) -> dict[str, Any]:
    kept = {"set": f"{kind}_negative", "votes": 1, "metaphors": None, "boxes": None}
    return row(number, **(kept | changed))


def picture(number: int = 0, side: int = 32) -> bytes:
    """A JPEG of a pattern of its own."""
    pattern = np.random.default_rng(number).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pattern).resize((side, side)).save(file, "JPEG", quality=90)
    return file.getvalue()


def write(folder: Path, rows: Iterable[dict[str, Any]], pictures: bool = True, same: bool = False) -> Path:
    """Write ``folder/MetaCLUE`` and return `folder`; with `same`, all pictures are one file."""
    home = folder / "MetaCLUE"
    home.mkdir(parents=True, exist_ok=True)
    given = list(rows)
    (home / "annotations.jsonl").write_text("".join(json.dumps(each) + "\n" for each in given), encoding="utf-8")
    one = picture()
    for number, each in enumerate(given if pictures else []):
        path = home / each["image"]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(one if same else picture(number))
    return folder


def valid(folder: Path) -> Path:
    """Write 20 metaphors, a negative of each kind and a row for training, in the lines 1 to 23."""
    given = [*(row(number) for number in range(20)), negative(20), negative(21, "literal"), row(22, split="train")]
    return write(folder, given)
