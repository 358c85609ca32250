"""MetaCLUE's annotations, read and checked.

The annotations have no public release. What a user prepares is a folder ``$FIGLANG_DATA_DIR/MetaCLUE`` with
``annotations.jsonl`` (module ``schema``) and the pictures of the Pitt Ads in their own layout, ``0/``
to ``10/``. ``figlang data import metaclue`` makes it (module ``importing``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from figlang_tasks.benchmarks.metaclue import pictures, schema
from figlang_tasks.benchmarks.metaclue.schema import Annotation, SchemaError
from figlang_tasks.core import hub, images, json_lines
from figlang_tasks.core.checks import end_with_the_first
from figlang_tasks.core.hub import DATA_DIR_VARIABLE, DataError

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
    """Read the annotations of ``MetaCLUE`` or ``figlang_mini_metaclue``.

    Raises:
        DataError: the file is missing or a line is not valid; names file, line, field and what is valid.
    """
    table, faults = load(dataset)
    end_with_the_first(faults, "metaclue")
    return table


def load(dataset: str) -> tuple[Table, list[str]]:
    """The valid rows of the annotations, and the faults of the others.

    Raises:
        DataError: there is no such file.
    """
    found = hub.snapshot(hub.source(dataset), [FILE])
    path = found.folder / FILE
    try:
        content = json_lines.content_of(path)
    except DataError as error:
        raise DataError(
            f"{error}. MetaCLUE's annotations have no public release: make the file with `figlang data import "
            f"metaclue`, or write it yourself (docs/cards/metaclue.md), and set {DATA_DIR_VARIABLE} to the folder "
            f"above {path.parent.name}"
        ) from error
    rows, faults = parse_rows(content, path)
    if not rows and not faults:
        faults = [f"{path} has no rows: import the annotations again (`figlang data import metaclue`)"]
    return Table(tuple(rows), found.folder, found.revision, hashlib.sha256(content).hexdigest()[:12]), faults


def parse_rows(content: bytes, path: Path) -> tuple[list[Annotation], list[str]]:
    """The valid rows of a file, and one message for each line that holds none."""
    rows: list[Annotation] = []
    faults: list[str] = []
    seen: dict[str, int] = {}
    for number, values in json_lines.objects(content):
        if isinstance(values, str):
            faults.append(f"{path}, line {number} {values}")
            continue
        try:
            found = schema.check(values, number)
            if found.image in seen:
                raise SchemaError(f"image {found.image} is also in line {seen[found.image]}: delete one")
        except SchemaError as error:
            faults.append(f"{path}, line {number}: {error}")
            continue
        seen[found.image] = number
        rows.append(found)
    return rows, faults


def where(dataset: str, row: Annotation) -> str:
    """Name a row in messages."""
    return f"{dataset}/{FILE}, line {row.row} ({row.image})"


def picture_faults(
    dataset: str, table: Table, rows: Iterable[Annotation], whole: bool = True, boxes: bool = True
) -> list[str]:
    """The faults of the pictures of some rows.

    Args:
        dataset: of the table, for messages.
        table: where the pictures are.
        rows: of the table.
        whole: also whether each can be decoded, which takes some milliseconds.
        boxes: also whether the boxes lie within it.
    """
    faults = []
    for row in rows:
        name = where(dataset, row)
        try:
            file = images.below(table.folder, row.image, name)
            if not images.is_file(file):
                raise DataError(
                    f"{name}: there is no picture {row.image} in {table.folder}. Put the pictures of the Pitt Ads "
                    "there, in their folders 0 to 10, or delete the row."
                )
            if whole:
                _check_whole(dataset, row.image, name, file, file.stat().st_mtime_ns)
            if boxes and row.boxes:
                check_boxes(row, pictures.size(file, name), name)
        except DataError as error:
            faults.append(str(error))
    return faults


@cache  # the tasks of a group have the same pictures
def _check_whole(dataset: str, image: str, name: str, file: Path, changed: int) -> None:
    try:
        images.check({"path": image}, name, dataset)
    except OSError as error:
        raise DataError(f"{name}: {file} cannot be read: {error.strerror or error}") from error


def check_boxes(row: Annotation, size: tuple[int, int], name: str) -> None:
    """Check that boxes lie within the picture; half a pixel more is rounding.

    Raises:
        DataError: one does not.
    """
    for number, box in enumerate(row.boxes):
        if box.bbox[2] > size[0] + 0.5 or box.bbox[3] > size[1] + 0.5:
            raise DataError(
                f"{name}: boxes[{number}].bbox is {list(box.bbox)}, but the picture is {size[0]} x {size[1]} pixels. "
                f"Boxes are in pixels of the picture as it lies in the folder, upright."
            )
