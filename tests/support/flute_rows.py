"""Invented rows with the shape of FLUTE's release: as many of each kind, ids and sentences shared
in the same way.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset

from figlang_tasks.benchmarks.flute.blind import BLIND_FILE

Values = dict[str, Any]


def released_shape() -> list[Values]:
    """7,534 rows in the form of the JSON lines file: paraphrases are called sarcasm there."""
    rows = []
    for number in range(1050):
        premise = f"The kettle number {number} broke again."
        rows.append(
            row(
                "sarcasm",
                number,
                premise,
                f"It annoys me that kettle {number} broke.",
                "Entailment",
            )
        )
        for word in ("love", "adore"):
            rows.append(
                row(
                    "sarcasm",
                    number,
                    premise,
                    f"I {word} how kettle {number} broke.",
                    "Contradiction",
                )
            )
    for number in range(1050, 1166):
        rows.append(
            row(
                "sarcasm",
                number,
                f"Bus {number} was late.",
                f"Bravo, bus {number}.",
                "Contradiction",
            )
        )
    figures = {
        "simile": "Her voice was like bell",
        "metaphor": "He was wall",
        "idiom": "They spilled bean",
    }
    for kind, figure in figures.items():
        for number in range(884 if kind == "idiom" else 625):
            for label in ("Entailment", "Contradiction"):
                rows.append(
                    row(kind, number, f"{label} of {kind} {number}.", f"{figure} {number}.", label)
                )
    return rows


def row(kind: str, row_id: int, premise: str, hypothesis: str, label: str) -> Values:
    texts = {"premise": premise, "hypothesis": hypothesis, "label": label}
    return {
        "type": kind,
        "id": f"{row_id}",
        **texts,
        "explanation": f"What {row_id} says of {hypothesis!r} is why it is {label}.",
    }


def as_on_the_hub(rows: Sequence[Values]) -> list[Values]:
    """The same rows with the hub's columns and names of types, in another order."""
    found = []
    for values in random.Random(3).sample(rows, len(rows)):
        is_paraphrase = values["type"] == "sarcasm" and values["label"] == "Entailment"
        kind = "CreativeParaphrase" if is_paraphrase else values["type"].title()
        found.append({**values, "id": int(values["id"]), "type": kind, "split": "train"})
    return found


def write_lines(path: Path, rows: Sequence[Values]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(values) + "\n" for values in rows), encoding="utf-8")
    return path


def blind_rows() -> list[Values]:
    """Rows in the form of the shared task's blind test file."""
    return [
        {
            "codalab_id": number,
            "id": number % 7,
            "premise": f"Premise {number}.",
            "hypothesis": f"Hypothesis {number}.",
            "predicted_label": "",
            "model_explanation": "",
        }
        for number in range(1500)
    ]


def write_parquet(folder: Path, values: Sequence[Values]) -> None:
    (folder / "data").mkdir()
    for shard in range(2):
        part = Dataset.from_list([*values]).shard(2, shard, contiguous=True)
        part.to_parquet(str(folder / "data" / f"train-{shard:05d}-of-00002.parquet"))


def valid(folder: Path, parquet: bool = False) -> Path:
    """Write ``folder/FLUTE`` in one of its forms, with the blind rows."""
    write_lines(folder / "FLUTE" / BLIND_FILE, blind_rows())
    if parquet:
        write_parquet(folder / "FLUTE", as_on_the_hub(released_shape()))
    else:
        write_lines(folder / "FLUTE" / "train.jsonl", released_shape())
    return folder / "FLUTE"
