"""A small New Yorker Caption Contest in the layout of the release: drawn cartoons, captions of
ours.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from datasets import Dataset
from PIL import Image

from figlang_tasks.benchmarks.nycc import configurations, counts, rows
from figlang_tasks.core.request import Request

SAID = dict(
    zip("ABCDE", ("I have", "There is", "You need", "Lettuce takes", "Nobody has"), strict=True)
)

EXAMPLE: dict[str, Any] = {
    "image_location": "a doctor's office",
    "image_description": (
        "A snail lies on the couch. The doctor holds a stopwatch in place of a notebook."
    ),
    "image_uncanny_description": "A snail is a patient, and the doctor takes its time.",
    "entities": [
        "https://en.wikipedia.org/wiki/Snail",
        "https://en.wikipedia.org/wiki/Psychotherapy",
    ],
    "caption_choices": ["I feel that everybody rushes me.", "Is this the way to the lettuce?"],
    "label": "A",
}
"""The example of the card: made up by us."""


def row(config: str, number: int, split: str = "test", **changes: Any) -> dict[str, Any]:
    """A row, with the columns that we read: of matching and ranking the label goes through the
    letters.
    """
    of = configurations.parse_name(config)
    letters, contest = rows.OPTIONS[of.task], 1000 * of.fold + number // 2
    drawn = io.BytesIO()
    Image.new("L", (24, 24), 8 * number % 256).save(drawn, "JPEG")
    explained = f"A snail says it has no time, and {number} snails have all of it."
    made: dict[str, Any] = {
        "image": {"bytes": drawn.getvalue(), "path": f"{contest}.jpeg"},
        "contest_number": contest,
        "image_location": "a garden",
        "image_description": f"Snail {number} wears a watch.",
        "image_uncanny_description": "Snails have no wrists.",
        "entities": [
            "https://en.wikipedia.org/wiki/Snail",
            "https://en.wikipedia.org/?title=Watch_(disambiguation)#X",
        ],
        "caption_choices": (
            [f"{SAID[letter]} no time, {number}." for letter in letters] or "I have no time."
        ),
        "winner_source": ("crowd_winner", "official_winner")[number % 3 == 0],
        "label": letters[number % len(letters)] if letters else explained,
        "instance_id": f"{split}{of.task}{contest}-{number}",
    }
    return {name: (made | changes)[name] for name in of.columns}


def write(folder: Path, config: str, split: str, found: list[dict[str, Any]]) -> None:
    """``CONFIGURATION/SPLIT-00000-of-00001.parquet``"""
    (folder / config).mkdir(parents=True, exist_ok=True)
    Dataset.from_list(found).to_parquet(str(folder / config / f"{split}-00000-of-00001.parquet"))


def release(folder: Path, *configs: str, train: int = 12, test: int | None = None) -> Path:
    """Write configurations, by default with as many test rows as the release has."""
    for config in configs:
        fold = configurations.parse_name(config).fold
        request = Request.of("NYCC", config=config.removesuffix(f"_{fold}"), fold=str(fold))
        count = counts.count(request) if test is None else test
        write(folder, config, "test", [row(config, number) for number in range(count)])
        write(folder, config, "train", [row(config, number, "train") for number in range(train)])
    return folder


def valid(folder: Path, **configs: int) -> None:
    """Write configurations with so many test rows."""
    for config, count in configs.items():
        release(folder / "NYCC", config, test=count)
