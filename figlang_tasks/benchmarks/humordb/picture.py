"""Finds the pictures of HumorDB for ``figlang report``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figlang_tasks.benchmarks.humordb.rows import picture_of
from figlang_tasks.core import images

if TYPE_CHECKING:
    from PIL import Image


def picture(dataset: str, name: str, location: str) -> Image.Image:
    """The picture of a row, decoded.

    Args:
        dataset: ``HumorDB``.
        name: the id of the row.
        location: the row, for messages.
    """
    return images.decode(picture_of(name), location)
