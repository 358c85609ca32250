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
_AGAIN = "Load it again from the hub's repository (delete the damaged file first)."


class Pictures:
    """Pictures by uuid, from ``IRFL_images.zip`` in a folder; threads may share it."""

    def __init__(self, folder: Path) -> None:
        self._place = folder / ARCHIVE
        try:
            files.check_file(self._place, files.MOST_BYTES_OF_TABLES)
            self._zip = zipfile.ZipFile(self._place)
        except FileNotFoundError as error:
            raise PartMissing(
                f"there is no {self._place}: put the file of the hub's repository there"
            ) from error
        except (OSError, zipfile.BadZipFile) as error:
            reason = getattr(error, "strerror", None) or error
            raise DataError(f"{self._place} cannot be read ({reason}). {_AGAIN}") from error
        self._names = {
            PurePosixPath(name).stem: name for name in self._zip.namelist() if name.endswith(SUFFIX)
        }

    @property
    def uuids(self) -> Iterable[str]:
        return self._names

    def check(self, uuids: Iterable[str], where: str) -> None:
        """Check that pictures are there, without reading them; the `DataError` names `where` and
        the uuid.
        """
        for uuid in uuids:
            if uuid not in self._names:
                raise DataError(
                    f"{where}: there is no picture {uuid}{SUFFIX} in {self._place}. {_AGAIN}"
                )

    def read(self, uuid: str, where: str) -> Image.Image:
        """A picture, RGB, upright; a `DataError` with `where` and the uuid if it is missing or
        damaged.
        """
        self.check([uuid], where)
        try:
            data = files.read_member(self._zip, self._names[uuid])  # it checks the CRC
        except (
            OSError,
            EOFError,
            NotImplementedError,
            RuntimeError,
            zipfile.BadZipFile,
            zlib.error,
        ) as error:
            raise DataError(
                f"{where}: the picture {uuid} in {self._place} is damaged ({error}). {_AGAIN}"
            ) from error
        return images.decode({"bytes": data}, f"{where}, picture {uuid}")


@hub.cached(maxsize=2)
def pictures(dataset: str) -> Pictures:
    """The pictures of ``IRFL`` or ``figlang_mini_irfl``; the first call downloads the hub's archive
    (1.7 GB).
    """
    return Pictures(hub.snapshot(source_of(dataset), [ARCHIVE]).folder)


def grid(shown: Sequence[Image.Image], labels: str, cell: int = 336) -> Image.Image:
    """Four pictures as one, two by two, each fitted into `cell` x `cell` pixels, labelled at the
    top left.
    """
    if len(shown) != 4:
        raise ValueError(f"a grid shows 4 pictures, not {len(shown)}")
    gap, badge = 8, cell // 7
    whole = Image.new("RGB", (2 * cell + gap, 2 * cell + gap), "white")
    pen = ImageDraw.Draw(whole)
    font = ImageFont.load_default(size=badge * 3 // 4)
    for place, (picture, label) in enumerate(zip(shown, labels, strict=True)):
        x, y = place % 2 * (cell + gap), place // 2 * (cell + gap)
        fitted = ImageOps.contain(picture, (cell, cell))
        whole.paste(fitted, (x + (cell - fitted.width) // 2, y + (cell - fitted.height) // 2))
        pen.rectangle((x, y, x + badge, y + badge), fill="white", outline="black", width=2)
        pen.text((x + badge / 2, y + badge / 2), label, fill="black", font=font, anchor="mm")
    return whole
