"""Pictures that a model drew: which one an output names, and opening them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import overload

from PIL import Image

from figlang_tasks.benchmarks.metaclue.records import PictureRecord
from figlang_tasks.core import images

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
"""The formats that a generated picture may have."""

_LONGEST_PATH = 4096  # The longest path that Linux opens.


# --- which picture? ---


def generated_picture(output: str | None, number: int) -> Path | None:
    """The file of the picture that an output names; None if it names none.

    Text-to-image classes of lmms-eval answer with JSON that lists the paths of their pictures under
    ``images`` or ``generated_images``, with the path of a picture, or with the path of a folder.

    Args:
        output: the model's output; None if there is none.
        number: the number of the document, by which the classes name files in a folder.
    """
    location = written_location(output)
    if not location or "\0" in location or len(location) > _LONGEST_PATH:
        return None
    path = Path(location)
    try:
        if path.is_dir():
            return _picture_in_folder(path, number)
        is_picture = path.suffix.lower() in SUFFIXES and path.is_file()
    except (OSError, ValueError):  # These are words, and no path of any file system.
        return None
    return path if is_picture else None


def written_location(output: str | None) -> str:
    """The path of a file or folder that an output gives; "" if it lists no picture.

    An output that is no JSON object is a path itself.
    """
    text = (output or "").strip()
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(answer, dict):
        return text
    pictures = answer.get("images") or answer.get("generated_images")
    if isinstance(pictures, list) and pictures and isinstance(pictures[0], str):
        return pictures[0]
    return ""


def _picture_in_folder(folder: Path, number: int) -> Path | None:
    """The picture of a document in a folder: ``0007.png`` or ``0007_s0.png``; None without one."""
    for ending in ("", "_s0"):
        for suffix in SUFFIXES:
            path = folder / f"{number:04d}{ending}{suffix}"
            if path.is_file():
                return path
    return None


# --- opening pictures ---


def open_picture(path: Path | str) -> Image.Image:
    """Open a picture that a model drew, as RGB.

    Raises:
        DataError: it is missing or damaged.
    """
    return images.decode_file(Path(path), f"generated picture {path}")


class OpenedPictures(Sequence[Image.Image]):
    """The generated pictures of records, each opened when it is taken.

    300 large pictures need not fit in memory together.
    """

    def __init__(self, records: Sequence[PictureRecord]) -> None:
        """Take the files of records, each of which has one."""
        self._files: list[str] = []
        for record in records:
            if record["file"] is None:
                raise ValueError(f"{record['id']} has no picture")
            self._files.append(record["file"])

    def __len__(self) -> int:
        return len(self._files)

    @overload
    def __getitem__(self, index: int) -> Image.Image: ...

    @overload
    def __getitem__(self, index: slice) -> list[Image.Image]: ...

    def __getitem__(self, index: int | slice) -> Image.Image | list[Image.Image]:
        if isinstance(index, slice):
            return [open_picture(file) for file in self._files[index]]
        return open_picture(self._files[index])
