"""MetaCLUE's annotations: the format of ``annotations.jsonl``, and reading it.

MetaCLUE has no public release, so that the format is ours (docs/cards/metaclue.md). What a user
prepares is a folder ``$FIGLANG_DATA_DIR/MetaCLUE`` with this file, one image on each line, and the
pictures of the Pitt Ads in their own layout, ``0/`` to ``10/``. Sections are those of the paper
(arXiv 2212.09898).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args

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

DATASET: Final = "MetaCLUE"
FILE: Final = "annotations.jsonl"

PARTS: Final = ("primary", "relationship", "secondary")
"""The parts of a metaphor, in the order of its statement: two concepts, and what they share."""

Role = Literal["primary", "secondary"]
"""The concepts that boxes are drawn around (section 3.3)."""

BoxType = Literal["explicit", "contextual", "logo", "text"]
"""How the region in a box invokes its concept (section 3.3)."""

ROLES = get_args(Role)
BOX_TYPES = get_args(BoxType)

# --- texts and numbers of a line ---

# "#" separates the image from the question in the ids of documents.
_IMAGE_PATH = re.compile(r"(10|[0-9])/[^/\\#\x00-\x1f\ud800-\udfff]{1,240}\.[A-Za-z]{1,9}")


def _valid_image_path(path: str) -> str:
    """The path of a picture as it is; a `ValueError` if it lacks the layout of the Pitt Ads."""
    if not _IMAGE_PATH.fullmatch(path):
        raise ValueError(
            "must be the picture's path in the layout of the Pitt Ads, 0/name.jpg to 10/name.png,"
            " without #"
        )
    return path


def _valid_text(text: str) -> str:
    """A text as it is; a `ValueError` if it cannot stand in one line of a prompt."""
    # A line break would tear the numbered list of candidates.
    if not text or text != text.strip() or re.search(r"[\r\n\ud800-\udfff]", text):
        raise ValueError(
            "must be a text that is not empty, without spaces around it or line breaks, in valid"
            " Unicode"
        )
    placeholder_fault = row_files.placeholder_fault(text)
    if placeholder_fault:
        raise ValueError(placeholder_fault)
    return text


def _text_with_words(text: str) -> str:
    """A text as it is; a `ValueError` if it has no letter and no digit.

    Metrics cannot use any other reference, and would end the scoring of a finished run.
    """
    if not re.search(r"[^\W_]", text):
        raise ValueError("must be a text with a letter or digit")
    return text


_ImagePath = Annotated[str, AfterValidator(_valid_image_path)]
_Text = Annotated[str, AfterValidator(_valid_text)]
_MetaphorPart = Annotated[_Text, AfterValidator(_text_with_words)]
_Edge = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]


# --- the objects of a line ---


class _JsonObject(BaseModel):
    """An object of the file. Other keys than its fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    votes: object = None
    """The votes of annotators, which a file may keep and nothing reads."""


class Metaphor(_JsonObject):
    """One interpretation of an image: "primary concept is as relationship as secondary concept".

    Attributes:
        primary, relationship, secondary: its parts.
        best: whether it is the interpretation with the best validation scores, which the boxes
            belong to (section 3.3).
    """

    primary: _MetaphorPart
    relationship: _MetaphorPart
    secondary: _MetaphorPart
    best: StrictBool

    @property
    def statement(self) -> str:
        """The metaphor in the paper's syntax."""
        return statement(self.primary, self.relationship, self.secondary)

    def part(self, name: str) -> str:
        """The words of the part with a name of `PARTS`: "a rocket" for ``secondary``."""
        words = {
            "primary": self.primary,
            "relationship": self.relationship,
            "secondary": self.secondary,
        }
        return words[name]


def statement(primary: str, relationship: str, secondary: str) -> str:
    """A metaphor in the paper's syntax: ``this phone is as fast as a rocket`` (section 3.2)."""
    return f"{primary} is as {relationship} as {secondary}"


class Box(_JsonObject):
    """A region that invokes a concept of the best metaphor.

    Attributes:
        role: the concept.
        type: how the region invokes it.
        bbox: left, top, right and bottom in pixels of the upright picture.
    """

    role: Role
    type: BoxType
    bbox: tuple[_Edge, _Edge, _Edge, _Edge]

    @model_validator(mode="after")
    def _has_area(self) -> Box:
        """Refuse a box without an area."""
        left, top, right, bottom = self.bbox
        if left >= right or top >= bottom:
            raise ValueError(
                "bbox must be [left, top, right, bottom] in pixels, left < right and top < bottom"
            )
        return self


