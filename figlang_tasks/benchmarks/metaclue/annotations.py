"""MetaCLUE's annotations, read and checked.

The annotations have no public release. What a user prepares is a folder ``$FIGLANG_DATA_DIR/MetaCLUE`` with
``annotations.jsonl`` (module ``schema``) and the pictures of the Pitt Ads in their own layout, ``0/`` to ``10/``.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from PIL import Image

from figlang_tasks.benchmarks.metaclue import schema
from figlang_tasks.benchmarks.metaclue.schema import Annotation
from figlang_tasks.core import hub, images, row_files
from figlang_tasks.core.checks import end_with_the_first
from figlang_tasks.core.errors import DataError

DATASET = "MetaCLUE"
FILE = "annotations.jsonl"
# (set, split) -> images, sections 3.1 and 3.2 of the paper
PAPER = {
    ("metaphor", "train"): 3730,
    ("metaphor", "test"): 1331,
    ("symbolic_negative", "train"): 2000,
    ("symbolic_negative", "test"): 1419,
    ("literal_negative", "train"): 2000,
    ("literal_negative", "test"): 1000,
}
_ORIENTATION, _TURNED = 0x0112, (5, 6, 7, 8)  # of EXIF; those that swap width and height


@dataclass(frozen=True)
class Table:
    """All rows of an annotation file.

    Attributes:
        rows: in the order of the file.
        folder: where the file and the pictures are.
        revision: ``local`` or ``package``.
        digest: first 12 hex digits of the file's SHA-256.
    """

    rows: tuple[Annotation, ...]
    folder: Path
    revision: str
    digest: str

    def select(self, split: str, *sets: str) -> list[Annotation]:
        """The rows of a split and of some sets."""
        return [row for row in self.rows if row.split == split and row.set in sets]


@hub.kept(maxsize=4)
def read(dataset: str) -> Table:
    """The annotations of ``MetaCLUE`` or ``figlang_mini_metaclue``.

    Raises:
        DataError: the file is missing or a line is not valid; names file, line, field and what is valid.
    """
    found = hub.snapshot(hub.source(dataset), [FILE])
    path = found.folder / FILE
    try:
        content = row_files.content_of(path)
    except DataError as error:
        raise DataError(
            f"{error}. MetaCLUE's annotations have no public release: docs/cards/metaclue.md says how to write the file"
        ) from error
    rows, faults = row_files.valid(row_files.lines(path), schema.check, lambda row: f"image {row.image}")
    if not rows and not faults:
        faults = [f"{path} has no rows: write one for each image (docs/cards/metaclue.md)"]
    end_with_the_first(faults, "metaclue")
    return Table(tuple(rows), found.folder, found.revision, hashlib.sha256(content).hexdigest()[:12])


def picture_faults(dataset: str, table: Table, rows: Iterable[Annotation], whole: bool, boxes: bool) -> list[str]:
    """The faults of the pictures of some rows.

    Args:
        whole: also whether each can be decoded, which takes some milliseconds.
        boxes: also whether the boxes lie within it.
    """
    faults = []
    for row in rows:
        try:
            file = images.below(table.folder, row.image, row.where)
            if not os.path.isfile(file):
                raise DataError(
                    f"{row.where}: there is no picture {row.image} in {table.folder}. Put the pictures of the Pitt Ads "
                    "there, in their folders 0 to 10, or delete the row."
                )
            if whole:
                _check_whole(dataset, row.image, row.where, file.stat().st_mtime_ns)
            if boxes and row.boxes:
                check_boxes(row, file)
        except DataError as error:
            faults.append(str(error))
    return faults


@cache  # the tasks of a group have the same pictures
def _check_whole(dataset: str, image: str, where: str, changed: int) -> None:
    images.check({"path": image}, where, dataset)


def check_boxes(row: Annotation, picture: Path) -> None:
    """Check that boxes lie within the picture; half a pixel more is rounding.

    Raises:
        DataError: one does not.
    """
    width, height = size_of(picture, row.where)
    for number, box in enumerate(row.boxes):
        if box.bbox[2] > width + 0.5 or box.bbox[3] > height + 0.5:
            raise DataError(
                f"{row.where}: boxes[{number}].bbox is {list(box.bbox)}, but the picture is {width} x {height} pixels. "
                "Boxes are in pixels of the picture as it lies in the folder, upright."
            )


def size_of(picture: Path, where: str) -> tuple[int, int]:
    """Return width and height of a picture as it is shown, upright, without decoding it.

    Raises:
        DataError: it is no picture; names `where`.
    """
    try:
        with Image.open(picture) as image:
            turned = image.getexif().get(_ORIENTATION) in _TURNED
            width, height = image.size
    except Exception as error:  # Pillow raises many kinds on damaged files
        raise DataError(f"{where}: the picture cannot be read ({error}): load it again") from error
    return (height, width) if turned else (width, height)
