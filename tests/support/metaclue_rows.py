"""Generated MetaCLUE folders: any number of images with statements of made-up words, and small
pictures.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from drawings import drawing

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
    words = {
        "primary": f"thing {number} {which}",
        "relationship": f"odd {which}",
        "secondary": f"thought {number}",
    }
    return words | {"best": best} | changed


def negative(number: int, kind: str = "symbolic", **changed: Any) -> dict[str, Any]:
    kept = {"set": f"{kind}_negative", "metaphors": None, "boxes": None}
    return row(number, **(kept | changed))


def write(
    folder: Path, rows: Iterable[dict[str, Any]], pictures: bool = True, same: bool = False
) -> Path:
    """Write ``folder/MetaCLUE`` and return `folder`; pictures are of 32 x 32 pixels, with `same` of
    one colour.
    """
    home = folder / "MetaCLUE"
    home.mkdir(parents=True, exist_ok=True)
    given = list(rows)
    (home / "annotations.jsonl").write_text(
        "".join(json.dumps(each) + "\n" for each in given), encoding="utf-8"
    )
    for number, each in enumerate(given if pictures else []):
        path = home / each["image"]
        path.parent.mkdir(exist_ok=True)
        drawing(0 if same else number, 32).save(path)
    return folder


def valid(folder: Path) -> Path:
    """Write 20 metaphors, a negative of each kind and a row for training, in the lines 1 to 23."""
    given = [
        *(row(number) for number in range(20)),
        negative(20),
        negative(21, "literal"),
        row(22, split="train"),
    ]
    return write(folder, given)
