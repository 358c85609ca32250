"""Generated AdMIRe folders in the layout and with the columns of the release; the first row is the
card's example.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from drawings import drawing

from figlang_tasks.benchmarks.admire.counts import ROWS

PLACES = {"train": "train", "dev": "dev", "test": "test", "extended": "xeval"}
EXAMPLE: dict[str, Any] = {  # its words are ours; the pictures are of the card
    "compound": "tip of the iceberg",
    "sentence_type": "idiomatic",
    "sentence": "The late trains are only the tip of the iceberg: the whole network is worn out.",
    # a tree with deep roots, a storm, an anchor, an iceberg, a lion
    "pictures": (9015, 9009, 9013, 9004, 9010),
}


def home(folder: Path, table: str) -> tuple[Path, str]:
    """Folder and name of the file of a table, written down apart from the loader."""
    kind, part = table.split("_")
    short = {"extended": "xp" if kind == "pt" else "xe"}.get(part, part)
    below = "Subtask_B" if kind == "sequence" else f"Subtask_A/{kind.upper()}"
    return (
        folder / "AdMIRe" / below / PLACES[part],
        f"subtask_{'b' if kind == 'sequence' else 'a'}_{short}.tsv",
    )


def rows(table: str, count: int | None = None) -> list[dict[str, Any]]:
    """The cells of a table; extended ones have the compounds of the others in the other sense."""
    kind, part = table.split("_")
    r = random.Random(table)
    parts = [f"{kind}_{each}" for each in ("train", "dev", "test")]
    if part == "extended":
        return [
            _row(table, row["compound"], row["sentence_type"] == "literal", r)
            for p in parts
            for row in rows(p)
        ][:count]
    found = [
        _row(table, f"owl's {kind} {part} {n}", bool(n % 3), r) for n in range(count or ROWS[table])
    ]
    if table == "en_test":
        names = [f"4071826{number}.png" for number in EXAMPLE["pictures"]]
        found[0] |= {key: EXAMPLE[key] for key in ("compound", "sentence_type", "sentence")}
        found[0] |= {"expected_order": str(names)} | {
            f"image{n}_name": name for n, name in enumerate(sorted(names), 1)
        }
    return found


def _row(table: str, compound: str, idiomatic: bool, r: random.Random) -> dict[str, Any]:
    is_sequence = table.startswith("sequence")
    names = sorted(f"{r.randrange(10**11):011}.png" for _ in range(4 if is_sequence else 5))
    order = r.sample(names, len(names))
    row: dict[str, Any] = {"compound": compound, "subset": "Test"}
    row["sentence_type"] = "idiomatic" if idiomatic else "literal"
    if is_sequence:
        row |= {
            "expected_item": order[0],
            "sequence_caption1": "A start.",
            "sequence_caption2": 'A "middle"\\nhere.',
        }
    else:
        row |= {"sentence": f"Here is the {compound}.", "expected_order": str(order)}
    for n, name in enumerate(names, 1):
        row |= {f"image{n}_name": name, f"image{n}_caption": f"Shows\\n{name}."}
        row |= {f"image{n}_caption_pt": f"Mostra {name}."} if table.startswith("pt") else {}
    return row


def write_table(
    folder: Path, table: str, found: Sequence[Mapping[str, Any]], pictures: bool = False
) -> Path:
    place, name = home(folder, table)
    place.mkdir(parents=True, exist_ok=True)
    with (place / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(found)
    for row in found if pictures else []:
        own = place / row["compound"].replace("'", "_")
        own.mkdir(exist_ok=True)
        given = ["s1.png", "s2.png"] if "expected_item" in row else []
        for picture in [*given, *(row[key] for key in row if key.endswith("_name"))]:
            drawing(picture, 8).save(own / picture)
    return place / name


def write(folder: Path, *tables: str, pictures: bool = True) -> Path:
    """Write tables, by default the English test alone, and return `folder`: it is a
    FIGLANG_DATA_DIR.
    """
    for table in tables or ("en_test",):
        write_table(folder, table, rows(table), pictures)
    return folder


def valid(folder: Path, pictures: bool = True) -> None:
    """Write the first two rows of each table that faults are put in."""
    for table in ("en_test", "en_dev", "pt_test", "sequence_test"):
        write_table(folder, table, rows(table, 2), pictures)
