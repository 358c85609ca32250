"""What IRFL offers to choose, and what its records say of a choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figlang_tasks.benchmarks.irfl import tasks
from figlang_tasks.benchmarks.irfl.rows import LETTERS
from figlang_tasks.core.choice import Choice, yes_or_no
from figlang_tasks.core.record import Document, Record

_PICTURES = (
    "the first image, or the one at the top left",
    "the second image, or the one at the top right",
    "the third image, or the one at the bottom left",
    "the fourth image, or the one at the bottom right",
)
"""The images by their place in the prompt: one after the other, or in a grid."""


def choice_of(record: Record) -> Choice:
    """The images of a row of detection; Yes or No for each image of a row of retrieval."""
    return MATCH if record["task"] == tasks.RETRIEVE.name else IMAGES


def _images(record: Record, document: Document) -> Mapping[str, str]:
    count = len(record["candidates"])
    return dict(zip(LETTERS[:count], _PICTURES, strict=False))


def _fields_of_image(record: Record, letter: str) -> Mapping[str, Any]:
    return {"chosen": LETTERS.index(letter)}


def _fields_of_yes_or_no(record: Record, label: str) -> Mapping[str, Any]:
    return {"value": float(label == "Yes")}


IMAGES = Choice(
    "Which image best visualizes the figurative meaning of the phrase?", _images, _fields_of_image
)
MATCH = Choice(
    "Does the image visualize the figurative meaning of the phrase?",
    yes_or_no,
    _fields_of_yes_or_no,
)
