"""The choices that IRFL offers a model, for ``figlang judge read`` (`figlang_tasks.core.choice`).

A language model reads answers that our rules left unread, and must not know what is right.
"""

from __future__ import annotations

from collections.abc import Mapping

from figlang_tasks.benchmarks.irfl import tasks
from figlang_tasks.benchmarks.irfl.rows import LETTERS
from figlang_tasks.core.choice import Choice, yes_or_no
from figlang_tasks.core.record import Record, RowIfKnown

_IMAGE_NAMES = (
    "the first image, or the one at the top left",
    "the second image, or the one at the top right",
    "the third image, or the one at the bottom left",
    "the fourth image, or the one at the bottom right",
)
"""What an answer may call each image, shown one after the other or in a grid."""


def choice_of(record: Record) -> Choice:
    """Among the images of a row in detection; in retrieval, between Yes and No for one image."""
    return MATCH if record["task"] == tasks.RETRIEVE.name else IMAGES


def _images(record: Record, document: RowIfKnown) -> Mapping[str, str]:
    """The letters of a row's images, each with other names of the image."""
    letters = LETTERS[: len(record["candidates"])]
    return dict(zip(letters, _IMAGE_NAMES, strict=False))  # a row may have two candidates


def _fields_of_image(record: Record, letter: str) -> Mapping[str, int]:
    """The fields that a detection record has if the model chose the image with this letter."""
    return {"chosen": LETTERS.index(letter)}


def _fields_of_yes_or_no(record: Record, label: str) -> Mapping[str, float]:
    """The fields that a retrieval record has if the model answered Yes, or No."""
    return {"value": float(label == "Yes")}


IMAGES = Choice(
    "Which image best visualizes the figurative meaning of the phrase?",
    options=_images,
    fields=_fields_of_image,
)
MATCH = Choice(
    "Does the image visualize the figurative meaning of the phrase?",
    options=yes_or_no,
    fields=_fields_of_yes_or_no,
)
