"""Builds `figlang_mini_flute`: `python -m tools.mini.flute` writes the JSON lines file and its card."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from figlang_tasks import mini

from . import command
from .flute_texts import Row, rows

FILE = "train.jsonl"
LABELS = ("Entailment", "Contradiction")
TYPES = ("Sarcasm", "Simile", "Metaphor", "Idiom", "CreativeParaphrase")


def validate(all_rows: Sequence[Row]) -> None:
    """Check the texts.

    Raises:
        ValueError: an empty or untrimmed text, an unknown label or type, a label that a type does not have, an idiom
            missing or out of place, a pair that occurs twice.
    """
    pairs: set[tuple[str, str]] = set()
    for row in all_rows:
        where = f"{row.type} row {row.hypothesis!r}"
        for text in (row.premise, row.hypothesis, row.explanation):
            if not text or text != text.strip():
                raise ValueError(f"{where}: empty or untrimmed text")
        if row.label not in LABELS:
            raise ValueError(f"{where}: unknown label {row.label!r}")
        if row.type not in TYPES:
            raise ValueError(f"{where}: unknown type {row.type!r}")
        if {"Sarcasm": "Contradiction", "CreativeParaphrase": "Entailment"}.get(row.type, row.label) != row.label:
            raise ValueError(f"{where}: {row.type} is never {row.label}")
        if (row.type == "Idiom") != bool(row.idiom):
            raise ValueError(f"{where}: idioms, and nothing else, name their idiom")
        if (row.premise, row.hypothesis) in pairs:
            raise ValueError(f"{where}: the pair occurs twice")
        pairs.add((row.premise, row.hypothesis))


_CARD = """---
license: apache-2.0
language:
- en
pretty_name: figlang_mini_flute
size_categories:
- n<1K
task_categories:
- text-classification
tags:
- figurative-language
- natural-language-inference
- explanation
configs:
- config_name: default
  data_files:
  - split: train
    path: train.jsonl
---
# figlang_mini_flute

A small benchmark of figurative language inference: a premise, a hypothesis, whether the one entails or contradicts the
other, and an explanation. It exists so that an evaluation can be run and tested from end to end without a download.
**It is no substitute for FLUTE**, and a score on it says little about a real model.

- {rows} rows, one split named `train`, as in FLUTE: {types}.
- Labels: {entail} entailment, {contra} contradiction; always answering the more frequent one scores {majority:.1f} %.
- Columns, their order and their values are those of FLUTE on the hub.

## Making

Every sentence is this project's own, written by hand (`tools/mini/flute_texts.py`); none is taken from FLUTE or
its sources. `python -m tools.mini.flute` writes this folder again. Idioms are those of everyday English.

## Licence

Apache-2.0.
"""


def write(folder: Path) -> int:
    """Write the rows and the data set card below `folder` (made when missing); return the number of rows.

    Raises:
        ValueError: the texts do not pass `validate`.
    """
    found = rows()
    validate(found)
    folder.mkdir(parents=True, exist_ok=True)
    columns = ("id", "premise", "hypothesis", "label", "explanation", "split", "type", "idiom")
    values = [asdict(row) | {"split": "train"} for row in found]
    lines = [json.dumps({column: row[column] for column in columns}, ensure_ascii=False) + "\n" for row in values]
    (folder / FILE).write_text("".join(lines), encoding="utf-8")
    types = Counter(row.type for row in found)
    labels = Counter(row.label for row in found)
    card = _CARD.format(
        rows=len(found),
        types=", ".join(f"{types[name]} {name}" for name in TYPES),
        entail=labels["Entailment"],
        contra=labels["Contradiction"],
        majority=100 * max(labels.values()) / len(found),
    )
    (folder / "README.md").write_text(card, encoding="utf-8")
    return len(found)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line (``tools.mini.command``)."""
    return command.run("flute", __doc__, mini.FLUTE_DIR, lambda folder: f"{write(folder)} rows", argv)


if __name__ == "__main__":
    raise SystemExit(main())