class Annotation(_JsonObject):
    """One line of the file: an image and all that was annotated about it.

    Attributes:
        version: the version of the format, ``schema`` in the file.
        image: the path of the picture.
        split: ``train`` or ``test``.
        set: whether the image is a metaphor, or one of the two kinds of negatives (section 3.1).
        topic: the topic of the Pitt Ads; None if the file has none.
        metaphors: the interpretations that passed validation (section 3.2).
        boxes: the boxes of the best metaphor (section 3.3).
        location: file, line and image, for messages. The reader adds it: no key of a file has its
            alias.
    """

    version: StrictInt = Field(alias="schema", ge=1, le=1)
    image: _ImagePath
    split: Literal["train", "test"]
    set: Literal["metaphor", "symbolic_negative", "literal_negative"]
    topic: _Text | None = None
    metaphors: tuple[Metaphor, ...] = ()
    boxes: tuple[Box, ...] = ()
    location: str = Field("", alias="location of the line")

    @model_validator(mode="after")
    def _fields_agree(self) -> Annotation:
        """Refuse a line whose set, metaphors and boxes contradict each other."""
        has_metaphors_key = "metaphors" in self.model_fields_set
        if self.set != "metaphor" and (has_metaphors_key or self.boxes):
            raise ValueError(f"set is {self.set}, which has neither metaphors nor boxes")
        if self.set == "metaphor" and not has_metaphors_key:
            raise ValueError(
                "metaphors is missing, must be a list (empty if no annotation passed validation)"
            )
        best_count = sum(metaphor.best for metaphor in self.metaphors)
        if self.metaphors and best_count != 1:
            raise ValueError(f"metaphors: best is true {best_count} times, must be so once")
        if self.boxes and not self.metaphors:
            raise ValueError("boxes without metaphors: they show the concepts of the best one")
        return self

    @property
    def best(self) -> Metaphor:
        """The best metaphor of an image that has metaphors."""
        return next(metaphor for metaphor in self.metaphors if metaphor.best)


def parse_annotation(fields: Mapping[str, Any], location: str) -> Annotation:
    """The annotation in the JSON object of a line, with its location for later messages.

    Args:
        fields: the object.
        location: file and line.

    Raises:
        DataError: a field is not valid; the message has location and field.
    """
    location_with_image = f"{location} ({fields.get('image')})"
    values = {**fields, "location of the line": location_with_image}
    return row_files.parse_row(Annotation, values, location)


# --- the file ---


class AnnotationSet(NamedTuple):
    """All that a folder of annotations holds.

    Attributes:
        rows: the annotations in the order of the file, one for each image.
        folder: the folder of the pictures.
        revision: ``local`` for data of the user, ``package`` for the mini benchmark.
        digest: the first 12 hex digits of the file's SHA-256.
    """

    rows: tuple[Annotation, ...]
    folder: Path
    revision: str
    digest: str

    def select(self, split: str, *sets: str) -> list[Annotation]:
        """The annotations of a split whose `set` is one of `sets`."""
        return [row for row in self.rows if row.split == split and row.set in sets]


@hub.cached(maxsize=4)
def read(dataset: str) -> AnnotationSet:
    """Read the annotations of ``MetaCLUE`` or ``figlang_mini_metaclue``.

    Raises:
        DataError: there is no file, or it has faults; the message has the first one.
    """
    snapshot = hub.snapshot(source_of(dataset), [FILE])
    path = snapshot.folder / FILE
    if not path.exists():
        raise DataError(
            f"there is no {path}: docs/cards/metaclue.md says how to write it, since none was"
            " released"
        )
    rows, faults = row_files.validate_rows(row_files.read_rows(path), parse_annotation, _image_key)
    if not rows and not faults:
        faults = [f"{path} has no rows: write one for each image (docs/cards/metaclue.md)"]
    row_files.raise_first_fault(faults, "metaclue")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    return AnnotationSet(tuple(rows), snapshot.folder, snapshot.revision, digest)


def _image_key(row: Annotation) -> str:
    """What no two lines share, in the words of a message: ``image 0/10.jpg``."""
    return f"image {row.image}"


# --- pictures ---


# The check of boxes needs the size, and so do the documents of both concepts.
@hub.cached(maxsize=1 << 14)
def picture_size(picture: Path, location: str) -> tuple[int, int]:
    """Width and height of an upright picture.

    Args:
        picture: its path.
        location: the line of the annotation, for messages.
    """
    return images.size_of(picture, location)


def check_boxes(row: Annotation, picture: Path) -> None:
    """Check that the boxes of an image lie in its picture, or at most half a pixel outside.

    So much is rounding.

    Raises:
        DataError: a box reaches outside.
    """
    width, height = picture_size(picture, row.location)
    for index, box in enumerate(row.boxes):
        _, _, right, bottom = box.bbox
        if right > width + 0.5 or bottom > height + 0.5:
            raise DataError(
                f"{row.location}: boxes.{index}.bbox is {list(box.bbox)}, but the picture is"
                f" {width} x {height} pixels. Boxes are in pixels of the picture as it lies in the"
                " folder, upright."
            )
