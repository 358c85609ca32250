"""Pictures that a model made."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from figlang_tasks.benchmarks.metaclue.records import PictureRecord
from figlang_tasks.core import images


def opened(path: Path | str) -> Image.Image:
    """A picture that a model made, RGB; a `DataError` if it is missing or damaged."""
    return images.decode_file(Path(path), f"generated picture {path}")


class OpenedPictures(Sequence[Image.Image]):
    """The generated pictures of records, each opened when it is asked for: 300 large ones need not
    fit in memory.
    """

    def __init__(self, records: Sequence[PictureRecord]) -> None:
        self._files = [record["file"] for record in records]

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, place: Any) -> Any:
        files = self._files[place]
        return list(map(opened, files)) if isinstance(place, slice) else opened(files)
