"""Writes rows of a user's own in V-FLUTE's form, with tiny pictures."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

VFLUTE_ROWS = 723
"""The rows of V-FLUTE's test split."""
LABELS = ("entailment", "contradiction")
ROW_COLUMNS = ("id", "image", "claim", "label", "explanation", "source_dataset", "phenomenon")


def row_id(number: int) -> str:
    """The id of a row, counted from 0."""
    return f"row-{number}"


def right_label(number: int) -> str:
    """The label of a row, counted from 0."""
    return LABELS[number % 2]


def made_up_claims(count: int) -> list[str]:
    """As many claims, no two of which are equal."""
    return [f"Number {number} spilled the beans." for number in range(count)]


def write_rows(folder: Path, claims: Sequence[str], rows_per_picture: int = 1) -> None:
    """Write a row for each claim, and a picture for every few of them.

    Args:
        folder: where V-FLUTE's data belongs; it is made.
        claims: of the rows, in their order.
        rows_per_picture: rows of one picture depend on each other.
    """
    (folder / "images").mkdir(parents=True)
    for number in range(0, len(claims), rows_per_picture):
        colour = (number % 256, number // 256 % 256, number // 65536)
        Image.new("RGB", (8, 8), colour).save(folder / "images" / f"{number}.png")
    with (folder / "test.csv").open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(ROW_COLUMNS)
        for number, claim in enumerate(claims):
            picture = f"images/{number - number % rows_per_picture}.png"
            explanation = f"The picture shows the secret that {number} told."
            cells = [row_id(number), picture, claim, right_label(number), explanation]
            rows.writerow([*cells, "muse", "sarcasm"])
