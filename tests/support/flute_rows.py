"""Invented rows with the shape of FLUTE's release: as many of each kind, ids and sentences shared in the same way."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset, Features, Value

from figlang_tasks.benchmarks.flute.rows import BLIND_FILE

Values = dict[str, Any]


def released_shape() -> list[Values]:
    """7,534 rows in the form of the JSON lines file: paraphrases are called sarcasm there."""
    rows = []
    for number in range(1050):
        premise = f"The kettle number {number} broke again."
        rows.append(row("sarcasm", number, premise, f"It annoys me that kettle {number} broke.", "Entailment"))
        for word in ("love", "adore"):
            rows.append(row("sarcasm", number, premise, f"I {word} how kettle {number} broke.", "Contradiction"))
    for number in range(1050, 1166):
        rows.append(row("sarcasm", number, f"Bus {number} was late.", f"Bravo, bus {number}.", "Contradiction"))
    for kind, count, figure in (
        ("simile", 625, "Her voice was like bell"),
        ("metaphor", 625, "He was wall"),
        ("idiom", 884, "They spilled bean"),
    ):
        for number in range(count):
            for label in ("Entailment", "Contradiction"):
                rows.append(
                    row(kind, number, f"{label} of {kind} {number}.", f"{figure} {number}.", label)
                    | ({"idiom": "spill the beans"} if kind == "idiom" else {})
                )
    return rows


def row(kind: str, row_id: int, premise: str, hypothesis: str, label: str) -> Values:
    explanation = f"What {row_id} says of {hypothesis!r} is why it is {label}."
    return {
        "type": kind,
        "id": str(row_id),
        "premise": premise,
        "hypothesis": hypothesis,
        "label": label,
        "explanation": explanation,
    }


def as_on_the_hub(rows: Sequence[Values]) -> list[Values]:
    """The same rows with the hub's columns and names of types, in another order."""
    names = {"sarcasm": "Sarcasm", "simile": "Simile", "metaphor": "Metaphor", "idiom": "Idiom"}
    found = []
    for values in random.Random(3).sample(rows, len(rows)):
        kind = names[values["type"]]
        if kind == "Sarcasm" and values["label"] == "Entailment":
            kind = "CreativeParaphrase"
        found.append(
            {
                "id": int(values["id"]),
                **{column: values[column] for column in ("premise", "hypothesis", "label", "explanation")},
                "split": "train",
                "type": kind,
                "idiom": values.get("idiom", ""),
            }
        )
    return found


def write_lines(path: Path, rows: Sequence[Values]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(values) + "\n" for values in rows), encoding="utf-8")
    return path


def blind_rows(count: int = 1500) -> list[Values]:
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
        for number in range(count)
    ]


def write_parquet(folder: Path, values: Sequence[Values]) -> None:
    features = Features({name: Value("int64" if name == "id" else "string") for name in values[0]})
    table = Dataset.from_list([*values], features=features)
    (folder / "data").mkdir()
    for shard in range(2):
        path = folder / "data" / f"train-{shard:05d}-of-00002.parquet"
        table.shard(2, shard, contiguous=True).to_parquet(str(path))


def valid(folder: Path, parquet: bool = False) -> Path:
    """Write ``folder/FLUTE`` in one of its forms, with the blind rows."""
    write_lines(folder / "FLUTE" / BLIND_FILE, blind_rows())
    if parquet:
        write_parquet(folder / "FLUTE", as_on_the_hub(released_shape()))
    else:
        write_lines(folder / "FLUTE" / "train.jsonl", released_shape())
    return folder / "FLUTE"
