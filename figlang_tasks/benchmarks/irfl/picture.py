"""Finds the pictures of IRFL for ``figlang report``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figlang_tasks.benchmarks.irfl.archive import pictures

if TYPE_CHECKING:
    from PIL import Image


def picture(dataset: str, name: str, location: str) -> Image.Image:
    """The picture that a card names.

    Args:
        dataset: ``IRFL`` or ``figlang_mini_irfl``.
        name: the uuid of the picture.
        location: the row that shows it, for messages.
    """
    return pictures(dataset).read(name, location)
