"""The pictures of IRFL by the names that cards have for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figlang_tasks.benchmarks.irfl.archive import pictures

if TYPE_CHECKING:
    from PIL import Image


def picture(dataset: str, name: str, where: str) -> Image.Image:
    """The picture with this uuid; `where` names the row in errors."""
    return pictures(dataset).read(name, where)
