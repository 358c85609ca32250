"""The pictures of MetaCLUE by the names that cards have for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figlang_tasks.core import images

if TYPE_CHECKING:
    from PIL import Image


def picture(dataset: str, name: str, where: str) -> Image.Image:
    """The picture with this path in the layout of the Pitt Ads; `where` names the row in errors."""
    return images.decode({"path": name}, where, dataset)
