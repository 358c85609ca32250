"""MetaCLUE's annotations: the format of ``annotations.jsonl``, one image on each line, and what was
read of it.

MetaCLUE has no public release, so this format is ours. What a user prepares is a folder
``$FIGLANG_DATA_DIR/MetaCLUE`` with the file and the pictures of the Pitt Ads in their own layout,
``0/`` to ``10/``.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    model_validator,
)

from figlang_tasks.core import hub, images, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.errors import DataError

DATASET = "MetaCLUE"
FILE = "annotations.jsonl"
PARTS = ("primary", "relationship", "secondary")
Role = Literal["primary", "secondary"]
BoxType = Literal["explicit", "contextual", "logo", "text"]
ROLES, BOX_TYPES = get_args(Role), get_args(BoxType)
# "#" parts the image from the question in the ids of documents.
_IMAGE = re.compile(r"(10|[0-9])/[^/\\#\x00-\x1f\ud800-\udfff]{1,240}\.[A-Za-z]{1,9}")


def _image(path: str) -> str:
    if not _IMAGE.fullmatch(path):
        raise ValueError(
            "must be the picture's path in the layout of the Pitt Ads, 0/name.jpg to 10/name.png,"
            " without #"
        )
    return path


def _line(text: str) -> str:
    # A line break would tear the numbered list of candidates.
    if not text or text != text.strip() or re.search(r"[\r\n\ud800-\udfff]", text):
        raise ValueError(
            "must be a text that is not empty, without spaces around it or line breaks, in valid"
            " Unicode"
        )
    if fault := row_files.placeholder_fault(text):
        raise ValueError(fault)
    return text


def _words(text: str) -> str:
    if not re.search(r"[^\W_]", text):  # as a reference it would end the scoring of a finished run
        raise ValueError("must be a text with a letter or digit")
    return text


_Line = Annotated[str, AfterValidator(_line)]
_Part = Annotated[_Line, AfterValidator(_words)]
_Edge = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]


class _Object(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    votes: object = None
    """Of the annotators; read by nothing."""


class Metaphor(_Object):
    """One interpretation of an image; boxes belong to the one with the best validation."""

    primary: _Part
    relationship: _Part
    secondary: _Part
    best: StrictBool

    @property
    def statement(self) -> str:
        """The metaphor in the paper's syntax."""
        return statement(self.primary, self.relationship, self.secondary)


def statement(primary: str, relationship: str, secondary: str) -> str:
    """A metaphor in the paper's syntax: ``{primary} is as {relationship} as {secondary}``."""
    return f"{primary} is as {relationship} as {secondary}"


class Box(_Object):
    """A region that invokes a concept of the best metaphor; `bbox`: left, top, right, bottom in the
    upright picture.
    """

    role: Role
    type: BoxType
    bbox: tuple[_Edge, _Edge, _Edge, _Edge]

    @model_validator(mode="after")
    def _area(self) -> Box:
        left, top, right, bottom = self.bbox
        if left >= right or top >= bottom:
            raise ValueError(
                "bbox must be [left, top, right, bottom] in pixels, left < right and top < bottom"
            )
        return self


class Annotation(_Object):
    """One image; `where` is for messages."""

    version: StrictInt = Field(alias="schema", ge=1, le=1)
    image: Annotated[str, AfterValidator(_image)]
    split: Literal["train", "test"]
    set: Literal["metaphor", "symbolic_negative", "literal_negative"]
    topic: _Line | None = None
    metaphors: tuple[Metaphor, ...] = ()
    boxes: tuple[Box, ...] = ()
    where: str = Field("", alias="place of the line")  # no key of a file

    @model_validator(mode="after")
    def _whole(self) -> Annotation:
        given = "metaphors" in self.model_fields_set
        if self.set != "metaphor" and (given or self.boxes):
            raise ValueError(f"set is {self.set}, which has neither metaphors nor boxes")
        if self.set == "metaphor" and not given:
            raise ValueError(
                "metaphors is missing, must be a list (empty if no annotation passed validation)"
            )
        if self.metaphors and (count := sum(each.best for each in self.metaphors)) != 1:
            raise ValueError(f"metaphors: best is true {count} times, must be so once")
        if self.boxes and not self.metaphors:
            raise ValueError("boxes without metaphors: they show the concepts of the best one")
        return self

    @property
    def best(self) -> Metaphor:
        """The best metaphor; only where there are metaphors."""
        return next(metaphor for metaphor in self.metaphors if metaphor.best)


def annotation(found: dict[str, Any], where: str) -> Annotation:
    """The object of a line; a `DataError` that names `where` and the field if it is not valid."""
    return row_files.parse_row(
        Annotation, {**found, "place of the line": f"{where} ({found.get('image')})"}, where
    )


class Table(NamedTuple):
    """All rows of an annotation file, in its order; its folder with the pictures; and the SHA-256
    (12 hex digits).
    """

    rows: tuple[Annotation, ...]
    folder: Path
    revision: str
    digest: str

    def select(self, split: str, *sets: str) -> list[Annotation]:
        """The rows of a split and of some sets."""
        return [row for row in self.rows if row.split == split and row.set in sets]


@hub.cached(maxsize=4)
def read(dataset: str) -> Table:
    """The annotations of ``MetaCLUE`` or ``figlang_mini_metaclue``."""
    found = hub.snapshot(source_of(dataset), [FILE])
    path = found.folder / FILE
    if not path.exists():
        raise DataError(
            f"there is no {path}: docs/cards/metaclue.md says how to write it, since none was"
            " released"
        )
    rows, faults = row_files.validate_rows(
        row_files.read_rows(path), annotation, lambda row: f"image {row.image}"
    )
    if not rows and not faults:
        faults = [f"{path} has no rows: write one for each image (docs/cards/metaclue.md)"]
    row_files.raise_first_fault(faults, "metaclue")
    return Table(
        tuple(rows),
        found.folder,
        found.revision,
        hashlib.sha256(path.read_bytes()).hexdigest()[:12],
    )


@hub.cached(maxsize=1 << 14)  # the check of boxes and the documents of both concepts need it
def picture_size(picture: Path, where: str) -> tuple[int, int]:
    """Width and height of a picture, upright."""
    return images.size_of(picture, where)


def check_boxes(row: Annotation, picture: Path) -> None:
    """Check that boxes lie within the picture; half a pixel more is rounding."""
    width, height = picture_size(picture, row.where)
    for number, box in enumerate(row.boxes):
        if box.bbox[2] > width + 0.5 or box.bbox[3] > height + 0.5:
            raise DataError(
                f"{row.where}: boxes.{number}.bbox is {list(box.bbox)}, but the picture is {width}"
                f" x {height} pixels. Boxes are in pixels of the picture as it lies in the folder,"
                " upright."
            )
