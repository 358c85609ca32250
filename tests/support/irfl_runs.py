"""Records of runs of IRFL with as many rows as the release has."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

REVISION = "0123456789abcdef0123456789abcdef01234567"
ROWS = {"idiom": 200, "metaphor": 333, "open_simile": 277, "simile": 277}
ROWS_OF_RETRIEVAL = {"idiom": 243, "metaphor": 34, "open_simile": 142, "simile": 142}
Lines = list[dict[str, Any]]


def detection(phrase: str, right: Callable[[int], bool]) -> Lines:
    """Records of a detection task; rows for which `right` holds are answered so."""
    table = f"{phrase.replace('_', '-')}-detection-task"
    return [
        {
            "task": "irfl_detect",
            "request": f"IRFL,table={table}",
            "id": f"{table}-{number}",
            "data": f"IRFL/{table}@{REVISION}:0123456789ab",
            "row": f"{table}-{number}",
            "unit": f"phrase {number}",
            "type": (
                "" if phrase != "idiom" else "figurative" if number < 131 else "figurative_literal"
            ),
            "candidates": ["1", "2", "3", "4"],
            "roles": ["answer", "literal", "random", "random"],
            "answer": 0,
            "chosen": 0 if right(number) else None if number % 2 else 2,
            "status": "scores",
            "rule": "argmax",
            "scores": [0.5, 0.1, 0.2, 0.3],
        }
        for number in range(ROWS[phrase])
    ]


def retrieval(phrase: str, found: Callable[[int], int]) -> Lines:
    """Records of a retrieval task: five images a row, two of them positive, of which so many are
    ranked at the top.
    """
    table = f"{phrase.replace('_', '-')}-retrieval-task"
    lines = []
    for number in range(ROWS_OF_RETRIEVAL[phrase]):
        hits = found(number)
        values = [0.9] * hits + [0.1] * (2 - hits) + [0.8] * (2 - hits) + [0.2] * (1 + hits)
        for place, value in enumerate(values):
            lines.append(
                {
                    "task": "irfl_retrieve",
                    "request": f"IRFL,table={table}",
                    "id": f"{table}-{number}-{place}",
                    "data": f"IRFL/{table}@{REVISION}:ba9876543210",
                    "row": f"{table}-{number}",
                    "unit": f"phrase {number}",
                    "type": (
                        ""
                        if phrase != "idiom"
                        else "figurative"
                        if number % 2
                        else "figurative_literal"
                    ),
                    "uuid": str(place),
                    "positive": place < 2,
                    "images": 5,
                    "status": "scores",
                    "value": value,
                }
            )
    return lines


def write(folder: Path, task: str, lines: Lines) -> None:
    folder.mkdir(exist_ok=True)
    random.Random(1).shuffle(lines)
    content = "".join(
        json.dumps({"doc_id": number, "sample": each}) + "\n" for number, each in enumerate(lines)
    )
    (folder / f"2026-01-02T03-04-05_samples_{task}.jsonl").write_text(content)
