"""IRFL's 10,062 pictures, read one by one out of the repository's zip, which is never unpacked."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from PIL import Image, ImageDraw, ImageFont, ImageOps

from figlang_tasks.core import files, hub, images
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.errors import DataError, PartMissing

ARCHIVE = "IRFL_images.zip"
SUFFIX = ".jpeg"
_LOAD_AGAIN = "Load it again from the hub's repository (delete the damaged file first)."


class Pictures:
    """The pictures in ``IRFL_images.zip`` by uuid; several threads may read at the same time.

    Args:
        folder: the folder that the zip lies in.

    Raises:
        PartMissing: there is no such file.
        DataError: it cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / ARCHIVE
        try:
            files.check_file(self._path, files.MOST_BYTES_OF_TABLES)
            self._zip = zipfile.ZipFile(self._path)
        except FileNotFoundError as error:
            raise PartMissing(
                f"there is no {self._path}: put the file of the hub's repository there"
            ) from error
        except (OSError, zipfile.BadZipFile) as error:
            reason = getattr(error, "strerror", None) or error
            raise DataError(f"{self._path} cannot be read ({reason}). {_LOAD_AGAIN}") from error
        self._member_by_uuid: dict[str, str] = {}
        for member in self._zip.namelist():
            if member.endswith(SUFFIX):
                self._member_by_uuid[PurePosixPath(member).stem] = member

    @property
    def uuids(self) -> Iterable[str]:
        """The uuids of all pictures."""
        return self._member_by_uuid

    def check(self, uuids: Iterable[str], location: str) -> None:
        """Raise a `DataError` unless all these pictures are in the zip; none of them is read.

        Args:
            uuids: of the pictures.
            location: the row that shows them, for the message.
        """
        for uuid in uuids:
            if uuid not in self._member_by_uuid:
                raise DataError(
                    f"{location}: there is no picture {uuid}{SUFFIX} in {self._path}. {_LOAD_AGAIN}"
                )

    def read(self, uuid: str, location: str) -> Image.Image:
        """A picture as RGB, upright.

        Args:
            uuid: of the picture.
            location: the row that shows it, for messages.

        Raises:
            DataError: the picture is missing or damaged.
        """
        self.check([uuid], location)
        try:
            content = files.read_member(self._zip, self._member_by_uuid[uuid])  # checks the CRC
        except (
            OSError,
            EOFError,
            NotImplementedError,
            RuntimeError,
            zipfile.BadZipFile,
            zlib.error,
        ) as error:
            raise DataError(
                f"{location}: the picture {uuid} in {self._path} is damaged ({error})."
                f" {_LOAD_AGAIN}"
            ) from error
        return images.decode({"bytes": content}, f"{location}, picture {uuid}")


@hub.cached(maxsize=2)
def pictures(dataset: str) -> Pictures:
    """The pictures of a dataset, ``IRFL`` or ``figlang_mini_irfl``.

    The first call downloads the archive of the hub (1.7 GB).
    """
    return Pictures(hub.snapshot(source_of(dataset), [ARCHIVE]).folder)


def grid(candidates: Sequence[Image.Image], letters: str, cell: int = 336) -> Image.Image:
    """Four pictures as one, two by two, each with its letter at the top left.

    Args:
        candidates: the pictures for top left, top right, bottom left and bottom right.
        letters: a letter for each picture.
        cell: width and height in pixels into which each picture is fitted.

    Raises:
        ValueError: there are not four pictures.
    """
    if len(candidates) != 4:
        raise ValueError(f"a grid shows 4 pictures, not {len(candidates)}")
    gap = 8
    badge = cell // 7
    side = 2 * cell + gap
    canvas = Image.new("RGB", (side, side), "white")
    pen = ImageDraw.Draw(canvas)
    font = ImageFont.load_default(size=badge * 3 // 4)
    for index, (picture, letter) in enumerate(zip(candidates, letters, strict=True)):
        row, column = divmod(index, 2)
        left = column * (cell + gap)
        top = row * (cell + gap)
        fitted = ImageOps.contain(picture, (cell, cell))
        left_margin = (cell - fitted.width) // 2
        top_margin = (cell - fitted.height) // 2
        canvas.paste(fitted, (left + left_margin, top + top_margin))
        box = (left, top, left + badge, top + badge)
        pen.rectangle(box, fill="white", outline="black", width=2)
        centre = (left + badge / 2, top + badge / 2)
        pen.text(centre, letter, fill="black", font=font, anchor="mm")
    return canvas
