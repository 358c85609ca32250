"""The pictures of MetaCLUE by the names that cards have for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figlang_tasks.core import images

if TYPE_CHECKING:
    from PIL import Image


def picture(dataset: str, name: str, location: str) -> Image.Image:
    """The picture of an image, decoded.

    Args:
        dataset: ``MetaCLUE`` or ``figlang_mini_metaclue``.
        name: its path in the layout of the Pitt Ads: ``0/10.jpg``.
        location: the row, for messages.
    """
    return images.decode({"path": name}, location, dataset)
